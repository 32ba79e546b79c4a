#include "phi/kernels/cpu/rows/conv_f64.h"

#include <algorithm>
#include <cstring>

#include "base/parallel_for.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/rows/gemm.h"

namespace paddle::kernels {
namespace {

// Channels-last activations seen as [n, c, spatial...].
Tensor channels_first(const Tensor& t, const ConvGeometry& g) {
  if (!g.channels_last) return t;
  Shape shape = t.shape();
  Strides strides = t.strides();
  std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
  std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
  return t.as_view(shape, strides, t->offset);
}

struct Problem {
  int64_t batch, groups, channels, filters;  // channels and filters of one group
  int64_t taps = 1, positions = 1, inputs = 1;
  std::vector<int64_t> in, out, kernel;
  const ConvGeometry& g;

  Problem(const Tensor& x, const Tensor& w, const Tensor& y, const ConvGeometry& geometry)
      : batch(x.size(0)),
        groups(geometry.groups),
        channels(w.size(1)),
        filters(w.size(0) / geometry.groups),
        g(geometry) {
    for (int64_t i = 2; i < x.rank(); ++i) {
      in.push_back(x.size(i));
      out.push_back(y.size(i));
      kernel.push_back(w.size(i));
      inputs *= in.back();
      positions *= out.back();
      taps *= kernel.back();
    }
  }
  int64_t rows() const { return channels * taps; }

  // Calls f(first position, count, input offset, input step) for the runs of positions that `tap` sees an input element
  // at.
  template <class F>
  void runs(int64_t tap, F&& f) const {
    const size_t n = in.size(), last = n - 1;
    int64_t shift[3], rest = tap;
    for (size_t i = n; i-- > 0;) {
      shift[i] = rest % kernel[i] * g.dilations[i] - g.pad_left[i];
      rest /= kernel[i];
    }
    const int64_t step = g.strides[last];
    const int64_t first = shift[last] >= 0 ? 0 : (-shift[last] + step - 1) / step;
    const int64_t room = in[last] - 1 - shift[last];
    const int64_t end = room < 0 ? 0 : std::min(out[last], room / step + 1);
    if (first >= end) return;
    for (int64_t line = 0, lines = positions / out[last]; line < lines; ++line) {
      int64_t at = 0, left = line, unit = in[last];
      bool inside = true;
      for (size_t i = last; i-- > 0;) {
        const int64_t k = left % out[i] * g.strides[i] + shift[i];
        left /= out[i];
        inside &= k >= 0 && k < in[i];
        at += k * unit;
        unit *= in[i];
      }
      if (inside) f(line * out[last] + first, end - first, at + first * step + shift[last], step);
    }
  }
};

void unfold(const Problem& p, const double* x, double* columns) {
  parallel_for(0, p.rows(), std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, p.positions)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   double* to = columns + row * p.positions;
                   const double* from = x + row / p.taps * p.inputs;
                   std::memset(to, 0, static_cast<size_t>(p.positions) * sizeof(double));
                   p.runs(row % p.taps, [&](int64_t at, int64_t count, int64_t source, int64_t step) {
                     for (int64_t j = 0; j < count; ++j) to[at + j] = from[source + j * step];
                   });
                 }
               });
}

// The adjoint: adds the columns back to where they came from.
void fold(const Problem& p, const double* columns, double* x) {
  parallel_for(0, p.channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin * p.taps; row < end * p.taps; ++row) {
      const double* from = columns + row * p.positions;
      double* to = x + row / p.taps * p.inputs;
      p.runs(row % p.taps, [&](int64_t at, int64_t count, int64_t target, int64_t step) {
        for (int64_t j = 0; j < count; ++j) to[target + j * step] += from[at + j];
      });
    }
  });
}

rows::MatrixF64 matrix(const double* data, int64_t rows, int64_t cols) { return {data, rows, cols, cols, 1}; }
rows::MatrixF64 transposed(const double* data, int64_t rows, int64_t cols) { return {data, cols, rows, 1, cols}; }

// f(image of x, image of y, filter) for each batch item and group; all dense.
template <class F>
void each_image(const Problem& p, double* x, double* w, double* y, F&& f) {
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t k = 0; k < p.groups; ++k)
      f(x + (b * p.groups + k) * p.channels * p.inputs, y + (b * p.groups + k) * p.filters * p.positions,
        w + k * p.filters * p.rows());
}

}  // namespace

void conv_forward_f64(const Tensor& input, const Tensor& filter, const Tensor& out, const ConvGeometry& g) {
  Tensor x = dense(channels_first(input, g)), w = dense(filter);
  DenseTarget target(channels_first(out, g), false);
  const Tensor& y = target.tensor();
  Problem p(x, w, y, g);
  std::vector<double> columns(static_cast<size_t>(p.rows() * p.positions));
  each_image(p, x.data<double>(), w.data<double>(), y.data<double>(), [&](double* xs, double* ys, double* ws) {
    unfold(p, xs, columns.data());
    rows::gemm(matrix(ws, p.filters, p.rows()), matrix(columns.data(), p.rows(), p.positions), ys);
  });
  target.finish();
}

void conv_backward_input_f64(const Tensor& out_grad, const Tensor& filter, const Tensor& input_grad,
                             const ConvGeometry& g) {
  Tensor y = dense(channels_first(out_grad, g)), w = dense(filter);
  DenseTarget target(channels_first(input_grad, g), false);
  const Tensor& x = target.tensor();
  zero(x);
  Problem p(x, w, y, g);
  std::vector<double> columns(static_cast<size_t>(p.rows() * p.positions));
  each_image(p, x.data<double>(), w.data<double>(), y.data<double>(), [&](double* xs, double* ys, double* ws) {
    rows::gemm(transposed(ws, p.filters, p.rows()), matrix(ys, p.filters, p.positions), columns.data());
    fold(p, columns.data(), xs);
  });
  target.finish();
}

void conv_backward_filter_f64(const Tensor& input, const Tensor& out_grad, const Tensor& filter_grad,
                              const ConvGeometry& g) {
  Tensor x = dense(channels_first(input, g)), y = dense(channels_first(out_grad, g));
  DenseTarget target(filter_grad, false);
  const Tensor& w = target.tensor();
  zero(w);
  Problem p(x, w, y, g);
  std::vector<double> columns(static_cast<size_t>(p.rows() * p.positions)),
      part(static_cast<size_t>(p.filters * p.rows()));
  each_image(p, x.data<double>(), w.data<double>(), y.data<double>(), [&](double* xs, double* ys, double* ws) {
    unfold(p, xs, columns.data());
    rows::gemm(matrix(ys, p.filters, p.positions), transposed(columns.data(), p.rows(), p.positions), part.data());
    for (size_t i = 0; i < part.size(); ++i) ws[i] += part[i];
  });
  target.finish();
}

}  // namespace paddle::kernels
