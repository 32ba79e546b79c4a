// build_loops: writes the kernels that the plan describes.
//
// Values are made on demand, from what is stored back to what is loaded, each once and in the outermost loop that its
// operands allow: a common subexpression or a loop invariant is never written twice, so no later step has to find it.
#pragma once
#include "cinn/loop/ast.h"
#include "cinn/schedule/plan.h"

namespace paddle::cinn {

// Raises NotImplementedError for what kernels can't express (complex numbers, 8-bit floats).
Module build_loops(const Group& group, const Axes& axes, const Plan& plan, const Target& target);
// Appends the group's kernels as another way to compute the module's results. group.pool: the module's, or made from
// it.
void append_loops(Module& module, const Group& group, const Axes& axes, const Plan& plan, const Target& target);

}  // namespace paddle::cinn
