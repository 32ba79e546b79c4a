// The loops of row_table.h. Included once by each of isa_base.cc, isa_avx2.cc and isa_avx512.cc.
#pragma once
#include "phi/kernels/cpu/rows/isa_across.h"
#include "phi/kernels/cpu/rows/isa_attention.h"
#include "phi/kernels/cpu/rows/isa_products.h"
#include "phi/kernels/cpu/rows/isa_small.h"
#include "phi/kernels/cpu/rows/isa_sums.h"
#include "phi/kernels/cpu/rows/isa_turn_filters.h"
#include "phi/kernels/cpu/rows/isa_winograd_filter.h"
#include "phi/kernels/cpu/rows/isa_winograd_first.h"
#include "phi/kernels/cpu/rows/isa_winograd_last.h"
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

using namespace tile::detail::PD_ISA;

inline float log_of(float x) { return __builtin_logf(x); }
inline double log_of(double x) { return __builtin_log(x); }

template <class T>
T sum(const T* x, int64_t n) {
  return sum_of<T>(n, [x](int64_t i) { return x[i]; });
}

template <class T>
T squares(const T* x, T mean, int64_t n) {
  return sum_of<T>(n, [x, mean](int64_t i) { return (x[i] - mean) * (x[i] - mean); });
}

template <class T>
void grad_sums(const T* g, const T* x, T mean, int64_t n, T* total, T* with_x) {
  *total = sum<T>(g, n);
  *with_x = sum_of<T>(n, [=](int64_t i) { return g[i] * (x[i] - mean); });
}

template <class T>
void times(T* y, const T* x, T factor, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor;
}

template <class T>
T softmax(T* y, const T* x, int64_t n) {
  const T most = largest<T>(x, n), total = exp_sum<true>(y, x, most, n);
  times<T>(y, y, T(1) / total, n);
  return most + log_of(total);
}

template <class T>
T log_sum_exp(const T* x, int64_t n) {
  const T most = largest<T>(x, n);
  return most + log_of(exp_sum<false>(static_cast<T*>(nullptr), x, most, n));
}

template <class T>
T log_softmax(T* y, const T* x, int64_t n) {
  const T most = largest<T>(x, n), low = log_of(exp_sum<false>(static_cast<T*>(nullptr), x, most, n));
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - most) - low;
  return most + low;
}

template <class T>
void softmax_grad(T* gx, const T* y, const T* g, int64_t n) {
  const T dot = sum_of<T>(n, [=](int64_t i) { return g[i] * y[i]; });
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) gx[i] = (g[i] - dot) * y[i];
}

void log_softmax_grad(float* gx, const float* y, const float* g, int64_t n) {
  const float total = sum<float>(g, n);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) gx[i] = g[i] - exp_f32(y[i]) * total;
}
void log_softmax_grad(double* gx, const double* y, const double* g, int64_t n) {
  const double total = sum<double>(g, n);
  const VD t = broadcast(total);
  int64_t i = 0;
  for (; i + kLanes<double> <= n; i += kLanes<double>)
    store(gx + i, load(g + i) - PD_SLEEF_D(exp, u10)(load(y + i)) * t);
  if (i < n)
    store_some<double>(
        gx + i, load_some<double>(g + i, n - i) - PD_SLEEF_D(exp, u10)(load_some<double>(y + i, n - i)) * t, n - i);
}

template <class T>
void normalise(T* y, const T* x, T mean, T inv, const T* scale, const T* bias, int64_t n) {
  if (scale && bias) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inv * scale[i] + bias[i];
  } else if (scale) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inv * scale[i];
  } else if (bias) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inv + bias[i];
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inv;
  }
}

template <class T>
void normalise_grad(T* gx, const T* x, const T* g, T mean, T inv, const T* scale, T* scale_grad, T* bias_grad,
                    int64_t n) {
  if (scale_grad) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) scale_grad[i] += g[i] * ((x[i] - mean) * inv);
  }
  if (bias_grad) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) bias_grad[i] += g[i];
  }
  if (!gx) return;
  const T count = T(n);
  if (scale) {
    const T a = sum_of<T>(n, [=](int64_t i) { return g[i] * scale[i]; }) / count;
    const T b = sum_of<T>(n, [=](int64_t i) { return g[i] * scale[i] * (x[i] - mean); }) * inv / count;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) gx[i] = inv * (g[i] * scale[i] - a - (x[i] - mean) * inv * b);
  } else {
    const T a = sum<T>(g, n) / count;
    const T b = sum_of<T>(n, [=](int64_t i) { return g[i] * (x[i] - mean); }) * inv / count;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) gx[i] = inv * (g[i] - a - (x[i] - mean) * inv * b);
  }
}

template <class T>
void affine(T* y, const T* x, T mean, T factor, T bias, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * factor + bias;
}

template <class T>
void affine_rows(T* y, const T* x, const T* mean, const T* factor, const T* bias, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean[i]) * factor[i] + bias[i];
}

template <class T>
void blend(T* y, const T* g, const T* x, T a, T b, T mean, T c, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = g[i] * a + (x[i] - mean) * b + c;
}

template <class T>
void add_to(T* total, const T* x, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) total[i] += x[i];
}

template <class T>
void max_to(T* most, const T* x, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) most[i] = x[i] > most[i] || x[i] != x[i] ? x[i] : most[i];
}

template <class T>
void add_squares(T* total, const T* x, const T* mean, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) total[i] += (x[i] - mean[i]) * (x[i] - mean[i]);
}

template <class T>
RowFns<T> fns() {
  RowFns<T> f;
  f.softmax = softmax<T>;
  f.log_softmax = log_softmax<T>;
  f.log_sum_exp = log_sum_exp<T>;
  f.softmax_grad = softmax_grad<T>;
  f.log_softmax_grad = log_softmax_grad;
  f.sum = sum<T>;
  f.squares = squares<T>;
  f.grad_sums = grad_sums<T>;
  f.normalise = normalise<T>;
  f.normalise_grad = normalise_grad<T>;
  f.affine = affine<T>;
  f.affine_rows = affine_rows<T>;
  f.blend = blend<T>;
  f.add_to = add_to<T>;
  f.max_to = max_to<T>;
  f.add_squares = add_squares<T>;
  f.times = times<T>;
  return f;
}

}  // namespace

RowTable table() {
  RowTable t;
  t.f32 = fns<float>();
  t.f64 = fns<double>();
  t.gemm_f32 = gemm<float>();
  t.gemm_f64 = gemm<double>();
  t.depthwise_f32 = depthwise<float>;
  t.depthwise_f64 = depthwise<double>;
  t.panel = panel();
  t.small_product = small_product;
  t.across = across();
  t.winograd_first = winograd_first();
  t.attention = attention();
  t.winograd_last = winograd_last();
  t.winograd_filters = winograd_filters;
  t.turn_filters = turn_filters;
  return t;
}

}  // namespace paddle::rows::detail::PD_ISA
