// Gradients that the user wrote, in a program under construction (pir/custom_gradient.h).
#pragma once
#include "dispatch/trace.h"

namespace paddle::dispatch {

// While a gradient region is built nothing of what surrounds the call counts: no autocast, no recompute; gradients of
// gradients are wanted.
class GradientScope {
 public:
  GradientScope(Trace& trace, TraceRegion& region);
  ~GradientScope();
  GradientScope(const GradientScope&) = delete;

 private:
  Trace& trace_;
  TraceRegion& region_;
  Trace::Marks marks_;
  StackScope stack_;
  bool recorded_;
};
struct GradientRegion {
  uint64_t given;  // bit i: result i has a gradient
  TraceRegion* region;
  Tensors grads;  // of the inputs; undefined: none
};
// What the tensors of `computed` are from here on: `inputs` (values) get the gradients that the regions say. `what` is
// named in errors. NotImplementedError where a region writes to a tensor from outside of it.
Tensors build_custom_grad(Trace& trace, const char* what, std::span<const pir::Value> inputs, const Tensors& computed,
                          const std::vector<bool>& stops, std::span<GradientRegion> regions);
// A hook on t's gradient; undefined: the gradient stays. `eagerly` registers it on the tensor itself, where it is one
// from outside and a segment ends: what it returns removes it again. Gives the hook's name.
using EagerHook = std::function<std::function<void()>(const Tensor&)>;
int64_t add_gradient_hook(Trace& trace, const Tensor& t, TraceRegion& region, const Tensor& result, EagerHook eagerly);
// RuntimeError where it is part of a program that is finished.
void remove_gradient_hook(int64_t id);

}  // namespace paddle::dispatch
