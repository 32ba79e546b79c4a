// From a program to instructions: slots, liveness, kernels, what may happen in place.
#include <unordered_set>

#include "base/error.h"
#include "executor/group_code.h"
#include "executor/lower.h"
#include "executor/memory.h"
#include "phi/kernels/registry.h"
#include "pir/constant.h"
#include "pir/dominance.h"
#include "pir/effects.h"
#include "pir/recompute.h"

namespace paddle::executor {

using pir::Block;
using pir::Operation;
using pir::Value;

class Lowering {
 public:
  Lowering(Executable& e, GroupCode* groups) : e_(e) {
    if (groups) groups_ = std::move(groups->of);
  }

  void run() {
    Block& top = e_.program_.block();
    number_symbols();
    compile_groups();
    find_written_parameters(top);
    e_.code_ = std::make_unique<Code>(block(top, true));
    e_.code_->arg_checks = std::move(input_checks_);
    // Other devices' memory is theirs to lay out.
    if (e_.place_.is_cpu())
      for (auto& [v, slot] : slots_)
        if (!is_list(v.type())) note_type(slot, v.type());
    slot_types_.resize(e_.num_slots_);
    std::vector<uint32_t> results;
    for (size_t k = 0; k < e_.result_slots_.size(); ++k)
      if (e_.result_held_[k] == Executable::Held::kTensor) results.push_back(e_.result_slots_[k]);
    e_.memory_ = std::make_unique<MemoryModel>(plan_memory(*e_.code_, slot_types_, e_.num_lists_, results));
  }

 private:
  static bool is_list(pir::Type t) {
    return t.is_vector() || t.kind() == pir::TypeKind::kTensorArray || t.kind() == pir::TypeKind::kStack ||
           t.kind() == pir::TypeKind::kInlet || t.kind() == pir::TypeKind::kOutlet;
  }

  void note_type(uint32_t slot, pir::Type t) {
    if (!t || t.kind() != pir::TypeKind::kTensor) return;
    if (slot_types_.size() <= slot) slot_types_.resize(slot + 1);
    slot_types_[slot] = {t.dtype(), t.shape(), follows_from_inputs(t.shape())};
  }
  bool follows_from_inputs(const Shape& shape) const {
    for (Dim d : shape) {
      if (d.is_const()) {
        if (d.value() < 0) return false;
        continue;
      }
      std::vector<Dim> symbols;
      symbols_of(d, symbols);
      for (Dim s : symbols)
        if (!input_symbol(node_of(s).value)) return false;
    }
    return true;
  }

  static Executable::Held held(pir::Type t) {
    if (t.kind() == pir::TypeKind::kOutlet) return Executable::Held::kStack;
    return is_list(t) ? Executable::Held::kList : Executable::Held::kTensor;
  }

  uint32_t slot_of(Value v) {
    auto [it, fresh] = slots_.try_emplace(v, 0);
    if (fresh) it->second = static_cast<uint32_t>(is_list(v.type()) ? e_.num_lists_++ : e_.num_slots_++);
    return it->second;
  }

  // All groups of a program are one batch: devices build them together.
  void compile_groups() {
    std::shared_ptr<cinn::DeviceBatch> batch;
    if (!e_.place_.is_cpu()) batch = std::make_shared<cinn::DeviceBatch>(e_.place_);
    e_.program_.walk([&](Operation& op) {
      if (!op.is("cinn_op.group")) return;
      auto it = groups_.find(&op);
      if (it == groups_.end()) it = groups_.emplace(&op, cinn::compile_region(op, batch)).first;
      group_inputs_.insert(it->second.inputs.begin(), it->second.inputs.end());
    });
  }

  void number_symbols() {
    auto see = [&](pir::Type t) {
      if (!t || t.is_vector() || !t.has_shape()) return;
      std::vector<Dim> symbols;
      for (Dim d : t.shape()) symbols_of(d, symbols);
      for (Dim s : symbols)
        e_.symbol_index_.try_emplace(node_of(s).value, static_cast<uint32_t>(e_.symbol_index_.size()));
    };
    e_.program_.walk([&](Operation& op) {
      for (Value v : op.results_vector()) {
        see(v.type());
        if (v.type() && v.type().is_vector())
          for (pir::Type t : v.type().elements()) see(t);
      }
      for (size_t r = 0; r < op.num_regions(); ++r)
        for (size_t b = 0; b < op.region(r).size(); ++b)
          for (Value v : op.region(r).block(b).args()) see(v.type());
    });
  }

  // ---- liveness: the operation of `block` after which a value defined in `block` is no longer needed
  std::unordered_map<Value, const Operation*> last_uses(const Block& block) {
    std::unordered_map<Value, const Operation*> last;
    for (Operation& op : block)
      for_each_use(op, [&](Value v) {
        if (v.owner_block() == &block) last[v] = &op;
      });
    // Results of the program stay, whatever reads them afterwards.
    for (Operation& op : block)
      if (op.has(pir::kGraphOutput))
        for (Value v : op.operands())
          if (v.owner_block() == &block) last[v] = &op;
    return last;
  }

  template <class F>
  static void for_each_use(Operation& op, F&& f) {
    for (Value v : op.operands())
      if (v) f(v);
    if (op.num_regions() == 0) return;
    for (Value v : pir::captured_values(op)) f(v);
  }

  // A parameter may be overwritten in place if the result of the operator that does it is what the parameter becomes.
  void find_written_parameters(Block& top) {
    std::unordered_map<std::string, Value> parameters;
    for (Operation& op : top)
      if (op.is("builtin.parameter")) parameters[op.attr("parameter_name").as_string()] = op.result();
    for (Operation& op : top)
      if (op.is("builtin.set_parameter")) {
        auto it = parameters.find(op.attr("parameter_name").as_string());
        if (it != parameters.end()) becomes_[it->second] = op.operand(0);
      }
  }

  Code block(Block& b, bool top) {
    Code code;
    auto last = last_uses(b);
    last_ = &last;
    for (Value v : b.args()) {
      code.args.push_back(slot_of(v));
      code.arg_is_list.push_back(is_list(v.type()));
      bind_shape(v, code.arg_binds);
      expect_type(v, fmt::format("loop variable {}", code.args.size() - 1), code.arg_checks);
    }
    for (Operation& op : b) {
      if (top && edge(op)) continue;
      if (op.is("cf.yield")) {
        for (Value v : op.operands()) {
          code.yields.push_back(v ? slot_of(v) : kNone);
          code.yield_is_list.push_back(v && is_list(v.type()));
        }
        continue;
      }
      if (op.has(pir::kTerminator) || only_known(op)) continue;
      Instruction i;
      try {
        lower(op, i, last);
      } catch (const Error& error) {
        fail(error.kind(), "{} (while {} was prepared)", error.what(), op.describe());
      }
      last_ = &last;
      i.where = op.loc() ? op.loc().str() : std::string();
      i.source = &op;
      frees(op, b, last, i);
      code.list.push_back(std::move(i));
    }
    return code;
  }

  // A list of sizes or a number that its users have as a constant already.
  bool only_known(const Operation& op) const {
    bool maker = op.is("pd_op.full") || op.is("pd_op.full_int_array") || op.is("builtin.combine");
    if (!maker || op.result().use_empty() || !pir::known_value(op.result())) return false;
    if (group_inputs_.count(op.result())) return false;
    bool list = pir::known_value(op.result()).kind() != pir::AttrKind::kScalar;
    for (const pir::OpOperand& use : op.result().uses()) {
      const Operation& user = *use.owner();
      if (user.is("builtin.combine") && only_known(user)) continue;
      if (user.is("cinn_op.group")) continue;  // what stands inside is among the uses too
      uint32_t k = use.index();
      int arg = user.info() && k < user.def().operands.size() ? user.def().operands[k].arg : -1;
      if (arg < 0) return false;
      ArgKind kind = user.info()->args[static_cast<size_t>(arg)].kind;
      if (kind != ArgKind::kInts && !(kind == ArgKind::kScalar && !list)) return false;
    }
    return true;
  }

  // Inputs, parameters, results of the program: no instructions.
  bool edge(Operation& op) {
    if (op.is("pd_op.data") || op.is("pd_op.feed")) {
      Value v = op.result();
      uint32_t slot = slot_of(v);
      for (size_t axis = 0; !is_list(v.type()) && axis < v.shape().size(); ++axis)
        if (Dim d = v.shape()[axis];
            d.is_symbolic() && node_of(d).op == DimOp::kSymbol && bound_.insert(node_of(d).value).second)
          e_.input_symbols_.push_back({static_cast<uint32_t>(e_.input_slots_.size()), static_cast<uint32_t>(axis),
                                       e_.symbol_index_.at(node_of(d).value)});
      e_.input_names_.push_back(op.attr("name").as_string());
      expect_type(v, fmt::format("input {} \"{}\"", e_.input_slots_.size(), e_.input_names_.back()), input_checks_);
      e_.input_slots_.push_back(slot);
      e_.input_held_.push_back(held(v.type()));
      return true;
    }
    if (op.is("builtin.parameter")) {
      std::string name = op.attr("parameter_name").as_string();
      e_.parameter_slots_.push_back(slot_of(op.result()));
      e_.parameters_.push_back(e_.program_.parameter(name));
      e_.parameter_names_.push_back(name);
      return true;
    }
    if (op.is("builtin.shadow_output") || op.is("builtin.set_parameter") || op.is("pd_op.fetch")) {
      bool set = op.is("builtin.set_parameter");
      std::string name = op.attr(set ? "parameter_name" : op.is("pd_op.fetch") ? "name" : "output_name").as_string();
      int parameter = -1;
      if (set)
        for (size_t i = 0; i < e_.parameter_names_.size(); ++i)
          if (e_.parameter_names_[i] == name) parameter = static_cast<int>(i);
      e_.result_slots_.push_back(slot_of(op.operand(0)));
      e_.result_held_.push_back(held(op.operand(0).type()));
      e_.results_.push_back({name, parameter});
      return true;
    }
    return false;
  }

  void bind_shape(Value v, std::vector<SymbolBinding>& binds) {
    if (!v.type() || is_list(v.type()) || !v.type().has_shape()) return;
    for (size_t axis = 0; axis < v.shape().size(); ++axis) {
      Dim d = v.shape()[axis];
      // Inside regions a symbol is bound again in every round, hence by every definition.
      if (d.is_symbolic() && node_of(d).op == DimOp::kSymbol && !input_symbol(node_of(d).value))
        binds.push_back({slot_of(v), static_cast<uint32_t>(axis), e_.symbol_index_.at(node_of(d).value)});
    }
  }
  void expect_type(Value v, std::string what, std::vector<TypeCheck>& checks) {
    pir::Type t = v.type();
    if (!t || is_list(t) || !t.has_shape() || t.is_dist()) return;
    TypeCheck c{slot_of(v), t.dtype(), {}, std::move(what)};
    for (Dim d : t.shape()) c.sizes.push_back(follows_from_inputs({d}) ? d : Dim(-1));
    checks.push_back(std::move(c));
  }
  // Do its results have just the types that the program says, whatever the operands? Shape rules were asked when it was
  // built.
  static bool vouched(const Instruction& i) {
    switch (i.kind) {
      case Kind::kKernel:
        return i.static_metas;
      case Kind::kIf:
      case Kind::kWhile:
      case Kind::kArrayRead:
      case Kind::kArrayStack:
      case Kind::kArrayConcat:
      case Kind::kPop:
        return false;
      default:
        return true;
    }
  }
  bool input_symbol(int64_t id) const { return bound_.count(id) > 0; }

  void frees(Operation& op, const Block& b, std::unordered_map<Value, const Operation*>& last, Instruction& i) {
    auto release = [&](Value v) { (is_list(v.type()) ? i.list_frees : i.frees).push_back(slot_of(v)); };
    std::unordered_set<Value> seen;
    for_each_use(op, [&](Value v) {
      if (v.owner_block() == &b && last[v] == &op && seen.insert(v).second) release(v);
    });
    for (Value v : op.results_vector())
      if (v.type() && v.use_empty()) release(v);
  }

  // ---- operations
  void lower(Operation& op, Instruction& i, std::unordered_map<Value, const Operation*>& last) {
    if (!op.is("cinn_op.group"))
      for (Value v : op.operands()) i.operands.push_back(v ? slot_of(v) : kNone);
    for (Value v : op.results_vector()) {
      i.results.push_back(v.type() ? slot_of(v) : kNone);
      i.result_lists.push_back(v.type() && is_list(v.type()));
      bind_shape(v, i.binds);
    }
    if (op.is("builtin.combine"))
      i.kind = Kind::kCombine;
    else if (op.is("builtin.split"))
      i.kind = Kind::kSplit;
    else if (op.is("builtin.slice"))
      i.kind = Kind::kListItem, i.number = op.attr("index").as_int();
    else if (op.is("builtin.constant"))
      i.kind = Kind::kConstant, i.constant = at_place(pir::constant_tensor(op, e_.program_));
    else if (pir::is_identity(op))
      i.kind = Kind::kAlias;
    else if (op.is("pd_op.if"))
      branch(op, i);
    else if (op.is("pd_op.while"))
      loop(op, i);
    else if (op.is("cinn_op.group"))
      group(op, i);
    else if (op.is("cf.array_create"))
      i.kind = Kind::kArrayCreate;
    else if (op.is("cf.array_write"))
      i.kind = Kind::kArrayWrite;
    else if (op.is("cf.array_read"))
      i.kind = Kind::kArrayRead;
    else if (op.is("cf.array_length"))
      i.kind = Kind::kArrayLength;
    else if (op.is("cf.array_pop"))
      i.kind = Kind::kArrayPop;
    else if (op.is("cf.array_stack"))
      i.kind = Kind::kArrayStack, i.number = op.attr("axis").as_int();
    else if (op.is("cf.array_concat"))
      i.kind = Kind::kArrayConcat, i.number = op.attr("axis").as_int();
    else if (op.is("cf.array_zeros_like"))
      i.kind = Kind::kArrayZerosLike;
    else if (op.is("cf.array_add"))
      i.kind = Kind::kArrayAdd;
    else if (op.is("cf.array_add_at"))
      i.kind = Kind::kArrayAddAt;
    else if (op.is("cf.array_insert"))
      i.kind = Kind::kArrayInsert;
    else if (op.is("cf.array_unwrite"))
      i.kind = Kind::kArrayUnwrite;
    else if (op.is("cf.array_unstack"))
      i.kind = Kind::kArrayUnstack, i.number = op.attr("axis").as_int();
    else if (op.is("cf.array_split"))
      i.kind = Kind::kArraySplit, i.number = op.attr("axis").as_int();
    else if (op.is("cf.stack_create"))
      i.kind = Kind::kStackCreate, stack(op, i);
    else if (op.is("cf.stack_copy"))
      i.kind = Kind::kStackCopy, stack(op, i);
    else if (op.is("cf.tuple_push"))
      i.kind = Kind::kPush;
    else if (op.is("cf.tuple_pop"))
      i.kind = Kind::kPop;
    else if (op.is("pd_op.has_elements"))
      i.kind = Kind::kHasElements;
    else if (op.is("cf.assert"))
      i.kind = Kind::kAssert, i.text = op.attr("message").as_string();
    else if (op.is("cf.print")) {
      i.kind = Kind::kPrint;
      for (const pir::Attribute& a : op.attr("texts").items()) i.texts.push_back(a.as_string());
    } else if (op.info()) {
      kernel(op, i, last);
    } else {
      fail(ErrorKind::kNotImplemented, "[{}] can't be run", op.name());
    }
    if (i.kind != Kind::kKernel && i.kind != Kind::kGroup) list_flags(op, i);
    if (!vouched(i))
      for (size_t k = 0; k < op.num_results(); ++k)
        if (i.results[k] != kNone && !op.result(k).use_empty())
          expect_type(op.result(k), fmt::format("result {}", k), i.checks);
  }

  Tensor at_place(const Tensor& t) const {
    if (t.place() == e_.place_) return t;
    Tensor out = Tensor::empty(t.shape(), t.dtype(), e_.place_);
    kernels::copy_elements(out, t);
    return out;
  }

  std::vector<uint8_t> list_operands_;
  void list_flags(Operation& op, Instruction& i) {
    // For combine and its like an operand that is a list itself would be an array of arrays: not supported by the IR
    // either.
    for (size_t k = 0; k < op.num_operands(); ++k)
      if (op.operand(k) && is_list(op.operand(k).type()))
        i.patches.push_back({Patch::kTensors, static_cast<uint8_t>(k), slot_of(op.operand(k)), false});
  }

  void stack(Operation& op, Instruction& i) {
    // Stack, inlet and outlet share one list slot.
    uint32_t s = slot_of(op.result(0));
    slots_[op.result(1)] = s;
    slots_[op.result(2)] = s;
    i.results = {s, s, s};
  }

  void branch(Operation& op, Instruction& i) {
    i.kind = Kind::kIf;
    auto sub = [&](pir::Region& r) {
      auto* saved = last_;
      Code c = r.empty() ? Code() : block(r.front(), false);
      last_ = saved;
      return std::make_unique<Code>(std::move(c));
    };
    i.body = sub(op.region(0));
    i.otherwise = sub(op.region(1));
  }

  void loop(Operation& op, Instruction& i) {
    i.kind = Kind::kWhile;
    auto* saved = last_;
    i.body = std::make_unique<Code>(block(op.region(0).front(), false));
    last_ = saved;
  }

  void group(Operation& op, Instruction& i) {
    i.kind = Kind::kGroup;
    i.group = std::move(groups_.at(&op));
    i.operands.clear();
    for (Value v : i.group.inputs) i.operands.push_back(slot_of(v));
    i.static_metas = true;
    for (Value v : op.results_vector()) {
      i.static_metas &= is_static(view(v.shape()));
      i.metas.push_back({v.dtype(), v.shape()});
    }
    i.prepared = true;
    for (const TensorMeta& m : i.metas) i.prepared &= follows_from_inputs(m.shape);
    i.prepared &= follows_from_inputs(Shape(i.group.symbols.begin(), i.group.symbols.end()));
  }

  // ---- operators with a record
  void kernel(Operation& op, Instruction& i, std::unordered_map<Value, const Operation*>& last) {
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
    if (e_.keep_weights_ && i.prepared && i.reuse < 0 && kernels::find_hold(info, e_.place_.kind))
      for (const Patch& p : i.patches)
        if (Value v = operand_of_arg(op, p.arg); p.kind == Patch::kTensor && v && stays(v))
          i.constant_args |= uint64_t{1} << p.arg;
  }

  bool stays(Value v) const {
    if (!v.is_result()) return false;
    const Operation& maker = *v.defining_op();
    return maker.has(pir::kConstantLike) || (maker.is("builtin.parameter") && !becomes_.count(v));
  }

  // Everything but the tensors is known once the sizes of the inputs are.
  bool can_be_prepared(const Instruction& i) const {
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

  void patch_operand(Value v, uint8_t arg, const OpInfo& info, Instruction& i) {
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

  void patch_symbolic(uint8_t arg, Instruction& i) {
    Arg& a = i.args[arg];
    if (a.tag() == Arg::Tag::kInts && a.ints().resolved() && !is_static(view(a.ints().values())))
      i.patches.push_back({Patch::kSymbolicInts, arg, 0, false});
    if (a.tag() == Arg::Tag::kScalar && a.scalar().kind() == Scalar::Kind::kDim)
      i.patches.push_back({Patch::kSymbolicScalar, arg, 0, false});
  }

  void static_metas(Operation& op, const OpInfo& info, Instruction& i) {
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

  // An operator that overwrites arguments (statistics, optimiser states): in place where nobody reads the old value
  // afterwards and the memory is ours or the parameter becomes just this result; else a copy is overwritten.
  void targets(Operation& op, const OpInfo& info, Instruction& i, std::unordered_map<Value, const Operation*>& last) {
    if (!info.has(kInplaceOnly)) return;
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

  static Value item_of(Value list, size_t k) {
    for (const pir::OpOperand& use : list.uses())
      if (use.owner()->is("builtin.split")) return use.owner()->result(k);
    return {};
  }
  static Value operand_of_arg(Operation& op, int arg) {
    for (size_t k = 0; k < op.def().operands.size() && k < op.num_operands(); ++k)
      if (op.def().operands[k].arg == arg) return op.operand(k);
    return {};
  }
  bool last_use_is(Value v, const Operation& op, std::unordered_map<Value, const Operation*>& last) {
    return v.owner_block() == op.block() && last[v] == &op;
  }
  bool overwritable(Value v, Value result, const Operation& user, std::unordered_map<Value, const Operation*>& last) {
    if (!v || !last_use_is(v, user, last) || !v.is_result()) return false;
    Operation* maker = v.defining_op();
    if (maker->is("builtin.parameter")) {
      auto it = becomes_.find(v);
      return it != becomes_.end() && it->second == result;
    }
    return false;  // memory of a run may be shared by views: the run decides (see run.cc)
  }

  // Elementwise operators may write over an operand of the result's shape and dtype that dies here.
  void memory_reuse(Operation& op, const OpInfo& info, Instruction& i,
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
      if (maker->has(pir::kGraphInput) || maker->has(pir::kConstantLike)) continue;
      i.reuse = static_cast<int8_t>(p);
      return;
    }
  }

  Executable& e_;
  std::unordered_map<Value, uint32_t> slots_;
  std::vector<SlotType> slot_types_;
  std::unordered_map<Value, Value> becomes_;
  std::unordered_map<const Operation*, cinn::CompiledRegion> groups_;
  std::unordered_set<Value> group_inputs_;
  std::unordered_set<int64_t> bound_;
  std::vector<TypeCheck> input_checks_;
  std::unordered_map<Value, const Operation*>* last_ = nullptr;
};

void lower(Executable& e, GroupCode* groups) { Lowering(e, groups).run(); }

}  // namespace paddle::executor
