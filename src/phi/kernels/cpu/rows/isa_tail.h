// Vectors of which only the first elements are there.
#pragma once
#include "phi/kernels/cpu/tile/isa_math.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

using namespace tile::detail::PD_ISA;

// Reads and writes the first n elements (1 to a whole vector) and nothing beyond; what isn't read is 0.
#if defined(__AVX512F__)
struct Tail {
  __mmask16 mask;
  explicit Tail(int64_t n) : mask(static_cast<__mmask16>((1u << n) - 1)) {}
  VF load(const float* p) const { return _mm512_maskz_loadu_ps(mask, p); }
  void store(float* p, VF v) const { _mm512_mask_storeu_ps(p, mask, v); }
};
#elif defined(__AVX2__)
struct Tail {
  __m256i mask;
  explicit Tail(int64_t n)
      : mask(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))) {}
  VF load(const float* p) const { return _mm256_maskload_ps(p, mask); }
  void store(float* p, VF v) const { _mm256_maskstore_ps(p, mask, v); }
};
#else
struct Tail {
  int64_t n;
  explicit Tail(int64_t columns) : n(columns) {}
  VF load(const float* p) const { return load_some<float>(p, n); }
  void store(float* p, VF v) const { store_some<float>(p, v, n); }
};
#endif

// Reads elements first to last (either may lie outside of the vector) and nothing else; the others are 0.
struct Lanes {
#if defined(__AVX512F__)
  __mmask16 mask;
  Lanes(int64_t first, int64_t last) : mask(static_cast<__mmask16>(below(last) & ~below(first))) {}
  static unsigned below(int64_t n) { return n <= 0 ? 0 : n >= 16 ? 0xffff : (1u << n) - 1; }
  VF load(const float* p) const { return _mm512_maskz_loadu_ps(mask, p); }
#elif defined(__AVX2__)
  __m256i mask;
  Lanes(int64_t first, int64_t last) : mask(_mm256_andnot_si256(below(first), below(last))) {}
  static __m256i below(int64_t n) {
    const int bound = static_cast<int>(n < 0 ? 0 : n > 8 ? 8 : n);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(bound), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  VF load(const float* p) const { return _mm256_maskload_ps(p, mask); }
#else
  int64_t first, last;
  Lanes(int64_t f, int64_t l) : first(f), last(l) {}
  VF load(const float* p) const {
    alignas(16) float lanes[kLanes<float>] = {};
    for (int64_t i = 0; i < kLanes<float>; ++i)
      if (i >= first && i < last) lanes[i] = p[i];
    return tile::detail::PD_ISA::load(lanes);
  }
#endif
};

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
