// Rules of ops/decomposition.yaml, in the order of the records. Gradients: M. Giles, "Collected matrix derivative
// results for forward and reverse mode algorithmic differentiation" (2008); J. Townsend, "Differentiating the singular
// value decomposition" (2016).
#include "phi/rules_decomposition.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "tensor/shown_shape.h"

namespace paddle::rules {
namespace {

void check_square(std::string_view op, const Tensor& x) {
  infer::check_rank(op, "x", x, 2, 64);
  check(infer::agree(x.dim(-1), x.dim(-2)), ErrorKind::kValue, "[{}] expected square matrices, got shape {}", op,
        shown(x.shape()));
}

Tensor mm(const Tensor& a, const Tensor& b, bool ta = false, bool tb = false) { return ops::matmul(a, b, ta, tb); }

Tensor transposed(const Tensor& x) {
  std::vector<int64_t> order(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return ops::transpose(x, order);
}

// The conjugate transpose.
Tensor adjoint(const Tensor& x) { return transposed(compose::conj(x)); }

// A vector as a column, as a row, and as a diagonal matrix, per matrix of the batch.
Tensor column(const Tensor& s) { return ops::unsqueeze(s, {-1}); }
Tensor row(const Tensor& s) { return ops::unsqueeze(s, {-2}); }
Tensor diagonal_matrix(const Tensor& s) { return ops::diag_embed(s, 0, -2, -1); }

// Lower triangle with half the diagonal.
Tensor half_lower(const Tensor& x) { return (ops::tril(x, 0) + ops::tril(x, -1)) * 0.5; }

// 1 / (v_j - v_i), 0 on the diagonal.
Tensor inverse_differences(const Tensor& v) {
  Tensor one = diagonal_matrix(compose::full_like(1.0, v));
  return (1.0 - one) / (row(v) - column(v) + one);
}

// The sizes of x without the last `gone` axes, then `more`.
Shape batch_and(const Tensor& x, int64_t gone, std::initializer_list<Dim> more) {
  Shape out(x.shape().begin(), x.shape().end() - gone);
  for (Dim d : more) out.push_back(d);
  return out;
}

void solve_shape(std::string_view op, const Tensor& x, const Tensor& y, TensorMeta& out) {
  check_square(op, x);
  infer::check_rank(op, "y", y, x.rank(), x.rank());
  for (int64_t i = 0; i + 1 < x.rank(); ++i)
    check(infer::agree(x.dim(i), y.dim(i)), ErrorKind::kValue,
          "[{}] expected x and y to agree except in the last axis, got shapes {} and {}", op, shown(x.shape()),
          shown(y.shape()));
  out.shape = y.shape();
}

}  // namespace

void cholesky::shape(const Args& a, TensorMeta& out) {
  check_square("cholesky", a.x);
  out.shape = a.x.shape();
}

void cholesky::vjp(Vjp& v) {
  if (!v.need_x) return;
  Tensor l = v.upper ? transposed(v.out) : v.out, g = v.upper ? transposed(v.out_grad) : v.out_grad;
  // L^-T half_lower(L^T g) L^-1, made symmetric.
  Tensor p = half_lower(mm(l, ops::tril(g, 0), true));
  Tensor left = ops::triangular_solve(l, p, false, true, false);
  Tensor s = transposed(ops::triangular_solve(l, transposed(left), false, true, false));
  v.x_grad = (s + transposed(s)) * 0.5;
}

void triangular_solve::shape(const Args& a, TensorMeta& out) { solve_shape("triangular_solve", a.x, a.y, out); }

void triangular_solve::vjp(Vjp& v) {
  Tensor gy = ops::triangular_solve(v.x, v.out_grad, v.upper, !v.transpose, v.unitriangular);
  if (v.need_y) v.y_grad = gy;
  if (!v.need_x) return;
  Tensor gx = v.transpose ? mm(v.out, gy, false, true) : mm(gy, v.out, false, true);
  int64_t shift = v.unitriangular ? 1 : 0;
  v.x_grad = -(v.upper ? ops::triu(gx, shift) : ops::tril(gx, -shift));
}

void solve::shape(const Args& a, TensorMeta& out) { solve_shape("solve", a.x, a.y, out); }

void solve::vjp(Vjp& v) {
  Tensor gy = ops::solve(adjoint(v.x), v.out_grad);
  if (v.need_y) v.y_grad = gy;
  if (v.need_x) v.x_grad = -mm(gy, adjoint(v.out));
}

void inverse::shape(const Args& a, TensorMeta& out) {
  check_square("inverse", a.x);
  out.shape = a.x.shape();
}

void inverse::vjp(Vjp& v) {
  if (!v.need_x) return;
  Tensor turned = adjoint(v.out);
  v.x_grad = -mm(mm(turned, v.out_grad), turned);
}

void determinant::shape(const Args& a, TensorMeta& out) {
  check_square("determinant", a.x);
  out.shape = batch_and(a.x, 2, {});
}

void determinant::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = column(column(v.out_grad * compose::conj(v.out))) * adjoint(ops::inverse(v.x));
}

void slogdet::shape(const Args& a, TensorMeta& out) {
  check_square("slogdet", a.x);
  out.shape = Shape{Dim(2)};
  for (Dim d : batch_and(a.x, 2, {})) out.shape.push_back(d);
}

void slogdet::vjp(Vjp& v) {
  if (!v.need_x) return;
  Tensor g = ops::slice(v.out_grad, {0}, Ints{1}, Ints{2}, {}, {0});  // the sign is piecewise constant
  v.x_grad = column(column(g)) * transposed(ops::inverse(v.x));
}

void qr::shape(const Args& a, TensorMeta& q, TensorMeta& r) {
  infer::check_rank("qr", "x", a.x, 2, 64);
  check(a.mode == "reduced" || a.mode == "complete" || a.mode == "r", ErrorKind::kValue,
        "[qr] expected mode 'reduced', 'complete' or 'r', got '{}'", a.mode);
  Dim m = a.x.dim(-2), n = a.x.dim(-1);
  Dim k = a.mode == "complete" || paddle::less(m, n) ? m : n;
  q.shape = a.mode == "r" ? Shape{Dim(0)} : batch_and(a.x, 2, {m, k});
  r.shape = batch_and(a.x, 2, {k, n});
}

void qr::vjp(Vjp& v) {
  if (!v.need_x) return;
  check(v.mode == "reduced" && !paddle::less(v.r.dim(-1), v.q.dim(-1)) && paddle::equal(v.r.dim(-1), v.r.dim(-2)),
        ErrorKind::kValue,
        "[qr] the gradient exists for mode 'reduced' and matrices with at least as many rows as columns");
  Tensor gq = compose::or_zeros(v.q_grad, v.q), gr = compose::or_zeros(v.r_grad, v.r);
  Tensor m = mm(v.r, gr, false, true) - mm(gq, v.q, true);
  Tensor symmetric = ops::tril(m, 0) + transposed(ops::tril(m, -1));
  Tensor right = gq + mm(v.q, symmetric);
  v.x_grad = transposed(ops::triangular_solve(v.r, transposed(right), true, false, false));
}

void eigh::shape(const Args& a, TensorMeta& values, TensorMeta& vectors) {
  check_square("eigh", a.x);
  check(a.UPLO == "L" || a.UPLO == "U", ErrorKind::kValue, "[eigh] expected UPLO 'L' or 'U', got '{}'", a.UPLO);
  vectors.shape = a.x.shape();
  values.shape = batch_and(a.x, 1, {});
}

void eigh::vjp(Vjp& v) {
  if (!v.need_x) return;
  const DType t = v.vectors.dtype();
  Tensor back = adjoint(v.vectors);
  Tensor inner = compose::cast_to(diagonal_matrix(compose::or_zeros(v.values_grad, v.values)), t);
  if (v.vectors_grad.defined())
    inner = inner + mm(back, v.vectors_grad) * compose::cast_to(inverse_differences(v.values), t);
  v.x_grad = mm(mm(v.vectors, inner), back);
}

void svd::shape(const Args& a, TensorMeta& u, TensorMeta& s, TensorMeta& vh) {
  infer::check_rank("svd", "x", a.x, 2, 64);
  Dim m = a.x.dim(-2), n = a.x.dim(-1), k = paddle::less(m, n) ? m : n;
  s.shape = batch_and(a.x, 2, {k});
  u.shape = batch_and(a.x, 2, {m, a.full_matrices ? m : k});
  vh.shape = batch_and(a.x, 2, {a.full_matrices ? n : k, n});
}

void svd::vjp(Vjp& v) {
  if (!v.need_x) return;
  const Dim k = v.s.dim(-1);
  const bool completed = v.full_matrices && !paddle::equal(v.u.dim(-1), v.vh.dim(-1));
  check(!completed || (!v.u_grad.defined() && !v.vh_grad.defined()), ErrorKind::kValue,
        "[svd] with full_matrices only the singular values have a gradient: the vectors that complete u or vh are "
        "arbitrary");
  auto leading = [&](const Tensor& t, int64_t axis) {
    return ops::slice(t, {t.rank() + axis}, Ints{0}, Ints(Shape{k}), {}, {});
  };
  Tensor u = v.full_matrices ? leading(v.u, -1) : v.u, vh = v.full_matrices ? leading(v.vh, -2) : v.vh;
  Tensor inner = diagonal_matrix(compose::or_zeros(v.s_grad, v.s));
  Tensor differences = inverse_differences(v.s * v.s);
  auto skew = [](const Tensor& t) { return t - transposed(t); };
  Tensor gu, gvh;
  if (v.u_grad.defined()) {
    gu = v.full_matrices ? leading(v.u_grad, -1) : v.u_grad;
    inner = inner + skew(mm(u, gu, true)) * differences * row(v.s);
  }
  if (v.vh_grad.defined()) {
    gvh = v.full_matrices ? leading(v.vh_grad, -2) : v.vh_grad;
    inner = inner + column(v.s) * (skew(mm(vh, gvh, false, true)) * differences);
  }
  Tensor g = mm(mm(u, inner), vh);
  // The parts of the gradients outside the spaces that u and vh span.
  if (gu.defined()) {
    Tensor scaled = gu / row(v.s);
    g = g + mm(scaled - mm(u, mm(u, scaled, true)), vh);
  }
  if (gvh.defined()) {
    Tensor scaled = gvh / column(v.s);
    g = g + mm(u, scaled - mm(mm(scaled, vh, false, true), vh));
  }
  v.x_grad = g;
}

}  // namespace paddle::rules
