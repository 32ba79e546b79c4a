#include "phi/kernels/cpu/rows/winograd_filter.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::kernels {

float* aligned_zeros(int64_t floats, const char* what) {
  const int64_t bytes = (4 * floats + 63) / 64 * 64;
  auto* p = static_cast<float*>(std::aligned_alloc(64, static_cast<size_t>(bytes)));
  check(p != nullptr, ErrorKind::kMemory, "[conv2d] no memory for {} bytes of {}", bytes, what);
  std::fill_n(p, floats, 0.0f);
  return p;
}

Ref<Storage> transformed_filters(const Tensor& filter, int64_t block) {
  const int64_t filters = filter.size(0), channels = filter.size(1), blocks = (filters + block - 1) / block;
  const int64_t plane = blocks * channels * block;
  Ref<Storage> made = Storage::allocate(static_cast<size_t>(36 * plane) * sizeof(float), Place::cpu());
  auto* u = static_cast<float*>(made->data());
  const float* w = filter.data<float>();
  parallel_for(0, blocks, std::max<int64_t>(1, 4096 / (channels * block)), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      for (int64_t at = 0; at < block; at += rows::kFilterLanes) {
        const int64_t lanes = std::min(block - at, rows::kFilterLanes), first = std::min(k * block + at, filters);
        rows::row_table().winograd_filters({w + first * channels * 9, std::min(filters - first, lanes), lanes, channels,
                                            u + k * channels * block + at, block, plane});
      }
  });
  return made;
}

}  // namespace paddle::kernels
