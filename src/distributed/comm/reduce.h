// Element-wise reduction of several buffers, always in the order given: so every back end and every run gives the same
// bits. 16- and 8-bit floats are accumulated in float32 and rounded once.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "tensor/dtype.h"

namespace paddle::comm {

enum class ReduceOp : uint8_t { kSum, kMax, kMin, kProd, kAvg };  // numbered as paddle.distributed.ReduceOp
std::string_view name_of(ReduceOp op);

// out[i] = inputs[0][i] op inputs[1][i] op ... for i < count. `out` may be one of the inputs. Averages of integers are
// truncated; for bool sum and max are "or", prod, min and avg "and". Raises ValueError for max and min of complex.
void reduce(std::span<const void* const> inputs, void* out, int64_t count, DType dtype, ReduceOp op);

}  // namespace paddle::comm
