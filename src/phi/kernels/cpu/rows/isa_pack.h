// Operands of matrix products in the order in which tiles read them (row_table.h, GemmFns).
#pragma once
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/tile/transpose.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

// As many slices side by side are read together where rows lie across them: longer runs of each line of memory.
inline constexpr int64_t kPackTogether = 4;
inline constexpr int64_t kPackAhead = 16;  // lines so far ahead are fetched: strides are more than processors foresee

// Whole slices whose rows lie side by side.
template <class T, int width>
void pack_side_by_side(T* to, const T* from, int64_t slices, int64_t along, int64_t along_stride) {
  for (int64_t s = 0; s < slices; s += kPackTogether) {
    const int64_t together = std::min(kPackTogether, slices - s);
    for (int64_t p = 0; p < along; ++p) {
      const T* line = from + s * width + p * along_stride;
      for (int64_t x = 0; x < together * width; x += 64 / sizeof(T))
        __builtin_prefetch(line + kPackAhead * along_stride + x);
      for (int64_t q = 0; q < together; ++q)
        std::memcpy(to + ((s + q) * along + p) * width, line + q * width, width * sizeof(T));
    }
  }
}

// A slice of `have` <= width rows.
template <class T, int width>
void pack_slice(T* to, const T* from, int64_t have, int64_t along, int64_t across_stride, int64_t along_stride) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  if (have == width && along_stride == 1)
    return tile::transpose(reinterpret_cast<Bits*>(to), width, reinterpret_cast<const Bits*>(from), across_stride,
                           along, width);
  for (int64_t p = 0; p < along; ++p) {
    for (int64_t i = 0; i < have; ++i) to[p * width + i] = from[i * across_stride + p * along_stride];
    for (int64_t i = have; i < width; ++i) to[p * width + i] = T(0);
  }
}

template <class T, int width>
void pack(T* to, const T* from, int64_t across, int64_t along, int64_t across_stride, int64_t along_stride) {
  int64_t first = 0;
  if (across_stride == 1) {
    const int64_t whole = across / width;
    pack_side_by_side<T, width>(to, from, whole, along, along_stride);
    first = whole * width;
  }
  for (; first < across; first += width)
    pack_slice<T, width>(to + first * along, from + first * across_stride, std::min<int64_t>(width, across - first),
                         along, across_stride, along_stride);
}

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
