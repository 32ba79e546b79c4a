// Sums, largest elements and sums of exponentials over a row. Sums use four vectors of accumulators: one alone would
// wait for itself, and many partial sums round like a tree.
#pragma once
#include "phi/kernels/cpu/tile/isa_math.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

using namespace tile::detail::PD_ISA;

template <class T>
inline constexpr int64_t kWays = 4 * kLanes<T>;

template <class T>
inline T tree_sum(T* acc) {
  for (int64_t width = kWays<T> / 2; width > 0; width /= 2)
    for (int64_t k = 0; k < width; ++k) acc[k] += acc[k + width];
  return acc[0];
}

// Adds term(i) over i in [0, n).
template <class T, class F>
inline T sum_of(int64_t n, F&& term) {
  T acc[kWays<T>] = {};
  int64_t i = 0;
  for (; i + kWays<T> <= n; i += kWays<T>) {
#pragma omp simd
    for (int64_t k = 0; k < kWays<T>; ++k) acc[k] += term(i + k);
  }
#pragma omp simd
  for (int64_t k = 0; k < n - i; ++k) acc[k] += term(i + k);
  return tree_sum<T>(acc);
}

// NaN is passed over: it comes back through the exponential.
template <class T>
T largest(const T* x, int64_t n) {
  T acc[kWays<T>];
  for (int64_t k = 0; k < kWays<T>; ++k) acc[k] = T(-__builtin_inf());
  int64_t i = 0;
  for (; i + kWays<T> <= n; i += kWays<T>) {
#pragma omp simd
    for (int64_t k = 0; k < kWays<T>; ++k) acc[k] = x[i + k] > acc[k] ? x[i + k] : acc[k];
  }
  for (int64_t k = 0; k < n - i; ++k) acc[k] = x[i + k] > acc[k] ? x[i + k] : acc[k];
  for (int64_t width = kWays<T> / 2; width > 0; width /= 2)
    for (int64_t k = 0; k < width; ++k) acc[k] = acc[k + width] > acc[k] ? acc[k + width] : acc[k];
  return acc[0];
}

// Sum of exp(x - shift), each stored to y where kStore.
template <bool kStore>
float exp_sum(float* y, const float* x, float shift, int64_t n) {
  return sum_of<float>(n, [=](int64_t i) {
    const float e = exp_f32(x[i] - shift);
    if constexpr (kStore) y[i] = e;
    return e;
  });
}
template <bool kStore>
double exp_sum(double* y, const double* x, double shift, int64_t n) {
  constexpr int64_t kStep = kLanes<double>;
  const VD s = broadcast(shift);
  double total = 0, lanes[kStep];
  VD acc = broadcast(0.0);
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    const VD e = PD_SLEEF_D(exp, u10)(load(x + i) - s);
    if constexpr (kStore) store(y + i, e);
    acc += e;
  }
  store(lanes, acc);
  for (double v : lanes) total += v;
  if (i == n) return total;
  store(lanes, PD_SLEEF_D(exp, u10)(load_some<double>(x + i, n - i) - s));
  for (int64_t k = 0; k < n - i; ++k) {
    if constexpr (kStore) y[i + k] = lanes[k];
    total += lanes[k];
  }
  return total;
}

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
