// layer_norm and its gradient: a row is normalised while it lies in L1.
#include <cmath>
#include <mutex>

#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/rows/row_span.h"
#include "phi/kernels/registry.h"
#include "phi/rules_nn.h"

namespace paddle::kernels {
namespace {

using rows::by_composition;
using rows::each_row_range;
using rows::in_compute_type;
using rows::row_fns;
using rows::RowSpan;
using rows::Values;

struct Split {
  int64_t rows = 1, n = 1;
};
Split split_at(const Tensor& x, int64_t begin) {
  Split s;
  for (int64_t i = 0; i < x.rank(); ++i) (i < begin ? s.rows : s.n) *= x.size(i);
  return s;
}

template <class T>
struct Statistics {
  T mean, variance;
};
template <class T>
Statistics<T> statistics(const T* x, int64_t n) {
  T mean = row_fns<T>().sum(x, n) / static_cast<T>(n);
  return {mean, row_fns<T>().squares(x, mean, n) / static_cast<T>(n)};
}

void layer_norm(OpCall& c) {
  rules::layer_norm::Args a(c);
  Split s = split_at(a.x, a.begin_norm_axis);
  if (s.n == 0) return by_composition(c);
  Tensor x = dense(a.x), weight = a.scale.defined() ? dense(a.scale) : a.scale,
         shift = a.bias.defined() ? dense(a.bias) : a.bias;
  in_compute_type("layer_norm", x.dtype(), [&](auto t) {
    using T = decltype(t);
    Values<T> scale(weight), bias(shift);
    T *means = c.out(1).data<T>(), *variances = c.out(2).data<T>();
    each_row_range(s.rows, s.n, [&](int64_t begin, int64_t end) {
      RowSpan<T> in(x, s.n), out(c.out(0), s.n);
      for (int64_t i = begin; i < end; ++i) {
        const T* row = in.read(i);
        auto [mean, variance] = statistics(row, s.n);
        means[i] = mean;
        variances[i] = variance;
        T inv = T(1) / std::sqrt(variance + static_cast<T>(a.epsilon));
        row_fns<T>().normalise(out.target(i), row, mean, inv, scale.data(), bias.data(), s.n);
        out.done(i);
      }
    });
  });
}

void layer_norm_grad(OpCall& c) {
  rules::layer_norm_grad::Args a(c);
  Split s = split_at(a.x, a.begin_norm_axis);
  if (s.n == 0 || s.rows == 0 || a.out_grad.dtype() != a.x.dtype()) return by_composition(c);
  Tensor x = dense(a.x), g = dense(a.out_grad), weight = a.scale.defined() ? dense(a.scale) : a.scale;
  in_compute_type("layer_norm_grad", x.dtype(), [&](auto t) {
    using T = decltype(t);
    Values<T> scale(weight);
    T *scale_grad = c.out(1).data<T>(), *bias_grad = c.out(2).data<T>();
    zero(c.out(1));
    zero(c.out(2));
    std::mutex mutex;
    each_row_range(s.rows, s.n, [&](int64_t begin, int64_t end) {
      // Blocks of rows are added up on their own: long sums in one f32 drift.
      constexpr int64_t kBlock = 64;
      RowSpan<T> in(x, s.n), gs(g, s.n), out(c.out(0), s.n);
      std::vector<T> part(static_cast<size_t>(4 * s.n), T(0));
      T *ds = part.data(), *db = ds + s.n, *total_s = db + s.n, *total_b = total_s + s.n;
      for (int64_t first = begin; first < end; first += kBlock) {
        std::fill(ds, ds + 2 * s.n, T(0));
        for (int64_t i = first; i < std::min(end, first + kBlock); ++i) {
          const T *row = in.read(i), *grad = gs.read(i);
          auto [mean, variance] = statistics(row, s.n);
          T inv = T(1) / std::sqrt(variance + static_cast<T>(a.epsilon));
          row_fns<T>().normalise_grad(out.target(i), row, grad, mean, inv, scale.data(), ds, db, s.n);
          out.done(i);
        }
        row_fns<T>().add_to(total_s, ds, 2 * s.n);
      }
      std::lock_guard lock(mutex);
      row_fns<T>().add_to(scale_grad, total_s, s.n);
      row_fns<T>().add_to(bias_grad, total_b, s.n);
    });
  });
}

const RegisterCpu registered[] = {{"layer_norm", layer_norm}, {"layer_norm_grad", layer_norm_grad}};

}  // namespace
}  // namespace paddle::kernels
