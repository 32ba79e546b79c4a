// Operands of matrix products in the order in which tiles read them (row_table.h, GemmFns).
#pragma once
#include <algorithm>
#include <cstring>

#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/tile/isa_math.h"

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

#if defined(__AVX2__)
// Eight columns of eight rows.
inline void transpose8(__m256 (&v)[8]) {
  __m256 t[8], u[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int k = 0; k < 2; ++k) {
      u[i + 2 * k] = _mm256_shuffle_ps(t[i + k], t[i + 2 + k], 0x44);
      u[i + 2 * k + 1] = _mm256_shuffle_ps(t[i + k], t[i + 2 + k], 0xEE);
    }
  for (int i = 0; i < 4; ++i) {
    v[i] = _mm256_permute2f128_ps(u[i], u[4 + i], 0x20);
    v[4 + i] = _mm256_permute2f128_ps(u[i], u[4 + i], 0x31);
  }
}

// Rows one after another, eight at a time where the slice has as many, a line of memory of each. Returns how deep it
// came.
template <int width>
int64_t pack_turned(float* to, const float* from, int64_t along, int64_t across_stride) {
  if constexpr (width % 8) return 0;
  const int64_t deep = along / 8 * 8;
  for (int64_t line = 0; line < deep; line += 16)
    for (int i = 0; i + 8 <= width; i += 8)
      for (int64_t p = line; p < std::min(line + 16, deep); p += 8) {
        __m256 v[8];
        for (int r = 0; r < 8; ++r) v[r] = _mm256_loadu_ps(from + (i + r) * across_stride + p);
        transpose8(v);
        for (int r = 0; r < 8; ++r) _mm256_storeu_ps(to + (p + r) * width + i, v[r]);
      }
  return deep;
}
#else
template <int width>
int64_t pack_turned(float*, const float*, int64_t, int64_t) {
  return 0;
}
#endif

// A slice of `have` <= width rows.
template <class T, int width>
void pack_slice(T* to, const T* from, int64_t have, int64_t along, int64_t across_stride, int64_t along_stride) {
  int64_t p = 0;
  if constexpr (sizeof(T) == 4)
    if (have == width && along_stride == 1) p = pack_turned<width>(to, from, along, across_stride);
  for (; p < along; ++p) {
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
