// Rules of ops/math.yaml that a scalar expression can't say, in the order of the records.
#include "phi/rules_math.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "tensor/shown_shape.h"

namespace paddle::rules {

void add_n::shape(const Args& a, TensorMeta& out) {
  check(!a.inputs.empty(), ErrorKind::kValue, "[add_n] expected at least one tensor");
  out.shape = a.inputs[0].shape();
  for (const Tensor& t : a.inputs) {
    bool same = t.rank() == a.inputs[0].rank();
    for (size_t i = 0; same && i < out.shape.size(); ++i) same = infer::agree(out.shape[i], t.shape()[i]);
    check(same, ErrorKind::kValue, "[add_n] expected tensors of one shape, got {} and {}", shown(out.shape),
          shown(t.shape()));
  }
}

Tensor add_n::decompose(const Args& a) {
  Tensor sum = a.inputs.size() == 1 ? ops::assign(a.inputs[0]) : a.inputs[0];
  for (size_t i = 1; i < a.inputs.size(); ++i) sum = sum + a.inputs[i];
  return sum;
}

void add_n::vjp(Vjp& v) {
  if (v.need_inputs) v.inputs_grad.assign(v.inputs.size(), v.out_grad);
}

void abs::vjp(Vjp& v) {
  if (!v.need_x) return;
  // |z| is not holomorphic: the gradient is g z / |z|, which is what sign means for complex numbers.
  v.x_grad = compose::cast_to(v.out_grad, v.x.dtype()) * ops::sign(v.x);
}

Tensor allclose::decompose(const Args& a) { return ops::all(ops::isclose(a.x, a.y, a.rtol, a.atol, a.equal_nan)); }

Tensor equal_all::decompose(const Args& a) {
  bool same = a.x.rank() == a.y.rank();
  for (int64_t i = 0; same && i < a.x.rank(); ++i) same = paddle::equal(a.x.dim(i), a.y.dim(i));
  return same ? ops::all(ops::equal(a.x, a.y)) : ops::full({}, false, DType::kBool);
}

void cast::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = compose::cast_to(v.out_grad, v.x.dtype);
}

void conj::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = compose::conj(v.out_grad);
}

void real::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = compose::cast_to(v.out_grad, v.x.dtype);
}

void imag::vjp(Vjp& v) {
  if (!v.need_x) return;
  v.x_grad =
      is_complex(v.x.dtype) ? ops::complex(compose::zeros_like(v.out_grad), v.out_grad) : compose::zeros_like(v.x);
}

void angle::vjp(Vjp& v) {
  if (!v.need_x) return;
  if (!is_complex(v.x.dtype())) {
    v.x_grad = compose::zeros_like(v.x);
    return;
  }
  Tensor re = ops::real(v.x), im = ops::imag(v.x);
  Tensor g = v.out_grad / (re * re + im * im);
  v.x_grad = ops::complex(-(g * im), g * re);
}

void complex::vjp(Vjp& v) {
  if (v.need_real) v.real_grad = compose::unbroadcast(ops::real(v.out_grad), v.real);
  if (v.need_imag) v.imag_grad = compose::unbroadcast(ops::imag(v.out_grad), v.imag);
}

void as_complex::shape(const Args& a, TensorMeta& out) {
  check(a.x.rank() >= 1, ErrorKind::kValue, "[as_complex] expected x with a last axis of size 2, got shape []");
  infer::check_size("as_complex", "the last axis of x", 2, a.x.dim(-1));
  out.shape = a.x.shape();
  out.shape.pop_back();
}

void as_complex::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::as_real(v.out_grad);
}

void as_real::shape(const Args& a, TensorMeta& out) {
  out.shape = a.x.shape();
  out.shape.push_back(2);
}

void as_real::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::as_complex(v.out_grad);
}

}  // namespace paddle::rules
