// The columns of a small product beyond its whole vectors, where they are few: a vector of them would cost as much as a
// full one. The vectors run along a's memory instead: its depth or, where a is transposed, its rows.
#pragma once
#include <algorithm>
#include <utility>

#include "phi/kernels/cpu/rows/isa_tail.h"
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

inline constexpr int64_t kFewColumns = kLanes<float> / 4;
inline constexpr int64_t kFewDepth = 64;  // of b's columns, which are copied

inline float sum_of_lanes(VF v) {
  alignas(64) float lanes[kLanes<float>];
  store(lanes, v);
  for (int64_t width = kLanes<float> / 2; width > 0; width /= 2)
    for (int64_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}

// b's last columns, each with its elements side by side, then zeros.
struct FewColumns {
  int64_t first, count;
  alignas(64) float of[kFewColumns][kFewDepth + kLanes<float>];

  static bool fit(const SmallProduct& t) {
    const int64_t rest = t.columns % kLanes<float>;
    return rest > 0 && rest <= kFewColumns && t.columns > kLanes<float> && t.depth >= 16 && t.depth <= kFewDepth &&
           (t.a_col == 1 || t.a_row == 1);
  }
  void copy(const SmallProduct& t) {
    count = t.columns % kLanes<float>;
    first = t.columns - count;
    for (int64_t j = 0; j < count; ++j) {
      for (int64_t p = 0; p < t.depth; ++p) of[j][p] = t.b[p * t.ldb + first + j];
      for (int64_t p = t.depth; p < t.depth + kLanes<float>; ++p) of[j][p] = 0;
    }
  }
};

inline void put(const SmallProduct& t, int64_t row, int64_t column, float value) {
  float& to = t.c[row * t.ldc + column];
  to = t.add ? to + value : value;
}

// Lanes whose number has bit `s`: b's pair of lanes that differ in it, added; the others: a's.
template <size_t s, size_t... i>
inline VF add_pairs(VF a, VF b, std::index_sequence<i...>) {
  constexpr size_t kL = kLanes<float>;
  return __builtin_shufflevector(a, b, (i & s ? kL + i : i)...) +
         __builtin_shufflevector(a, b, (i & s ? kL + (i ^ s) : i ^ s)...);
}
// Lane i of the result is the sum of v[i]'s lanes. Overwrites v.
template <size_t s = kLanes<float> / 2>
inline VF sums_of_lanes(VF* v) {
  for (size_t i = 0; i < s; ++i) v[i] = add_pairs<s>(v[i], v[i + s], std::make_index_sequence<kLanes<float>>{});
  if constexpr (s > 1)
    return sums_of_lanes<s / 2>(v);
  else
    return v[0];
}

// Rows whose dot products with so many columns are one vector of sums.
constexpr int dot_rows(int columns) {
  int rows = static_cast<int>(kLanes<float>);
  while (rows * columns > kLanes<float>) rows /= 2;
  return rows;
}

template <int rows, int columns>
void dots_along_depth(const SmallProduct& t, const FewColumns& few, int64_t row) {
  constexpr int64_t kL = kLanes<float>;
  VF acc[kL];
#pragma GCC unroll 16
  for (VF& v : acc) v = broadcast(0.0f);
  const float* a = t.a + row * t.a_row;
  auto step = [&](int64_t p, auto&& get) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const VF x = get(a + i * t.a_row + p);
#pragma GCC unroll 4
      for (int j = 0; j < columns; ++j) acc[i * columns + j] += x * load(&few.of[j][p]);
    }
  };
  int64_t p = 0;
  for (; p + kL <= t.depth; p += kL) step(p, [](const float* x) { return load(x); });
  if (p < t.depth) {
    const Tail tail(t.depth - p);
    step(p, [&](const float* x) { return tail.load(x); });
  }
  alignas(64) float sums[kL];
  if constexpr (rows == 1) {
    for (int j = 0; j < columns; ++j) sums[j] = sum_of_lanes(acc[j]);
  } else {
    store(sums, sums_of_lanes(acc));
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) put(t, row + i, few.first + j, sums[i * columns + j]);
}

// So many vectors of rows, the last of them with `left` rows.
template <int vectors, int columns>
void dots_along_rows(const SmallProduct& t, const FewColumns& few, int64_t row, int64_t left) {
  constexpr int64_t kL = kLanes<float>;
  const Tail tail(left);
  VF acc[vectors][columns];
#pragma GCC unroll 4
  for (int i = 0; i < vectors; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < columns; ++j) acc[i][j] = broadcast(0.0f);
  const float* a = t.a + row;
  for (int64_t p = 0; p < t.depth; ++p, a += t.a_col) {
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) {
      const VF x = i + 1 < vectors ? load(a + i * kL) : tail.load(a + i * kL);
#pragma GCC unroll 4
      for (int j = 0; j < columns; ++j) acc[i][j] += x * broadcast(few.of[j][p]);
    }
  }
  for (int i = 0; i < vectors; ++i)
    for (int j = 0; j < columns; ++j) {
      alignas(64) float lanes[kL];
      store(lanes, acc[i][j]);
      for (int64_t r = 0; r < (i + 1 < vectors ? kL : left); ++r) put(t, row + i * kL + r, few.first + j, lanes[r]);
    }
}

template <int columns>
void few_columns(const SmallProduct& t, const FewColumns& few, int64_t first, int64_t last) {
  if (t.a_col == 1) {
    constexpr int kRows = dot_rows(columns);
    for (; first + kRows <= last; first += kRows) dots_along_depth<kRows, columns>(t, few, first);
    for (; first < last; ++first) dots_along_depth<1, columns>(t, few, first);
    return;
  }
  constexpr int64_t kL = kLanes<float>;
  for (; first + 4 * kL <= last; first += 4 * kL) dots_along_rows<4, columns>(t, few, first, kL);
  for (; first + 2 * kL <= last; first += 2 * kL) dots_along_rows<2, columns>(t, few, first, kL);
  for (; first < last; first += kL) dots_along_rows<1, columns>(t, few, first, std::min(kL, last - first));
}

// Rows first ... last of these columns.
inline void rest_of_columns(const SmallProduct& t, const FewColumns& few, int64_t first, int64_t last) {
  switch (few.count) {
    case 1:
      return few_columns<1>(t, few, first, last);
#if defined(__AVX2__)
    case 2:
      return few_columns<2>(t, few, first, last);
#endif
#if defined(__AVX512F__)
    case 3:
      return few_columns<3>(t, few, first, last);
    case 4:
      return few_columns<4>(t, few, first, last);
#endif
    default:
      return;
  }
}

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
