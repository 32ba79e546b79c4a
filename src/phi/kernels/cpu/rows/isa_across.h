// A panel of b's columns times any number of rows of a: as isa_small.h's products, for a b that comes from afar, and a
// result that goes there. What the next steps read and write is fetched meanwhile.
#pragma once
#include <algorithm>

#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/tile/isa_math.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

using namespace tile::detail::PD_ISA;

#if defined(__AVX512F__)
inline constexpr int kAcrossRows = 8, kAcrossVectors = 3;
#elif defined(__AVX2__)
inline constexpr int kAcrossRows = 6, kAcrossVectors = 2;
#else
inline constexpr int kAcrossRows = 4, kAcrossVectors = 2;
#endif
inline constexpr int64_t kAcrossAhead = 8;  // rows of b

template <int rows>
void across_tile(const SmallProduct& t, int64_t row) {
  constexpr int64_t kL = kLanes<float>;
  float* const c = t.c + row * t.ldc;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < kAcrossVectors; ++j) __builtin_prefetch(c + i * t.ldc + j * kL, 1);
  VF acc[rows][kAcrossVectors];
  for (auto& line : acc)
    for (VF& v : line) v = broadcast(0.0f);
  // Three rows share an address.
  constexpr int kBases = (rows + 2) / 3;
  const float* base[kBases];
  for (int g = 0; g < kBases; ++g) base[g] = t.a + (row + 3 * g) * t.a_row;
  const float* b = t.b;
  const int64_t step = t.a_row, ahead = kAcrossAhead * t.ldb;
  for (int64_t p = 0; p < t.depth; ++p, b += t.ldb) {
    VF w[kAcrossVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kAcrossVectors; ++j) {
      w[j] = load(b + j * kL);
      __builtin_prefetch(b + ahead + j * kL);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const VF x = broadcast(base[i / 3][i % 3 * step]);
#pragma GCC unroll 4
      for (int j = 0; j < kAcrossVectors; ++j) acc[i][j] += x * w[j];
    }
#pragma GCC unroll 4
    for (int g = 0; g < kBases; ++g) base[g] += t.a_col;
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kAcrossVectors; ++j) {
      float* to = c + i * t.ldc + j * kL;
      store(to, t.add ? load(to) + acc[i][j] : acc[i][j]);
    }
}

template <int rows>
void across_tile_of(const SmallProduct& t, int64_t row, int64_t count) {
  if (count == rows) return across_tile<rows>(t, row);
  if constexpr (rows > 1) across_tile_of<rows - 1>(t, row, count);
}

void panel_across(const SmallProduct& t) {
  for (int64_t row = 0; row < t.rows; row += kAcrossRows)
    across_tile_of<kAcrossRows>(t, row, std::min<int64_t>(kAcrossRows, t.rows - row));
}

AcrossFns across() { return {kAcrossVectors * kLanes<float>, panel_across}; }

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
