// Products of small matrices: tiles of the result in registers, operands read where they lie (row_table.h).
#pragma once
#include "phi/kernels/cpu/rows/isa_small_rest.h"
#include "phi/kernels/cpu/rows/isa_tail.h"
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

using namespace tile::detail::PD_ISA;

// Rows of a tile that is so many vectors wide: as many accumulators as the registers hold beside a row of b and one
// broadcast element of a, and at least as many as hide an addition's latency.
#if defined(__AVX512F__)
inline constexpr int kSmallRows[] = {12, 12, 8, 6};
#else
inline constexpr int kSmallRows[] = {12, 6, 4};
#endif
inline constexpr int kSmallVectors = sizeof(kSmallRows) / sizeof(int);

template <int rows, int vectors, bool whole>
void small_tile(const SmallProduct& t, int64_t row, int64_t column, const Tail& tail) {
  constexpr int64_t kL = kLanes<float>;
  auto get = [&](const float* p, int j) { return whole || j + 1 < vectors ? load(p + j * kL) : tail.load(p + j * kL); };
  VF acc[rows][vectors];
  // Unrolled, so that no compiler fills them as memory, where they would then stay.
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j) acc[i][j] = broadcast(0.0f);
  // Three rows share an address.
  constexpr int kBases = (rows + 2) / 3;
  const float* base[kBases];
  for (int g = 0; g < kBases; ++g) base[g] = t.a + (row + 3 * g) * t.a_row;
  const float* b = t.b + column;
  const int64_t step = t.a_row;
  const int64_t depth = t.depth, next = t.a_col, line = t.ldb;
  for (int64_t p = 0; p < depth; ++p, b += line) {
    VF w[vectors];
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j) w[j] = get(b, j);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const VF x = broadcast(base[i / 3][i % 3 * step]);
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j) acc[i][j] += x * w[j];
    }
#pragma GCC unroll 4
    for (int g = 0; g < kBases; ++g) base[g] += next;
  }
  float* c = t.c + row * t.ldc + column;
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i, c += t.ldc)
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j) {
      const VF v = t.add ? get(c, j) + acc[i][j] : acc[i][j];
      whole || j + 1 < vectors ? store(c + j * kL, v) : tail.store(c + j * kL, v);
    }
}

using SmallTileFn = void (*)(const SmallProduct&, int64_t row, int64_t column, const Tail&);

template <int rows, int vectors>
void small_tile_of(const SmallProduct& t, int64_t row, int64_t count, int64_t column, const Tail* tail) {
  if (count == rows)
    return tail ? small_tile<rows, vectors, false>(t, row, column, *tail)
                : small_tile<rows, vectors, true>(t, row, column, Tail(0));
  if constexpr (rows > 1) small_tile_of<rows - 1, vectors>(t, row, count, column, tail);
}

// Rows first ... last of a panel: tiles of most rows, the last two of them about equal.
template <int vectors>
void small_panel(const SmallProduct& t, int64_t first, int64_t last, int64_t column, const Tail* tail) {
  constexpr int64_t kRows = kSmallRows[vectors - 1];
  while (first < last) {
    const int64_t left = last - first;
    const int64_t count = left <= kRows ? left : left < 2 * kRows ? (left + 1) / 2 : kRows;
    small_tile_of<static_cast<int>(kRows), vectors>(t, first, count, column, tail);
    first += count;
  }
}

void small_columns(const SmallProduct& t, int vectors, int64_t first, int64_t last, int64_t column, const Tail* tail) {
  switch (vectors) {
    case 1:
      return small_panel<1>(t, first, last, column, tail);
    case 2:
      return small_panel<2>(t, first, last, column, tail);
    case 3:
      return small_panel<3>(t, first, last, column, tail);
#if defined(__AVX512F__)
    case 4:
      return small_panel<4>(t, first, last, column, tail);
#endif
    default:
      return;
  }
}

void small_panels(const SmallProduct& t, int64_t columns, int64_t first, int64_t last, const Tail& tail) {
  constexpr int64_t kL = kLanes<float>;
  const int64_t all = (columns + kL - 1) / kL, panels = (all + kSmallVectors - 1) / kSmallVectors;
  int64_t vector = 0;
  for (int64_t i = 0; i < panels; ++i) {
    const int64_t width = (all - vector + panels - i - 1) / (panels - i);  // panels about equally wide
    const bool cut = i + 1 == panels && columns % kL != 0;
    small_columns(t, static_cast<int>(width), first, last, vector * kL, cut ? &tail : nullptr);
    vector += width;
  }
}

// Blocks of rows, so that those of a stay in L1 from one panel of columns to the next.
void small_product(const SmallProduct& t) {
  constexpr int64_t kRowBlock = 48;
  const bool rest = FewColumns::fit(t);
  FewColumns few;
  if (rest) few.copy(t);
  const int64_t columns = rest ? few.first : t.columns;
  const Tail tail((columns - 1) % kLanes<float> + 1);
  for (int64_t first = 0, last; first < t.rows; first = last) {
    // The last block takes what would be a short one.
    last = t.rows - first < kRowBlock * 3 / 2 ? t.rows : first + kRowBlock;
    small_panels(t, columns, first, last, tail);
    if (rest) rest_of_columns(t, few, first, last);
  }
}

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
