// May a group write a result where one of its operands lies?
#pragma once
#include "cinn/loop/ast.h"

namespace paddle::cinn {

// Whether every element of input `input` has been read for the last time when output `output` stores at its place,
// however the iterations of parallel loops are shared out. Both have as many elements of one dtype. Where it can't be
// shown: false.
bool may_overwrite(const Module& module, int input, int output);

}  // namespace paddle::cinn
