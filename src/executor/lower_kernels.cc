// Instructions of operators with a record: which kernel, how its arguments are made, what it may write over.
#include "base/error.h"
#include "executor/lowering.h"
#include "phi/kernels/registry.h"
#include "pir/recompute.h"

namespace paddle::executor {

using pir::Block;
using pir::Operation;
using pir::Value;

void Lowering::kernel(Operation& op, Instruction& i, std::unordered_map<Value, const Operation*>& last) {
  const OpInfo& info = *op.info();
  const pir::OpDef& def = op.def();
  i.kind = Kind::kKernel;
  i.op = &info;
  i.random = info.has(kRandom);
  if (pir::Attribute name = op.attr(pir::kRandomKey); i.random && name) {
    i.named_key = name.as_int();
    i.replayed = static_cast<bool>(op.attr(pir::kReplayed));
  }
  if (pir::Attribute whole = op.attr(kShardWhole); i.random && whole) {
    auto sizes = [](const pir::Attribute& a) {
      Sizes s;
      for (Dim d : a.as_ints()) s.push_back(d.value());
      return s;
    };
    i.shard = std::make_shared<ShardGeometry>(ShardGeometry{sizes(whole), sizes(op.attr(kShardOffset))});
  }
  i.view = info.has(kView);
  i.in_order = op.is("pd_op.as_strided");
  i.kernel = kernels::find_kernel(info, e_.place_.kind);
  i.bound = std::make_shared<pir::BoundArgs>(op, [](Value v) {
    OutSlot s;
    if (v.type().is_vector())
      for (pir::Type t : v.type().elements())
        s.list.push_back(t ? Tensor::meta(view(t.shape()), t.dtype(), Place::cpu()) : Tensor());
    else
      s.tensor = Tensor::meta(view(v.shape()), v.dtype(), Place::cpu());
    return s;
  });
  i.args.assign(i.bound->args().begin(), i.bound->args().end());
  for (size_t k = 0; k < def.operands.size() && k < op.num_operands(); ++k)
    if (def.operands[k].arg >= 0 && op.operand(k))
      patch_operand(op.operand(k), static_cast<uint8_t>(def.operands[k].arg), info, i);
  for (size_t a = 0; a < i.args.size(); ++a) patch_symbolic(static_cast<uint8_t>(a), i);
  static_metas(op, info, i);
  targets(op, info, i, last);
  memory_reuse(op, info, i, last);
  i.prepared = e_.place_.is_cpu() && can_be_prepared(i);
  note_agreements(op, i);
  if (e_.keep_weights_ && i.prepared && i.reuse < 0 && kernels::find_hold(info, e_.place_.kind))
    for (const Patch& p : i.patches)
      if (Value v = operand_of_arg(op, p.arg); p.kind == Patch::kTensor && v && stays(v) && worth_keeping(v))
        i.constant_args |= uint64_t{1} << p.arg;
}

bool Lowering::stays(Value v) const {
  if (!v.is_result()) return false;
  const Operation& maker = *v.defining_op();
  if (maker.has(pir::kConstantLike) || maker.is("builtin.hold")) return true;
  return maker.is("builtin.parameter") && !becomes_.count(v);
}

bool Lowering::can_be_prepared(const Instruction& i) const {
  if (!i.kernel || !i.targets.empty() || i.op->has(kInplaceOnly | kDataDependentShape | kCollective)) return false;
  for (const Patch& p : i.patches) {
    const Arg& a = i.args[p.arg];
    if (p.kind == Patch::kTensor || p.kind == Patch::kTensors) continue;
    if (p.kind == Patch::kSymbolicInts && follows_from_inputs(Shape(view(a.ints().values())))) continue;
    if (p.kind == Patch::kSymbolicScalar && follows_from_inputs(Shape{a.scalar().dim()})) continue;
    return false;
  }
  for (uint8_t list : i.result_lists)
    if (list) return false;
  for (const TensorMeta& m : i.metas)
    if (!follows_from_inputs(m.shape)) return false;
  return true;
}

void Lowering::patch_operand(Value v, uint8_t arg, const OpInfo& info, Instruction& i) {
  Arg& a = i.args[arg];
  bool list = is_list(v.type());
  switch (info.args[arg].kind) {
    case ArgKind::kScalar:
      if (a.scalar().kind() == Scalar::Kind::kTensor) i.patches.push_back({Patch::kScalar, arg, slot_of(v), false});
      break;
    case ArgKind::kInts:
      if (!a.ints().resolved())
        i.patches.push_back({list ? Patch::kListInts : Patch::kWholeInts, arg, slot_of(v), false});
      break;
    case ArgKind::kTensors:
    case ArgKind::kOptTensors:
      i.patches.push_back({Patch::kTensors, arg, slot_of(v), !list});
      break;
    default:
      i.patches.push_back({Patch::kTensor, arg, slot_of(v), false});
  }
}

void Lowering::patch_symbolic(uint8_t arg, Instruction& i) {
  Arg& a = i.args[arg];
  if (a.tag() == Arg::Tag::kInts && a.ints().resolved() && !is_static(view(a.ints().values())))
    i.patches.push_back({Patch::kSymbolicInts, arg, 0, false});
  if (a.tag() == Arg::Tag::kScalar && a.scalar().kind() == Scalar::Kind::kDim)
    i.patches.push_back({Patch::kSymbolicScalar, arg, 0, false});
}

void Lowering::static_metas(Operation& op, const OpInfo& info, Instruction& i) {
  i.static_metas = !info.has(kDataDependentShape);
  for (const Patch& p : i.patches) i.static_metas &= p.kind == Patch::kTensor || p.kind == Patch::kTensors;
  for (size_t k = 0; k < std::min<size_t>(op.num_results(), info.outs.size()); ++k) {
    pir::Type t = op.result(k).type();
    TensorMeta m;
    std::vector<TensorMeta> items;
    if (t && t.is_vector()) {
      for (pir::Type e : t.elements()) {
        items.push_back(e ? TensorMeta{e.dtype(), e.shape()} : TensorMeta{});
        i.static_metas &= !e || is_static(view(e.shape()));
      }
    } else if (t) {
      m = {t.dtype(), t.shape()};
      i.static_metas &= is_static(view(t.shape()));
    }
    i.metas.push_back(std::move(m));
    i.list_metas.push_back(std::move(items));
  }
}

void Lowering::targets(Operation& op, const OpInfo& info, Instruction& i,
                       std::unordered_map<Value, const Operation*>& last) {
  if (!info.has(kInplaceOnly)) return partial_write(op, info, i);
  for (size_t o = 0; o < info.outs.size(); ++o) {
    int arg = info.outs[o].inplace_of;
    if (arg < 0) continue;
    Value v = operand_of_arg(op, arg);
    if (!v) continue;
    bool in_place = last_use_is(v, op, last);
    Value result = op.result(o);
    if (v.type().is_vector()) {
      Operation* combine = v.is_result() ? v.defining_op() : nullptr;
      in_place = in_place && combine && combine->is("builtin.combine");
      if (in_place)
        for (size_t k = 0; k < combine->num_operands(); ++k)
          in_place &= overwritable(combine->operand(k), item_of(result, k), *combine, last);
    } else {
      in_place = in_place && overwritable(v, result, op, last);
    }
    i.targets.push_back({static_cast<uint8_t>(o), static_cast<uint8_t>(arg), in_place});
  }
}

// An operator that writes some elements of a tensor: into the parameter or input that becomes what it makes, instead of
// into a copy of all the others.
void Lowering::partial_write(Operation& op, const OpInfo& info, Instruction& i) {
  if (info.outs.size() != 1 || info.outs[0].inplace_of < 0 || !i.kernel || info.has(kElementwise | kBroadcast | kView))
    return;
  const auto arg = static_cast<size_t>(info.outs[0].inplace_of);
  const Value v = operand_of_arg(op, static_cast<int>(arg));
  if (!v || op.block() != &e_.program_.block() || v.type() != op.result().type()) return;
  auto on_way = leads_to_write_.find(op.result());
  if (on_way == leads_to_write_.end() || (v != on_way->second && !written_through_.count(v))) return;
  if (aliases().read_after(v, op)) return;
  // What it reads elsewhere mustn't change under its hands.
  for (size_t k = 0; k < op.num_operands(); ++k)
    if (op.def().operands[k].arg != info.outs[0].inplace_of && op.operand(k) && aliases().overlap(v, op.operand(k)))
      return;
  written_through_.insert(op.result());
  i.targets.push_back({0, static_cast<uint8_t>(arg), true});
}

const Aliases& Lowering::aliases() {
  if (!aliases_) aliases_ = std::make_unique<Aliases>(e_.program_.block(), e_.place_);
  return *aliases_;
}

Value Lowering::item_of(Value list, size_t k) {
  for (const pir::OpOperand& use : list.uses())
    if (use.owner()->is("builtin.split")) return use.owner()->result(k);
  return {};
}

Value Lowering::operand_of_arg(Operation& op, int arg) {
  for (size_t k = 0; k < op.def().operands.size() && k < op.num_operands(); ++k)
    if (op.def().operands[k].arg == arg) return op.operand(k);
  return {};
}

bool Lowering::last_use_is(Value v, const Operation& op, std::unordered_map<Value, const Operation*>& last) {
  return v.owner_block() == op.block() && last[v] == &op;
}

bool Lowering::overwritable(Value v, Value result, const Operation& user,
                            std::unordered_map<Value, const Operation*>& last) {
  if (!v || !last_use_is(v, user, last) || !v.is_result()) return false;
  Operation* maker = v.defining_op();
  if (maker->is("builtin.parameter")) {
    auto it = becomes_.find(v);
    return it != becomes_.end() && it->second == result;
  }
  return false;  // memory of a run may be shared by views: the run decides (see run.cc)
}

void Lowering::memory_reuse(Operation& op, const OpInfo& info, Instruction& i,
                            std::unordered_map<Value, const Operation*>& last) {
  if (!info.has(kElementwise) || info.has(kView | kInplaceOnly | kDataDependentShape) || !i.kernel ||
      op.num_results() != 1)
    return;
  pir::Type out = op.result().type();
  if (!out || !out.has_shape()) return;
  for (size_t p = 0; p < i.patches.size(); ++p) {
    if (i.patches[p].kind != Patch::kTensor) continue;
    Value v = operand_of_arg(op, i.patches[p].arg);
    if (!v || !v.is_result() || v.type() != out || !last_use_is(v, op, last)) continue;
    Operation* maker = v.defining_op();
    // An input may be given up.
    const bool stays = maker->has(pir::kGraphInput) && !maker->is("pd_op.data");
    if (stays || maker->has(pir::kConstantLike)) continue;
    i.reuse = static_cast<int8_t>(p);
    return;
  }
}

}  // namespace paddle::executor
