// Convolution, pooling, embedding and dropout on the CPU, from records to kernels.
#include <atomic>
#include <limits>

#include "api/shard.h"
#include "base/flags.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/dnnl/conv.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/random.h"
#include "phi/kernels/cpu/rows/conv_f64.h"
#include "phi/kernels/cpu/rows/depthwise.h"
#include "phi/kernels/cpu/rows/winograd.h"
#include "phi/kernels/registry.h"
#include "phi/rules/window.h"
#include "phi/rules_nn.h"

namespace paddle::kernels {
namespace {

using rules::Window;

ConvGeometry geometry(const Window& w, int64_t groups) {
  ConvGeometry g;
  g.strides = w.strides;
  g.dilations = w.dilations;
  for (size_t i = 0; i < w.rank(); ++i) {
    g.pad_left.push_back(w.paddings[2 * i]);
    g.pad_right.push_back(w.paddings[2 * i + 1]);
  }
  g.groups = groups;
  g.channels_last = w.channels_last;
  return g;
}

std::vector<int64_t> spatial(const Shape& filter) {
  std::vector<int64_t> out;
  for (size_t i = 2; i < filter.size(); ++i) out.push_back(filter[i].value());
  return out;
}

ConvGeometry geometry_of(OpCall& c) {
  const Tensor &x = c.tensor(0), &w = c.tensor(1);
  const std::vector<int64_t> k = spatial(w.shape());
  if (w.rank() == 5) {
    rules::conv3d::Args a(c);
    return geometry(
        rules::make_window("conv3d", x, k, a.strides, a.dilations, a.paddings, a.padding_algorithm, a.data_format),
        a.groups);
  }
  rules::conv2d::Args a(c);
  return geometry(
      rules::make_window("conv2d", x, k, a.strides, a.dilations, a.paddings, a.padding_algorithm, a.data_format),
      a.groups);
}

bool winograd_computes(const Tensor& x, const Tensor& w, const Tensor& out, const ConvGeometry& g) {
  if (x.dtype() != DType::kFloat32 || x.rank() != 4 || w.size(2) != 3 || w.size(3) != 3) return false;
  for (size_t i = 0; i < 2; ++i)
    if (g.strides[i] != 1 || g.dilations[i] != 1 || g.pad_left[i] < 0 || g.pad_right[i] < 0) return false;
  return g.groups == 1 && !g.channels_last && out.is_contiguous();
}

// FLAGS_winograd: outside of inference too.
std::atomic<bool> winograd_everywhere{false};
[[maybe_unused]] const bool winograd_flag = [] {
  flags::on_change("winograd", [](const flags::Value& v) { winograd_everywhere = std::get<bool>(v); });
  return true;
}();

void run_conv(OpCall& c) {
  const Tensor &x = c.tensor(0), &w = c.tensor(1), &out = c.out(0);
  const ConvGeometry g = geometry_of(c);
  if (out.numel() == 0) return;
  if (w.numel() == 0) return zero(out);
  if (depthwise_conv2d(x, w, out, g)) return;
  if (winograd_everywhere.load(std::memory_order_relaxed) && winograd_computes(x, w, out, g) &&
      winograd_pays(x, w, out))
    return WinogradFilter(w).run(x, out, g.pad_left[0], g.pad_left[1], {});
  x.dtype() == DType::kFloat64 ? conv_forward_f64(x, w, out, g) : conv_forward(x, w, out, g);
}

// A filter that stays: transformed for Winograd's algorithm, else in oneDNN's layout.
class HeldConv final : public HeldKernel {
 public:
  HeldConv(std::unique_ptr<WinogradFilter> winograd, std::unique_ptr<HeldConvolution> direct, ConvGeometry g)
      : winograd_(std::move(winograd)), direct_(std::move(direct)), geometry_(std::move(g)) {}
  void run(OpCall& c) override {
    const Tensor &x = c.tensor(0), &out = c.out(0);
    if (winograd_)
      winograd_->run(x, out, geometry_.pad_left[0], geometry_.pad_left[1], {});
    else
      direct_->run(x, out);
  }

 private:
  std::unique_ptr<WinogradFilter> winograd_;
  std::unique_ptr<HeldConvolution> direct_;
  ConvGeometry geometry_;
};

std::unique_ptr<HeldKernel> hold_conv(OpCall& c, uint64_t constant) {
  const Tensor &x = c.tensor(0), &w = c.tensor(1), &out = c.out(0);
  if (!(constant & 2) || out.numel() == 0 || w.numel() == 0) return nullptr;
  const ConvGeometry g = geometry_of(c);
  if (g.groups == x.size(g.channels_last ? x.rank() - 1 : 1) && g.groups > 1) return nullptr;  // depthwise
  if (winograd_computes(x, w, out, g) && winograd_pays(x, w, out))
    return std::make_unique<HeldConv>(std::make_unique<WinogradFilter>(w), nullptr, g);
  auto direct = hold_convolution(x, w, out, g);
  return direct ? std::make_unique<HeldConv>(nullptr, std::move(direct), g) : nullptr;
}

// Windows of the gradient operators come resolved: [before, after] per axis.
template <class A>
ConvGeometry resolved(const A& a) {
  ConvGeometry g;
  g.strides.assign(a.strides.begin(), a.strides.end());
  g.dilations.assign(a.dilations.begin(), a.dilations.end());
  for (size_t i = 0; i < g.strides.size(); ++i) {
    g.pad_left.push_back(a.paddings[2 * i]);
    g.pad_right.push_back(a.paddings[2 * i + 1]);
  }
  g.groups = a.groups;
  g.channels_last = rules::channels_last("conv", a.data_format);
  return g;
}

void conv_input_grad(OpCall& c) {
  rules::conv_input_grad::Args a(c);
  const Tensor& out = c.out(0);
  if (out.numel() == 0) return;
  if (a.out_grad.numel() == 0) return zero(out);
  ConvGeometry g = resolved(a);
  auto backward = out.dtype() == DType::kFloat64 ? conv_backward_input_f64 : conv_backward_input;
  backward(a.out_grad, a.filter, out, g);
}

void conv_filter_grad(OpCall& c) {
  rules::conv_filter_grad::Args a(c);
  const Tensor& out = c.out(0);
  if (out.numel() == 0) return;
  if (a.out_grad.numel() == 0) return zero(out);
  ConvGeometry g = resolved(a);
  auto backward = out.dtype() == DType::kFloat64 ? conv_backward_filter_f64 : conv_backward_filter;
  backward(a.input, a.out_grad, out, g);
}

// ---- pooling: windows over planes. A plane is one (n, c); spatial axes have their own strides, so both layouts are
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

// ---- embedding
void embedding(OpCall& c) {
  rules::embedding::Args a(c);
  Tensor x = dense(a.x), weight = dense(a.weight);
  int64_t n = x.numel(), rows = weight.size(0);
  size_t bytes = static_cast<size_t>(weight.size(1)) * size_of(weight.dtype());
  char* out = c.out(0).data<char>();
  const char* table = weight.data<char>();
  dispatch_index("embedding", x.dtype(), [&](auto t) {
    const auto* ids = x.data<decltype(t)>();
    for (int64_t i = 0; i < n; ++i) {
      int64_t id = ids[i];
      check(id >= 0 && id < rows, ErrorKind::kValue, "[embedding] expected ids in [0, {}), got {}", rows, id);
      if (id == a.padding_idx)
        std::memset(out + static_cast<size_t>(i) * bytes, 0, bytes);
      else
        std::memcpy(out + static_cast<size_t>(i) * bytes, table + static_cast<size_t>(id) * bytes, bytes);
    }
  });
}

void embedding_grad(OpCall& c) {
  rules::embedding_grad::Args a(c);
  const Tensor& out = c.out(0);
  Tensor x = dense(a.x), g = dense(a.out_grad);
  int64_t n = x.numel(), rows = out.size(0), width = out.size(1);
  dispatch_number("embedding_grad", out.dtype(), [&](auto t) {
    using T = decltype(t);
    dispatch_index("embedding_grad", x.dtype(), [&](auto index) {
      const auto* ids = x.data<decltype(index)>();
      for (int64_t i = 0; i < n; ++i)
        check(ids[i] >= 0 && ids[i] < rows, ErrorKind::kIndex, "[embedding_grad] expected ids in [0, {}), got {}", rows,
              ids[i]);
      // Each thread owns rows of the table, so that the order of addition does not depend on how many there are.
      parallel_for(0, rows, std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, width)),
                   [&](int64_t begin, int64_t end) {
                     std::memset(static_cast<void*>(out.data<T>() + begin * width), 0,
                                 static_cast<size_t>((end - begin) * width) * sizeof(T));
                     for (int64_t i = 0; i < n; ++i) {
                       if (ids[i] < begin || ids[i] >= end || ids[i] == a.padding_idx) continue;
                       T* row = out.data<T>() + ids[i] * width;
                       const T* from = g.data<T>() + i * width;
                       for (int64_t j = 0; j < width; ++j)
                         row[j] = from_compute<T>(to_compute(row[j]) + to_compute(from[j]));
                     }
                   });
    });
  });
}

void dropout(OpCall& c) {
  rules::dropout::Args a(c);
  double p = a.p.to_double();
  check(p >= 0 && p <= 1, ErrorKind::kValue, "[dropout] expected a probability in [0, 1], got {}", p);
  bool upscale = a.mode == "upscale_in_train";
  const Tensor &out = c.out(0), &mask = c.out(1);
  Tensor x = dense(a.x);
  uint8_t* pm = mask.data<uint8_t>();
  double factor = a.is_test ? (upscale ? 1.0 : 1.0 - p) : (upscale && p < 1 ? 1.0 / (1.0 - p) : 1.0);
  RandomKey key = c.key;
  if (a.fix_seed) key = {static_cast<uint64_t>(a.seed), 0};
  LogicalIndex logical(x.shape());
  dispatch_float("dropout", x.dtype(), [&](auto t) {
    using T = decltype(t);
    const T* px = x.data<T>();
    T* po = out.data<T>();
    parallel_for(0, x.numel(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        bool keep = a.is_test || uniform_at(key, logical(static_cast<uint64_t>(i))) >= p;
        pm[i] = keep;
        po[i] = keep ? from_compute<T>(to_compute(px[i]) * static_cast<Accumulator<T>>(factor)) : from_compute<T>(0);
      }
    });
  });
}

const RegisterCpu registered[] = {
    {"conv2d", run_conv},
    {"conv3d", run_conv},
    {"conv_input_grad", conv_input_grad},
    {"conv_filter_grad", conv_filter_grad},
    {"pool2d", [](OpCall& c) { pool<rules::pool2d::Args>(c, "pool2d", 2); }},
    {"pool3d", [](OpCall& c) { pool<rules::pool3d::Args>(c, "pool3d", 3); }},
    {"max_pool2d_with_index",
     [](OpCall& c) { pool_with_index<rules::max_pool2d_with_index::Args>(c, "max_pool2d_with_index", 2); }},
    {"max_pool3d_with_index",
     [](OpCall& c) { pool_with_index<rules::max_pool3d_with_index::Args>(c, "max_pool3d_with_index", 3); }},
    {"avg_pool_grad", avg_pool_grad},
    {"max_pool_scatter", max_pool_scatter},
    {"embedding", embedding},
    {"embedding_grad", embedding_grad},
    {"dropout", dropout},
};
const HoldCpu held[] = {{"conv2d", hold_conv}, {"conv3d", hold_conv}};

}  // namespace
}  // namespace paddle::kernels
