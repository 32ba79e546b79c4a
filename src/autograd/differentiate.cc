#include "autograd/differentiation.h"

#include <algorithm>

#include "api/ops.h"
#include "autograd/accumulate.h"
#include "autograd/node.h"
#include "autograd/view.h"
#include "dispatch/state.h"
#include "pir/custom_gradient.h"
#include "pir/dominance.h"
#include "pir/effects.h"
#include "pir/op_args.h"
#include "tensor/shown_shape.h"

namespace paddle::autograd {
namespace {

using dispatch::Trace;
using pir::Operation;
using pir::Value;

bool stopped_value(Value v) {
  pir::Attribute a = v.attr("stop_gradient");
  return a && a.kind() == pir::AttrKind::kBool && a.as_bool();
}

bool op_nondifferentiable(const Operation& op, size_t operand) {
  int arg = operand < op.def().operands.size() ? op.def().operands[operand].arg : -1;
  return arg < 0 || op.info()->args[static_cast<size_t>(arg)].nondifferentiable;
}

// Whether the gradient of `op` reads the elements of v, or only its shape and dtype.
bool reads(const Operation& op, Value v) {
  const OpInfo& info = *op.info();
  auto same = [v](Value u) {
    if (u == v) return true;
    if (!u || !u.type().is_vector() || !u.is_result() || !u.defining_op()->is("builtin.combine")) return false;
    const std::vector<Value> items = u.defining_op()->operands();
    return std::find(items.begin(), items.end(), v) != items.end();
  };
  for (size_t i = 0; i < op.num_operands() && i < op.def().operands.size(); ++i) {
    const int arg = op.def().operands[i].arg;
    const bool tensor = arg >= 0 && is_tensor_kind(info.args[static_cast<size_t>(arg)].kind);
    if (same(op.operand(i)) && (!tensor || info.args[static_cast<size_t>(arg)].saved == SaveKind::kValue)) return true;
  }
  // What is no operand is a result, or an item of one; those are asked for only where they are saved.
  return v.is_result() && (v.defining_op() == &op || v.defining_op()->is("builtin.split"));
}

}  // namespace

bool stopped(Value v) { return stopped_value(v); }

Tensor fitted(Tensor g, pir::Type t) {
  if (g.defined() && g.dtype() != t.dtype()) return ops::cast(g, t.dtype());
  return g;
}

Differentiation::Differentiation(Trace& trace, const DifferentiateOptions& options)
    : trace_(trace), options_(options), replay_(std::make_unique<Replay>(trace)) {
  // Outer blocks first: what they hold so far comes before anything inside.
  for (pir::Block* b : trace.blocks()) {
    open_.push_back({b, ops_.size()});
    for (Operation& op : *b) ops_.push_back(&op);
  }
  for (const Tensor& t : options.stops) stops_.insert(trace.value_of(t));
}

Differentiation::Differentiation(Trace& trace, const DifferentiateOptions& options, Here)
    : trace_(trace), options_(options), replay_(std::make_unique<Replay>(trace)) {
  open_.push_back({trace.blocks().back(), 0});
  for (Operation& op : *trace.blocks().back()) ops_.push_back(&op);
  for (const Tensor& t : options.stops) stops_.insert(trace.value_of(t));
}

Differentiation::Differentiation(Trace& trace, const DifferentiateOptions& options, pir::Block& body, Operation& end)
    : trace_(trace), options_(options), replay_(std::make_unique<Replay>(trace)) {
  std::vector<pir::Block*> around;  // innermost first
  for (pir::Block* b = end.block(); b != &body; b = b->parent_op()->block()) around.push_back(b);
  around.push_back(&body);
  for (size_t k = around.size(); k-- > 0;) {
    const Operation* until = pir::ancestor_in(*around[k], &end);
    open_.push_back({around[k], ops_.size()});
    for (Operation& op : *around[k]) {
      if (&op == until) break;
      ops_.push_back(&op);
    }
  }
  for (const Tensor& t : options.stops) stops_.insert(trace.value_of(t));
}

void Differentiation::mark(const std::vector<Value>& ins) {
  ins_ = ins;
  relevant_.insert(ins.begin(), ins.end());
  // A loop's variable is, in the first round, what it was before.
  if (options_.earlier_rounds)
    for (Value v : ins)
      if (Value init = trace_.entry_value(v)) relevant_.insert(init);
  for (size_t b = 0; b < open_.size(); ++b) {
    auto [block, first] = open_[b];
    for (Value arg : block->args()) {
      if (!options_.earlier_rounds || !trace_.entry_value(arg) || stopped(arg) || stops_.count(arg)) continue;
      relevant_.insert(arg);
      open_arguments_.insert(arg);
    }
    size_t last = b + 1 < open_.size() ? open_[b + 1].second : ops_.size();
    for (size_t k = first; k < last; ++k) mark_op(*ops_[k]);
  }
}

void Differentiation::mark_op(Operation& op) {
  if (op.is("pd_op.if")) return mark_if(op);
  if (op.is("pd_op.while")) return mark_while(op);
  if (op.is("cf.tuple_push")) {
    for (size_t k = 1; k < op.num_operands(); ++k)
      if (relevant(op.operand(k))) pushed_[{op.operand(0).defining_op(), k - 1}] = true;
    return;
  }
  bool pop = op.is("cf.tuple_pop");
  bool reached = false;
  for (Value v : op.operands()) reached |= relevant(v);
  for (size_t k = 0; k < op.num_results(); ++k) {
    Value v = op.result(k);
    if (pop) reached = pushed_.count({op.operand(0).defining_op(), k}) > 0;
    if (reached && v.type() && (v.type().is_vector() || !stopped(v)) && !stops_.count(v)) relevant_.insert(v);
  }
}

void Differentiation::run() {
  size_t i = ops_.size();
  for (size_t b = open_.size(); b-- > 0;) {
    for (; i > open_[b].second; --i) {
      if (!wants_visit(*ops_[i - 1])) continue;
      if (ops_[i - 1]->is(kEarlierRounds)) return wait_for(*ops_[i - 1], i);
      if (options_.walked) options_.walked->push_back(ops_[i - 1]);
      visit(*ops_[i - 1]);
    }
    if (options_.earlier_rounds && leave_round(b)) return;
  }
}

bool Differentiation::wants_visit(Operation& op) const {
  if (pops_expected(op)) return true;
  for (Value v : op.results_vector())
    if (v.type() && has_grad(v)) return reaches(op);
  return false;
}

Tensor Differentiation::grad(Value v) const {
  auto it = grads_.find(v);
  return it == grads_.end() ? Tensor() : it->second;
}

bool Differentiation::has_grad(Value v) const {
  auto it = grads_.find(v);
  if (it != grads_.end()) return it->second.defined();
  auto l = list_grads_.find(v);
  if (l != list_grads_.end())
    for (const Tensor& t : l->second)
      if (t.defined()) return true;
  return false;
}

bool Differentiation::reaches(const Operation& op) const {
  if (op.num_regions()) {
    for (Value v : op.results_vector())
      if (relevant(v)) return true;
    return false;
  }
  for (Value v : op.operands())
    if (relevant(v)) return true;
  return false;
}

void Differentiation::add(Value v, Tensor g) {
  if (!g.defined() || !relevant(v)) return;
  Tensor& slot = grads_[v];
  if (!slot.defined())
    slot = std::move(g);
  else
    slot = dispatch::is_array(g) ? dispatch::array_add(trace_, slot, g) : ops::add(slot, g);
}

void Differentiation::add_list(Value v, size_t size, size_t k, Tensor g) {
  if (!g.defined()) return;
  Tensors& list = list_grads_[v];
  list.resize(size);
  list[k] = list[k].defined() ? ops::add(list[k], g) : std::move(g);
}

Tensor Differentiation::tensor_of(Value v) {
  // Without create_graph nothing that is computed here needs a history.
  return trace_.tensor_of(v, !options_.create_graph || stopped(v));
}

void Differentiation::visit(Operation& op) {
  for (Value v : op.results_vector()) apply_hooks(v);
  if (op.is(pir::kCustomGrad)) return visit_custom(op);
  if (!op.info() && pir::is_identity(op)) return add(op.operand(0), grad(op.result()));
  if (op.is("builtin.combine")) {
    Tensors g = list_grads_[op.result()];
    for (size_t k = 0; k < g.size(); ++k)
      if (op.operand(k)) add(op.operand(k), g[k]);
    return;
  }
  if (op.is("builtin.split")) {
    for (size_t k = 0; k < op.num_results(); ++k)
      if (has_grad(op.result(k))) add_list(op.operand(0), op.num_results(), k, grad(op.result(k)));
    return;
  }
  if (op.is("builtin.slice")) {
    add_list(op.operand(0), op.operand(0).type().elements().size(), static_cast<size_t>(op.attr("index").as_int()),
             grad(op.result()));
    return;
  }
  if (op.is("pd_op.if")) return visit_if(op);
  if (op.is("pd_op.while")) return visit_while(op);
  if (op.is("cf.tuple_push")) return visit_push(op);
  if (op.is("cf.tuple_pop")) return visit_pop(op);
  if (visit_array(op)) return;
  visit_record(op);
}

void Differentiation::visit_record(Operation& op) {
  check(op.info() != nullptr, ErrorKind::kNotImplemented, "[{}] has no gradient inside a program", op.name());
  if (op.info()->has(kNondifferentiable)) return;
  if (!op.info()->vjp) return through_composition(op);
  std::vector<OutSlot> out_grads(op.num_results());
  for (size_t i = 0; i < op.num_results(); ++i) {
    Value v = op.result(i);
    if (!v.type()) continue;
    if (v.type().is_vector())
      out_grads[i].list = list_grads_.count(v) ? list_grads_[v] : Tensors();
    else
      out_grads[i].tensor = grad(v);
  }
  auto needs = [&](size_t i) { return relevant(op.operand(i)) && !op_nondifferentiable(op, i); };
  std::vector<OutSlot> in_grads = dispatch::call_vjp(
      op, [&](Value v) { return tensor_of(reads(op, v) ? replay_->value_for(op, v) : v); }, out_grads, needs);
  for (size_t i = 0; i < in_grads.size(); ++i) {
    Value v = op.operand(i);
    if (!relevant(v) || op_nondifferentiable(op, i)) continue;
    if (v.type().is_vector()) {
      for (size_t k = 0; k < in_grads[i].list.size(); ++k)
        add_list(v, in_grads[i].list.size(), k, fitted(in_grads[i].list[k], v.type().elements()[k]));
    } else {
      add(v, fitted(in_grads[i].tensor, v.type()));
    }
  }
}

// No vjp of its own: the composition is written out and differentiated.
void Differentiation::through_composition(Operation& op) {
  const OpInfo& info = *op.info();
  check(info.decompose != nullptr, ErrorKind::kNotImplemented, "[{}] has no gradient", info.name);
  std::vector<Tensor> ins;
  std::unordered_map<Value, Tensor> made;
  auto operand = [&](Value v) {
    auto it = made.find(v);
    if (it != made.end()) return it->second;
    Tensor t = trace_.tensor_of(replay_->value_for(op, v), !relevant(v));
    made.emplace(v, t);
    return t;
  };
  pir::BoundArgs bound(op, [&](Value v) {
    OutSlot s;
    if (v.type().is_vector()) {
      PD_INVARIANT(v.is_result() && v.defining_op()->is("builtin.combine"));
      for (Value item : v.defining_op()->operands()) s.list.push_back(item ? operand(item) : Tensor());
    } else {
      s.tensor = operand(v);
    }
    return s;
  });
  OpCall c(info, bound.args());
  {
    dispatch::GradMode on(true);
    info.decompose(c);
  }
  Tensors outs, gs;
  for (size_t i = 0; i < op.num_results(); ++i) {
    Value v = op.result(i);
    if (!v.type() || !has_grad(v)) continue;
    if (v.type().is_vector()) {
      for (size_t k = 0; k < c.out_list(i).size(); ++k)
        if (list_grads_[v][k].defined()) outs.push_back(c.out_list(i)[k]), gs.push_back(list_grads_[v][k]);
    } else {
      outs.push_back(c.out(i));
      gs.push_back(grad(v));
    }
  }
  std::vector<Value> values;
  for (auto& [v, t] : made)
    if (relevant(v)) values.push_back(v), ins.push_back(t);
  Tensors in_grads = differentiate(trace_, outs, gs, ins, {options_.create_graph, {}});
  for (size_t i = 0; i < values.size(); ++i) add(values[i], in_grads[i]);
}

Tensors differentiate(Trace& trace, const Tensors& outs, const Tensors& out_grads, const Tensors& ins,
                      const DifferentiateOptions& options) {
  check(out_grads.empty() || out_grads.size() == outs.size(), ErrorKind::kValue,
        "[grad] expected as many grad_outputs as outputs ({}), got {}", outs.size(), out_grads.size());
  std::vector<Value> in_values, out_values;
  for (const Tensor& t : ins) in_values.push_back(trace.differentiated_value(t));
  for (const Tensor& t : outs) out_values.push_back(trace.value_of(t));
  dispatch::GradMode mode(options.create_graph);
  Differentiation d(trace, options);
  d.mark(in_values);
  for (size_t i = 0; i < outs.size(); ++i) {
    if (!d.relevant(out_values[i])) continue;
    Tensor g = i < out_grads.size() ? out_grads[i] : Tensor();
    if (!g.defined()) g = ops::full_like(outs[i], Scalar(1.0));
    check(g.shape() == outs[i].shape(), ErrorKind::kValue,
          "[grad] expected a gradient of shape {} for output {}, got {}", shown(view(outs[i].shape())), i,
          shown(view(g.shape())));
    d.seed(out_values[i], g);
  }
  d.run();
  Tensors result;
  for (size_t i = 0; i < ins.size(); ++i) result.push_back(d.result(in_values[i]));
  return result;
}

Tensors traced_grad(Trace& trace, const Tensors& outs, const Tensors& ins, const Tensors& out_grads, bool create_graph,
                    bool allow_unused, const Tensors& no_grad_vars) {
  for (const Tensor& t : ins)
    check(!t.stop_gradient(), ErrorKind::kType,
          "[grad] expected inputs that need a gradient (stop_gradient=False), got one of shape {} that does not",
          shown(view(t.shape())));
  Tensors grads = differentiate(trace, outs, out_grads, ins, {create_graph, no_grad_vars, true});
  for (size_t i = 0; i < grads.size(); ++i)
    check(grads[i].defined() || allow_unused, ErrorKind::kValue,
          "[grad] input {} was not used to compute the outputs; pass allow_unused=True to get None for it", i);
  return grads;
}

void traced_backward(Trace& trace, const Tensors& outs, const Tensors& out_grads, bool retain_graph) {
  std::vector<Tensor> leaves = trace.leaves();
  std::vector<Operation*> walked;
  Tensors grads = differentiate(trace, outs, out_grads, leaves, {false, {}, true, &walked});
  if (!retain_graph) trace.spend(walked);
  dispatch::GradMode off(false);
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!grads[i].defined()) continue;
    Tensor old = trace.grad_of(leaves[i]), g = grads[i];
    if (Meta* m = find_meta(leaves[i]))
      for (auto& hook : m->hooks)
        if (Tensor changed = hook.fn(g); changed.defined()) g = changed;
    Tensor now = old.defined() ? ops::add(old, g) : g;
    trace.set_grad(leaves[i], now);
  }
}

namespace {
[[maybe_unused]] const bool installed = [] {
  dispatch::take_history = take_history;
  dispatch::follow_history = refresh_view;
  dispatch::leaf_grad = [](const Tensor& leaf) -> Tensor& { return meta_of(leaf).grad; };
  dispatch::is_zeros = [](const Tensor& leaf) { return cleared_to_zeros(meta_of(leaf)); };
  return true;
}();
}  // namespace

}  // namespace paddle::autograd
