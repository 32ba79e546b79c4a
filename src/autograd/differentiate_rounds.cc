// Where the walk leaves the body of a loop under construction (earlier_rounds.h).
#include <algorithm>

#include "autograd/differentiation.h"
#include "autograd/earlier_rounds.h"
#include "pir/dominance.h"

namespace paddle::autograd {
namespace {

using pir::Operation;
using pir::Value;

[[maybe_unused]] const bool registered = [] {
  pir::OpDef d;
  d.name = kEarlierRounds;
  d.dialect = "cf";
  d.operands = {{"parts", true, false, true, -1}};
  d.results = {{"grads", true, false, true}};
  d.traits = kSideEffect;
  pir::register_op(std::move(d));
  return true;
}();

}  // namespace

std::vector<Value> EarlierRoundsParts::operands() const {
  std::vector<Value> all{body};
  for (const auto* part :
       {&arguments, &argument_grads, &outer, &outer_grads, &inner, &inner_grads, &inputs, &unreached, &stops})
    all.insert(all.end(), part->begin(), part->end());
  return all;
}

pir::AttrMap EarlierRoundsParts::attrs() const {
  const Shape sizes{arguments.size(), outer.size(), inner.size(), inputs.size(), unreached.size(), stops.size()};
  return {{"parts", pir::Attribute::ints(view(sizes))}};
}

EarlierRoundsParts EarlierRoundsParts::of(const Operation& op) {
  EarlierRoundsParts p;
  p.body = op.operand(0);
  size_t at = 1;
  auto take = [&](std::vector<Value>& part, size_t count) {
    for (const size_t end = at + count; at < end; ++at) part.push_back(op.operand(at));
  };
  const Shape sizes = op.attr("parts").as_ints();
  auto size = [&](size_t k) { return static_cast<size_t>(sizes[k].value()); };
  take(p.arguments, size(0)), take(p.argument_grads, size(0));
  take(p.outer, size(1)), take(p.outer_grads, size(1));
  take(p.inner, size(2)), take(p.inner_grads, size(2));
  take(p.inputs, size(3)), take(p.unreached, size(4)), take(p.stops, size(5));
  return p;
}

// Values from outside of open block `open` that have a gradient, in the program's order.
std::vector<Value> Differentiation::outer_values(size_t open) const {
  std::vector<Value> out;
  auto take = [&](Value v) {
    if (!v.type() || !has_grad(v)) return;
    check(!v.type().is_vector(), ErrorKind::kNotImplemented,
          "[grad] inside a loop whose number of rounds depends on a tensor, a gradient with respect to a list of "
          "tensors that was made before the loop can't be captured");
    out.push_back(v);
  };
  for (size_t b = 0; b < open; ++b)
    for (Value arg : open_[b].first->args()) take(arg);
  for (size_t i = 0; i < open_[open].second; ++i)
    for (Value v : ops_[i]->results_vector()) take(v);
  return out;
}

// All that the values follow from, as far as gradients pass; of loops under construction, in their first round.
std::unordered_set<Value> Differentiation::leading_to(std::vector<Value> todo) const {
  std::unordered_set<Value> found;
  while (!todo.empty()) {
    const Value v = todo.back();
    todo.pop_back();
    if (!v || !v.type() || stops_.count(v) || (!v.type().is_vector() && stopped(v)) || !found.insert(v).second)
      continue;
    if (v.is_argument()) {
      todo.push_back(trace_.entry_value(v));
      continue;
    }
    const Operation& op = *v.defining_op();
    for (Value u : op.operands()) todo.push_back(u);
    if (op.num_regions())
      for (Value u : pir::captured_values(op)) todo.push_back(u);
  }
  return found;
}

// A list that stands before operation `end` is nothing but its items.
void Differentiation::take_lists_apart(size_t end) {
  for (size_t i = end; i-- > 0;)
    if (ops_[i]->is("builtin.combine") && has_grad(ops_[i]->result())) {
      visit(*ops_[i]);
      list_grads_.erase(ops_[i]->result());
    }
}

bool Differentiation::leave_round(size_t open) {
  pir::Block& body = *open_[open].first;
  EarlierRoundsParts p;
  for (Value arg : body.args()) {
    if (!open_arguments_.count(arg)) continue;
    apply_hooks(arg);
    if (has_grad(arg)) p.arguments.push_back(arg);
  }
  if (p.arguments.empty()) return false;
  take_lists_apart(open_[open].second);
  p.outer = outer_values(open);
  const std::unordered_set<Value> reached = known_before(p);
  for (Value v : ins_) {
    const bool argument = v.owner_block() == &body;
    if (!argument && lies_within(v, open)) continue;
    sort_input(v, has_grad(v) || reached.count(argument ? trace_.entry_value(v) : v), p);
  }
  // The tensor that the round before gave is all that is asked for, and all that this round's gradient arrived at.
  const bool itself = p.arguments == p.inputs && p.inputs.size() == 1 && p.outer.empty() && p.unreached.empty();
  if (!itself && (!p.inputs.empty() || !p.unreached.empty())) leave_rest(body, p);
  return true;
}

// The walk has come to a gradient that waits itself.
void Differentiation::wait_for(const Operation& op, size_t index) {
  const pir::Block* body = EarlierRoundsParts::of(op).body.owner_block();
  size_t open = open_.size();
  while (open-- > 0 && open_[open].first != body)
    for (Value arg : open_[open].first->args())
      check(!trace_.entry_value(arg), ErrorKind::kNotImplemented,
            "[grad] a gradient of a gradient that goes back through the rounds of an outer loop whose number of rounds "
            "depends on a tensor can't be captured in an inner one");
  take_lists_apart(index);
  EarlierRoundsParts p;
  std::unordered_set<Value> later;  // complete
  for (size_t i = index; i < ops_.size(); ++i)
    for (Value v : ops_[i]->results_vector()) later.insert(v);
  for (size_t i = open_[open].second; i < index; ++i)
    for (Value v : ops_[i]->results_vector())
      if (v.type() && has_grad(v)) p.inner.push_back(v);
  for (Value arg : body->args())
    if (has_grad(arg)) p.arguments.push_back(arg);
  p.outer = outer_values(open);
  const std::unordered_set<Value> reached = known_before(p);
  for (Value v : ins_)
    if (!later.count(v)) sort_input(v, has_grad(v) || reached.count(v), p);
  if (!p.inputs.empty() || !p.unreached.empty()) leave_rest(*open_[open].first, p);
}

std::unordered_set<Value> Differentiation::known_before(const EarlierRoundsParts& p) const {
  std::vector<Value> from = p.outer;
  from.insert(from.end(), p.inner.begin(), p.inner.end());
  for (Value arg : p.arguments) from.push_back(trace_.entry_value(arg));
  return leading_to(std::move(from));
}

bool Differentiation::lies_within(Value v, size_t open) const {
  for (size_t b = open; b < open_.size(); ++b)
    if (v.owner_block() == open_[b].first) return true;
  return false;
}

void Differentiation::sort_input(Value v, bool known, EarlierRoundsParts& p) const {
  std::vector<Value>& part = known ? p.inputs : p.unreached;
  if (std::find(part.begin(), part.end(), v) == part.end()) part.push_back(v);
}

void Differentiation::leave_rest(pir::Block& body, EarlierRoundsParts& p) {
  p.body = body.arg(0);
  for (Value v : p.arguments) p.argument_grads.push_back(trace_.value_of(grad(v)));
  for (Value v : p.outer) p.outer_grads.push_back(trace_.value_of(grad(v)));
  for (Value v : p.inner) p.inner_grads.push_back(trace_.value_of(grad(v)));
  for (const Tensor& t : options_.stops) p.stops.push_back(trace_.value_of(t));
  std::vector<pir::Type> types;
  for (Value v : p.inputs) types.push_back(v.type());
  pir::AttrMap attrs = p.attrs();
  attrs.set("create_graph", pir::Attribute::boolean(options_.create_graph));
  Operation* op = trace_.emit(pir::op_def(kEarlierRounds), p.operands(), std::move(attrs), types);
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    op->result(i).set_stop_gradient(!options_.create_graph);
    grads_[p.inputs[i]] = trace_.tensor_of(op->result(i), !options_.create_graph);
    hooked_.insert(p.inputs[i]);
  }
}

}  // namespace paddle::autograd
