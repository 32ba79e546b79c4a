// Filters of 3x3 convolutions as Winograd's algorithm multiplies with them.
#pragma once
#include "tensor/tensor.h"

namespace paddle::kernels {

// G g G^T of [filters, channels, 3, 3], dense: [36][block of filters][channel][filter of the block], the last block
// filled up with zeros. scale: a number that each filter is multiplied by first, or undefined.
Ref<Storage> transformed_filters(const Tensor& filter, const Tensor& scale, int64_t block);

// Aligned to cache lines; freed by std::free.
float* aligned_zeros(int64_t floats, const char* what);

}  // namespace paddle::kernels
