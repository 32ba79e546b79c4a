#pragma once
#include "api/op_call.h"

namespace paddle::kernels {
// Bit d: axis d is reduced. From the operator's argument `axis` (a number, a list, a Scalar; empty or None: all) and
// `reduce_all`.
uint64_t reduced_axes(const OpCall& c, int64_t rank);
}  // namespace paddle::kernels
