// Vectors and SLEEF's spelling of its functions for the instruction set that PD_ISA names. Included once by each of
// isa_base.cc, isa_avx2.cc and isa_avx512.cc; all in a namespace of that name, and inside it anonymous.
#pragma once
#ifndef PD_ISA
#error "include from isa_*.cc, which define PD_ISA"
#endif
#include <immintrin.h>
#include <sleef.h>

#include <cstring>

#include "phi/kernels/cpu/tile/kernel_table.h"

#if defined(__AVX512F__)
#define PD_SLEEF_F(fn, accuracy) Sleef_##fn##f16_##accuracy##avx512f
#define PD_SLEEF_D(fn, accuracy) Sleef_##fn##d8_##accuracy##avx512f
#elif defined(__AVX2__)
#define PD_SLEEF_F(fn, accuracy) Sleef_##fn##f8_##accuracy##avx2
#define PD_SLEEF_D(fn, accuracy) Sleef_##fn##d4_##accuracy##avx2
#else
#define PD_SLEEF_F(fn, accuracy) Sleef_##fn##f4_##accuracy##sse2
#define PD_SLEEF_D(fn, accuracy) Sleef_##fn##d2_##accuracy##sse2
#endif

namespace paddle::tile::detail::PD_ISA {
namespace {

#if defined(__AVX512F__)
using VF = __m512;
using VD = __m512d;
inline VF load(const float* p) { return _mm512_loadu_ps(p); }
inline VD load(const double* p) { return _mm512_loadu_pd(p); }
inline void store(float* p, VF v) { _mm512_storeu_ps(p, v); }
inline void store(double* p, VD v) { _mm512_storeu_pd(p, v); }
inline VF broadcast(float x) { return _mm512_set1_ps(x); }
inline VD broadcast(double x) { return _mm512_set1_pd(x); }
#elif defined(__AVX2__)
using VF = __m256;
using VD = __m256d;
inline VF load(const float* p) { return _mm256_loadu_ps(p); }
inline VD load(const double* p) { return _mm256_loadu_pd(p); }
inline void store(float* p, VF v) { _mm256_storeu_ps(p, v); }
inline void store(double* p, VD v) { _mm256_storeu_pd(p, v); }
inline VF broadcast(float x) { return _mm256_set1_ps(x); }
inline VD broadcast(double x) { return _mm256_set1_pd(x); }
#else
using VF = __m128;
using VD = __m128d;
inline VF load(const float* p) { return _mm_loadu_ps(p); }
inline VD load(const double* p) { return _mm_loadu_pd(p); }
inline void store(float* p, VF v) { _mm_storeu_ps(p, v); }
inline void store(double* p, VD v) { _mm_storeu_pd(p, v); }
inline VF broadcast(float x) { return _mm_set1_ps(x); }
inline VD broadcast(double x) { return _mm_set1_pd(x); }
#endif

template <class T>
inline constexpr int64_t kLanes = sizeof(VF) / sizeof(T);
template <class T>
using VecOf = decltype(broadcast(T{}));

template <class T>
inline VecOf<T> load_some(const T* p, int64_t n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
#endif
  alignas(64) T lanes[kLanes<T>] = {};
  std::memcpy(lanes, p, n * sizeof(T));
  return load(lanes);
}
template <class T>
inline void store_some(T* p, VecOf<T> v, int64_t n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) return _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), v);
#endif
  alignas(64) T lanes[kLanes<T>];
  store(lanes, v);
  std::memcpy(p, lanes, n * sizeof(T));
}

// A loop over a vector function; the last, incomplete vector goes through a padded copy.
template <class T, auto F>
void vector_unary(void* out, const void* a, const void*, const void*, unsigned, int64_t n) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) store(o + i, F(load(x + i)));
  if (i < n) store_some<T>(o + i, F(load_some<T>(x + i, n - i)), n - i);
}

template <class T, auto F>
void vector_binary(void* out, const void* a, const void* b, const void*, unsigned scalars, int64_t n) {
  T* o = static_cast<T*>(out);
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  const bool sx = scalars & 1, sy = scalars & 2;
  const VecOf<T> vx = broadcast(*x), vy = broadcast(*y);
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) store(o + i, F(sx ? vx : load(x + i), sy ? vy : load(y + i)));
  if (i < n) {
    const int64_t rest = n - i;
    store_some<T>(o + i, F(sx ? vx : load_some<T>(x + i, rest), sy ? vy : load_some<T>(y + i, rest)), rest);
  }
}

}  // namespace
}  // namespace paddle::tile::detail::PD_ISA
