// Rules of ops/manipulation.yaml: order, in the order of the records.
#include <algorithm>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules_manipulation.h"
#include "tensor/shown_shape.h"

namespace paddle::rules {

// -- order

namespace {
// Each result's gradient goes to the element it came from; no element is taken twice.
Tensor to_sources(const Tensor& g, const Tensor& indices, int64_t axis, const TensorMeta& x) {
  if (x.shape.empty()) return compose::reshape_to(g, x.shape);
  return ops::put_along_axis(compose::zeros_like(x), indices, g, axis, "assign", true);
}
}  // namespace

void argsort::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = to_sources(v.out_grad, v.indices, v.axis, v.x);
}

void topk::shape(const Args& a, TensorMeta& out, TensorMeta& indices) {
  const int64_t axis = infer::axis_of("topk", a.axis, a.x.rank());
  out.shape = a.x.shape();
  const bool unknown = a.k.kind() == Scalar::Kind::kTensor && !a.k.tensor().is_dense();
  const Dim k = unknown ? new_symbol() : a.k.kind() == Scalar::Kind::kDim ? a.k.dim() : Dim(a.k.to_int());
  if (!unknown) {
    const Dim have = a.x.rank() == 0 ? Dim(1) : a.x.dim(axis);
    check(paddle::less(0, k) && !paddle::less(have, k), ErrorKind::kValue, "[topk] expected k in [1, {}], got {}",
          have.str(), k.str());
  }
  if (a.x.rank() > 0) out.shape[axis] = k;
  indices.shape = out.shape;
}

void topk::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = to_sources(v.out_grad, v.indices, v.axis, v.x);
}

void kthvalue::shape(const Args& a, TensorMeta& out, TensorMeta& indices) {
  const int64_t axis = infer::axis_of("kthvalue", a.axis, a.x.rank());
  const Dim have = a.x.rank() == 0 ? Dim(1) : a.x.dim(axis);
  check(a.k >= 1 && !paddle::less(have, a.k), ErrorKind::kValue, "[kthvalue] expected k in [1, {}], got {}", have.str(),
        a.k);
  out.shape = a.x.rank() == 0 ? Shape{} : infer::reduce("kthvalue", a.x, a.axis, a.keepdim);
  indices.shape = out.shape;
}

ops::kthvalue_out kthvalue::decompose(const Args& a) {
  if (a.x.rank() == 0) return {ops::assign(a.x), ops::full({}, 0, DType::kInt64)};
  ops::argsort_out sorted = ops::argsort(a.x, a.axis, false, true);
  auto pick = [&](const Tensor& t) {
    Tensor one = ops::slice(t, {a.axis}, {a.k - 1}, {a.k});
    return a.keepdim ? one : ops::squeeze(one, {a.axis});
  };
  return {pick(sorted.out), pick(sorted.indices)};
}

void unique::shape(const Args& a, TensorMeta& out, TensorMeta& indices, TensorMeta& inverse, TensorMeta& counts) {
  check(a.axis.size() <= 1, ErrorKind::kValue, "[unique] expected at most one axis, got {}", a.axis.size());
  const Dim n = new_symbol();
  out.shape = {n};
  inverse.shape = {paddle::numel(a.x.shape())};
  if (!a.axis.empty()) {
    const int64_t axis = infer::axis_of("unique", a.axis[0], a.x.rank());
    infer::check_rank("unique", "x", a.x, 1, 64);
    out.shape = a.x.shape();
    out.shape[axis] = n;
    inverse.shape = {a.x.dim(axis)};
  }
  indices.shape = counts.shape = {n};
}

void mode::shape(const Args& a, TensorMeta& out, TensorMeta& indices) {
  const int64_t axis = infer::axis_of("mode", a.axis, a.x.rank());
  check(a.x.rank() == 0 || !paddle::less(a.x.dim(axis), Dim(1)), ErrorKind::kValue,
        "[mode] expected at least one element along axis {}", axis);
  out.shape = a.x.rank() == 0 ? Shape{} : infer::reduce("mode", a.x, a.axis, a.keepdim);
  indices.shape = out.shape;
}

void mode::vjp(Vjp& v) {
  if (!v.need_x) return;
  const bool gone = !v.keepdim && !v.x.shape.empty();
  Tensor g = gone ? ops::unsqueeze(v.out_grad, {v.axis}) : v.out_grad;
  Tensor at = gone ? ops::unsqueeze(v.indices, {v.axis}) : v.indices;
  v.x_grad = to_sources(g, at, v.axis, v.x);
}

void bincount::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("bincount", "x", a.x, 1, 1);
  if (a.weights.defined()) {
    infer::check_size("bincount", "weights", a.x.dim(0), a.weights.dim(0));
    out.dtype = infer::wide_inexact(a.weights.dtype());
  }
  out.shape = {new_symbol()};
}

void unique_consecutive::shape(const Args& a, TensorMeta& out, TensorMeta& index, TensorMeta& counts) {
  constexpr const char* op = "unique_consecutive";
  check(a.axis.size() <= 1, ErrorKind::kValue, "[{}] expected at most one axis, got {}", op, a.axis.size());
  const Dim n = new_symbol();
  out.shape = {n};
  index.shape = {paddle::numel(a.x.shape())};
  if (!a.axis.empty()) {
    infer::check_rank(op, "x", a.x, 1, 64);
    const int64_t axis = infer::axis_of(op, a.axis[0], a.x.rank());
    out.shape = a.x.shape();
    out.shape[static_cast<size_t>(axis)] = n;
    index.shape = {a.x.dim(axis)};
  }
  counts.shape = {n};
}

void full_with_tensor::shape(const Args& a, TensorMeta& out) {
  check(paddle::equal(paddle::numel(a.value.shape()), Dim(1)), ErrorKind::kValue,
        "[full_with_tensor] expected value with one element, got shape {}", shown(a.value.shape()));
  out.shape = infer::from_arg("full_with_tensor", a.shape);
}

Tensor full_with_tensor::decompose(const Args& a) {
  return ops::expand(compose::cast_to(ops::reshape(a.value, Ints{}), a.dtype), a.shape);
}

void searchsorted::shape(const Args& a, TensorMeta& out) {
  const Tensor& s = a.sorted_sequence;
  infer::check_rank("searchsorted", "sorted_sequence", s, 1, 64);
  if (s.rank() > 1) {
    infer::check_rank("searchsorted", "values", a.values, s.rank());
    for (int64_t i = 0; i + 1 < s.rank(); ++i)
      infer::check_size("searchsorted", "values", s.shape()[i], a.values.shape()[i]);
  }
  out.shape = a.values.shape();
  if (a.out_int32) out.dtype = DType::kInt32;
}

}  // namespace paddle::rules
