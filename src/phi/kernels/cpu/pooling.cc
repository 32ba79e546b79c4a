// Pooling on the CPU: windows over planes, or over rows of channels where these come last.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/parallel_for.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/registry.h"
#include "phi/rules/window.h"
#include "phi/rules_nn.h"

namespace paddle::kernels {
namespace {

using rules::Window;

// A plane is one (n, c); spatial axes have their own strides, so both layouts are
// one code.
struct Planes {
  int64_t count;  // n * c
  int64_t channels;
  int64_t n_stride, c_stride;
  std::vector<int64_t> sizes, strides;
  int64_t start(int64_t plane) const { return plane / channels * n_stride + plane % channels * c_stride; }
};

Planes planes(const Tensor& t, bool last) {
  Strides s = t.strides();
  Sizes sizes = static_sizes(t.shape());
  if (last) {
    std::rotate(s.begin() + 1, s.end() - 1, s.end());
    std::rotate(sizes.begin() + 1, sizes.end() - 1, sizes.end());
  }
  return {sizes[0] * sizes[1], sizes[1], s[0], s[1], {sizes.begin() + 2, sizes.end()}, {s.begin() + 2, s.end()}};
}

struct Pooling {
  std::vector<int64_t> kernel, strides, paddings;  // paddings per axis: [before, after]
  bool adaptive = false, exclusive = true;

  // [begin, end) along axis i of output position p; `padded` counts what lies inside the padding too.
  void range(size_t i, int64_t p, int64_t size, int64_t out_size, int64_t& begin, int64_t& end, int64_t& padded) const {
    if (adaptive) {
      begin = p * size / out_size;
      end = ((p + 1) * size + out_size - 1) / out_size;
      padded = end - begin;
      return;
    }
    begin = p * strides[i] - paddings[2 * i];
    end = std::min(begin + kernel[i], size + paddings[2 * i + 1]);
    padded = end - begin;
    begin = std::max<int64_t>(begin, 0);
    end = std::min(end, size);
  }
};

// f(input offset, flat spatial index) over a window; returns the divisor of a mean.
template <class F>
int64_t over_window(const Planes& in, const Planes& out, const Pooling& p, int64_t position, F&& f) {
  size_t n = in.sizes.size();
  int64_t begin[3] = {0, 0, 0}, end[3] = {1, 1, 1}, padded_count = 1, count = 1;
  int64_t stride[3] = {0, 0, 0}, size[3] = {1, 1, 1};
  for (size_t i = n; i-- > 0;) {
    size_t k = 3 - n + i;
    int64_t at = position % out.sizes[i], padded;
    position /= out.sizes[i];
    p.range(i, at, in.sizes[i], out.sizes[i], begin[k], end[k], padded);
    padded_count *= padded;
    count *= std::max<int64_t>(0, end[k] - begin[k]);
    stride[k] = in.strides[i];
    size[k] = in.sizes[i];
  }
  for (int64_t a = begin[0]; a < end[0]; ++a)
    for (int64_t b = begin[1]; b < end[1]; ++b)
      for (int64_t d = begin[2]; d < end[2]; ++d)
        f(a * stride[0] + b * stride[1] + d * stride[2], (a * size[1] + b) * size[2] + d);
  return p.exclusive || p.adaptive ? count : padded_count;
}

int64_t offset_of(const Planes& p, int64_t position) {
  int64_t at = 0;
  for (size_t i = p.sizes.size(); i-- > 0;) {
    at += position % p.sizes[i] * p.strides[i];
    position /= p.sizes[i];
  }
  return at;
}

int64_t plane_size(const Planes& p) {
  int64_t n = 1;
  for (int64_t s : p.sizes) n *= s;
  return n;
}

template <class F>
void each_plane(const Planes& out, F&& f) {
  parallel_for(0, out.count, std::max<int64_t>(1, 4096 / std::max<int64_t>(1, plane_size(out))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t plane = begin; plane < end; ++plane) f(plane);
               });
}

template <class T>
void mean_pool(const Tensor& x, const Tensor& y, const Pooling& p, bool last) {
  Planes in = planes(x, last), out = planes(y, last);
  each_plane(out, [&](int64_t plane) {
    const T* px = x.data<T>() + in.start(plane);
    T* py = y.data<T>() + out.start(plane);
    for (int64_t i = 0, n = plane_size(out); i < n; ++i) {
      Accumulator<T> sum = 0;
      int64_t count = over_window(in, out, p, i, [&](int64_t at, int64_t) { sum += to_compute(px[at]); });
      py[offset_of(out, i)] = from_compute<T>(count ? sum / static_cast<Accumulator<T>>(count) : Accumulator<T>(0));
    }
  });
}

template <class T>
void max_pool(const Tensor& x, const Tensor& y, const Tensor& mask, const Pooling& p, bool last) {
  Planes in = planes(x, last), out = planes(y, last);
  int32_t* pm = mask.defined() ? mask.data<int32_t>() : nullptr;
  each_plane(out, [&](int64_t plane) {
    const T* px = x.data<T>() + in.start(plane);
    T* py = y.data<T>() + out.start(plane);
    for (int64_t i = 0, n = plane_size(out); i < n; ++i) {
      Accumulator<T> best = -std::numeric_limits<Accumulator<T>>::infinity();
      int64_t where = -1;
      over_window(in, out, p, i, [&](int64_t at, int64_t flat) {
        Accumulator<T> v = to_compute(px[at]);
        if (where < 0 || v > best || (v != v && best == best)) {
          best = v;
          where = flat;
        }
      });
      py[offset_of(out, i)] = from_compute<T>(best);
      if (pm) pm[plane * n + i] = static_cast<int32_t>(where);
    }
  });
}

// Where channels come last they are the rows of the work: a window's elements lie far apart, its channels side by side.
template <class T>
bool pool_rows(const Tensor& x, const Tensor& y, const Pooling& p, bool mean) {
  if constexpr (!std::is_same_v<T, float> && !std::is_same_v<T, double>) {
    return false;
  } else {
    if (!x.is_contiguous() || !y.is_contiguous()) return false;
    const Planes in = planes(x, true), out = planes(y, true);
    const int64_t channels = in.channels, positions = plane_size(out);
    if (channels == 0 || positions == 0) return true;
    const rows::RowFns<T>& fns = rows::row_fns<T>();
    parallel_for(0, out.count / channels * positions, std::max<int64_t>(1, 4096 / channels),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     T* row = y.data<T>() + i * channels;
                     const T* from = x.data<T>() + i / positions * in.n_stride;
                     std::fill_n(row, channels, mean ? T(0) : -std::numeric_limits<T>::infinity());
                     const int64_t count = over_window(in, out, p, i % positions, [&](int64_t at, int64_t) {
                       mean ? fns.add_to(row, from + at, channels) : fns.max_to(row, from + at, channels);
                     });
                     for (int64_t c = 0; mean && count && c < channels; ++c) row[c] /= static_cast<T>(count);
                   }
                 });
    return true;
  }
}

template <class A>
void pool(OpCall& c, std::string_view op, size_t n) {
  A a(c);
  std::vector<int64_t> kernel;
  if constexpr (requires { a.kernel_size.resolved(); })
    kernel = a.kernel_size.to_ints();
  else
    kernel.assign(a.kernel_size.begin(), a.kernel_size.end());
  if (kernel.size() == 1) kernel.resize(n, kernel[0]);
  Window w = rules::make_window(op, a.x, kernel, a.strides, {},
                                a.adaptive || a.global_pooling ? std::span<const int64_t>{} : a.paddings,
                                a.padding_algorithm, a.data_format);
  if (a.global_pooling)
    for (size_t i = 0; i < n; ++i) w.kernel[i] = a.x.size(static_cast<int64_t>(w.axis(i)));
  Pooling p{w.kernel, w.strides, w.paddings, a.adaptive, a.exclusive};
  const Tensor& out = c.out(0);
  dispatch_float(op, a.x.dtype(), [&](auto t) {
    using T = decltype(t);
    if (w.channels_last && pool_rows<T>(a.x, out, p, a.pooling_type == "avg")) return;
    if (a.pooling_type == "avg")
      mean_pool<T>(a.x, out, p, w.channels_last);
    else
      max_pool<T>(a.x, out, {}, p, w.channels_last);
  });
}

template <class A>
void pool_with_index(OpCall& c, std::string_view op, size_t n) {
  A a(c);
  std::vector<int64_t> kernel(a.kernel_size.begin(), a.kernel_size.end());
  if (kernel.size() == 1) kernel.resize(n, kernel[0]);
  Window w =
      rules::make_window(op, a.x, kernel, a.strides, {},
                         a.adaptive || a.global_pooling ? std::span<const int64_t>{} : a.paddings, "EXPLICIT", "NCHW");
  if (a.global_pooling)
    for (size_t i = 0; i < n; ++i) w.kernel[i] = a.x.size(static_cast<int64_t>(w.axis(i)));
  Pooling p{w.kernel, w.strides, w.paddings, a.adaptive, true};
  dispatch_float(op, a.x.dtype(), [&](auto t) { max_pool<decltype(t)>(a.x, c.out(0), c.out(1), p, false); });
}

void avg_pool_grad(OpCall& c) {
  rules::avg_pool_grad::Args a(c);
  const Tensor& gx = c.out(0);
  zero(gx);
  bool last = rules::channels_last("avg_pool_grad", a.data_format);
  Pooling p{{a.kernel_size.begin(), a.kernel_size.end()},
            {a.strides.begin(), a.strides.end()},
            {a.paddings.begin(), a.paddings.end()},
            a.adaptive,
            a.exclusive};
  Planes in = planes(gx, last), out = planes(a.out_grad, last);
  dispatch_float("avg_pool_grad", gx.dtype(), [&](auto t) {
    using T = decltype(t);
    each_plane(out, [&](int64_t plane) {
      T* px = gx.data<T>() + in.start(plane);
      const T* pg = a.out_grad.data<T>() + out.start(plane);
      for (int64_t i = 0, n = plane_size(out); i < n; ++i) {
        int64_t count = over_window(in, out, p, i, [](int64_t, int64_t) {});
        if (!count) continue;
        Accumulator<T> share = to_compute(pg[offset_of(out, i)]) / static_cast<Accumulator<T>>(count);
        over_window(in, out, p, i, [&](int64_t at, int64_t) { px[at] = from_compute<T>(to_compute(px[at]) + share); });
      }
    });
  });
}

void max_pool_scatter(OpCall& c) {
  rules::max_pool_scatter::Args a(c);
  const Tensor& out = c.out(0);
  zero(out);
  Tensor g = dense(a.x), mask = dense(a.mask);
  int64_t n = g.shape()[0].value() * g.shape()[1].value();
  if (n == 0) return;
  int64_t from = g.numel() / n, to = out.numel() / n;
  dispatch_float("max_pool_scatter", g.dtype(), [&](auto t) {
    using T = decltype(t);
    dispatch_index("max_pool_scatter", mask.dtype(), [&](auto index) {
      using I = decltype(index);
      for (int64_t plane = 0; plane < n; ++plane) {
        const T* pg = g.data<T>() + plane * from;
        const I* pm = mask.data<I>() + plane * from;
        T* po = out.data<T>() + plane * to;
        for (int64_t i = 0; i < from; ++i)
          if (pm[i] >= 0 && pm[i] < to) po[pm[i]] = from_compute<T>(to_compute(po[pm[i]]) + to_compute(pg[i]));
      }
    });
  });
}

const RegisterCpu registered[] = {
    {"pool2d", [](OpCall& c) { pool<rules::pool2d::Args>(c, "pool2d", 2); }},
    {"pool3d", [](OpCall& c) { pool<rules::pool3d::Args>(c, "pool3d", 3); }},
    {"max_pool2d_with_index",
     [](OpCall& c) { pool_with_index<rules::max_pool2d_with_index::Args>(c, "max_pool2d_with_index", 2); }},
    {"max_pool3d_with_index",
     [](OpCall& c) { pool_with_index<rules::max_pool3d_with_index::Args>(c, "max_pool3d_with_index", 3); }},
    {"avg_pool_grad", avg_pool_grad},
    {"max_pool_scatter", max_pool_scatter},
};

}  // namespace
}  // namespace paddle::kernels
