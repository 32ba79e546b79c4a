// What waits, while a loop's body is captured, for the body to be complete.
#pragma once
#include "dispatch/trace.h"

namespace paddle::dispatch {

// Writes out what waited; it may add variables to the loop. Installed by autograd.
extern void (*complete_rounds)(Trace& trace, TraceRegion& body, Tensors& inits, Tensors& next_values);

}  // namespace paddle::dispatch
