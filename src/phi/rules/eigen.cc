// Rules of ops/eigen.yaml, in the order of the records. Gradients: the LU factors as in de Hoog, Anderssen & Lukas,
// "Differentiation of matrix functionals using triangular factorization" (2011); eigenvectors as in Boeddeker et al.,
// "On the computation of complex-valued gradients" (2017).
#include "phi/rules_eigen.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "tensor/shown_shape.h"

namespace paddle::rules {
namespace {

Tensor mm(const Tensor& a, const Tensor& b, bool ta = false, bool tb = false) { return ops::matmul(a, b, ta, tb); }

Tensor adjoint(const Tensor& x) {
  std::vector<int64_t> order(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return ops::transpose(compose::conj(x), order);
}

Shape without_last(const Tensor& x, int64_t gone, std::initializer_list<Dim> more) {
  Shape out(x.shape().begin(), x.shape().end() - gone);
  for (Dim d : more) out.push_back(d);
  return out;
}

Dim smaller_side(const Tensor& x) { return paddle::less(x.dim(-2), x.dim(-1)) ? x.dim(-2) : x.dim(-1); }

Tensor part(const Tensor& x, int64_t axis, Dim from, Dim to) {
  return ops::slice(x, {axis + x.rank()}, Ints(Shape{from}), Ints(Shape{to}), {}, {});
}

// Element i along an axis, which stays with size 1 whatever the axis' size is called.
Tensor single(const Tensor& x, int64_t axis, int64_t i) {
  axis += x.rank();
  return ops::unsqueeze(ops::slice(x, {axis}, Ints(Shape{Dim(i)}), Ints(Shape{Dim(i + 1)}), {}, {axis}), {axis});
}

Tensor unit_lower(const Tensor& packed) {
  return ops::tril(packed, -1) + ops::eye(Scalar(packed.dim(-2)), Scalar(packed.dim(-1)), packed.dtype());
}

void check_square(std::string_view op, const Tensor& x) {
  infer::check_rank(op, "x", x, 2, 64);
  check(paddle::equal(x.dim(-1), x.dim(-2)), ErrorKind::kValue, "[{}] expected square matrices, got shape {}", op,
        shown(x.shape()));
}

}  // namespace

void lu::shape(const Args& a, TensorMeta& out, TensorMeta& pivots, TensorMeta& infos) {
  infer::check_rank("lu", "x", a.x, 2, 64);
  out.shape = a.x.shape();
  pivots.shape = without_last(a.x, 2, {smaller_side(a.x)});
  infos.shape = without_last(a.x, 2, {});
}

// With k the smaller side: of L (m x k) and U (k x n), the leading k x k blocks as in a square matrix; what stands
// below or beside them follows by triangular solves.
void lu::vjp(Vjp& v) {
  if (!v.need_x) return;
  const Dim m = v.out.dim(-2), n = v.out.dim(-1), k = smaller_side(v.out), zero(0);
  const Tensor& g = v.out_grad;
  Tensor head = part(part(v.out, -2, zero, k), -1, zero, k), g_head = part(part(g, -2, zero, k), -1, zero, k);
  Tensor l = unit_lower(head), u = ops::triu(head, 0);
  Tensor below = mm(l, ops::tril(g_head, -1), true), above = mm(ops::triu(g_head, 0), u, false, true);
  const bool tall = paddle::less(n, m), wide = paddle::less(m, n);
  if (wide) {
    Tensor rest = part(v.out, -1, k, n), g_rest = part(g, -1, k, n);
    below = below - mm(g_rest, rest, false, true);
  }
  if (tall) {
    Tensor rest = part(v.out, -2, k, m), g_rest = part(g, -2, k, m);
    above = above - mm(rest, g_rest, true);
  }
  auto transposed_solve_u = [&](const Tensor& t) {  // t U^-T
    return adjoint(ops::triangular_solve(u, adjoint(t), true, false, false));
  };
  Tensor inner = ops::tril(below, -1) + ops::triu(above, 0);
  Tensor gx = transposed_solve_u(ops::triangular_solve(l, inner, false, true, true));
  if (wide) {
    Tensor beside = ops::triangular_solve(l, part(g, -1, k, n), false, true, true);
    gx = ops::concat(std::vector<Tensor>{gx, beside}, -1);
  }
  if (tall) gx = ops::concat(std::vector<Tensor>{gx, transposed_solve_u(part(g, -2, k, m))}, -2);
  v.x_grad = mm(ops::lu_unpack(v.out, v.pivots, false, true).pmat, gx);
}

void lu_unpack::shape(const Args& a, TensorMeta& pmat, TensorMeta& l, TensorMeta& u) {
  infer::check_rank("lu_unpack", "x", a.x, 2, 64);
  infer::check_rank("lu_unpack", "y", a.y, a.x.rank() - 1, a.x.rank() - 1);
  const Dim m = a.x.dim(-2), n = a.x.dim(-1), k = smaller_side(a.x);
  infer::check_size("lu_unpack", "pivots", k, a.y.dim(-1));
  pmat.shape = a.unpack_pivots ? without_last(a.x, 2, {m, m}) : Shape{Dim(0)};
  l.shape = a.unpack_ludata ? without_last(a.x, 2, {m, k}) : Shape{Dim(0)};
  u.shape = a.unpack_ludata ? without_last(a.x, 2, {k, n}) : Shape{Dim(0)};
}

void lu_unpack::vjp(Vjp& v) {
  if (!v.need_x || !v.unpack_ludata) return;
  Tensor like = compose::zeros_like(v.x);
  const Dim m = like.dim(-2), n = like.dim(-1);
  auto widened = [&](const Tensor& t, int64_t axis, Dim to) {
    if (paddle::equal(t.dim(axis), to)) return t;
    Shape rest = t.shape();
    rest[static_cast<size_t>(axis + t.rank())] = to - t.dim(axis);
    return ops::concat(std::vector<Tensor>{t, ops::full(rest, 0.0, t.dtype())}, axis);
  };
  Tensor gx = like;
  if (v.l_grad.defined()) gx = gx + widened(ops::tril(v.l_grad, -1), -1, n);
  if (v.u_grad.defined()) gx = gx + widened(ops::triu(v.u_grad, 0), -2, m);
  v.x_grad = gx;
}

void eig::shape(const Args& a, TensorMeta& out_w, TensorMeta& out_v) {
  check_square("eig", a.x);
  out_w.shape = without_last(a.x, 1, {});
  out_v.shape = a.x.shape();
}

void eig::vjp(Vjp& v) {
  if (!v.need_x) return;
  const Tensor &w = v.out_w, &vectors = v.out_v;
  Tensor back = adjoint(vectors);
  Tensor inner = ops::diag_embed(compose::or_zeros(v.out_w_grad, w), 0, -2, -1);
  if (v.out_v_grad.defined()) {
    Tensor one = ops::diag_embed(compose::ones_like(TensorMeta{w.dtype(), w.shape()}), 0, -2, -1);
    Tensor differences = ops::unsqueeze(w, {-2}) - ops::unsqueeze(w, {-1}) + one;
    Tensor flow = mm(back, v.out_v_grad);
    // The part along the vectors themselves goes: their lengths are 1.
    Tensor lengths = ops::cast(ops::real(ops::diagonal(flow, 0, -2, -1)), w.dtype());
    flow = flow - mm(back, vectors * ops::unsqueeze(lengths, {-2}));
    inner = inner + (1.0 - one) * flow / compose::conj(differences);
  }
  v.x_grad = compose::cast_to(ops::solve(back, mm(inner, back)), v.x.dtype);
}

void eigvals::shape(const Args& a, TensorMeta& out) {
  check_square("eigvals", a.x);
  out.shape = without_last(a.x, 1, {});
}

void householder_product::shape(const Args& a, TensorMeta& out) {
  constexpr const char* op = "householder_product";
  infer::check_rank(op, "x", a.x, 2, 64);
  infer::check_rank(op, "tau", a.tau, a.x.rank() - 1, a.x.rank() - 1);
  check(!paddle::less(a.x.dim(-2), a.x.dim(-1)), ErrorKind::kValue,
        "[{}] expected x with at least as many rows as columns, got shape {}", op, shown(a.x.shape()));
  check(!paddle::less(a.x.dim(-1), a.tau.dim(-1)), ErrorKind::kValue, "[{}] expected at most {} factors in tau, got {}",
        op, a.x.dim(-1).str(), a.tau.dim(-1).str());
  for (int64_t i = 0; i + 2 < a.x.rank(); ++i) infer::check_size(op, "batch of tau", a.x.dim(i), a.tau.dim(i));
  out.shape = a.x.shape();
}

// Q e_j for the first columns: the reflections are applied from the last to the first.
Tensor householder_product::decompose(const Args& a) {
  const int64_t count = guard_int(a.tau.dim(-1));
  Tensor unit = unit_lower(a.x);
  Tensor q = ops::expand(ops::eye(Scalar(a.x.dim(-2)), Scalar(a.x.dim(-1)), a.x.dtype()), Ints(a.x.shape()));
  for (int64_t i = count - 1; i >= 0; --i) {
    Tensor v = single(unit, -1, i);
    Tensor t = ops::unsqueeze(single(a.tau, -1, i), {-1});
    q = q - mm(v * t, mm(adjoint(v), q));
  }
  return q;
}

}  // namespace paddle::rules
