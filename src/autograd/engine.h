// Backward: runs nodes in order of their making, newest first, so that accumulation has one order in every run.
#pragma once
#include "autograd/node.h"

namespace paddle::autograd {

// Accumulates into .grad of every leaf. grad_outputs: undefined items mean ones (a single element is required then as
// official Paddle does: any shape is accepted and filled with ones).
void backward(const Tensors& outputs, const Tensors& grad_outputs, bool retain_graph);

// Gradients of outputs with respect to inputs; .grad is left alone. Undefined items: the input was not reached.
// ValueError unless allow_unused.
Tensors grad(const Tensors& outputs, const Tensors& inputs, const Tensors& grad_outputs, bool retain_graph,
             bool create_graph, bool allow_unused, const Tensors& no_grad_vars);

}  // namespace paddle::autograd
