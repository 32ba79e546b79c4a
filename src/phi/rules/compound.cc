// Rules of ops/compound.yaml, in the order of the records.
#include "phi/rules_compound.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/window.h"

namespace paddle::rules {
namespace {

Tensor number(double v, const Tensor& like) { return ops::full({}, Scalar(v), like.dtype()); }

// The shape and the position of the channels for operators on images.
size_t image_channel(std::string_view op, const Tensor& x, std::string_view format) {
  infer::check_rank(op, "x", x, 4, 4);
  return channels_last(op, format) ? 3 : 1;
}

void check_divides(std::string_view op, std::string_view what, Dim size, int64_t by) {
  check(by >= 1 && by < (1 << 20), ErrorKind::kValue, "[{}] expected a factor of at least 1, got {}", op, by);
  check(paddle::equal(mod(size, Dim(by)), Dim(0)), ErrorKind::kValue, "[{}] expected {} divisible by {}, got {}", op,
        what, by, size.str());
}

// x as the given sizes, its axes exchanged, as other sizes: how blocks of pixels move.
Tensor moved(const Tensor& x, const Shape& split, std::initializer_list<int64_t> order, const Shape& joined) {
  Tensor t = ops::transpose(compose::reshape_to(x, split), std::vector<int64_t>(order));
  return compose::reshape_to(t, joined);
}

void check_reduction(std::string_view op, std::string_view r) {
  check(r == "none" || r == "sum" || r == "mean" || (r == "batchmean" && op == "kldiv_loss"), ErrorKind::kValue,
        "[{}] expected reduction none, sum or mean, got {}", op, r);
}

// A vector of channels as it multiplies x.
Tensor by_channel(const Tensor& t, const Tensor& x, size_t channel) {
  Shape s(x.shape().size(), Dim(1));
  s[channel] = t.dim(0);
  return compose::cast_to(compose::reshape_to(t, s), x.dtype());
}

DType wide_dtype(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16 ? DType::kFloat32 : t; }

void check_channels(std::string_view op, const Tensor& scale, const Tensor& bias, Dim channels) {
  for (const Tensor* t : {&scale, &bias})
    if (t->defined()) infer::check_size(op, "scale and bias (channels)", channels, paddle::numel(t->shape()));
}

struct Normalised {
  Tensor y, mean, variance;  // over the last axis, which stays as 1
};

Normalised normalised(const Tensor& x, double epsilon) {
  Tensor mean = ops::mean(x, Ints{-1}, true), d = x - mean;
  Tensor variance = ops::mean(d * d, Ints{-1}, true);
  return {d * ops::rsqrt(variance + epsilon), mean, variance};
}

}  // namespace

void bmm::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("bmm", "x", a.x, 3, 3);
  infer::check_rank("bmm", "y", a.y, 3, 3);
  infer::check_size("bmm", "y's batch", a.x.dim(0), a.y.dim(0));
  infer::check_size("bmm", "y's rows (x's columns)", a.x.dim(2), a.y.dim(1));
  out.shape = {a.x.dim(0), a.x.dim(1), a.y.dim(2)};
}
Tensor bmm::decompose(const Args& a) { return ops::matmul(a.x, a.y); }

void mv::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("mv", "x", a.x, 2, 2);
  infer::check_rank("mv", "vec", a.vec, 1, 1);
  infer::check_size("mv", "vec (x's columns)", a.x.dim(1), a.vec.dim(0));
  out.shape = {a.x.dim(0)};
}
Tensor mv::decompose(const Args& a) { return ops::matmul(a.x, a.vec); }

void dot::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("dot", "x", a.x, 1, 2);
  out.shape = infer::same_shape("dot", "y", a.y, "x", a.x);
  out.shape.pop_back();
}
Tensor dot::decompose(const Args& a) { return ops::sum(a.x * a.y, Ints{-1}, a.x.dtype(), false); }

void addmm::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("addmm", "x", a.x, 2, 2);
  infer::check_rank("addmm", "y", a.y, 2, 2);
  infer::check_rank("addmm", "input", a.input, 1, 2);
  infer::check_size("addmm", "y's rows (x's columns)", a.x.dim(1), a.y.dim(0));
  const Shape product{a.x.dim(0), a.y.dim(1)};
  out.shape = infer::broadcast_shapes("addmm", a.input.shape(), product);
  for (size_t i = 0; i < 2; ++i) infer::check_size("addmm", "input, broadcast", product[i], out.shape[i]);
}
Tensor addmm::decompose(const Args& a) {
  return ops::scale(a.input, Scalar(a.beta)) + ops::scale(ops::matmul(a.x, a.y), Scalar(a.alpha));
}

namespace {
// Both shapes at one rank.
std::pair<Shape, Shape> aligned(const Tensor& x, const Tensor& y) {
  Shape a = x.shape(), b = y.shape();
  while (a.size() < b.size()) a.insert(0, Dim(1));
  while (b.size() < a.size()) b.insert(0, Dim(1));
  return {a, b};
}
}  // namespace

void kron::shape(const Args& a, TensorMeta& out) {
  auto [x, y] = aligned(a.x, a.y);
  for (size_t i = 0; i < x.size(); ++i) out.shape.push_back(x[i] * y[i]);
}
Tensor kron::decompose(const Args& a) {
  auto [x, y] = aligned(a.x, a.y);
  Shape left, right, out;
  for (size_t i = 0; i < x.size(); ++i) {
    left.push_back(x[i]);
    left.push_back(Dim(1));
    right.push_back(Dim(1));
    right.push_back(y[i]);
    out.push_back(x[i] * y[i]);
  }
  return compose::reshape_to(compose::reshape_to(a.x, left) * compose::reshape_to(a.y, right), out);
}

void trace::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("trace", "x", a.x, 2, 64);
  const int64_t one = infer::axis_of("trace", a.axis1, a.x.rank(), "axis1");
  const int64_t two = infer::axis_of("trace", a.axis2, a.x.rank(), "axis2");
  check(one != two, ErrorKind::kValue, "[trace] expected two different axes, got {} twice", one);
  for (int64_t i = 0; i < a.x.rank(); ++i)
    if (i != one && i != two) out.shape.push_back(a.x.dim(i));
}
Tensor trace::decompose(const Args& a) {
  return ops::sum(ops::diagonal(a.x, a.offset, a.axis1, a.axis2), Ints{-1}, a.x.dtype());
}

Tensor mean_all::decompose(const Args& a) { return ops::mean(a.x, Ints{}); }

void kldiv_loss::shape(const Args& a, TensorMeta& out) {
  check_reduction("kldiv_loss", a.reduction);
  Shape s = infer::same_shape("kldiv_loss", "label", a.label, "x", a.x);
  if (a.reduction == "none") out.shape = s;
}
Tensor kldiv_loss::decompose(const Args& a) {
  Tensor loss;
  if (a.log_target) {
    loss = ops::exp(a.label) * (a.label - a.x);
  } else {
    Tensor zero = compose::full_like(0.0, a.label), one = compose::full_like(1.0, a.label);
    Tensor above = ops::greater_than(a.label, zero);
    Tensor label = ops::where(above, a.label, one);  // its logarithm is defined everywhere
    loss = ops::where(above, label * (ops::log(label) - a.x), zero);
  }
  if (a.reduction == "none") return loss;
  if (a.reduction == "mean") return ops::mean(loss, Ints{});
  Tensor total = ops::sum(loss, Ints{});
  if (a.reduction == "sum" || a.x.rank() == 0) return total;
  return total / ops::full({}, Scalar(a.x.dim(0)), a.x.dtype());
}

ops::huber_loss_out huber_loss::decompose(const Args& a) {
  Tensor r = a.label - a.input, size = ops::abs(r);
  Tensor far = (size - 0.5 * a.delta) * a.delta;
  return {ops::where(ops::less_equal(size, compose::full_like(a.delta, size)), r * r * 0.5, far), r};
}

Tensor log_loss::decompose(const Args& a) {
  return -(a.label * ops::log(a.input + a.epsilon)) - (1.0 - a.label) * ops::log(1.0 - a.input + a.epsilon);
}

Tensor sigmoid_cross_entropy_with_logits::decompose(const Args& a) {
  Tensor softplus = ops::log1p(ops::exp(-ops::abs(a.x)));
  Tensor loss;
  if (a.pos_weight.defined()) {
    Tensor weight = a.label * (a.pos_weight - 1.0) + 1.0;
    loss = (1.0 - a.label) * a.x + weight * (softplus + ops::relu(-a.x));
  } else {
    loss = ops::relu(a.x) - a.x * a.label + softplus;
  }
  Tensor zero = compose::full_like(0.0, loss);
  Tensor ignored = ops::equal(a.label, compose::full_like(static_cast<double>(a.ignore_index), a.label));
  loss = ops::where(ignored, zero, loss);
  if (!a.normalize) return loss;
  Tensor count = ops::sum(ops::cast(ops::logical_not(ignored), loss.dtype()), Ints{});
  return loss / ops::maximum(count, number(1e-5, loss));
}

void nll_loss::shape(const Args& a, TensorMeta& out, TensorMeta& total_weight) {
  check_reduction("nll_loss", a.reduction);
  infer::check_rank("nll_loss", "input", a.input, 2, 64);
  infer::check_rank("nll_loss", "label", a.label, a.input.rank() - 1, a.input.rank() - 1);
  infer::check_size("nll_loss", "label's batch", a.input.dim(0), a.label.dim(0));
  for (int64_t i = 1; i < a.label.rank(); ++i)
    infer::check_size("nll_loss", "label's sizes", a.input.dim(i + 1), a.label.dim(i));
  if (a.weight.defined()) infer::check_size("nll_loss", "weight (classes)", a.input.dim(1), a.weight.dim(0));
  if (a.reduction == "none") out.shape = a.label.shape();
  total_weight.shape = {};
}
ops::nll_loss_out nll_loss::decompose(const Args& a) {
  Tensor ignored = ops::equal(a.label, ops::full({}, Scalar(a.ignore_index), a.label.dtype()));
  Tensor label = ops::where(ignored, ops::full_like(a.label, Scalar(0)), a.label);
  Tensor picked = ops::squeeze(ops::take_along_axis(a.input, ops::unsqueeze(label, {1}), 1), {1});
  Tensor weight = ops::cast(ops::logical_not(ignored), a.input.dtype());
  if (a.weight.defined()) {
    Tensor flat = ops::index_select(a.weight, compose::reshape_to(label, {paddle::numel(label.shape())}), 0);
    weight = weight * compose::cast_to(compose::reshape_to(flat, label.shape()), a.input.dtype());
  }
  Tensor loss = -(picked * weight), total = ops::sum(weight, Ints{});
  if (a.reduction == "none") return {loss, total};
  Tensor sum = ops::sum(loss, Ints{});
  return {a.reduction == "sum" ? sum : sum / total, total};
}

Tensor label_smooth::decompose(const Args& a) {
  Tensor kept = a.label * (1.0 - a.epsilon);
  if (a.prior_dist.defined()) return kept + a.prior_dist * a.epsilon;
  return kept + number(a.epsilon, a.label) / ops::full({}, Scalar(a.label.dim(-1)), a.label.dtype());
}

namespace {
// Pixels of an image that one of another resolution stands for, r each way.
int64_t pixels_of(std::string_view op, std::string_view name, int64_t r) {
  check(r > 0 && r < int64_t{1} << 31, ErrorKind::kValue, "[{}] expected {} in [1, 2^31), got {}", op, name, r);
  return r * r;
}
}  // namespace

void pixel_shuffle::shape(const Args& a, TensorMeta& out) {
  const size_t c = image_channel("pixel_shuffle", a.x, a.data_format), h = c == 1 ? 2 : 1;
  const int64_t r = a.upscale_factor, pixels = pixels_of("pixel_shuffle", "upscale_factor", r);
  check_divides("pixel_shuffle", "channels", a.x.shape()[c], pixels);
  out.shape = a.x.shape();
  out.shape[c] = floor_div(out.shape[c], Dim(pixels));
  for (size_t i : {h, h + 1}) out.shape[i] = out.shape[i] * Dim(r);
}
Tensor pixel_shuffle::decompose(const Args& a) {
  const Shape& s = a.x.shape();
  const Dim r(a.upscale_factor), square(a.upscale_factor * a.upscale_factor);
  if (!channels_last("pixel_shuffle", a.data_format)) {
    const Dim c = floor_div(s[1], square);
    return moved(a.x, {s[0], c, r, r, s[2], s[3]}, {0, 1, 4, 2, 5, 3}, {s[0], c, s[2] * r, s[3] * r});
  }
  const Dim c = floor_div(s[3], square);
  return moved(a.x, {s[0], s[1], s[2], c, r, r}, {0, 1, 4, 2, 5, 3}, {s[0], s[1] * r, s[2] * r, c});
}

void pixel_unshuffle::shape(const Args& a, TensorMeta& out) {
  const size_t c = image_channel("pixel_unshuffle", a.x, a.data_format), h = c == 1 ? 2 : 1;
  const int64_t r = a.downscale_factor, pixels = pixels_of("pixel_unshuffle", "downscale_factor", r);
  out.shape = a.x.shape();
  out.shape[c] = out.shape[c] * Dim(pixels);
  for (size_t i : {h, h + 1}) {
    check_divides("pixel_unshuffle", "height and width", out.shape[i], r);
    out.shape[i] = floor_div(out.shape[i], Dim(r));
  }
}
Tensor pixel_unshuffle::decompose(const Args& a) {
  const Shape& s = a.x.shape();
  const Dim r(a.downscale_factor), square(a.downscale_factor * a.downscale_factor);
  if (!channels_last("pixel_unshuffle", a.data_format)) {
    const Dim h = floor_div(s[2], r), w = floor_div(s[3], r);
    return moved(a.x, {s[0], s[1], h, r, w, r}, {0, 1, 3, 5, 2, 4}, {s[0], s[1] * square, h, w});
  }
  const Dim h = floor_div(s[1], r), w = floor_div(s[2], r);
  return moved(a.x, {s[0], h, r, w, r, s[3]}, {0, 1, 3, 5, 2, 4}, {s[0], h, w, s[3] * square});
}

void channel_shuffle::shape(const Args& a, TensorMeta& out) {
  const size_t c = image_channel("channel_shuffle", a.x, a.data_format);
  check_divides("channel_shuffle", "channels", a.x.shape()[c], a.groups);
  out.shape = a.x.shape();
}
Tensor channel_shuffle::decompose(const Args& a) {
  const Shape& s = a.x.shape();
  const Dim g(a.groups);
  if (!channels_last("channel_shuffle", a.data_format))
    return moved(a.x, {s[0], g, floor_div(s[1], g), s[2], s[3]}, {0, 2, 1, 3, 4}, s);
  return moved(a.x, {s[0], s[1], s[2], g, floor_div(s[3], g)}, {0, 1, 2, 4, 3}, s);
}

void maxout::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("maxout", "x", a.x, 2, 64);
  const auto at = static_cast<size_t>(infer::axis_of("maxout", a.axis, a.x.rank()));
  check_divides("maxout", "channels", a.x.shape()[at], a.groups);
  out.shape = a.x.shape();
  out.shape[at] = floor_div(out.shape[at], Dim(a.groups));
}
Tensor maxout::decompose(const Args& a) {
  const int64_t at = infer::axis_of("maxout", a.axis, a.x.rank());
  Shape s = a.x.shape();
  s[static_cast<size_t>(at)] = floor_div(s[static_cast<size_t>(at)], Dim(a.groups));
  s.insert(static_cast<size_t>(at) + 1, Dim(a.groups));
  return ops::max(compose::reshape_to(a.x, s), Ints{at + 1});
}

void depthwise_conv2d::shape(const Args& a, TensorMeta& out) {
  // conv2d checks the rest where it is composed; sizes follow from the window.
  constexpr const char* op = "depthwise_conv2d";
  infer::check_rank(op, "filter", a.filter, 4, 4);
  const int64_t kernel[] = {guard_int(a.filter.dim(2)), guard_int(a.filter.dim(3))};
  Window w = make_window(op, a.input, kernel, a.strides, a.dilations, a.paddings, a.padding_algorithm, a.data_format);
  infer::check_size(op, "input channels (filter's times groups)", a.filter.dim(1) * Dim(a.groups),
                    a.input.shape()[w.channel_axis()]);
  out.shape = a.input.shape();
  out.shape[w.channel_axis()] = a.filter.dim(0);
  for (size_t i = 0; i < w.rank(); ++i) out.shape[w.axis(i)] = positions(op, w, i, out.shape[w.axis(i)]);
}
Tensor depthwise_conv2d::decompose(const Args& a) {
  return ops::conv2d(a.input, a.filter, a.strides, a.paddings, a.padding_algorithm, a.dilations, a.groups,
                     a.data_format);
}

void group_norm::shape(const Args& a, TensorMeta& y, TensorMeta& mean, TensorMeta& variance) {
  infer::check_rank("group_norm", "x", a.x, 2, 5);
  const size_t c = channels_last("group_norm", a.data_format) ? a.x.shape().size() - 1 : 1;
  check_divides("group_norm", "channels", a.x.shape()[c], a.groups);
  check_channels("group_norm", a.scale, a.bias, a.x.shape()[c]);
  y.shape = a.x.shape();
  mean.shape = variance.shape = {a.x.dim(0), Dim(a.groups)};
}
ops::group_norm_out group_norm::decompose(const Args& a) {
  const bool last = channels_last("group_norm", a.data_format);
  const auto rank = a.x.rank();
  std::vector<int64_t> first{0, rank - 1}, back{0};  // channels in front, and back again
  for (int64_t i = 1; i + 1 < rank; ++i) first.push_back(i);
  for (int64_t i = 2; i < rank; ++i) back.push_back(i);
  back.push_back(1);
  Tensor x = compose::cast_to(last ? ops::transpose(a.x, first) : a.x, wide_dtype(a.x.dtype()));
  Dim inner = 1;
  for (int64_t i = 1; i < rank; ++i) inner = inner * x.dim(i);
  Normalised n =
      normalised(compose::reshape_to(x, {x.dim(0), Dim(a.groups), floor_div(inner, Dim(a.groups))}), a.epsilon);
  Tensor y = compose::reshape_to(n.y, x.shape());
  if (a.scale.defined()) y = y * by_channel(a.scale, y, 1);
  if (a.bias.defined()) y = y + by_channel(a.bias, y, 1);
  y = compose::cast_to(y, a.x.dtype());
  const Shape flat{x.dim(0), Dim(a.groups)};
  return {last ? ops::transpose(y, back) : y, compose::cast_to(compose::reshape_to(n.mean, flat), a.x.dtype()),
          compose::cast_to(compose::reshape_to(n.variance, flat), a.x.dtype())};
}

void instance_norm::shape(const Args& a, TensorMeta& y, TensorMeta& saved_mean, TensorMeta& saved_variance) {
  infer::check_rank("instance_norm", "x", a.x, 2, 5);
  check_channels("instance_norm", a.scale, a.bias, a.x.dim(1));
  y.shape = a.x.shape();
  saved_mean.shape = saved_variance.shape = {a.x.dim(0) * a.x.dim(1)};
}
ops::instance_norm_out instance_norm::decompose(const Args& a) {
  Tensor x = compose::cast_to(a.x, wide_dtype(a.x.dtype()));
  Dim inner = 1;
  for (int64_t i = 2; i < x.rank(); ++i) inner = inner * x.dim(i);
  const Shape flat{x.dim(0) * x.dim(1)};
  Normalised n = normalised(compose::reshape_to(x, {x.dim(0), x.dim(1), inner}), a.epsilon);
  Tensor y = compose::reshape_to(n.y, x.shape());
  if (a.scale.defined()) y = y * by_channel(a.scale, y, 1);
  if (a.bias.defined()) y = y + by_channel(a.bias, y, 1);
  return {compose::cast_to(y, a.x.dtype()), compose::cast_to(compose::reshape_to(n.mean, flat), a.x.dtype()),
          compose::cast_to(compose::reshape_to(n.variance, flat), a.x.dtype())};
}

void eigvalsh::shape(const Args& a, TensorMeta& eigenvalues, TensorMeta& eigenvectors) {
  infer::check_rank("eigvalsh", "x", a.x, 2, 64);
  infer::check_size("eigvalsh", "a square matrix", a.x.dim(-2), a.x.dim(-1));
  check(a.uplo == "L" || a.uplo == "U", ErrorKind::kValue, "[eigvalsh] expected uplo 'L' or 'U', got '{}'", a.uplo);
  eigenvectors.shape = eigenvalues.shape = a.x.shape();
  eigenvalues.shape.pop_back();
}
ops::eigvalsh_out eigvalsh::decompose(const Args& a) {
  auto found = ops::eigh(a.x, a.uplo);
  return {found.values, found.vectors};
}

}  // namespace paddle::rules
