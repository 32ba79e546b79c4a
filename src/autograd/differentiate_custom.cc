// Gradients that the user wrote (pir/custom_gradient.h): their regions are written out where the walk comes by.
#include "autograd/differentiation.h"
#include "pir/clone.h"
#include "pir/custom_gradient.h"
#include "pir/dominance.h"

namespace paddle::autograd {
namespace {

using pir::Block;
using pir::Operation;
using pir::Value;

void stop_gradients(const std::vector<Value>& values) {
  for (Value v : values)
    if (v.type()) v.set_stop_gradient(true);
}

}  // namespace

// The operations of a gradient's region, here, for these arguments; what it yields.
std::vector<Value> Differentiation::write_out(const Operation& op, Block& region, const std::vector<Value>& args) {
  pir::ValueMap map;
  for (size_t k = 0; k < args.size(); ++k) map[region.arg(k)] = args[k];
  for (Value v : pir::captured_values(op))
    if (Value again = replay_->value_for(op, v); again != v) map[v] = again;
  pir::Builder& b = trace_.builder();
  for (Operation& inner : region) {
    if (inner.has(pir::kTerminator)) break;
    Operation* copy = pir::clone_op(inner, map);
    copy->walk([&](Operation& made) {
      if (trace_.role()) made.set_attr("op_role", pir::Attribute::i32(trace_.role()));
      if (options_.create_graph) return;  // else nothing that is computed here has a history
      stop_gradients(made.results_vector());
      for (size_t r = 0; r < made.num_regions(); ++r)
        for (size_t k = 0; k < made.region(r).size(); ++k) stop_gradients(made.region(r).block(k).args());
    });
    if (b.insertion_point())
      b.block()->insert(b.insertion_point(), copy);
    else
      b.block()->push_back(copy);
  }
  trace_.edited();
  std::vector<Value> out;
  for (Value v : region.terminator()->operands()) out.push_back(pir::mapped(map, v));
  return out;
}

void Differentiation::visit_custom(Operation& op) {
  uint64_t given = 0;
  for (size_t k = 0; k < op.num_results(); ++k)
    if (has_grad(op.result(k))) given |= uint64_t{1} << k;
  const size_t r = pir::gradient_region(op, given);
  std::vector<Value> args;
  for (size_t k = 0; k < op.num_results(); ++k) {
    Tensor g = grad(op.result(k));
    args.push_back(trace_.value_of(g.defined() ? g : zeros_like(op.result(k))));
  }
  const std::vector<Value> values = write_out(op, op.region(r).front(), args);
  const std::vector<size_t> inputs = pir::gradient_inputs(op, r);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value to = op.operand(inputs[i]);
    if (relevant(to)) add(to, fitted(tensor_of(values[i]), to.type()));
  }
}

// The gradient of v is complete: nothing that reads v is still to be visited.
void Differentiation::apply_hooks(Value v) {
  if (!v || !v.type() || !grads_.count(v)) return;
  const std::vector<Operation*> hooks = pir::gradient_hooks(v);
  if (hooks.empty() || !hooked_.insert(v).second) return;
  for (Operation* hook : hooks) {
    const Value g = trace_.value_of(grad(v));
    grads_[v] = fitted(tensor_of(write_out(*hook, hook->region(0).front(), {g})[0]), v.type());
  }
}

Tensor Differentiation::result(Value v) {
  apply_hooks(v);
  return grad(v);
}

}  // namespace paddle::autograd
