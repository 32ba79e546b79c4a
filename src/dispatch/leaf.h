// Tensors of a capture whose history is cut.
#pragma once
#include "dispatch/trace.h"

namespace paddle::dispatch {

// `stop_gradient = False` by hand, on a tensor that had none: from here on it is a value of its own that needs a
// gradient, which ends there.
void make_leaf(Trace& trace, Tensor& t);

}  // namespace paddle::dispatch
