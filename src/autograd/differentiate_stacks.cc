// What a region's gradient needs of the values inside: kept on stacks. differentiation.h says how.
#include "autograd/differentiation.h"
#include "pir/clone.h"
#include "pir/dominance.h"

namespace paddle::autograd {
namespace {

using pir::Block;
using pir::Operation;
using pir::Type;
using pir::TypeKind;
using pir::Value;

// Made from nothing and always the same: made again rather than kept.
bool is_constant(const Operation& op) {
  return op.num_operands() == 0 && op.num_regions() == 0 && !op.has(kRandom | pir::kKeep);
}

void add_symbols(Type t, std::vector<Dim>& out) {
  if (!t) return;
  if (t.is_vector()) {
    for (Type e : t.elements()) add_symbols(e, out);
  } else if (t.has_shape()) {
    for (Dim d : t.shape()) symbols_of(d, out);
  }
}
void add_symbols(const Operation& op, std::vector<Dim>& out) {
  for (Value v : op.results_vector()) add_symbols(v.type(), out);
  for (const pir::NamedAttr& a : op.attrs()) {
    if (a.value.kind() == pir::AttrKind::kDim) symbols_of(a.value.as_dim(), out);
    if (a.value.kind() == pir::AttrKind::kIntArray)
      for (Dim d : a.value.as_ints()) symbols_of(d, out);
  }
}
// Running tells a symbol's value where a tensor has it as a size.
bool tells(Value v, Dim symbol) {
  Type t = v.type();
  if (!t || t.kind() != TypeKind::kTensor) return false;
  for (Dim d : t.shape())
    if (d == symbol) return true;
  return false;
}
bool block_tells(const Block& b, Dim symbol) {
  for (Value v : b.args())
    if (tells(v, symbol)) return true;
  for (Operation& op : b)
    for (Value v : op.results_vector())
      if (tells(v, symbol)) return true;
  return false;
}

}  // namespace

Operation* Differentiation::outermost(Operation& op) const {
  const std::vector<Block*>& open = trace_.blocks();
  Operation* at = &op;
  while (std::find(open.begin(), open.end(), at->block()) == open.end()) at = at->parent_op();
  return at;
}

Differentiation::Stack Differentiation::make_stack(Operation* before) {
  pir::Builder b;
  if (before)
    b.before(before);
  else
    b.to_end(open_.back().first);
  Operation* op = b.create("cf.stack_create", {});
  return {op->result(1), op->result(2)};
}

Value Differentiation::readable(Value outlet, Operation* user) {
  pir::Block* here = open_.back().first;
  if (outlet.owner_block() == here) return outlet;
  // Popped inside of a loop under construction, pushed outside of it: each round pops a copy.
  pir::Builder b(here);
  if (user) b.before(pir::ancestor_in(*here, user));
  return b.create("cf.stack_copy", {outlet})->result(2);
}

void Differentiation::visit_pop(Operation& op) {
  Operation* stack = op.operand(0).defining_op();
  Stack& grads = stack_grads_[stack];
  check(stack->is("cf.stack_create"), ErrorKind::kNotImplemented,
        "[grad] a gradient taken in a loop's body of a loop before it can't be differentiated again inside a program");
  if (!grads.inlet) grads = make_stack(nullptr);
  std::vector<Value> values{grads.inlet};
  for (size_t k = 0; k < op.num_results(); ++k) {
    Value v = op.result(k);
    if (!pushed_.count({stack, k})) continue;
    Tensor g = grad(v);
    values.push_back(trace_.value_of(g.defined() ? g : zeros_like(v)));
  }
  trace_.emit(pir::op_def("cf.tuple_push"), values, {}, {});
}

void Differentiation::visit_push(Operation& op) {
  auto it = stack_grads_.find(op.operand(0).defining_op());
  if (it == stack_grads_.end()) return;
  std::vector<Value> of;
  std::vector<Type> types;
  for (size_t k = 1; k < op.num_operands(); ++k) {
    if (!pushed_.count({it->first, k - 1})) continue;
    of.push_back(op.operand(k));
    types.push_back(op.operand(k).type());
  }
  Operation* pop = trace_.emit(pir::op_def("cf.tuple_pop"), {&it->second.outlet, 1}, {}, types);
  for (size_t k = 0; k < of.size(); ++k) {
    pop->result(k).set_stop_gradient(!options_.create_graph);
    add(of[k], trace_.tensor_of(pop->result(k), !options_.create_graph));
  }
}

void Differentiation::route(Operation& forward, Block& from, Block& to) {
  std::vector<Value> values;
  std::vector<Operation*> again;  // operations made again instead of keeping their results
  std::unordered_set<Value> seen;
  auto need = [&](Value v) {
    if (!v || v.owner_block() != &from || !seen.insert(v).second) return;
    bool combine = v.is_result() && v.defining_op()->is("builtin.combine");
    if (v.is_result() && (combine || is_constant(*v.defining_op())))
      again.push_back(v.defining_op());
    else
      values.push_back(v);
  };
  for (Operation& op : to)
    op.walk([&](Operation& inner) {
      for (Value v : inner.operands()) need(v);
    });
  for (size_t i = 0; i < again.size(); ++i)
    for (Value v : again[i]->operands()) need(v);
  add_values_for_sizes(from, to, values);
  pir::ValueMap map;
  pir::Builder b;
  b.to_start(&to);
  if (!values.empty()) {
    Stack stack = make_stack(outermost(forward));
    std::vector<Value> operands{stack.inlet};
    operands.insert(operands.end(), values.begin(), values.end());
    pir::Builder inside;
    inside.before(from.terminator());
    inside.create(pir::op_def("cf.tuple_push"), operands, {}, std::span<const Type>());
    std::vector<Type> types;
    for (Value v : values) types.push_back(v.type());
    Value outlet = readable(stack.outlet, to.parent_op());
    Operation* pop = b.create(pir::op_def("cf.tuple_pop"), {&outlet, 1}, {}, types);
    for (size_t k = 0; k < values.size(); ++k) {
      pop->result(k).set_stop_gradient(stopped(values[k]));
      map[values[k]] = pop->result(k);
    }
  }
  for (size_t i = again.size(); i-- > 0;) {
    Operation* copy = pir::clone_op(*again[i], map);
    if (b.insertion_point())
      to.insert(b.insertion_point(), copy);
    else
      to.push_back(copy);
  }
  for (Operation& op : to)
    op.walk([&](Operation& inner) {
      for (pir::OpOperand& o : inner.op_operands())
        if (Value v = pir::mapped(map, o.get()); v != o.get()) o.set(v);
    });
}

// Sizes that differ between rounds are known in the backward part from what it pops: something that has each must be
// there.
void Differentiation::add_values_for_sizes(Block& from, Block& to, std::vector<Value>& values) const {
  std::vector<Dim> symbols;
  for (Value v : to.args()) add_symbols(v.type(), symbols);
  for (Operation& op : to) op.walk([&](Operation& inner) { add_symbols(inner, symbols); });
  for (Dim s : symbols) {
    bool known = std::any_of(values.begin(), values.end(), [&](Value v) { return tells(v, s); });
    for (Value v : to.args()) known |= tells(v, s);
    for (const Operation* at = from.parent_op(); at && at->block() && !known; at = at->parent_op())
      known = block_tells(*at->block(), s);
    if (known) continue;
    for (Value v : from.args())
      if (!known && tells(v, s)) values.push_back(v), known = true;
    for (Operation& op : from)
      for (Value v : op.results_vector())
        if (!known && tells(v, s)) values.push_back(v), known = true;
  }
}

}  // namespace paddle::autograd
