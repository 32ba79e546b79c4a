// The innermost loops of attention (row_table.h): products of small blocks, and what happens to a row of scores.
#pragma once
#include "phi/kernels/cpu/rows/isa_sums.h"
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

// As many accumulators as the registers hold beside a row of b and one broadcast element of a.
#if defined(__AVX512F__)
inline constexpr int kBlockRows = 8;
#else
inline constexpr int kBlockRows = 6;
#endif
inline constexpr int kBlockVectors = 2;
inline constexpr int64_t kBlockWidth = kBlockVectors * kLanes<float>;

template <int rows, bool across>
void block_tile(const BlockProduct& t, const float* a, const float* b, float* c) {
  VF acc[rows][kBlockVectors];
  for (auto& row : acc)
    for (VF& v : row) v = broadcast(0.0f);
  const int64_t lda = t.lda;
  for (int64_t p = 0; p < t.depth; ++p, b += kBlockWidth) {
    VF w[kBlockVectors];
    for (int j = 0; j < kBlockVectors; ++j) w[j] = load(b + j * kLanes<float>);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const VF x = broadcast(across ? a[p * lda + i] : a[i * lda + p]);
#pragma GCC unroll 2
      for (int j = 0; j < kBlockVectors; ++j) acc[i][j] += x * w[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < kBlockVectors; ++j) {
      float* to = c + i * t.ldc + j * kLanes<float>;
      store(to, t.add ? load(to) + acc[i][j] : acc[i][j]);
    }
}

template <bool across>
void block_rows(int64_t rows, const BlockProduct& t, const float* a, const float* b, float* c) {
  switch (rows) {
    case 1:
      return block_tile<1, across>(t, a, b, c);
    case 2:
      return block_tile<2, across>(t, a, b, c);
    case 3:
      return block_tile<3, across>(t, a, b, c);
    case 4:
      return block_tile<4, across>(t, a, b, c);
    case 5:
      return block_tile<5, across>(t, a, b, c);
    case 6:
      return block_tile<6, across>(t, a, b, c);
#if defined(__AVX512F__)
    case 7:
      return block_tile<7, across>(t, a, b, c);
    case 8:
      return block_tile<8, across>(t, a, b, c);
#endif
    default:
      return;
  }
}

// A panel of b stays in L1 while all rows of a pass it.
void block_product(const BlockProduct& t) {
  for (int64_t j = 0; j < t.cols; j += kBlockWidth) {
    const float* b = t.b + j / kBlockWidth * t.panel;
    for (int64_t i = 0; i < t.rows; i += kBlockRows) {
      const int64_t rows = t.rows - i < kBlockRows ? t.rows - i : kBlockRows;
      float* c = t.c + i * t.ldc + j;
      if (t.across)
        block_rows<true>(rows, t, t.a + i, b, c);
      else
        block_rows<false>(rows, t, t.a + i * t.lda, b, c);
    }
  }
}

// exp for x <= 0, or NaN: 0 from where the result would be denormal.
inline float exp_below(float x) {
  const float t = x < kLeastExponent ? kLeastExponent : x;
  const auto [y, n] = exponential(t);
  return x < kLeastExponent ? 0.0f : y * std::bit_cast<float>((n + 127) << 23);
}

// A row of scores joins those seen before: exp(s - most) in place, `most` and `total` brought up to date. What was
// summed up before must be multiplied by the result.
float join_scores(float* s, int64_t n, float* most, float* total) {
  const float before = *most, here = largest<float>(s, n), now = here > before ? here : before;
  const float base = now == -__builtin_inff() ? 0.0f : now;  // nothing seen so far: all weights are 0
  const float sum = sum_of<float>(n, [=](int64_t i) { return s[i] = exp_below(s[i] - base); });
  const float factor = exp_below(before - base);
  *most = now;
  *total = *total * factor + sum;
  return factor;
}

// s = exp(s - lse), the weights; g = s (g - delta), the gradient of the scores.
void score_gradient(float* s, float* g, float lse, float delta, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float w = exp_below(s[i] - lse);
    s[i] = w;
    g[i] = w * (g[i] - delta);
  }
}

void add_row(float* y, const float* x, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] += x[i];
}

void choose_row(float* y, const uint8_t* keep, float otherwise, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = keep[i] ? y[i] : otherwise;
}

float dot(const float* x, const float* y, int64_t n) {
  VF a = broadcast(0.0f), b = a;
  int64_t i = 0;
  for (; i + 2 * kLanes<float> <= n; i += 2 * kLanes<float>) {
    a += load(x + i) * load(y + i);
    b += load(x + i + kLanes<float>) * load(y + i + kLanes<float>);
  }
  for (; i + kLanes<float> <= n; i += kLanes<float>) a += load(x + i) * load(y + i);
  float lanes[kLanes<float>], sum = 0;
  store(lanes, a + b);
  for (int64_t width = kLanes<float> / 2; width > 0; width /= 2)
    for (int64_t k = 0; k < width; ++k) lanes[k] += lanes[k + width];
  for (; i < n; ++i) sum += x[i] * y[i];
  return sum + lanes[0];
}

// y[j] = x . row j of m
void dots(float* y, const float* x, const float* m, int64_t ldm, int64_t rows, int64_t n) {
  for (int64_t j = 0; j < rows; ++j) y[j] = dot(x, m + j * ldm, n);
}

// y += sum of x[j] times row j of m
void weighted_rows(float* y, const float* x, const float* m, int64_t ldm, int64_t rows, int64_t n) {
  int64_t j = 0;
  for (; j + 4 <= rows; j += 4) {
    const float a = x[j], b = x[j + 1], c = x[j + 2], d = x[j + 3];
    const float* r = m + j * ldm;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] += a * r[i] + b * r[ldm + i] + c * r[2 * ldm + i] + d * r[3 * ldm + i];
  }
  for (; j < rows; ++j) {
    const float a = x[j];
    const float* r = m + j * ldm;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] += a * r[i];
  }
}

AttentionFns attention() {
  AttentionFns f;
  f.width = kBlockWidth;
  f.product = block_product;
  f.join_scores = join_scores;
  f.score_gradient = score_gradient;
  f.add_row = add_row;
  f.choose_row = choose_row;
  f.dot = dot;
  f.dots = dots;
  f.weighted_rows = weighted_rows;
  return f;
}

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
