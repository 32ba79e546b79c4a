// Rules of ops/linalg.yaml, in the order of the records.
#include "phi/rules_linalg.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"

namespace paddle::rules {
namespace {

// The shape as a matrix: vectors become a row (left) or a column (right), transposed where asked.
Shape as_matrix(const Shape& s, bool transpose, bool left) {
  if (s.size() == 1) return left ? Shape{Dim(1), s[0]} : Shape{s[0], Dim(1)};
  Shape m = s;
  if (transpose) std::swap(m[m.size() - 1], m[m.size() - 2]);
  return m;
}

std::span<const Dim> batch(const Shape& m) { return {m.data(), m.size() - 2}; }

Tensor product(const Tensor& x, const Tensor& y, bool tx, bool ty) { return ops::matmul(x, y, tx, ty); }

}  // namespace

void matmul::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("matmul", "x", a.x, 1, 64);
  infer::check_rank("matmul", "y", a.y, 1, 64);
  Shape x = as_matrix(a.x.shape(), a.transpose_x, true), y = as_matrix(a.y.shape(), a.transpose_y, false);
  Dim inner = x[x.size() - 1], other = y[y.size() - 2];
  if (!infer::agree(inner, other)) [[unlikely]]
    fail(ErrorKind::kValue, "[matmul] expected x's columns and y's rows to agree, got {} and {} (shapes {} and {})",
         inner.str(), other.str(), to_string(a.x.shape()), to_string(a.y.shape()));
  out.shape = infer::broadcast_shapes("matmul", batch(x), batch(y));
  if (a.x.rank() > 1) out.shape.push_back(x[x.size() - 2]);
  if (a.y.rank() > 1) out.shape.push_back(y[y.size() - 1]);
}

// Vectors are lifted to matrices first, so that one pair of formulas serves all ranks.
void matmul::vjp(Vjp& v) {
  bool row = v.x.rank() == 1, column = v.y.rank() == 1;
  Tensor x = row ? ops::unsqueeze(v.x, {0}) : v.x;
  Tensor y = column ? ops::unsqueeze(v.y, {1}) : v.y;
  bool tx = v.transpose_x && !row, ty = v.transpose_y && !column;
  Tensor g = v.out_grad;
  if (column) g = ops::unsqueeze(g, {-1});
  if (row) g = ops::unsqueeze(g, {-2});
  if (v.need_x) {
    Tensor other = compose::conj(y);
    Tensor gx = tx ? product(other, g, ty, true) : product(g, other, false, !ty);
    gx = compose::unbroadcast(gx, x);
    v.x_grad = row ? ops::squeeze(gx, {0}) : gx;
  }
  if (v.need_y) {
    Tensor other = compose::conj(x);
    Tensor gy = ty ? product(g, other, true, tx) : product(other, g, !tx, false);
    gy = compose::unbroadcast(gy, y);
    v.y_grad = column ? ops::squeeze(gy, {1}) : gy;
  }
}

}  // namespace paddle::rules
