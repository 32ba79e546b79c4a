// Some rows times a panel: a slice of a matrix's columns, stored row by row, so that it is read as one stream.
#pragma once
#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/tile/isa_math.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

using namespace tile::detail::PD_ISA;

// As many accumulators as the registers hold beside a row of the panel and one broadcast element.
#if defined(__AVX512F__)
inline constexpr int kPanelRows = 6, kPanelVectors = 4;
#else
inline constexpr int kPanelRows = 4, kPanelVectors = 2;
#endif
inline constexpr int64_t kPanelWidth = kPanelVectors * kLanes<float>;
inline constexpr int64_t kPanelAhead = 24;  // rows of the panel, fetched meanwhile

inline VecOf<float> load_wide(const float* p) { return load(p); }
// bfloat16: the upper half of a float's bits.
inline VecOf<float> load_wide(const uint16_t* p) {
#if defined(__AVX512F__)
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
#elif defined(__AVX2__)
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
#else
  const __m128i bits = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), bits));
#endif
}

template <int rows, class W>
void panel_tile(int64_t k, const float* x, int64_t ldx, const W* panel, float* y, int64_t ldy) {
  using V = VecOf<float>;
  V acc[rows][kPanelVectors];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kPanelVectors; ++j) acc[i][j] = broadcast(0.0f);
  for (int64_t p = 0; p < k; ++p, panel += kPanelWidth) {
    V w[kPanelVectors];
    for (int j = 0; j < kPanelVectors; ++j) {
      w[j] = load_wide(panel + j * kLanes<float>);
      __builtin_prefetch(panel + kPanelAhead * kPanelWidth + j * kLanes<float>);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const V v = broadcast(x[i * ldx + p]);
#pragma GCC unroll 4
      for (int j = 0; j < kPanelVectors; ++j) acc[i][j] += v * w[j];
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < kPanelVectors; ++j) store(y + i * ldy + j * kLanes<float>, acc[i][j]);
}

// y[i, j] = sum over p < k of x[i, p] panel[p, j], for any number of rows and j < kPanelWidth.
template <class W>
void panel_product(int64_t rows, int64_t k, const float* x, int64_t ldx, const W* panel, float* y, int64_t ldy) {
  int64_t i = 0;
  for (; i + kPanelRows <= rows; i += kPanelRows) panel_tile<kPanelRows>(k, x + i * ldx, ldx, panel, y + i * ldy, ldy);
  const float* rest = x + i * ldx;
  float* to = y + i * ldy;
  switch (rows - i) {
    case 1:
      return panel_tile<1>(k, rest, ldx, panel, to, ldy);
    case 2:
      return panel_tile<2>(k, rest, ldx, panel, to, ldy);
    case 3:
      return panel_tile<3>(k, rest, ldx, panel, to, ldy);
    case 4:
      return panel_tile<4>(k, rest, ldx, panel, to, ldy);
    case 5:
      return panel_tile<5>(k, rest, ldx, panel, to, ldy);
    default:
      return;
  }
}

PanelFns panel() { return {kPanelWidth, panel_product<float>, panel_product<uint16_t>}; }

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
