// The two halves of plan_kernels.
#pragma once
#include "cinn/schedule/plan.h"

namespace paddle::cinn {

// Kernels and their passes: parallel axes, reductions, stores, temporaries.
Plan place_kernels(const Group& group, const Axes& axes, const Target& target);
// The rest of each kernel's plan.
void arrange_kernels(const Group& group, const Axes& axes, const Target& target, Plan& plan);

}  // namespace paddle::cinn
