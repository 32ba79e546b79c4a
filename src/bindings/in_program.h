// Gradients that are asked for while a program is captured.
#pragma once
#include <optional>

#include "autograd/node.h"
#include "dispatch/trace.h"

namespace paddle::bindings {

// Calls in its life are not captured.
struct Outside {
  dispatch::StackScope scope;
};

// While a program is captured, gradients are taken inside it. False: nothing is captured, or the gradient leaves what
// is: then the capture has been run up to here, and the eager graph has the rest.
template <class F>
bool in_program(F&& differentiate, const char* what) {
  dispatch::Trace* trace = dispatch::Trace::active();
  if (!trace) return false;
  if (trace->can_break() && trace->depends_on_history()) {
    trace->break_here(what);
    return false;
  }
  try {
    differentiate(*trace);
    return true;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kNotImplemented || !trace->can_break()) throw;
    trace->break_here(what);
    return false;
  }
}

// A leaf's .grad; while a program is captured, as that program reads it at every run.
inline Tensor grad_now(const Tensor& leaf) {
  if (dispatch::Trace* trace = dispatch::Trace::active()) return trace->grad_of(leaf, true);
  autograd::Meta* m = autograd::find_meta(leaf);
  return m ? m->grad : Tensor();
}

}  // namespace paddle::bindings
