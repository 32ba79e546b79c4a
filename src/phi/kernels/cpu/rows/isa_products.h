// The innermost loops of matrix products and depthwise convolutions (row_table.h).
#pragma once
#include "phi/kernels/cpu/rows/isa_pack.h"
#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/tile/isa_math.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

using namespace tile::detail::PD_ISA;

// As many accumulators as the registers hold beside a row of b and one broadcast element of a.
#if defined(__AVX512F__)
inline constexpr int kTileRows = 8, kTileVectors = 3;
#elif defined(__AVX2__)
inline constexpr int kTileRows = 6, kTileVectors = 2;
#else
inline constexpr int kTileRows = 4, kTileVectors = 2;
#endif

// The tile's lines of c are fetched while it is computed.
template <class T>
void gemm_tile(int64_t k, const T* a, int64_t a_row, int64_t a_col, const T* b, T* c, int64_t ldc, bool add) {
  using V = VecOf<T>;
  constexpr int64_t kWidth = kTileVectors * kLanes<T>;
  V acc[kTileRows][kTileVectors];
  for (int i = 0; i < kTileRows; ++i) {
    __builtin_prefetch(c + i * ldc, 1);
    __builtin_prefetch(c + i * ldc + kWidth - 1, 1);
    for (int j = 0; j < kTileVectors; ++j) acc[i][j] = broadcast(T(0));
  }
  for (int64_t p = 0; p < k; ++p, a += a_col, b += kWidth) {
    V row[kTileVectors];
    for (int j = 0; j < kTileVectors; ++j) row[j] = load(b + j * kLanes<T>);
#pragma GCC unroll 8
    for (int i = 0; i < kTileRows; ++i) {
      const V x = broadcast(a[i * a_row]);
#pragma GCC unroll 3
      for (int j = 0; j < kTileVectors; ++j) acc[i][j] += x * row[j];
    }
  }
  for (int i = 0; i < kTileRows; ++i)
    for (int j = 0; j < kTileVectors; ++j) {
      T* to = c + i * ldc + j * kLanes<T>;
      store(to, add ? load(to) + acc[i][j] : acc[i][j]);
    }
}

template <class T>
GemmFns<T> gemm() {
  constexpr int kWidth = kTileVectors * static_cast<int>(kLanes<T>);
  return {kTileRows, kWidth, gemm_tile<T>, pack<T, kTileRows>, pack<T, kWidth>};
}

template <class T, int kH, int kW>
void depthwise_fixed(T* y, int64_t out_h, int64_t out_w, const T* x, int64_t pitch, const T* w) {
  T taps[kH * kW];
  for (int k = 0; k < kH * kW; ++k) taps[k] = w[k];
  for (int64_t i = 0; i < out_h; ++i, x += pitch, y += out_w) {
#pragma omp simd
    for (int64_t j = 0; j < out_w; ++j) {
      T sum = 0;
#pragma GCC unroll 8
      for (int u = 0; u < kH; ++u)
#pragma GCC unroll 8
        for (int v = 0; v < kW; ++v) sum += taps[u * kW + v] * x[u * pitch + j + v];
      y[j] = sum;
    }
  }
}

template <class T>
void depthwise(T* y, int64_t out_h, int64_t out_w, const T* x, int64_t pitch, const T* w, int64_t kh, int64_t kw,
               int64_t dh, int64_t dw) {
  if (dh == 1 && dw == 1 && kh == 3 && kw == 3) return depthwise_fixed<T, 3, 3>(y, out_h, out_w, x, pitch, w);
  if (dh == 1 && dw == 1 && kh == 5 && kw == 5) return depthwise_fixed<T, 5, 5>(y, out_h, out_w, x, pitch, w);
  for (int64_t i = 0; i < out_h; ++i, y += out_w) {
    for (int64_t j = 0; j < out_w; ++j) y[j] = 0;
    for (int64_t u = 0; u < kh; ++u)
      for (int64_t v = 0; v < kw; ++v) {
        const T* from = x + (i + u * dh) * pitch + v * dw;
        const T tap = w[u * kw + v];
#pragma omp simd
        for (int64_t j = 0; j < out_w; ++j) y[j] += tap * from[j];
      }
  }
}

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
