// Rules of ops/activation.yaml, in the order of the records.
#include "phi/rules_activation.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules/window.h"
#include "tensor/shown_shape.h"

namespace paddle::rules {

void relu::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::relu_grad(v.out, v.out_grad);
}

Tensor gelu::decompose(const Args& a) { return a.approximate ? ops::gelu_tanh(a.x) : ops::gelu_erf(a.x); }

void logsigmoid::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = v.out_grad * ops::sigmoid(-v.x);
}

Tensor softmax::decompose(const Args& a) {
  if (a.x.rank() == 0) return compose::zeros_like(a.x) + 1.0;
  // As official does it: exponentials of 16-bit floats are summed in f32.
  const bool narrow = size_of(a.x.dtype()) == 2;
  Tensor x = narrow ? ops::cast(a.x, DType::kFloat32) : a.x;
  if (paddle::equal(x.dim(a.axis), 0)) return ops::assign(a.x);
  Tensor e = ops::exp(x - ops::max(x, {a.axis}, true));
  return compose::cast_to(e / ops::sum(e, {a.axis}, DType::kUndefined, true), a.x.dtype());
}

void softmax::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::softmax_grad(v.out, v.out_grad, v.axis);
}

Tensor log_softmax::decompose(const Args& a) {
  if (a.x.rank() == 0) return compose::zeros_like(a.x);
  const bool narrow = size_of(a.x.dtype()) == 2;
  Tensor x = narrow ? ops::cast(a.x, DType::kFloat32) : a.x;
  if (paddle::equal(x.dim(a.axis), 0)) return ops::assign(a.x);
  Tensor off = x - ops::max(x, {a.axis}, true);
  return compose::cast_to(off - ops::log(ops::sum(ops::exp(off), {a.axis}, DType::kUndefined, true)), a.x.dtype());
}

void log_softmax::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::log_softmax_grad(v.out, v.out_grad, v.axis);
}

Tensor softmax_grad::decompose(const Args& a) {
  if (a.out.rank() == 0) return compose::zeros_like(a.out);
  Tensor g = a.out_grad * a.out;
  return g - a.out * ops::sum(g, {a.axis}, DType::kUndefined, true);
}

Tensor log_softmax_grad::decompose(const Args& a) {
  if (a.out.rank() == 0) return compose::zeros_like(a.out);
  return a.out_grad - ops::exp(a.out) * ops::sum(a.out_grad, {a.axis}, DType::kUndefined, true);
}

void swiglu::shape(const Args& a, TensorMeta& out) {
  out.shape = a.x.shape();
  if (a.y.defined()) {
    out.shape = infer::same_shape("swiglu", "y", a.y, "x", a.x);
    return;
  }
  check(a.x.rank() >= 1 && paddle::equal(paddle::mod(a.x.dim(-1), 2), 0), ErrorKind::kValue,
        "[swiglu] expected x with a last axis of even size, got shape {}", shown(a.x.shape()));
  out.shape.back() = paddle::floor_div(a.x.dim(-1), 2);
}

Tensor swiglu::decompose(const Args& a) {
  if (a.y.defined()) return ops::silu(a.x) * a.y;
  Tensors halves = ops::split_with_num(a.x, 2, -1);
  return ops::silu(halves[0]) * halves[1];
}

void swiglu::vjp(Vjp& v) {
  const bool whole = !v.y.defined();
  Tensors halves = whole ? ops::split_with_num(v.x, 2, -1) : Tensors{v.x, v.y};
  Tensor x_grad, y_grad;
  if (v.need_x) x_grad = ops::silu_grad(halves[0], v.out_grad * halves[1]);
  if (whole ? v.need_x : v.need_y) y_grad = v.out_grad * ops::silu(halves[0]);
  if (!whole) {
    v.x_grad = x_grad;
    v.y_grad = y_grad;
  } else if (v.need_x) {
    v.x_grad = ops::concat(Tensors{x_grad, y_grad}, -1);
  }
}

namespace {

// alpha's shape as it multiplies x: nothing but the named axes is longer than 1.
Shape slopes(const prelu::Args& a) {
  const Shape& x = a.x.shape();
  Dim count = 1;
  for (Dim d : a.alpha.shape()) count = count * d;
  Shape s(x.size(), Dim(1));
  if (a.mode == "channel") {
    infer::check_rank("prelu", "x", a.x, 2, 64);
    const size_t at = channels_last("prelu", a.data_format) ? x.size() - 1 : 1;
    infer::check_size("prelu", "alpha (x's channels)", x[at], count);
    s[at] = count;
  } else if (a.mode == "element") {
    infer::check_rank("prelu", "x", a.x, 1, 64);
    Dim wanted = 1;
    for (size_t i = 1; i < x.size(); ++i) wanted = wanted * (s[i] = x[i]);
    infer::check_size("prelu", "alpha (elements of a sample of x)", wanted, count);
  } else {
    check(a.mode == "all", ErrorKind::kValue, "[prelu] expected mode all, channel or element, got {}", a.mode);
    infer::check_size("prelu", "alpha", Dim(1), count);
  }
  return s;
}

}  // namespace

void prelu::shape(const Args& a, TensorMeta& out) {
  slopes(a);
  out.shape = a.x.shape();
}

Tensor prelu::decompose(const Args& a) {
  Tensor zero = compose::full_like(0.0, a.x);
  return ops::where(ops::greater_than(a.x, zero), a.x, a.x * compose::reshape_to(a.alpha, slopes(a)));
}

}  // namespace paddle::rules
