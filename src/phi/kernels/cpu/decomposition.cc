// Decompositions of matrices, in double precision. Written for the sizes that models and scientific programs meet (up
// to some hundreds); each matrix of a batch is one task.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel_for.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/operand.h"
#include "phi/rules_decomposition.h"

namespace paddle::kernels {
namespace {

// Row-major.
struct Matrix {
  int64_t m = 0, n = 0;
  std::vector<double> e;
  Matrix(int64_t rows, int64_t columns) : m(rows), n(columns), e(static_cast<size_t>(rows * columns)) {}
  double& operator()(int64_t i, int64_t j) { return e[static_cast<size_t>(i * n + j)]; }
  double operator()(int64_t i, int64_t j) const { return e[static_cast<size_t>(i * n + j)]; }
};

Matrix identity(int64_t n) {
  Matrix a(n, n);
  for (int64_t i = 0; i < n; ++i) a(i, i) = 1;
  return a;
}
Matrix transpose(const Matrix& a) {
  Matrix t(a.n, a.m);
  for (int64_t i = 0; i < a.m; ++i)
    for (int64_t j = 0; j < a.n; ++j) t(j, i) = a(i, j);
  return t;
}

template <class T>
Matrix read(const Tensor& x, int64_t b) {
  Matrix a(x.size(-2), x.size(-1));
  const T* p = x.data<T>() + b * a.m * a.n;
  std::copy(p, p + a.m * a.n, a.e.begin());
  return a;
}
template <class T>
void write(const Tensor& out, int64_t b, const std::vector<double>& e) {
  T* p = out.data<T>() + b * static_cast<int64_t>(e.size());
  for (size_t i = 0; i < e.size(); ++i) p[i] = static_cast<T>(e[i]);
}

int64_t batches(const Tensor& x) {
  int64_t n = 1;
  for (int64_t i = 0; i + 2 < x.rank(); ++i) n *= x.size(i);
  return n;
}

// f(type, batch) for every matrix of x.
template <class F>
void each_matrix(const char* op, const Tensor& x, F&& f) {
  auto run = [&](auto t) {
    parallel_for(0, batches(x), 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) f(t, b);
    });
  };
  if (x.dtype() == DType::kFloat64) return run(double{});
  check(x.dtype() == DType::kFloat32, ErrorKind::kType, "[{}] expected float32 or float64", op);
  run(float{});
}

// ---- elimination with row pivoting
struct Lu {
  Matrix a;                   // L below the diagonal (ones on it), U above
  std::vector<int64_t> rows;  // row i of L U is row rows[i] of the matrix
  double sign = 1;
  bool singular = false;
};

Lu factorise(Matrix a) {
  Lu f{std::move(a), {}, 1, false};
  const int64_t n = f.a.n;
  f.rows.resize(static_cast<size_t>(n));
  std::iota(f.rows.begin(), f.rows.end(), 0);
  for (int64_t k = 0; k < n; ++k) {
    int64_t p = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(f.a(i, k)) > std::abs(f.a(p, k))) p = i;
    if (f.a(p, k) == 0) {
      f.singular = true;
      continue;
    }
    if (p != k) {
      for (int64_t j = 0; j < n; ++j) std::swap(f.a(p, j), f.a(k, j));
      std::swap(f.rows[static_cast<size_t>(p)], f.rows[static_cast<size_t>(k)]);
      f.sign = -f.sign;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      double factor = f.a(i, k) /= f.a(k, k);
      if (factor != 0)
        for (int64_t j = k + 1; j < n; ++j) f.a(i, j) -= factor * f.a(k, j);
    }
  }
  return f;
}

Matrix solve_with(const char* op, const Lu& f, const Matrix& y) {
  check(!f.singular, ErrorKind::kValue, "[{}] a matrix is singular", op);
  Matrix x(y.m, y.n);
  for (int64_t i = 0; i < y.m; ++i)
    for (int64_t c = 0; c < y.n; ++c) {
      double v = y(f.rows[static_cast<size_t>(i)], c);
      for (int64_t j = 0; j < i; ++j) v -= f.a(i, j) * x(j, c);
      x(i, c) = v;
    }
  for (int64_t i = y.m - 1; i >= 0; --i)
    for (int64_t c = 0; c < y.n; ++c) {
      double v = x(i, c);
      for (int64_t j = i + 1; j < y.m; ++j) v -= f.a(i, j) * x(j, c);
      x(i, c) = v / f.a(i, i);
    }
  return x;
}

void solve(OpCall& c) {
  rules::solve::Args a(c);
  Tensor x = dense(a.x), y = dense(a.y);
  each_matrix("solve", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    write<T>(c.out(0), b, solve_with("solve", factorise(read<T>(x, b)), read<T>(y, b)).e);
  });
}

void inverse(OpCall& c) {
  Tensor x = dense(rules::inverse::Args(c).x);
  each_matrix("inverse", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    Matrix m = read<T>(x, b);
    int64_t n = m.n;
    write<T>(c.out(0), b, solve_with("inverse", factorise(std::move(m)), identity(n)).e);
  });
}

void determinant(OpCall& c) {
  Tensor x = dense(rules::determinant::Args(c).x);
  each_matrix("determinant", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    Lu f = factorise(read<T>(x, b));
    double d = f.sign;
    for (int64_t i = 0; i < f.a.n; ++i) d *= f.a(i, i);
    write<T>(c.out(0), b, {d});
  });
}

void slogdet(OpCall& c) {
  Tensor x = dense(rules::slogdet::Args(c).x);
  const int64_t count = batches(x);
  each_matrix("slogdet", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    Lu f = factorise(read<T>(x, b));
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

void eigh(OpCall& c) {
  rules::eigh::Args a(c);
  Tensor x = dense(a.x);
  each_matrix("eigh", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    Matrix m = read<T>(x, b), v = identity(m.n);
    const int64_t n = m.n;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j) a.UPLO == "L" ? m(j, i) = m(i, j) : m(i, j) = m(j, i);
    for (int sweep = 0; sweep < 60; ++sweep) {
      double off = 0, all = 0;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) (i == j ? all : off) += m(i, j) * m(i, j);
      if (off <= 1e-32 * (all + off)) break;
      for (int64_t p = 0; p < n; ++p)
        for (int64_t q = p + 1; q < n; ++q) {
          if (m(p, q) == 0) continue;
          double theta = (m(q, q) - m(p, p)) / (2 * m(p, q));
          double tan = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(1.0, theta));
          double cos = 1 / std::hypot(1.0, tan), sin = tan * cos;
          for (int64_t i = 0; i < n; ++i) {
            double mp = m(i, p), mq = m(i, q);
            m(i, p) = cos * mp - sin * mq;
            m(i, q) = sin * mp + cos * mq;
          }
          for (int64_t i = 0; i < n; ++i) {
            double mp = m(p, i), mq = m(q, i);
            m(p, i) = cos * mp - sin * mq;
            m(q, i) = sin * mp + cos * mq;
          }
          for (int64_t i = 0; i < n; ++i) {
            double vp = v(i, p), vq = v(i, q);
            v(i, p) = cos * vp - sin * vq;
            v(i, q) = sin * vp + cos * vq;
          }
        }
    }
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t p, int64_t q) { return m(p, p) < m(q, q); });
    std::vector<double> values;
    Matrix vectors(n, n);
    for (int64_t j = 0; j < n; ++j) {
      int64_t from = order[static_cast<size_t>(j)];
      values.push_back(m(from, from));
      for (int64_t i = 0; i < n; ++i) vectors(i, j) = v(i, from);
    }
    write<T>(c.out(0), b, values);
    write<T>(c.out(1), b, vectors.e);
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

const RegisterCpu registered[] = {{"solve", solve},     {"inverse", inverse},   {"determinant", determinant},
                                  {"slogdet", slogdet}, {"cholesky", cholesky}, {"triangular_solve", triangular_solve},
                                  {"qr", qr},           {"eigh", eigh},         {"svd", svd}};

}  // namespace
}  // namespace paddle::kernels
