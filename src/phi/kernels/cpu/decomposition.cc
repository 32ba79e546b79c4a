// Decompositions of matrices, in double precision. Written for the sizes that models and scientific programs meet (up
// to some hundreds); each matrix of a batch is one task.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "phi/kernels/cpu/matrix.h"
#include "phi/rules_decomposition.h"

namespace paddle::kernels {
namespace {

void solve(OpCall& c) {
  rules::solve::Args a(c);
  Tensor x = dense(a.x), y = dense(a.y);
  each_number_matrix("solve", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    write<T>(c.out(0), b, solve_with("solve", factorise(read<T>(x, b)), read<T>(y, b)).e);
  });
}

void inverse(OpCall& c) {
  Tensor x = dense(rules::inverse::Args(c).x);
  each_number_matrix("inverse", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    auto m = read<T>(x, b);
    const int64_t n = m.n;
    write<T>(c.out(0), b, solve_with("inverse", factorise(std::move(m)), identity<Precise<T>>(n)).e);
  });
}

void determinant(OpCall& c) {
  Tensor x = dense(rules::determinant::Args(c).x);
  each_number_matrix("determinant", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    const auto f = factorise(read<T>(x, b));
    Precise<T> d = f.sign;
    for (int64_t i = 0; i < f.a.n; ++i) d *= f.a(i, i);
    write<T>(c.out(0), b, std::vector<Precise<T>>{d});
  });
}

void slogdet(OpCall& c) {
  Tensor x = dense(rules::slogdet::Args(c).x);
  const int64_t count = batches(x);
  each_matrix("slogdet", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    const auto f = factorise(read<T>(x, b));
    double sign = f.sign, log = 0;
    for (int64_t i = 0; i < f.a.n; ++i) {
      double d = f.a(i, i);
      sign = d == 0 ? 0 : d < 0 ? -sign : sign;
      log += std::log(std::abs(d));
    }
    c.out(0).template data<T>()[b] = static_cast<T>(sign);
    c.out(0).template data<T>()[count + b] = static_cast<T>(log);
  });
}

void cholesky(OpCall& c) {
  rules::cholesky::Args a(c);
  Tensor x = dense(a.x);
  each_matrix("cholesky", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    Matrix m = read<T>(x, b);
    if (a.upper) m = transpose(m);
    Matrix l(m.n, m.n);
    for (int64_t i = 0; i < m.n; ++i)
      for (int64_t j = 0; j <= i; ++j) {
        double v = m(i, j);
        for (int64_t k = 0; k < j; ++k) v -= l(i, k) * l(j, k);
        if (i == j) {
          check(v > 0, ErrorKind::kValue, "[cholesky] matrix {} is not positive definite: the minor of order {} isn't",
                b, i + 1);
          l(i, i) = std::sqrt(v);
        } else {
          l(i, j) = v / l(j, j);
        }
      }
    write<T>(c.out(0), b, a.upper ? transpose(l).e : l.e);
  });
}

void triangular_solve(OpCall& c) {
  rules::triangular_solve::Args a(c);
  Tensor x = dense(a.x), y = dense(a.y);
  each_matrix("triangular_solve", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    Matrix m = read<T>(x, b), v = read<T>(y, b);
    if (a.transpose) m = transpose(m);
    const bool upper = a.upper != a.transpose;
    const int64_t n = m.n;
    for (int64_t step = 0; step < n; ++step) {
      int64_t i = upper ? n - 1 - step : step;
      for (int64_t col = 0; col < v.n; ++col) {
        double s = v(i, col);
        for (int64_t j = upper ? i + 1 : 0; j < (upper ? n : i); ++j) s -= m(i, j) * v(j, col);
        v(i, col) = a.unitriangular ? s : s / m(i, i);
      }
    }
    write<T>(c.out(0), b, v.e);
  });
}

// ---- orthogonal factors
// x becomes R; the reflections are applied to the columns of the identity to give the first k columns of Q. Signs as
// LAPACK's.
Matrix reflect(Matrix& x, int64_t k) {
  const int64_t steps = std::min(x.m, x.n);
  std::vector<std::vector<double>> reflectors;
  auto apply = [](Matrix& a, const std::vector<double>& v, int64_t from, int64_t first_column) {
    for (int64_t j = first_column; j < a.n; ++j) {
      double dot = 0;
      for (int64_t i = from; i < a.m; ++i) dot += v[static_cast<size_t>(i)] * a(i, j);
      for (int64_t i = from; i < a.m; ++i) a(i, j) -= 2 * dot * v[static_cast<size_t>(i)];
    }
  };
  for (int64_t s = 0; s < steps; ++s) {
    std::vector<double> v(static_cast<size_t>(x.m));
    double norm = 0, below = 0;
    for (int64_t i = s; i < x.m; ++i) norm = std::hypot(norm, x(i, s));
    for (int64_t i = s + 1; i < x.m; ++i) below = std::hypot(below, x(i, s));
    if (below == 0) {  // already upper triangular here
      reflectors.emplace_back();
      continue;
    }
    for (int64_t i = s; i < x.m; ++i) v[static_cast<size_t>(i)] = x(i, s);
    v[static_cast<size_t>(s)] += x(s, s) < 0 ? -norm : norm;
    double length = 0;
    for (int64_t i = s; i < x.m; ++i) length = std::hypot(length, v[static_cast<size_t>(i)]);
    for (double& e : v) e /= length;
    apply(x, v, s, s);
    for (int64_t i = s + 1; i < x.m; ++i) x(i, s) = 0;
    reflectors.push_back(std::move(v));
  }
  Matrix q(x.m, k);
  for (int64_t i = 0; i < std::min(x.m, k); ++i) q(i, i) = 1;
  for (int64_t s = steps - 1; s >= 0; --s)
    if (const auto& v = reflectors[static_cast<size_t>(s)]; !v.empty()) apply(q, v, s, 0);
  return q;
}

void qr(OpCall& c) {
  rules::qr::Args a(c);
  Tensor x = dense(a.x);
  const int64_t k = c.out(1).size(-2);
  each_matrix("qr", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    Matrix r = read<T>(x, b);
    Matrix q = reflect(r, k);
    if (a.mode != "r") write<T>(c.out(0), b, q.e);
    r.e.resize(static_cast<size_t>(k * r.n));
    write<T>(c.out(1), b, r.e);
  });
}

// Columns of `a` (m >= n) are rotated against each other until they are orthogonal; their lengths are the singular
// values.
void orthogonalise(Matrix& a, Matrix& v) {
  const int64_t n = a.n;
  for (int sweep = 0; sweep < 60; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        double pp = 0, qq = 0, pq = 0;
        for (int64_t i = 0; i < a.m; ++i) {
          pp += a(i, p) * a(i, p);
          qq += a(i, q) * a(i, q);
          pq += a(i, p) * a(i, q);
        }
        if (std::abs(pq) <= 1e-15 * std::sqrt(pp * qq) || pq == 0) continue;
        rotated = true;
        double zeta = (qq - pp) / (2 * pq);
        double tan = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::hypot(1.0, zeta));
        double cos = 1 / std::hypot(1.0, tan), sin = tan * cos;
        for (Matrix* x : {&a, &v})
          for (int64_t i = 0; i < x->m; ++i) {
            double xp = (*x)(i, p), xq = (*x)(i, q);
            (*x)(i, p) = cos * xp - sin * xq;
            (*x)(i, q) = sin * xp + cos * xq;
          }
      }
    if (!rotated) break;
  }
}

// Columns from `from` on become an orthonormal completion of those before.
void complete(Matrix& u, int64_t from) {
  int64_t candidate = 0;
  for (int64_t j = from; j < u.n; ++j) {
    for (; candidate < u.m; ++candidate) {
      std::vector<double> w(static_cast<size_t>(u.m));
      w[static_cast<size_t>(candidate)] = 1;
      for (int pass = 0; pass < 2; ++pass)
        for (int64_t k = 0; k < j; ++k) {
          double dot = 0;
          for (int64_t i = 0; i < u.m; ++i) dot += w[static_cast<size_t>(i)] * u(i, k);
          for (int64_t i = 0; i < u.m; ++i) w[static_cast<size_t>(i)] -= dot * u(i, k);
        }
      double length = 0;
      for (double e : w) length = std::hypot(length, e);
      if (length < 1e-8) continue;
      for (int64_t i = 0; i < u.m; ++i) u(i, j) = w[static_cast<size_t>(i)] / length;
      ++candidate;
      break;
    }
  }
}

void svd(OpCall& c) {
  rules::svd::Args a(c);
  Tensor x = dense(a.x);
  each_matrix("svd", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    Matrix m = read<T>(x, b);
    const bool wide = m.m < m.n;
    if (wide) m = transpose(m);
    const int64_t k = m.n;
    Matrix v = identity(k);
    orthogonalise(m, v);
    std::vector<double> lengths(static_cast<size_t>(k));
    for (int64_t j = 0; j < k; ++j)
      for (int64_t i = 0; i < m.m; ++i)
        lengths[static_cast<size_t>(j)] = std::hypot(lengths[static_cast<size_t>(j)], m(i, j));
    std::vector<int64_t> order(static_cast<size_t>(k));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int64_t p, int64_t q) { return lengths[static_cast<size_t>(p)] > lengths[static_cast<size_t>(q)]; });
    Matrix tall(m.m, a.full_matrices ? m.m : k), square(k, k);
    std::vector<double> values;
    int64_t independent = 0;
    for (int64_t j = 0; j < k; ++j) {
      int64_t from = order[static_cast<size_t>(j)];
      double s = lengths[static_cast<size_t>(from)];
      values.push_back(s);
      bool counts = s > 1e-14 * lengths[static_cast<size_t>(order[0])] && s > 0;
      independent += counts;
      for (int64_t i = 0; i < m.m && counts; ++i) tall(i, j) = m(i, from) / s;
      for (int64_t i = 0; i < k; ++i) square(i, j) = v(i, from);
    }
    complete(tall, independent);
    write<T>(c.out(1), b, values);
    write<T>(c.out(0), b, wide ? square.e : tall.e);
    write<T>(c.out(2), b, wide ? transpose(tall).e : transpose(square).e);
  });
}

const RegisterCpu registered[] = {{"solve", solve},
                                  {"inverse", inverse},
                                  {"determinant", determinant},
                                  {"slogdet", slogdet},
                                  {"cholesky", cholesky},
                                  {"triangular_solve", triangular_solve},
                                  {"qr", qr},
                                  {"svd", svd}};

}  // namespace
}  // namespace paddle::kernels
