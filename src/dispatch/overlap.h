// Memory that is read and written at once.
#pragma once
#include "api/op_call.h"

namespace paddle::dispatch {

// May some element of one lie where one of the other does? Views that interleave count, as they are told by their first
// and last element.
bool overlap(const Tensor& a, const Tensor& b);

// Do both look at the same elements, in the same order?
bool coincide(const Tensor& a, const Tensor& b);

// For a call that writes into arguments, once its targets are known: other operands that lie in a target's memory
// become copies, as a kernel may read them after it has begun to write. An elementwise operator reads an element before
// it writes there, so its operand may be the target itself.
void set_operands_apart(OpCall& c);

}  // namespace paddle::dispatch
