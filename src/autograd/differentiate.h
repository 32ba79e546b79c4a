// Gradients inside a program: the twin of the tape's engine. Walks the operations backwards and calls the same vjps;
// what they compute is appended to the program, so doing it again gives the next order.
#pragma once
#include "dispatch/trace.h"

namespace paddle::autograd {

struct DifferentiateOptions {
  bool create_graph = false;  // the gradients themselves may be differentiated
  Tensors stops;              // nothing passes these
  // Gradients leave the bodies of loops under construction, through the rounds before (earlier_rounds.h).
  bool earlier_rounds = false;
  std::vector<pir::Operation*>* walked = nullptr;  // filled with the operations whose gradients were taken
};

// Gradients of `outs` with respect to `ins`, all of them tensors of the trace. out_grads: undefined items mean ones, an
// empty list ones for all. Undefined results: not reached. NotImplementedError where an operation has no gradient in
// programs.
Tensors differentiate(dispatch::Trace& trace, const Tensors& outs, const Tensors& out_grads, const Tensors& ins,
                      const DifferentiateOptions& options = {});

// grad() while a program is captured, with the eager function's rules about inputs that were not reached.
Tensors traced_grad(dispatch::Trace& trace, const Tensors& outs, const Tensors& ins, const Tensors& out_grads,
                    bool create_graph, bool allow_unused, const Tensors& no_grad_vars);

// backward() while a program is captured: adds to .grad of every leaf.
void traced_backward(dispatch::Trace& trace, const Tensors& outs, const Tensors& out_grads, bool retain_graph);

}  // namespace paddle::autograd
