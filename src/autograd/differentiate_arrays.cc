// Gradients of operations on lists of tensors. A list's gradient is a list of as many items.
#include "api/ops.h"
#include "autograd/differentiation.h"

namespace paddle::autograd {

bool Differentiation::visit_array(Operation& op) {
  if (op.def().dialect != "cf") return false;
  if (op.num_results() != 1) return true;  // asserts and prints
  Tensor g = grad(op.result());
  if (!g.defined()) return true;
  auto in = [&](size_t k) { return tensor_of(op.operand(k)); };
  auto read = [&](const Tensor& index) { return dispatch::array_read(trace_, g, index); };
  auto axis = [&] { return op.attr("axis").as_int(); };
  if (op.is("cf.array_create")) {
    for (size_t k = 0; k < op.num_operands(); ++k)
      if (relevant(op.operand(k)))
        add(op.operand(k), read(ops::full({}, Scalar(static_cast<int64_t>(k)), DType::kInt64)));
  } else if (op.is("cf.array_write")) {
    if (relevant(op.operand(2))) add(op.operand(2), read(in(1)));
    if (!relevant(op.operand(0))) return true;
    // Appending (the usual case) needs nothing of the list itself.
    Operation* end = op.operand(1).is_result() ? op.operand(1).defining_op() : nullptr;
    bool appends = end && end->is("cf.array_length") && end->operand(0) == op.operand(0);
    Tensor length = appends ? in(1) : dispatch::array_length(trace_, in(0));
    add(op.operand(0), dispatch::array_unwrite(trace_, g, in(1), length));
  } else if (op.is("cf.array_read")) {
    if (!relevant(op.operand(0))) return true;
    Tensor& sum = grads_[op.operand(0)];
    if (!sum.defined()) sum = dispatch::array_zeros_like(trace_, in(0));
    sum = dispatch::array_add_at(trace_, sum, in(1), g);
  } else if (op.is("cf.array_pop")) {
    Tensor item = dispatch::array_read(trace_, in(0), in(1));
    add(op.operand(0), dispatch::array_insert(trace_, g, in(1), ops::full_like(item, Scalar(0.0))));
  } else if (op.is("cf.array_stack")) {
    add(op.operand(0), dispatch::array_unstack(trace_, g, axis()));
  } else if (op.is("cf.array_concat")) {
    add(op.operand(0), dispatch::array_split(trace_, g, in(0), axis()));
  } else if (op.is("cf.array_add")) {
    for (size_t k = 0; k < 2; ++k) add(op.operand(k), g);
  } else if (op.is("cf.array_add_at")) {
    add(op.operand(0), g);
    if (relevant(op.operand(2))) add(op.operand(2), read(in(1)));
  } else if (op.is("cf.array_insert")) {
    add(op.operand(0), dispatch::array_pop(trace_, g, in(1)));
    if (relevant(op.operand(2))) add(op.operand(2), read(in(1)));
  } else if (op.is("cf.array_unwrite")) {
    Tensor item = dispatch::array_read(trace_, in(0), in(1));
    add(op.operand(0), dispatch::array_write(trace_, g, in(1), ops::full_like(item, Scalar(0.0))));
  } else if (op.is("cf.array_unstack")) {
    add(op.operand(0), dispatch::array_join(trace_, g, axis(), true));
  } else if (op.is("cf.array_split")) {
    add(op.operand(0), dispatch::array_join(trace_, g, axis(), false));
  }
  return true;
}

}  // namespace paddle::autograd
