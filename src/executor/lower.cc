// From a program to instructions: slots, liveness, what comes in and goes out, blocks.
#include "base/error.h"
#include "executor/lowering.h"
#include "pir/constant.h"
#include "pir/dominance.h"
#include "pir/effects.h"
#include "pir/written_input.h"

namespace paddle::executor {

using pir::Block;
using pir::Operation;
using pir::Value;

namespace {

template <class F>
void for_each_use(Operation& op, F&& f) {
  for (Value v : op.operands())
    if (v) f(v);
  if (op.num_regions() == 0) return;
  for (Value v : pir::captured_values(op)) f(v);
}

}  // namespace

void Lowering::run() {
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
  std::vector<uint32_t> inputs;
  for (size_t k = 0; k < e_.input_slots_.size(); ++k)
    inputs.push_back(e_.input_held_[k] == Executable::Held::kTensor ? e_.input_slots_[k] : kNone);
  e_.memory_ = std::make_unique<MemoryModel>(plan_memory(*e_.code_, slot_types_, e_.num_lists_, results, inputs));
}

bool Lowering::is_list(pir::Type t) {
  return t.is_vector() || t.kind() == pir::TypeKind::kTensorArray || t.kind() == pir::TypeKind::kStack ||
         t.kind() == pir::TypeKind::kInlet || t.kind() == pir::TypeKind::kOutlet;
}

void Lowering::note_type(uint32_t slot, pir::Type t) {
  if (!t || t.kind() != pir::TypeKind::kTensor) return;
  if (slot_types_.size() <= slot) slot_types_.resize(slot + 1);
  slot_types_[slot] = {t.dtype(), t.shape(), follows_from_inputs(t.shape())};
}

bool Lowering::follows_from_inputs(const Shape& shape) const {
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

Executable::Held Lowering::held(pir::Type t) {
  if (t.kind() == pir::TypeKind::kOutlet) return Executable::Held::kStack;
  return is_list(t) ? Executable::Held::kList : Executable::Held::kTensor;
}

uint32_t Lowering::slot_of(Value v) {
  auto [it, fresh] = slots_.try_emplace(v, 0);
  if (fresh) it->second = static_cast<uint32_t>(is_list(v.type()) ? e_.num_lists_++ : e_.num_slots_++);
  return it->second;
}

void Lowering::compile_groups() {
  std::shared_ptr<cinn::DeviceBatch> batch;
  if (!e_.place_.is_cpu()) batch = std::make_shared<cinn::DeviceBatch>(e_.place_);
  e_.program_.walk([&](Operation& op) {
    if (!op.is("cinn_op.group")) return;
    auto it = groups_.find(&op);
    if (it == groups_.end()) it = groups_.emplace(&op, cinn::compile_region(op, batch)).first;
    group_inputs_.insert(it->second.inputs.begin(), it->second.inputs.end());
  });
}

void Lowering::number_symbols() {
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

std::unordered_map<Value, const Operation*> Lowering::last_uses(const Block& block) {
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

void Lowering::find_written_parameters(Block& top) {
  std::unordered_map<std::string, Value> parameters;
  std::unordered_map<std::string, Value> inputs;
  for (Operation& op : top) {
    if (op.is("builtin.parameter")) parameters[op.attr("parameter_name").as_string()] = op.result();
    if (op.is("pd_op.data")) inputs[op.attr("name").as_string()] = op.result();
  }
  auto note = [&](const auto& named, const pir::Attribute& name, Value v) {
    if (auto it = named.find(name.as_string()); it != named.end()) becomes_[it->second] = v;
  };
  for (Operation& op : top) {
    if (op.is("builtin.set_parameter")) note(parameters, op.attr("parameter_name"), op.operand(0));
    if (pir::Attribute name = op.attr(pir::kWritesInput)) note(inputs, name, op.operand(0));
  }
  for (auto& [from, to] : becomes_) {
    std::vector<Value> way;
    Value v = to;
    while (v != from && v.is_result() && v.defining_op()->info() && v.defining_op()->num_results() == 1) {
      const int arg = v.defining_op()->info()->outs[0].inplace_of;
      const Value before = arg < 0 ? Value() : operand_of_arg(*v.defining_op(), arg);
      if (!before) break;
      way.push_back(v);
      v = before;
    }
    if (v == from)
      for (Value step : way) leads_to_write_[step] = from;
  }
}

Code Lowering::block(Block& b, bool top) {
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

bool Lowering::only_known(const Operation& op) const {
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

bool Lowering::edge(Operation& op) {
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

void Lowering::bind_shape(Value v, std::vector<SymbolBinding>& binds) {
  if (!v.type() || is_list(v.type()) || !v.type().has_shape()) return;
  for (size_t axis = 0; axis < v.shape().size(); ++axis) {
    Dim d = v.shape()[axis];
    // Inside regions a symbol is bound again in every round, hence by every definition.
    if (d.is_symbolic() && node_of(d).op == DimOp::kSymbol && !input_symbol(node_of(d).value))
      binds.push_back({slot_of(v), static_cast<uint32_t>(axis), e_.symbol_index_.at(node_of(d).value)});
  }
}

void Lowering::expect_type(Value v, std::string what, std::vector<TypeCheck>& checks) {
  pir::Type t = v.type();
  if (!t || is_list(t) || !t.has_shape() || t.is_dist()) return;
  TypeCheck c{slot_of(v), t.dtype(), {}, std::move(what)};
  for (Dim d : t.shape()) c.sizes.push_back(follows_from_inputs({d}) ? d : Dim(-1));
  checks.push_back(std::move(c));
}

bool Lowering::vouched(const Instruction& i) {
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

bool Lowering::input_symbol(int64_t id) const { return bound_.count(id) > 0; }

void Lowering::frees(Operation& op, const Block& b, std::unordered_map<Value, const Operation*>& last, Instruction& i) {
  auto release = [&](Value v) { (is_list(v.type()) ? i.list_frees : i.frees).push_back(slot_of(v)); };
  std::unordered_set<Value> seen;
  for_each_use(op, [&](Value v) {
    if (v.owner_block() == &b && last[v] == &op && seen.insert(v).second) release(v);
  });
  for (Value v : op.results_vector())
    if (v.type() && v.use_empty()) release(v);
}

void lower(Executable& e, GroupCode* groups) { Lowering(e, groups).run(); }

}  // namespace paddle::executor
