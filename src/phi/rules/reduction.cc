// Rules of ops/reduction.yaml, in the order of the records.
#include "phi/rules_reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "tensor/shown_shape.h"

namespace paddle::rules {

namespace {

constexpr DType kSame = DType::kUndefined;

// The axes counted from the front; none for a 0-d tensor, whose axis 0 or -1 stands for its one element.
Sizes reduced_of(std::string_view op, std::span<const int64_t> given, size_t rank) {
  Sizes axes = infer::axes_of(op, given, static_cast<int64_t>(rank), true);
  return rank == 0 ? Sizes{} : axes;
}

// The reduced axes; all of them for an empty list or reduce_all.
Sizes reduced(std::string_view op, const Ints& axis, size_t rank, bool all = false) {
  const Sizes given = all ? Sizes{} : infer::numbers_of(op, axis);
  return reduced_of(op, given, rank);
}
Sizes reduced(std::string_view op, std::span<const int64_t> axis, size_t rank, bool all = false) {
  return reduced_of(op, all ? std::span<const int64_t>{} : axis, rank);
}

// A tensor of a reduction's output shape, with the reduced axes put back as 1.
Tensor kept(const Tensor& t, const Sizes& axes, std::span<const Dim> shape) {
  return axes.empty() ? t : compose::keep_dims(t, axes, shape);
}

// The gradient of a reduction, spread over the reduced axes.
Tensor spread(const Tensor& g, const Sizes& axes, std::span<const Dim> shape) {
  return ops::expand(kept(g, axes, shape), Shape(shape));
}

Dim count(std::span<const Dim> shape, const Sizes& axes) {
  Dim n = 1;
  for (int64_t axis : axes) n = n * shape[axis];
  return n;
}

// g / n, where n may be symbolic.
Tensor divided(const Tensor& g, Dim n) {
  if (n.is_const()) return ops::scale(g, 1.0 / static_cast<double>(n.value()));
  return g / ops::full({}, Scalar(n), g.dtype());
}

void check_not_empty(std::string_view op, const Tensor& x, const Sizes& axes) {
  for (int64_t axis : axes)
    check(!(x.shape()[axis] == Dim(0)), ErrorKind::kValue,
          "[{}] expected a size above 0 along the reduced axis {}, got shape {}", op, axis, shown(x.shape()));
}

template <class Axis>
Shape extreme_shape(std::string_view op, const Tensor& x, const Axis& axis, bool keepdim) {
  check_not_empty(op, x, reduced(op, axis, x.shape().size()));
  return infer::reduce(op, x, axis, keepdim);
}

Ints ints(const Sizes& axes) { return Ints(std::span<const int64_t>(axes)); }

// The gradient of max and min: to every element that equals the result.
Tensor to_extremes(const Tensor& x, const Tensor& out, const Tensor& g, const Sizes& axes) {
  Tensor hit = ops::cast(ops::equal(x, kept(out, axes, x.shape())), g.dtype());
  hit = hit / ops::sum(hit, ints(axes), kSame, true);
  return hit * kept(g, axes, x.shape());
}

}  // namespace

void sum::vjp(Vjp& v) {
  if (!v.need_x) return;
  const Sizes axes = reduced("sum", v.axis, v.x.shape.size());
  v.x_grad = compose::cast_to(spread(v.out_grad, axes, v.x.shape), v.x.dtype);
}

Tensor mean::decompose(const Args& a) {
  const Sizes axes = reduced("mean", a.axis, a.x.shape().size());
  // Sums of 16-bit floats overflow long before their mean does.
  const bool narrow = size_of(a.x.dtype()) == 2 && is_float(a.x.dtype());
  Tensor x = narrow ? ops::cast(a.x, DType::kFloat32) : a.x;
  Tensor total = ops::sum(x, ints(axes), is_inexact(x.dtype()) ? kSame : DType::kFloat64, a.keepdim);
  return compose::cast_to(divided(total, count(a.x.shape(), axes)), a.x.dtype());
}

void mean::vjp(Vjp& v) {
  if (!v.need_x) return;
  const Sizes axes = reduced("mean", v.axis, v.x.shape.size());
  v.x_grad = spread(divided(v.out_grad, count(v.x.shape, axes)), axes, v.x.shape);
}

void max::shape(const Args& a, TensorMeta& out) { out.shape = extreme_shape("max", a.x, a.axis, a.keepdim); }

void max::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = to_extremes(v.x, v.out, v.out_grad, reduced("max", v.axis, v.x.shape().size()));
}

void min::shape(const Args& a, TensorMeta& out) { out.shape = extreme_shape("min", a.x, a.axis, a.keepdim); }

void min::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = to_extremes(v.x, v.out, v.out_grad, reduced("min", v.axis, v.x.shape().size()));
}

void amax::shape(const Args& a, TensorMeta& out) { out.shape = extreme_shape("amax", a.x, a.axis, a.keepdim); }

void amax::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = to_extremes(v.x, v.out, v.out_grad, reduced("amax", v.axis, v.x.shape().size()));
}

void amin::shape(const Args& a, TensorMeta& out) { out.shape = extreme_shape("amin", a.x, a.axis, a.keepdim); }

void amin::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = to_extremes(v.x, v.out, v.out_grad, reduced("amin", v.axis, v.x.shape().size()));
}

void prod::vjp(Vjp& v) {
  if (!v.need_x) return;
  // The product of all others, as (product before) x (product after): dividing by x would fail at zeros. Several axes
  // are first brought together at the end.
  const Shape shape = v.x.shape();
  const int64_t rank = static_cast<int64_t>(shape.size());
  const Sizes axes = reduced("prod", v.axis, shape.size(), v.reduce_all);
  if (rank == 0) {
    v.x_grad = v.out_grad;
    return;
  }
  std::vector<int64_t> order, back(rank);
  Shape outer;
  for (int64_t i = 0; i < rank; ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      order.push_back(i);
      outer.push_back(shape[i]);
    }
  for (int64_t axis : axes) order.push_back(axis);
  for (int64_t i = 0; i < rank; ++i) back[order[i]] = i;
  Shape folded = outer;
  folded.push_back(count(shape, axes));
  Tensor moved = ops::transpose(v.x, order);
  const Shape moved_shape = moved.shape();
  Tensor x = compose::conj(compose::reshape_to(moved, folded));
  Tensor others = ops::cumprod(x, -1, true, false) * ops::cumprod(x, -1, true, true);
  Shape g_shape = outer;
  g_shape.push_back(1);
  Tensor grad = others * compose::reshape_to(v.out_grad, g_shape);
  v.x_grad = ops::transpose(compose::reshape_to(grad, moved_shape), back);
}

Tensor logsumexp::decompose(const Args& a) {
  const Sizes axes = reduced("logsumexp", a.axis, a.x.shape().size(), a.reduce_all);
  Tensor x = is_float(a.x.dtype()) ? a.x : ops::cast(a.x, infer::default_float());
  for (int64_t axis : axes)
    if (x.dim(axis).is_const() && x.dim(axis).value() == 0) return ops::log(ops::sum(x, ints(axes), kSame, a.keepdim));
  Tensor top = ops::max(x, ints(axes), true);
  // Where all is -inf, or something is inf, subtracting the maximum would give NaN.
  Tensor shift = ops::where(ops::isfinite(top), top, compose::zeros_like(top));
  Tensor total = ops::log(ops::sum(ops::exp(x - shift), ints(axes), kSame, true)) + shift;
  return a.keepdim || axes.empty() ? total : ops::squeeze(total, ints(axes));
}

void logsumexp::vjp(Vjp& v) {
  if (!v.need_x) return;
  const Sizes axes = reduced("logsumexp", v.axis, v.x.shape().size(), v.reduce_all);
  Tensor out = kept(v.out, axes, v.x.shape()), g = kept(v.out_grad, axes, v.x.shape());
  v.x_grad = g * ops::exp(v.x - out);
}

namespace {
Shape arg_shape(std::string_view op, const Tensor& x, const Scalar& axis, bool keepdims, bool flatten) {
  if (!flatten) return infer::reduce(op, x, axis, keepdims);
  return keepdims ? Shape(x.shape().size(), Dim(1)) : Shape{};
}
}  // namespace

void argmax::shape(const Args& a, TensorMeta& out) {
  out.shape = arg_shape("argmax", a.x, a.axis, a.keepdims, a.flatten);
}

void argmin::shape(const Args& a, TensorMeta& out) {
  out.shape = arg_shape("argmin", a.x, a.axis, a.keepdims, a.flatten);
}

namespace {
// The shape of a scan: of x, or [n] over all elements. Official raises IndexError for a wrong axis of cumsum.
Shape scan_shape(std::string_view op, const Tensor& x, int64_t axis, bool flatten, ErrorKind kind) {
  if (flatten) return {paddle::numel(x.shape())};
  const int64_t r = std::max<int64_t>(x.rank(), 1);
  check(axis >= -r && axis < r, kind, "[{}] expected axis in [{}, {}), got {}", op, -r, r, axis);
  return x.shape();
}
}  // namespace

void cumsum::shape(const Args& a, TensorMeta& out) {
  const int64_t axis = a.flatten ? 0 : infer::number_of("cumsum", a.axis);
  out.shape = scan_shape("cumsum", a.x, axis, a.flatten, ErrorKind::kIndex);
}

void cumsum::vjp(Vjp& v) {
  if (!v.need_x) return;
  v.x_grad = ops::cumsum(v.out_grad, v.axis, v.flatten, v.exclusive, !v.reverse);
  if (v.flatten) v.x_grad = compose::reshape_to(v.x_grad, v.x.shape);
}

void cumprod::vjp(Vjp& v) {
  if (!v.need_x) return;
  if (v.x.rank() == 0) {
    v.x_grad = v.exclusive ? compose::zeros_like(v.x) : v.out_grad;
    return;
  }
  // dx_j = sum over i >= j of g_i * (product of x_k, k <= i, k != j). Away from zeros that is a reversed cumsum of
  // g * out, divided by x. At the first zero of a line only the terms where it is left out remain: there the products
  // are taken with that zero replaced by 1. After the first zero the gradient is 0.
  const int64_t axis = infer::axis_of("cumprod", v.dim, v.x.rank());
  Tensor x = compose::conj(v.x), out = compose::conj(v.out);
  Tensor ones = ops::full(v.x.shape(), 1.0, x.dtype()), zeros = compose::zeros_like(x);
  Tensor is_zero = ops::equal(x, zeros);
  Tensor seen = ops::cumsum(ops::cast(is_zero, x.dtype()), axis, false, false, v.reverse);
  Tensor before = ops::equal(seen, zeros);
  Tensor first = ops::logical_and(is_zero, ops::equal(seen, ones));
  Tensor plain = ops::cumsum(v.out_grad * out, axis, false, v.exclusive, !v.reverse) / ops::where(is_zero, ones, x);
  Tensor filled = ops::cumprod(ops::where(first, ones, x), axis, v.exclusive, v.reverse);
  Tensor at_first = ops::cumsum(v.out_grad * filled, axis, false, v.exclusive, !v.reverse);
  v.x_grad = ops::where(before, plain, ops::where(first, at_first, zeros));
}

namespace {
// Each result's gradient goes to the element it came from.
Tensor to_sources(const Tensor& g, const Tensor& indices, int64_t axis, const TensorMeta& x) {
  if (x.shape.empty()) return g;
  return ops::put_along_axis(compose::zeros_like(x), indices, g, axis, "add", true);
}
}  // namespace

void cummax::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = to_sources(v.out_grad, v.indices, v.axis, v.x);
}

void cummin::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = to_sources(v.out_grad, v.indices, v.axis, v.x);
}

void logcumsumexp::shape(const Args& a, TensorMeta& out) {
  out.shape = scan_shape("logcumsumexp", a.x, a.axis, a.flatten, ErrorKind::kIndex);
}

void logcumsumexp::vjp(Vjp& v) {
  if (!v.need_x) return;
  // dx_j = sum over i >= j of g_i exp(x_j - out_i): by the logarithms of the positive and the negative part of g.
  Tensor x = v.flatten ? ops::reshape(v.x, {-1}) : v.x;
  const int64_t axis = v.flatten ? 0 : v.axis;
  Tensor zero = compose::zeros_like(v.out_grad);
  Tensor lowest = ops::full(v.out_grad.shape(), -std::numeric_limits<double>::infinity(), v.out_grad.dtype());
  auto part = [&](const Tensor& g) {
    Tensor positive = ops::greater_than(g, zero);
    Tensor logs = ops::log(ops::where(positive, g, compose::zeros_like(g) + 1.0)) - v.out;
    Tensor sums = ops::logcumsumexp(ops::where(positive, logs, lowest), axis, false, v.exclusive, !v.reverse);
    return ops::exp(x + sums);
  };
  Tensor grad = part(v.out_grad) - part(-v.out_grad);
  v.x_grad = v.flatten ? compose::reshape_to(grad, v.x.shape()) : grad;
}

Tensor var::decompose(const Args& a) {
  const Sizes axes = reduced("var", a.axis, a.x.shape().size());
  Tensor off = a.x - ops::mean(a.x, ints(axes), true);
  Tensor total = ops::sum(ops::square(off), ints(axes), kSame, a.keepdim);
  const Dim n = count(a.x.shape(), axes);
  const double correction = a.unbiased ? a.correction : 0.0;
  if (n.is_const()) return ops::scale(total, 1.0 / std::max(0.0, static_cast<double>(n.value()) - correction));
  return total / ops::scale(ops::full({}, Scalar(n), total.dtype()), 1.0, -correction);
}

Tensor std_::decompose(const Args& a) { return ops::sqrt(ops::var(a.x, a.axis, a.keepdim, a.unbiased, a.correction)); }

namespace {
// p_norm's tensor and axis: flattened with asvector. A 0-d tensor is a vector of one.
std::pair<Tensor, int64_t> vector_of(const Tensor& x, int64_t axis, bool asvector) {
  if (asvector || x.rank() == 0) return {ops::reshape(x, {-1}), 0};
  return {x, infer::axis_of("p_norm", axis, x.rank())};
}
}  // namespace

void p_norm::shape(const Args& a, TensorMeta& out) {
  if (a.asvector || a.x.rank() == 0) {
    out.shape = a.keepdim ? Shape(a.x.shape().size(), Dim(1)) : Shape{};
  } else {
    out.shape = infer::reduce("p_norm", a.x, a.axis, a.keepdim);
  }
}

Tensor p_norm::decompose(const Args& a) {
  auto [x, axis] = vector_of(a.x, a.axis, a.asvector);
  const Ints axes{axis};
  Tensor out;
  if (std::isinf(a.porder)) {
    Tensor size = ops::abs(x);
    out = a.porder > 0 ? ops::max(size, axes) : ops::min(size, axes);
  } else if (a.porder == 0) {
    out = ops::sum(ops::cast(ops::not_equal(x, compose::zeros_like(x)), x.dtype()), axes);
  } else if (a.porder == 1) {
    out = ops::sum(ops::abs(x), axes);
  } else if (a.porder == 2) {
    out = ops::sqrt(ops::sum(ops::square(x), axes));
  } else {
    out = ops::pow(ops::sum(ops::pow(ops::abs(x), a.porder), axes), 1.0 / a.porder);
  }
  if (!a.keepdim) return out;
  Shape kept_shape(a.x.shape());
  if (a.asvector) {
    std::fill(kept_shape.begin(), kept_shape.end(), Dim(1));
  } else if (!kept_shape.empty()) {
    kept_shape[axis] = 1;
  }
  return compose::reshape_to(out, kept_shape);
}

void p_norm::vjp(Vjp& v) {
  if (!v.need_x) return;
  const Shape shape = v.x.shape();
  const bool whole = v.asvector || shape.empty();
  Sizes axes;
  if (whole) {
    axes = reduced("p_norm", std::span<const int64_t>{}, shape.size());
  } else {
    axes.push_back(infer::axis_of("p_norm", v.axis, v.x.rank()));
  }
  Tensor out = kept(v.out, axes, shape), g = kept(v.out_grad, axes, shape);
  if (v.porder == 0) {
    v.x_grad = compose::zeros_like(v.x);
  } else if (std::isinf(v.porder)) {
    Tensor hit = ops::cast(ops::equal(ops::abs(v.x), out), g.dtype());
    v.x_grad = hit * ops::sign(v.x) * g;
  } else if (v.porder == 1) {
    v.x_grad = ops::sign(v.x) * g;
  } else {
    // x |x|^(p-2) out^(1-p) g, and 0 where the norm is 0.
    Tensor ones = compose::zeros_like(out) + 1.0, is_zero = ops::equal(out, compose::zeros_like(out));
    Tensor safe = ops::where(is_zero, ones, out);
    Tensor factor = v.porder == 2
                        ? v.x / safe
                        : ops::sign(v.x) * ops::pow(ops::abs(v.x), v.porder - 1.0) * ops::pow(safe, 1.0 - v.porder);
    v.x_grad = ops::where(is_zero, compose::zeros_like(v.x), factor * g);
  }
}

Tensor frobenius_norm::decompose(const Args& a) {
  const Sizes axes = reduced("frobenius_norm", a.axis, a.x.shape().size(), a.reduce_all);
  return ops::sqrt(ops::sum(ops::square(a.x), ints(axes), kSame, a.keep_dim));
}

void frobenius_norm::vjp(Vjp& v) {
  if (!v.need_x) return;
  const Sizes axes = reduced("frobenius_norm", v.axis, v.x.shape().size(), v.reduce_all);
  Tensor out = kept(v.out, axes, v.x.shape()), g = kept(v.out_grad, axes, v.x.shape());
  Tensor is_zero = ops::equal(out, compose::zeros_like(out));
  Tensor safe = ops::where(is_zero, compose::zeros_like(out) + 1.0, out);
  v.x_grad = ops::where(is_zero, compose::zeros_like(v.x), v.x / safe * g);
}

Tensor squared_l2_norm::decompose(const Args& a) { return ops::reshape(ops::sum(ops::square(a.x)), {1}); }

Tensor reduce_as::decompose(const Args& a) {
  return compose::unbroadcast(a.x, TensorMeta{a.x.dtype(), a.target.shape()});
}

void reduce_as::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::expand(v.out_grad, v.x.shape);
}

}  // namespace paddle::rules
