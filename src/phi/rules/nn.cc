// Rules of ops/nn.yaml, in the order of the records.
#include "phi/rules_nn.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/window.h"

namespace paddle::rules {
namespace {

// -- convolution

std::vector<int64_t> spatial(const Tensor& filter) {
  std::vector<int64_t> out;
  for (int64_t i = 2; i < filter.rank(); ++i) out.push_back(guard_int(filter.dim(i)));
  return out;
}

template <class A>
Window conv_window(std::string_view op, const A& a) {
  std::vector<int64_t> kernel = spatial(a.filter);
  return make_window(op, a.input, kernel, a.strides, a.dilations, a.paddings, a.padding_algorithm, a.data_format);
}

template <class A>
void conv_shape(std::string_view op, int64_t n, const A& a, TensorMeta& out) {
  infer::check_rank(op, "filter", a.filter, n + 2, n + 2);
  Window w = conv_window(op, a);
  check(a.groups >= 1 && a.groups <= INT32_MAX, ErrorKind::kValue, "[{}] expected groups of at least 1, got {}", op,
        a.groups);
  Dim channels = a.input.shape()[w.channel_axis()];
  infer::check_size(op, "input channels (filter's times groups)", a.filter.dim(1) * Dim(a.groups), channels);
  Dim k = a.filter.dim(0);
  check(!k.is_const() || k.value() % a.groups == 0, ErrorKind::kValue,
        "[{}] expected output channels divisible by groups ({}), got {}", op, a.groups, k.str());
  out.shape = a.input.shape();
  out.shape[w.channel_axis()] = k;
  for (size_t i = 0; i < w.rank(); ++i) out.shape[w.axis(i)] = positions(op, w, i, out.shape[w.axis(i)]);
}

// Both gradients, with paddings resolved. v.data_format and groups carry over.
template <class V>
void conv_vjp(std::string_view op, V& v) {
  Window w = conv_window(op, v);
  if (v.need_input)
    v.input_grad = ops::conv_input_grad(v.out_grad, v.filter, Ints(v.input.shape()), w.strides, w.paddings, w.dilations,
                                        v.groups, v.data_format);
  if (v.need_filter)
    v.filter_grad = ops::conv_filter_grad(v.input, v.out_grad, Ints(v.filter.shape()), w.strides, w.paddings,
                                          w.dilations, v.groups, v.data_format);
}

// The convolution whose gradient is asked for must lead from shape `input` to shape `out`.
template <class A>
void check_conv_grad(std::string_view op, const A& a, const Shape& input, const Shape& filter, const Shape& out) {
  check(filter.size() >= 3 && filter.size() <= 5 && input.size() == filter.size() && out.size() == filter.size(),
        ErrorKind::kValue, "[{}] expected input, filter and out_grad of one rank from 3 to 5, got {}, {} and {}", op,
        to_string(input), to_string(filter), to_string(out));
  std::vector<int64_t> kernel;
  for (size_t i = 2; i < filter.size(); ++i) kernel.push_back(guard_int(filter[i]));
  const Window w = resolved_window(op, kernel, a.strides, a.dilations, a.paddings, a.data_format);
  check(a.groups >= 1 && a.groups <= INT32_MAX, ErrorKind::kValue, "[{}] expected groups of at least 1, got {}", op,
        a.groups);
  check(!filter[0].is_const() || filter[0].value() % a.groups == 0, ErrorKind::kValue,
        "[{}] expected output channels divisible by groups ({}), got {}", op, a.groups, filter[0].str());
  infer::check_size(op, "the batch of out_grad", input[0], out[0]);
  infer::check_size(op, "input channels (filter's times groups)", filter[1] * Dim(a.groups), input[w.channel_axis()]);
  infer::check_size(op, "the channels of out_grad (the filter's first axis)", filter[0], out[w.channel_axis()]);
  for (size_t i = 0; i < w.rank(); ++i)
    infer::check_size(op, "the spatial axes of out_grad", positions(op, w, i, input[w.axis(i)]), out[w.axis(i)]);
}

Tensor conv(const Tensor& x, const Tensor& filter, std::span<const int64_t> strides, std::span<const int64_t> paddings,
            std::span<const int64_t> dilations, int64_t groups, std::string_view format) {
  return x.rank() == 5 ? ops::conv3d(x, filter, strides, paddings, "EXPLICIT", groups, dilations, format)
                       : ops::conv2d(x, filter, strides, paddings, "EXPLICIT", dilations, groups, format);
}

// The convolution whose adjoint a transposed convolution is, and the sizes of the result.
template <class A>
Window transposed_window(std::string_view op, const A& a, Shape& out) {
  std::vector<int64_t> kernel = spatial(a.filter);
  Window w = make_window(op, a.x, kernel, a.strides, a.dilations, a.paddings,
                         a.padding_algorithm == "SAME" ? "EXPLICIT" : a.padding_algorithm, a.data_format);
  size_t n = w.rank();
  check(a.output_padding.empty() || a.output_padding.size() == n, ErrorKind::kValue,
        "[{}] expected {} output paddings, got {}", op, n, a.output_padding.size());
  Shape wanted = infer::dims_of(op, a.output_size);
  check(wanted.empty() || wanted.size() == n, ErrorKind::kValue, "[{}] expected {} output sizes, got {}", op, n,
        wanted.size());
  check(a.groups >= 1 && a.groups <= INT32_MAX, ErrorKind::kValue, "[{}] expected groups of at least 1, got {}", op,
        a.groups);
  for (int64_t p : a.output_padding) infer::extent_of(op, "output_padding", p);
  infer::check_size(op, "input channels (the filter's first axis)", a.filter.dim(0), a.x.shape()[w.channel_axis()]);
  out = a.x.shape();
  out[w.channel_axis()] = a.filter.dim(1) * Dim(a.groups);
  for (size_t i = 0; i < n; ++i) {
    Dim size = a.x.shape()[w.axis(i)];
    int64_t extent = w.dilations[i] * (w.kernel[i] - 1) + 1;
    if (a.padding_algorithm == "SAME") {  // the result is stride times the input
      int64_t total = std::max<int64_t>(0, extent - w.strides[i]);
      w.paddings[2 * i] = total / 2;
      w.paddings[2 * i + 1] = total - total / 2;
    }
    Dim base = (size - Dim(1)) * Dim(w.strides[i]) + Dim(extent - w.paddings[2 * i] - w.paddings[2 * i + 1]);
    if (!a.output_padding.empty()) base = base + Dim(a.output_padding[i]);
    if (!wanted.empty()) {
      check(!less(wanted[i], base) && less(wanted[i], base + Dim(w.strides[i])), ErrorKind::kValue,
            "[{}] expected an output size in [{}, {}), got {}", op, base.str(), (base + Dim(w.strides[i])).str(),
            wanted[i].str());
      base = wanted[i];
    }
    out[w.axis(i)] = base;
  }
  // The adjoint must map the result's sizes back onto the input's: what is too much is padding at the end.
  for (size_t i = 0; i < n; ++i) {
    Dim size = a.x.shape()[w.axis(i)];
    int64_t extent = w.dilations[i] * (w.kernel[i] - 1) + 1;
    if (!out[w.axis(i)].is_const() || !size.is_const()) continue;
    w.paddings[2 * i + 1] = (size.value() - 1) * w.strides[i] + extent - out[w.axis(i)].value() - w.paddings[2 * i];
  }
  return w;
}

template <class A>
Tensor transposed(std::string_view op, const A& a) {
  Shape out;
  Window w = transposed_window(op, a, out);
  return ops::conv_input_grad(a.x, a.filter, Ints(out), w.strides, w.paddings, w.dilations, a.groups, a.data_format);
}

// -- pooling

template <class A>
Window pool_window(std::string_view op, const A& a, size_t n) {
  std::vector<int64_t> kernel = [&] {
    if constexpr (requires { a.kernel_size.resolved(); }) {
      Sizes k = infer::numbers_of(op, a.kernel_size, "kernel_size");
      return std::vector<int64_t>(k.begin(), k.end());
    } else {
      return std::vector<int64_t>(a.kernel_size.begin(), a.kernel_size.end());
    }
  }();
  if (kernel.size() == 1) kernel.resize(n, kernel[0]);
  check(kernel.size() == n, ErrorKind::kValue, "[{}] expected {} kernel sizes, got {}", op, n, kernel.size());
  std::string_view format = "NCHW", algorithm = "EXPLICIT";
  if constexpr (requires { a.data_format; }) format = a.data_format;
  if constexpr (requires { a.padding_algorithm; }) algorithm = a.padding_algorithm;
  Window w = make_window(op, a.x, kernel, a.strides, {},
                         a.adaptive || a.global_pooling ? std::span<const int64_t>{} : a.paddings, algorithm, format);
  w.ceil_mode = a.ceil_mode;
  if (a.global_pooling)
    for (size_t i = 0; i < n; ++i) w.kernel[i] = guard_int(a.x.shape()[w.axis(i)]);
  return w;
}

Shape pooled(std::string_view op, const Window& w, const Tensor& x, bool adaptive) {
  Shape out = x.shape();
  for (size_t i = 0; i < w.rank(); ++i) {
    Dim& d = out[w.axis(i)];
    if (adaptive) {
      d = Dim(w.kernel[i]);
      continue;
    }
    Dim n = positions(op, w, i, d);
    // A window must not start in the padding after the end, as rounding up could make it.
    if (w.ceil_mode && d.is_const() && (n.value() - 1) * w.strides[i] >= d.value() + w.paddings[2 * i]) n = n - Dim(1);
    d = n;
  }
  return out;
}

template <class V>
void pool_vjp(std::string_view op, V& v, size_t n) {
  if (!v.need_x) return;
  Window w = pool_window(op, v, n);
  if (v.pooling_type == "avg") {
    v.x_grad = ops::avg_pool_grad(v.out_grad, Ints(v.x.shape()), w.kernel, w.strides, w.paddings, v.exclusive,
                                  v.adaptive, v.data_format);
    return;
  }
  // Through the form that knows where each maximum was. Channels go in front for it.
  Tensor x = v.x, g = v.out_grad;
  std::vector<int64_t> first(static_cast<size_t>(x.rank())), back(first.size());
  for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<int64_t>(i);
  if (w.channels_last) {
    std::rotate(first.begin() + 1, first.end() - 1, first.end());
    x = ops::transpose(x, first);
    g = ops::transpose(g, first);
  }
  Tensor mask =
      n == 3 ? ops::max_pool3d_with_index(x, w.kernel, w.strides, w.paddings, false, v.adaptive, v.ceil_mode).mask
             : ops::max_pool2d_with_index(x, w.kernel, w.strides, w.paddings, false, v.adaptive, v.ceil_mode).mask;
  Tensor gx = ops::max_pool_scatter(g, mask, Ints(x.shape()));
  if (w.channels_last) {
    for (size_t i = 0; i < first.size(); ++i) back[static_cast<size_t>(first[i])] = static_cast<int64_t>(i);
    gx = ops::transpose(gx, back);
  }
  v.x_grad = gx;
}

// -- normalisation

// x's shape with 1 everywhere but at the channel axis: how per-channel tensors broadcast.
Tensor per_channel(const Tensor& t, const Tensor& x, size_t channel) {
  if (!t.defined()) return t;
  Shape s(x.shape().size(), Dim(1));
  s[channel] = t.dim(0);
  return compose::reshape_to(t, s);
}

Ints other_axes(const Tensor& x, size_t channel) {
  Shape axes;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != static_cast<int64_t>(channel)) axes.push_back(Dim(i));
  return Ints(axes);
}

size_t channel_of(std::string_view op, const Tensor& x, std::string_view format) {
  return channels_last(op, format) ? static_cast<size_t>(x.rank()) - 1 : (x.rank() > 1 ? 1 : 0);
}

DType stat_dtype(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16 ? DType::kFloat32 : t; }

struct Moments {
  Tensor mean, variance;  // reduced axes kept as 1
};
Moments moments(const Tensor& x, const Ints& axes) {
  Tensor mean = ops::mean(x, axes, true);
  Tensor d = x - mean;
  return {mean, ops::mean(d * d, axes, true)};
}

Tensor inverse_std(const Tensor& variance, double epsilon) {
  return ops::rsqrt(ops::scale(variance, Scalar(1.0), Scalar(epsilon), true));
}

// The gradient through (x - mean(x)) / std(x): g and the normalised x, both over the same axes.
Tensor normalised_grad(const Tensor& g, const Tensor& xhat, const Tensor& inv, const Ints& axes) {
  return inv * (g - ops::mean(g, axes, true) - xhat * ops::mean(g * xhat, axes, true));
}

Ints trailing_axes(const Tensor& x, int64_t begin) {
  Shape axes;
  for (int64_t i = begin; i < x.rank(); ++i) axes.push_back(Dim(i));
  return Ints(axes);
}

// A flat scale or bias in the shape of the normalised axes.
Tensor trailing_shape(const Tensor& t, const Tensor& x, int64_t begin) {
  if (!t.defined()) return t;
  Shape s;
  for (int64_t i = begin; i < x.rank(); ++i) s.push_back(x.dim(i));
  return compose::reshape_to(t, s);
}

}  // namespace

// -- rules

void conv2d::shape(const Args& a, TensorMeta& out) { conv_shape("conv2d", 2, a, out); }
void conv2d::vjp(Vjp& v) { conv_vjp("conv2d", v); }
void conv3d::shape(const Args& a, TensorMeta& out) { conv_shape("conv3d", 3, a, out); }
void conv3d::vjp(Vjp& v) { conv_vjp("conv3d", v); }

void conv_input_grad::shape(const Args& a, TensorMeta& out) {
  out.shape = infer::from_arg("conv_input_grad", a.input_shape);
  check_conv_grad("conv_input_grad", a, out.shape, a.filter.shape(), a.out_grad.shape());
}
void conv_input_grad::vjp(Vjp& v) {
  const Tensor& g = v.input_grad_grad;
  if (v.need_out_grad) v.out_grad_grad = conv(g, v.filter, v.strides, v.paddings, v.dilations, v.groups, v.data_format);
  if (v.need_filter)
    v.filter_grad = ops::conv_filter_grad(g, v.out_grad, Ints(v.filter.shape()), v.strides, v.paddings, v.dilations,
                                          v.groups, v.data_format);
}

void conv_filter_grad::shape(const Args& a, TensorMeta& out) {
  out.shape = infer::from_arg("conv_filter_grad", a.filter_shape);
  check_conv_grad("conv_filter_grad", a, a.input.shape(), out.shape, a.out_grad.shape());
}
void conv_filter_grad::vjp(Vjp& v) {
  const Tensor& g = v.filter_grad_grad;
  if (v.need_input)
    v.input_grad = ops::conv_input_grad(v.out_grad, g, Ints(v.input.shape()), v.strides, v.paddings, v.dilations,
                                        v.groups, v.data_format);
  if (v.need_out_grad) v.out_grad_grad = conv(v.input, g, v.strides, v.paddings, v.dilations, v.groups, v.data_format);
}

void conv2d_transpose::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("conv2d_transpose", "filter", a.filter, 4, 4);
  transposed_window("conv2d_transpose", a, out.shape);
}
Tensor conv2d_transpose::decompose(const Args& a) { return transposed("conv2d_transpose", a); }
void conv3d_transpose::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("conv3d_transpose", "filter", a.filter, 5, 5);
  transposed_window("conv3d_transpose", a, out.shape);
}
Tensor conv3d_transpose::decompose(const Args& a) { return transposed("conv3d_transpose", a); }

void pool2d::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("pool2d", "x", a.x, 4, 4);
  out.shape = pooled("pool2d", pool_window("pool2d", a, 2), a.x, a.adaptive);
}
void pool2d::vjp(Vjp& v) { pool_vjp("pool2d", v, 2); }
void pool3d::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("pool3d", "x", a.x, 5, 5);
  out.shape = pooled("pool3d", pool_window("pool3d", a, 3), a.x, a.adaptive);
}
void pool3d::vjp(Vjp& v) { pool_vjp("pool3d", v, 3); }

void avg_pool_grad::shape(const Args& a, TensorMeta& out) {
  constexpr const char* op = "avg_pool_grad";
  out.shape = infer::from_arg(op, a.input_shape);
  const auto rank = static_cast<int64_t>(a.kernel_size.size()) + 2;
  check((rank == 4 || rank == 5) && a.out_grad.rank() == rank && static_cast<int64_t>(out.shape.size()) == rank,
        ErrorKind::kValue,
        "[{}] expected out_grad and input_shape with two axes more than kernel sizes (2 or 3), got {}, {} and {} "
        "kernel sizes",
        op, to_string(a.out_grad.shape()), to_string(out.shape), a.kernel_size.size());
  const std::vector<int64_t> ones(a.kernel_size.size(), 1);
  const Window w = resolved_window(op, a.kernel_size, a.strides, ones, a.paddings, a.data_format);
  for (size_t i : {size_t{0}, w.channel_axis()})
    infer::check_size(op, "batch and channels of out_grad", out.shape[i], a.out_grad.shape()[i]);
}
void avg_pool_grad::vjp(Vjp& v) {
  const Tensor& g = v.x_grad_grad;
  // Linear in out_grad: the adjoint is the pooling itself, over windows whose number is known.
  v.out_grad_grad = g.rank() == 5 ? ops::pool3d(g, v.kernel_size, v.strides, v.paddings, false, v.exclusive,
                                                v.data_format, "avg", false, v.adaptive)
                                  : ops::pool2d(g, Ints(v.kernel_size), v.strides, v.paddings, false, v.exclusive,
                                                v.data_format, "avg", false, v.adaptive);
}

void max_pool2d_with_index::shape(const Args& a, TensorMeta& out, TensorMeta& mask) {
  infer::check_rank("max_pool2d_with_index", "x", a.x, 4, 4);
  out.shape = mask.shape = pooled("max_pool2d_with_index", pool_window("max_pool2d_with_index", a, 2), a.x, a.adaptive);
}
void max_pool2d_with_index::vjp(Vjp& v) { v.x_grad = ops::max_pool_scatter(v.out_grad, v.mask, Ints(v.x.shape)); }
void max_pool3d_with_index::shape(const Args& a, TensorMeta& out, TensorMeta& mask) {
  infer::check_rank("max_pool3d_with_index", "x", a.x, 5, 5);
  out.shape = mask.shape = pooled("max_pool3d_with_index", pool_window("max_pool3d_with_index", a, 3), a.x, a.adaptive);
}
void max_pool3d_with_index::vjp(Vjp& v) { v.x_grad = ops::max_pool_scatter(v.out_grad, v.mask, Ints(v.x.shape)); }

void max_pool_scatter::shape(const Args& a, TensorMeta& out) {
  out.shape = infer::from_arg("max_pool_scatter", a.shape);
  infer::same_shape("max_pool_scatter", "mask", a.mask, "x", a.x);
  check(out.shape.size() == a.x.shape().size(), ErrorKind::kValue,
        "[max_pool_scatter] expected a shape of x's rank {}, got {}", a.x.rank(), to_string(out.shape));
}
// Its adjoint picks the scattered places: a gather along the flattened positions.
void max_pool_scatter::vjp(Vjp& v) {
  const Shape& s = v.mask.shape();
  Ints flat{0, 0, -1};
  Tensor g = ops::reshape(v.out_grad, flat);
  Tensor at = ops::reshape(v.mask, flat);
  v.x_grad = compose::reshape_to(ops::take_along_axis(g, at, 2), s);
}

void batch_norm::shape(const Args& a, TensorMeta& out, TensorMeta& mean_out, TensorMeta& variance_out,
                       TensorMeta& saved_mean, TensorMeta& saved_variance) {
  infer::check_rank("batch_norm", "x", a.x, 2, 5);
  Dim channels = a.x.shape()[channel_of("batch_norm", a.x, a.data_format)];
  for (const Tensor* t : {&a.mean, &a.variance, &a.scale, &a.bias}) {
    if (!t->defined()) continue;
    infer::check_rank("batch_norm", "mean, variance, scale and bias", *t, 1, 1);
    infer::check_size("batch_norm", "mean, variance, scale and bias", channels, t->dim(0));
  }
  out.shape = a.x.shape();
  for (TensorMeta* m : {&mean_out, &variance_out, &saved_mean, &saved_variance}) m->shape = Shape{channels};
}

namespace {
template <class A>
bool uses_running(const A& a) {
  return (a.is_test && !a.trainable_statistics) || a.use_global_stats;
}
}  // namespace

ops::batch_norm_out batch_norm::decompose(const Args& a) {
  size_t channel = channel_of("batch_norm", a.x, a.data_format);
  Tensor x = compose::cast_to(a.x, stat_dtype(a.x.dtype()));
  Ints axes = other_axes(x, channel);
  bool running = uses_running(a);
  Tensor mean, variance;
  if (running) {
    mean = per_channel(a.mean, x, channel);
    variance = per_channel(a.variance, x, channel);
  } else {
    Moments m = moments(x, axes);
    mean = m.mean;
    variance = m.variance;
  }
  Tensor inv = inverse_std(variance, a.epsilon);
  Tensor y = (x - mean) * inv;
  if (a.scale.defined()) y = y * per_channel(a.scale, x, channel);
  if (a.bias.defined()) y = y + per_channel(a.bias, x, channel);
  Shape flat{a.mean.dim(0)};
  const DType t = a.mean.dtype();
  Tensor saved_mean = compose::cast_to(compose::reshape_to(mean, flat), t);
  Tensor saved_inv = compose::cast_to(compose::reshape_to(inv, flat), t);
  Tensor mean_out = a.mean, variance_out = a.variance;
  if (!running) {
    auto blend = [&](const Tensor& old, const Tensor& batch) {
      return compose::cast_to(ops::scale(old, Scalar(a.momentum), Scalar(0.0), true) +
                                  ops::scale(batch, Scalar(1.0 - a.momentum), Scalar(0.0), true),
                              old.dtype());
    };
    mean_out = blend(a.mean, saved_mean);
    variance_out = blend(a.variance, compose::reshape_to(variance, flat));
  }
  return {compose::cast_to(y, a.x.dtype()), mean_out, variance_out, saved_mean, saved_inv};
}

void batch_norm::vjp(Vjp& v) {
  if (!v.out_grad.defined()) return;  // the statistics carry no gradient
  // In training the statistics depend on x; the running ones are constants.
  const bool running = uses_running(v);
  auto [x_grad, scale_grad, bias_grad] =
      ops::batch_norm_grad(v.x, v.scale, running ? v.saved_mean : Tensor(), running ? v.saved_variance : Tensor(),
                           v.out_grad, v.epsilon, v.data_format);
  if (v.need_x) v.x_grad = x_grad;
  if (v.need_scale) v.scale_grad = compose::cast_to(scale_grad, v.scale.dtype());
  if (v.need_bias) v.bias_grad = bias_grad;
}

void layer_norm::shape(const Args& a, TensorMeta& out, TensorMeta& mean, TensorMeta& variance) {
  int64_t begin = a.begin_norm_axis;
  check(begin > 0 ? begin < std::max<int64_t>(a.x.rank(), 1) : begin == 0, ErrorKind::kValue,
        "[layer_norm] expected begin_norm_axis in [0, {}), got {}", a.x.rank(), begin);
  Dim count = 1;
  for (int64_t i = begin; i < a.x.rank(); ++i) count = count * a.x.dim(i);
  for (const Tensor* t : {&a.scale, &a.bias})
    if (t->defined()) infer::check_size("layer_norm", "scale and bias", count, paddle::numel(t->shape()));
  out.shape = a.x.shape();
  Shape lead(a.x.shape().begin(), a.x.shape().begin() + begin);
  mean.shape = variance.shape = lead;
  mean.dtype = variance.dtype = stat_dtype(a.x.dtype());
}

ops::layer_norm_out layer_norm::decompose(const Args& a) {
  Tensor x = compose::cast_to(a.x, stat_dtype(a.x.dtype()));
  Ints axes = trailing_axes(x, a.begin_norm_axis);
  Moments m = moments(x, axes);
  Tensor y = (x - m.mean) * inverse_std(m.variance, a.epsilon);
  if (a.scale.defined()) y = y * compose::cast_to(trailing_shape(a.scale, x, a.begin_norm_axis), x.dtype());
  if (a.bias.defined()) y = y + compose::cast_to(trailing_shape(a.bias, x, a.begin_norm_axis), x.dtype());
  Shape lead(x.shape().begin(), x.shape().begin() + a.begin_norm_axis);
  return {compose::cast_to(y, a.x.dtype()), compose::reshape_to(m.mean, lead), compose::reshape_to(m.variance, lead)};
}

void layer_norm::vjp(Vjp& v) {
  if (!v.out_grad.defined()) return;
  auto [x_grad, scale_grad, bias_grad] = ops::layer_norm_grad(v.x, v.scale, v.out_grad, v.epsilon, v.begin_norm_axis);
  if (v.need_x) v.x_grad = x_grad;
  if (v.need_scale) v.scale_grad = compose::cast_to(compose::reshape_to(scale_grad, v.scale.shape()), v.scale.dtype());
  if (v.need_bias) v.bias_grad = compose::cast_to(compose::reshape_to(bias_grad, v.bias.shape), v.bias.dtype);
}

void batch_norm_grad::shape(const Args& a, TensorMeta& x_grad, TensorMeta& scale_grad, TensorMeta& bias_grad) {
  infer::check_rank("batch_norm_grad", "x", a.x, 2, 5);
  Dim channels = a.x.shape()[channel_of("batch_norm_grad", a.x, a.data_format)];
  for (const Tensor* t : {&a.mean, &a.inverse_std, &a.scale})
    if (t->defined())
      infer::check_size("batch_norm_grad", "mean, inverse_std and scale", channels, paddle::numel(t->shape()));
  check(a.mean.defined() == a.inverse_std.defined(), ErrorKind::kValue,
        "[batch_norm_grad] expected both of mean and inverse_std, or neither");
  x_grad.shape = infer::same_shape("batch_norm_grad", "out_grad", a.out_grad, "x", a.x);
  scale_grad.shape = bias_grad.shape = Shape{channels};
  scale_grad.dtype = bias_grad.dtype = stat_dtype(a.x.dtype());
}

// The statistics are computed again from x, so that the gradient can itself be differentiated.
ops::batch_norm_grad_out batch_norm_grad::decompose(const Args& a) {
  size_t channel = channel_of("batch_norm_grad", a.x, a.data_format);
  DType t = a.x.dtype();
  Tensor x = compose::cast_to(a.x, stat_dtype(t)), g = compose::cast_to(a.out_grad, stat_dtype(t));
  Ints axes = other_axes(x, channel);
  const bool constant = a.mean.defined();
  Tensor mean, inv;
  if (constant) {
    mean = per_channel(a.mean, x, channel);
    inv = per_channel(a.inverse_std, x, channel);
  } else {
    Moments m = moments(x, axes);
    mean = m.mean;
    inv = inverse_std(m.variance, a.epsilon);
  }
  Tensor xhat = (x - mean) * inv;
  Tensor scale_grad = ops::sum(g * xhat, axes), bias_grad = ops::sum(g, axes);
  if (a.scale.defined()) g = g * per_channel(a.scale, x, channel);
  return {compose::cast_to(constant ? g * inv : normalised_grad(g, xhat, inv, axes), t), scale_grad, bias_grad};
}

void layer_norm_grad::shape(const Args& a, TensorMeta& x_grad, TensorMeta& scale_grad, TensorMeta& bias_grad) {
  check(a.begin_norm_axis >= 0 && a.begin_norm_axis <= a.x.rank(), ErrorKind::kValue,
        "[layer_norm_grad] expected begin_norm_axis in [0, {}], got {}", a.x.rank(), a.begin_norm_axis);
  Dim count = 1;
  for (int64_t i = a.begin_norm_axis; i < a.x.rank(); ++i) count = count * a.x.dim(i);
  if (a.scale.defined()) infer::check_size("layer_norm_grad", "scale", count, paddle::numel(a.scale.shape()));
  x_grad.shape = infer::same_shape("layer_norm_grad", "out_grad", a.out_grad, "x", a.x);
  scale_grad.shape = bias_grad.shape = Shape{count};
  scale_grad.dtype = bias_grad.dtype = stat_dtype(a.x.dtype());
}

ops::layer_norm_grad_out layer_norm_grad::decompose(const Args& a) {
  DType t = a.x.dtype();
  Tensor x = compose::cast_to(a.x, stat_dtype(t)), g = compose::cast_to(a.out_grad, stat_dtype(t));
  Ints axes = trailing_axes(x, a.begin_norm_axis);
  Shape lead_axes;
  for (int64_t i = 0; i < a.begin_norm_axis; ++i) lead_axes.push_back(Dim(i));
  auto flat = [&](const Tensor& grad) {
    Tensor summed = lead_axes.empty() ? grad : ops::sum(grad, Ints(lead_axes));
    return compose::reshape_to(summed, Shape{paddle::numel(summed.shape())});
  };
  Moments m = moments(x, axes);
  Tensor inv = inverse_std(m.variance, a.epsilon);
  Tensor xhat = (x - m.mean) * inv;
  Tensor bias_grad = flat(g), scale_grad = flat(g * xhat);
  if (a.scale.defined()) g = g * compose::cast_to(trailing_shape(a.scale, x, a.begin_norm_axis), x.dtype());
  return {compose::cast_to(normalised_grad(g, xhat, inv, axes), t), scale_grad, bias_grad};
}

void dropout::vjp(Vjp& v) {
  if (!v.need_x) return;
  double p = v.p.to_double();
  bool upscale = v.mode == "upscale_in_train";
  if (v.is_test) {
    v.x_grad = upscale ? v.out_grad : ops::scale(v.out_grad, Scalar(1.0 - p), Scalar(0.0), true);
    return;
  }
  Tensor kept = ops::cast(v.mask, v.out_grad.dtype());
  Tensor g = v.out_grad * kept;
  v.x_grad = upscale && p < 1 ? ops::scale(g, Scalar(1.0 / (1.0 - p)), Scalar(0.0), true) : g;
}

void embedding::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("embedding", "weight", a.weight, 2, 2);
  out.shape = a.x.shape();
  out.shape.push_back(a.weight.dim(1));
}
void embedding::vjp(Vjp& v) {
  if (v.need_weight) v.weight_grad = ops::embedding_grad(v.x, v.out_grad, Scalar(v.weight.shape[0]), v.padding_idx);
}

void embedding_grad::shape(const Args& a, TensorMeta& out) {
  Dim rows = a.rows.kind() == Scalar::Kind::kDim ? a.rows.dim()
                                                 : Dim(infer::extent_of("embedding_grad", "rows", a.rows.to_int()));
  check(!paddle::less(rows, 0), ErrorKind::kValue, "[embedding_grad] expected rows >= 0, got {}", rows.str());
  infer::check_rank("embedding_grad", "out_grad", a.out_grad, a.x.rank() + 1);
  for (int64_t i = 0; i < a.x.rank(); ++i)
    infer::check_size("embedding_grad", "out_grad", a.x.dim(i), a.out_grad.dim(i));
  out.shape = Shape{rows, a.out_grad.dim(-1)};
}
void embedding_grad::vjp(Vjp& v) {
  if (v.need_out_grad) v.out_grad_grad = ops::embedding(v.x, v.weight_grad_grad, v.padding_idx);
}

}  // namespace paddle::rules
