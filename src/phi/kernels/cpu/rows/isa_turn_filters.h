// Filters side by side, each multiplied by its own number (row_table.h, FilterTurn): squares in registers.
#pragma once
#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/tile/isa_simd.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

#if defined(__AVX2__)
inline constexpr int64_t kSquare = 8;
inline void turn_square(const float* from, int64_t from_pitch, float* to, int64_t to_pitch, const float* scale) {
  __m256 r[8], pairs[8], fours[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(from + i * from_pitch);
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      fours[i + 2 * j] = _mm256_shuffle_ps(pairs[i + j], pairs[i + j + 2], 0x44);
      fours[i + 2 * j + 1] = _mm256_shuffle_ps(pairs[i + j], pairs[i + j + 2], 0xee);
    }
  const __m256 factor = scale ? _mm256_loadu_ps(scale) : _mm256_set1_ps(1.0f);
  for (int i = 0; i < 4; ++i) {
    const __m256 low = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
    const __m256 high = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
    _mm256_storeu_ps(to + i * to_pitch, _mm256_mul_ps(low, factor));
    _mm256_storeu_ps(to + (i + 4) * to_pitch, _mm256_mul_ps(high, factor));
  }
}
#else
inline constexpr int64_t kSquare = 4;
inline void turn_square(const float* from, int64_t from_pitch, float* to, int64_t to_pitch, const float* scale) {
  __m128 r[4];
  for (int i = 0; i < 4; ++i) r[i] = _mm_loadu_ps(from + i * from_pitch);
  _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
  const __m128 factor = scale ? _mm_loadu_ps(scale) : _mm_set1_ps(1.0f);
  for (int i = 0; i < 4; ++i) _mm_storeu_ps(to + i * to_pitch, _mm_mul_ps(r[i], factor));
}
#endif

void turn_filters(const FilterTurn& t) {
  const int64_t whole_rows = t.rows / kSquare * kSquare, whole_filters = t.filters / kSquare * kSquare;
  auto singly = [&t](int64_t f, int64_t first_row) {
    const float factor = t.scale ? t.scale[f] : 1.0f;
    for (int64_t r = first_row; r < t.rows; ++r) t.to[r * t.to_pitch + f] = t.from[f * t.from_pitch + r] * factor;
  };
  for (int64_t f = 0; f < whole_filters; f += kSquare) {
    const float* from = t.from + f * t.from_pitch;
    for (int64_t r = 0; r < whole_rows; r += kSquare) {
      turn_square(from + r, t.from_pitch, t.to + r * t.to_pitch + f, t.to_pitch, t.scale ? t.scale + f : nullptr);
      // What comes next of each filter lies far from what came before of the next one.
      if (r % 16 == 0)
        for (int64_t i = 0; i < kSquare; ++i) __builtin_prefetch(from + i * t.from_pitch + t.rows + r);
    }
    for (int64_t i = 0; i < kSquare; ++i) singly(f + i, whole_rows);
  }
  for (int64_t f = whole_filters; f < t.filters; ++f) singly(f, 0);
}

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
