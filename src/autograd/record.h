#pragma once
#include "api/op_call.h"

namespace paddle::autograd {
// Runs the call below autograd and gives its outputs a history.
void record(OpCall& c);
void install();
}  // namespace paddle::autograd
