// The CPU's kernels for records that define themselves by an expression.
#pragma once
#include "api/op_call.h"

namespace paddle::kernels {
void cpu_pointwise(OpCall& c);  // `expr`
void cpu_reduction(OpCall& c);  // `combine`, with `expr` applied before combining
}  // namespace paddle::kernels
