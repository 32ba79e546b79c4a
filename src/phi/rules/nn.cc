// Rules of ops/nn.yaml: normalisation, dropout, embedding, in the order of the records.
#include "phi/rules_nn.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/window.h"

namespace paddle::rules {
namespace {

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

void batch_norm::shape(const Args& a, TensorMeta& out, TensorMeta& mean_out, TensorMeta& variance_out,
                       TensorMeta& saved_mean, TensorMeta& saved_variance, TensorMeta& reserve_space) {
  infer::check_rank("batch_norm", "x", a.x, 2, 5);
  Dim channels = a.x.shape()[channel_of("batch_norm", a.x, a.data_format)];
  for (const Tensor* t : {&a.mean, &a.variance, &a.scale, &a.bias}) {
    if (!t->defined()) continue;
    infer::check_rank("batch_norm", "mean, variance, scale and bias", *t, 1, 1);
    infer::check_size("batch_norm", "mean, variance, scale and bias", channels, t->dim(0));
  }
  out.shape = a.x.shape();
  for (TensorMeta* m : {&mean_out, &variance_out, &saved_mean, &saved_variance}) m->shape = Shape{channels};
  reserve_space.shape = {Dim(0)};
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
  Tensor reserve = ops::full(Shape{Dim(0)}, Scalar(0), DType::kUInt8);
  return {compose::cast_to(y, a.x.dtype()), mean_out, variance_out, saved_mean, saved_inv, reserve};
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
  if (v.need_bias) v.bias_grad = compose::cast_to(bias_grad, v.bias.dtype);
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
