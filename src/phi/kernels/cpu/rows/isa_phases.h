// Rows split by column modulo 4, and joined again: vectors of every fourth element.
#pragma once
#include "phi/kernels/cpu/tile/isa_simd.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

using namespace tile::detail::PD_ISA;

#if defined(__AVX512F__)
inline void split4(const float* x, VF* phases) {
  const auto even = [](VF a, VF b) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  };
  const auto odd = [](VF a, VF b) {
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  };
  const VF a = load(x), b = load(x + 16), c = load(x + 32), d = load(x + 48);
  const VF even_ab = even(a, b), even_cd = even(c, d), odd_ab = odd(a, b), odd_cd = odd(c, d);
  phases[0] = even(even_ab, even_cd);
  phases[1] = even(odd_ab, odd_cd);
  phases[2] = odd(even_ab, even_cd);
  phases[3] = odd(odd_ab, odd_cd);
}
inline void join4(const VF* phases, VF* y) {
  const auto low = [](VF a, VF b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  };
  const auto high = [](VF a, VF b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  };
  const VF even_low = low(phases[0], phases[2]), even_high = high(phases[0], phases[2]);
  const VF odd_low = low(phases[1], phases[3]), odd_high = high(phases[1], phases[3]);
  y[0] = low(even_low, odd_low);
  y[1] = high(even_low, odd_low);
  y[2] = low(even_high, odd_high);
  y[3] = high(even_high, odd_high);
}
#else
// Four by four, within each 128 bits.
inline void transpose4(VF& a, VF& b, VF& c, VF& d) {
#if defined(__AVX2__)
  const VF ab_low = _mm256_unpacklo_ps(a, b), ab_high = _mm256_unpackhi_ps(a, b);
  const VF cd_low = _mm256_unpacklo_ps(c, d), cd_high = _mm256_unpackhi_ps(c, d);
  a = _mm256_shuffle_ps(ab_low, cd_low, 0x44);
  b = _mm256_shuffle_ps(ab_low, cd_low, 0xee);
  c = _mm256_shuffle_ps(ab_high, cd_high, 0x44);
  d = _mm256_shuffle_ps(ab_high, cd_high, 0xee);
#else
  _MM_TRANSPOSE4_PS(a, b, c, d);
#endif
}
inline void split4(const float* x, VF* phases) {
#if defined(__AVX2__)
  for (int j = 0; j < 4; ++j)
    phases[j] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(x + 4 * j)), _mm_loadu_ps(x + 16 + 4 * j), 1);
#else
  for (int j = 0; j < 4; ++j) phases[j] = load(x + 4 * j);
#endif
  transpose4(phases[0], phases[1], phases[2], phases[3]);
}
inline void join4(const VF* phases, VF* y) {
  VF a = phases[0], b = phases[1], c = phases[2], d = phases[3];
  transpose4(a, b, c, d);
#if defined(__AVX2__)
  y[0] = _mm256_permute2f128_ps(a, b, 0x20);
  y[1] = _mm256_permute2f128_ps(c, d, 0x20);
  y[2] = _mm256_permute2f128_ps(a, b, 0x31);
  y[3] = _mm256_permute2f128_ps(c, d, 0x31);
#else
  y[0] = a;
  y[1] = b;
  y[2] = c;
  y[3] = d;
#endif
}
#endif

// The elements of a and b, side by side, from a's second on.
inline VF from_second(VF a, VF b) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(a, b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
#elif defined(__AVX2__)
  return __builtin_shufflevector(a, b, 1, 2, 3, 4, 5, 6, 7, 8);
#else
  return __builtin_shufflevector(a, b, 1, 2, 3, 4);
#endif
}

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
