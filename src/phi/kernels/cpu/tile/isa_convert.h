// Loads into and stores from register tiles: conversion of element type and stride.
#pragma once
#include "phi/kernels/cpu/tile/convert_value.h"
#include "phi/kernels/cpu/tile/isa_arith.h"

namespace paddle::tile::detail::PD_ISA {
namespace {

#if defined(__F16C__)
inline void convert_dense(float* d, const float16* s, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    store(d + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(s + i))));
  }
#endif
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(d + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(s + i))));
  }
  for (; i < n; ++i) d[i] = s[i];
}

inline void convert_dense(float16* d, const float* s, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(d + i), _mm512_cvtps_ph(load(s + i), _MM_FROUND_TO_NEAREST_INT));
  }
#endif
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(d + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(s + i), _MM_FROUND_TO_NEAREST_INT));
  }
  for (; i < n; ++i) d[i] = float16::from(s[i]);
}
#endif

template <class D, class S>
inline void convert_dense(D* d, const S* s, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) d[i] = convert_value<D>(s[i]);
}

template <class D, class S>
void convert(void* dst, int64_t ds, const void* src, int64_t ss, int64_t n) {
  D* d = static_cast<D*>(dst);
  const S* s = static_cast<const S*>(src);
  if (ds == 1 && ss == 1) {
    if constexpr (std::is_same_v<D, S>) {
      if (n > 0) std::memmove(d, s, n * sizeof(D));
    } else {
      convert_dense(d, s, n);
    }
  } else if (ds == 1 && ss == 0) {
    const D value = convert_value<D>(*s);
    for (int64_t i = 0; i < n; ++i) d[i] = value;
  } else {
    for (int64_t i = 0; i < n; ++i) d[i * ds] = convert_value<D>(s[i * ss]);
  }
}

template <class T, class S>
void on_dtype(KernelTable& t, DType dtype) {
  t.load[static_cast<int>(kComputeOf<T>)][static_cast<int>(dtype)] = &convert<T, S>;
  t.store[static_cast<int>(kComputeOf<T>)][static_cast<int>(dtype)] = &convert<S, T>;
}

template <class T>
void fill_conversions(KernelTable& t) {
  on_dtype<T, boolean>(t, DType::kBool);
  on_dtype<T, uint8_t>(t, DType::kUInt8);
  on_dtype<T, int8_t>(t, DType::kInt8);
  on_dtype<T, int16_t>(t, DType::kInt16);
  on_dtype<T, int32_t>(t, DType::kInt32);
  on_dtype<T, int64_t>(t, DType::kInt64);
  on_dtype<T, float16>(t, DType::kFloat16);
  on_dtype<T, bfloat16>(t, DType::kBFloat16);
  on_dtype<T, float>(t, DType::kFloat32);
  on_dtype<T, double>(t, DType::kFloat64);
}

}  // namespace
}  // namespace paddle::tile::detail::PD_ISA
