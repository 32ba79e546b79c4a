// batch_norm and its gradient. Channels first: planes of one (n, c) are rows with numbers for statistics. Channels
// last, and [N, C]: rows run over the channels and statistics are rows too.
#include <cmath>

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

struct Layout {
  int64_t outer = 1, channels = 1, plane = 1;  // plane 1: channels are innermost
};
Layout layout_of(const Tensor& x, std::string_view format) {
  bool last = x.rank() > 2 && format.size() > 1 && format.back() == 'C';
  Layout l;
  int64_t channel = last ? x.rank() - 1 : 1;
  for (int64_t i = 0; i < x.rank(); ++i) (i < channel ? l.outer : i == channel ? l.channels : l.plane) *= x.size(i);
  return l;
}

// Sums over everything but the channel of term(row of a channel's plane) or of whole rows of channels; in double.
struct Sums {
  std::vector<double> mean, variance;
};

template <class T>
Sums moments(const Tensor& x, const Layout& l) {
  size_t channels = static_cast<size_t>(l.channels);
  Sums s{std::vector<double>(channels), std::vector<double>(channels)};
  double count = static_cast<double>(l.outer * l.plane);
  if (l.plane > 1) {
    each_row_range(l.channels, l.outer * l.plane, [&](int64_t begin, int64_t end) {
      RowSpan<T> in(x, l.plane);
      for (int64_t ch = begin; ch < end; ++ch) {
        double sum = 0, squares = 0;
        for (int64_t n = 0; n < l.outer; ++n) sum += row_fns<T>().sum(in.read(n * l.channels + ch), l.plane);
        double mean = sum / count;
        for (int64_t n = 0; n < l.outer; ++n)
          squares += row_fns<T>().squares(in.read(n * l.channels + ch), static_cast<T>(mean), l.plane);
        s.mean[static_cast<size_t>(ch)] = mean;
        s.variance[static_cast<size_t>(ch)] = squares / count;
      }
    });
    return s;
  }
  // Rows of channels, in blocks whose sums stay exact enough in T.
  constexpr int64_t kBlock = 64;
  RowSpan<T> in(x, l.channels);
  std::vector<T> part(channels), mean(channels);
  auto over_rows = [&](std::vector<double>& to, auto&& add) {
    for (int64_t first = 0; first < l.outer; first += kBlock) {
      std::fill(part.begin(), part.end(), T(0));
      for (int64_t n = first; n < std::min(l.outer, first + kBlock); ++n) add(in.read(n));
      for (size_t k = 0; k < channels; ++k) to[k] += static_cast<double>(part[k]);
    }
    for (double& v : to) v /= count;
  };
  over_rows(s.mean, [&](const T* row) { row_fns<T>().add_to(part.data(), row, l.channels); });
  for (size_t k = 0; k < channels; ++k) mean[k] = static_cast<T>(s.mean[k]);
  over_rows(s.variance, [&](const T* row) { row_fns<T>().add_squares(part.data(), row, mean.data(), l.channels); });
  return s;
}

template <class A>
bool uses_running(const A& a) {
  return (a.is_test && !a.trainable_statistics) || a.use_global_stats;
}

void batch_norm(OpCall& c) {
  rules::batch_norm::Args a(c);
  Tensor x = dense(a.x);
  Layout l = layout_of(x, a.data_format);
  if (x.numel() == 0) return by_composition(c);
  in_compute_type("batch_norm", x.dtype(), [&](auto t) {
    using T = decltype(t);
    size_t channels = static_cast<size_t>(l.channels);
    Values<T> scale(a.scale), bias(a.bias), running_mean(a.mean), running_variance(a.variance);
    std::vector<T> mean(channels), inv(channels), factor(channels), shift(channels);
    bool running = uses_running(a);
    Sums s;
    if (!running) s = moments<T>(x, l);
    for (size_t k = 0; k < channels; ++k) {
      double variance = running ? running_variance.data()[k] : s.variance[k];
      mean[k] = running ? running_mean.data()[k] : static_cast<T>(s.mean[k]);
      inv[k] = static_cast<T>(1 / std::sqrt(variance + a.epsilon));
      factor[k] = scale.data() ? inv[k] * scale.data()[k] : inv[k];
      shift[k] = bias.data() ? bias.data()[k] : T(0);
    }
    if (l.plane > 1) {
      each_row_range(l.outer * l.channels, l.plane, [&](int64_t begin, int64_t end) {
        RowSpan<T> in(x, l.plane), out(c.out(0), l.plane);
        for (int64_t i = begin; i < end; ++i) {
          size_t k = static_cast<size_t>(i % l.channels);
          row_fns<T>().affine(out.target(i), in.read(i), mean[k], factor[k], shift[k], l.plane);
          out.done(i);
        }
      });
    } else {
      each_row_range(l.outer, l.channels, [&](int64_t begin, int64_t end) {
        RowSpan<T> in(x, l.channels), out(c.out(0), l.channels);
        for (int64_t i = begin; i < end; ++i) {
          row_fns<T>().affine_rows(out.target(i), in.read(i), mean.data(), factor.data(), shift.data(), l.channels);
          out.done(i);
        }
      });
    }
    rows::write_values<T>(c.out(3), mean.data());
    rows::write_values<T>(c.out(4), inv.data());
    if (running) return;
    std::vector<T> blended(channels);
    auto blend = [&](const T* old, const std::vector<double>& batch, const Tensor& to) {
      for (size_t k = 0; k < channels; ++k)
        blended[k] = static_cast<T>(old[k] * a.momentum + batch[k] * (1 - a.momentum));
      rows::write_values<T>(to, blended.data());
    };
    blend(running_mean.data(), s.mean, c.out(1));
    blend(running_variance.data(), s.variance, c.out(2));
  });
}

void batch_norm_grad(OpCall& c) {
  rules::batch_norm_grad::Args a(c);
  if (a.x.numel() == 0 || a.out_grad.dtype() != a.x.dtype()) return by_composition(c);
  Tensor x = dense(a.x), g = dense(a.out_grad);
  Layout l = layout_of(x, a.data_format);
  if (l.plane == 1) return by_composition(c);
  in_compute_type("batch_norm_grad", x.dtype(), [&](auto t) {
    using T = decltype(t);
    Values<T> scale(a.scale), running_mean(a.mean), running_inverse(a.inverse_std);
    bool running = a.mean.defined();
    Sums s;
    if (!running) s = moments<T>(x, l);
    T *scale_grad = c.out(1).data<T>(), *bias_grad = c.out(2).data<T>();
    double count = static_cast<double>(l.outer * l.plane);
    each_row_range(l.channels, l.outer * l.plane, [&](int64_t begin, int64_t end) {
      RowSpan<T> in(x, l.plane), gs(g, l.plane), out(c.out(0), l.plane);
      for (int64_t ch = begin; ch < end; ++ch) {
        size_t k = static_cast<size_t>(ch);
        double mean = running ? running_mean.data()[k] : s.mean[k];
        double inv = running ? running_inverse.data()[k] : 1 / std::sqrt(s.variance[k] + a.epsilon);
        double sum = 0, with_x = 0;
        for (int64_t n = 0; n < l.outer; ++n) {
          T one, two;
          row_fns<T>().grad_sums(gs.read(n * l.channels + ch), in.read(n * l.channels + ch), static_cast<T>(mean),
                                 l.plane, &one, &two);
          sum += one;
          with_x += two;
        }
        scale_grad[ch] = static_cast<T>(with_x * inv);
        bias_grad[ch] = static_cast<T>(sum);
        // gx = inv w (g - mean g - (x - mean) inv^2 mean(g (x - mean))), as g * a + (x - mean) * b + c.
        double factor = inv * (scale.data() ? scale.data()[k] : 1);
        double b = running ? 0 : -factor * inv * inv * with_x / count;
        double offset = running ? 0 : -factor * sum / count;
        for (int64_t n = 0; n < l.outer; ++n) {
          int64_t row = n * l.channels + ch;
          T* to = out.target(row);
          row_fns<T>().blend(to, gs.read(row), in.read(row), static_cast<T>(factor), static_cast<T>(b),
                             static_cast<T>(mean), static_cast<T>(offset), l.plane);
          out.done(row);
        }
      }
    });
  });
}

const RegisterCpu registered[] = {{"batch_norm", batch_norm}, {"batch_norm_grad", batch_norm_grad}};

}  // namespace
}  // namespace paddle::kernels
