// Matrices of a batch as values in double precision, real or complex: what the decompositions work on.
#pragma once
#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

#include "base/parallel_for.h"
#include "phi/kernels/cpu/layout.h"

namespace paddle::kernels {

// Row-major.
template <class S>
struct MatrixOf {
  int64_t m = 0, n = 0;
  std::vector<S> e;
  MatrixOf(int64_t rows, int64_t columns) : m(rows), n(columns), e(static_cast<size_t>(rows * columns)) {}
  S& operator()(int64_t i, int64_t j) { return e[static_cast<size_t>(i * n + j)]; }
  S operator()(int64_t i, int64_t j) const { return e[static_cast<size_t>(i * n + j)]; }
};
using Matrix = MatrixOf<double>;
using ComplexMatrix = MatrixOf<std::complex<double>>;

// The type to compute in.
template <class T>
struct PreciseOf {
  using type = double;
};
template <class T>
struct PreciseOf<std::complex<T>> {
  using type = std::complex<double>;
};
template <class T>
using Precise = typename PreciseOf<T>::type;

inline double conjugate(double x) { return x; }
inline std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

template <class S = double>
MatrixOf<S> identity(int64_t n) {
  MatrixOf<S> a(n, n);
  for (int64_t i = 0; i < n; ++i) a(i, i) = 1;
  return a;
}
template <class S>
MatrixOf<S> transpose(const MatrixOf<S>& a) {
  MatrixOf<S> t(a.n, a.m);
  for (int64_t i = 0; i < a.m; ++i)
    for (int64_t j = 0; j < a.n; ++j) t(j, i) = a(i, j);
  return t;
}

template <class T>
MatrixOf<Precise<T>> read(const Tensor& x, int64_t b) {
  MatrixOf<Precise<T>> a(x.size(-2), x.size(-1));
  const T* p = x.data<T>() + b * a.m * a.n;
  for (size_t i = 0; i < a.e.size(); ++i) a.e[i] = static_cast<Precise<T>>(p[i]);
  return a;
}
template <class T, class S>
void write(const Tensor& out, int64_t b, const std::vector<S>& e) {
  T* p = out.data<T>() + b * static_cast<int64_t>(e.size());
  for (size_t i = 0; i < e.size(); ++i) p[i] = static_cast<T>(e[i]);
}

inline int64_t batches(const Tensor& x) {
  int64_t n = 1;
  for (int64_t i = 0; i + 2 < x.rank(); ++i) n *= x.size(i);
  return n;
}

// f(type, batch) for every matrix of x, each a task.
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
template <class F>
void each_number_matrix(const char* op, const Tensor& x, F&& f) {
  auto run = [&](auto t) {
    parallel_for(0, batches(x), 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) f(t, b);
    });
  };
  if (x.dtype() == DType::kComplex64) return run(std::complex<float>{});
  if (x.dtype() == DType::kComplex128) return run(std::complex<double>{});
  each_matrix(op, x, f);
}

// ---- elimination with row pivoting
template <class S>
struct Lu {
  MatrixOf<S> a;               // L below the diagonal (ones on it), U above
  std::vector<int64_t> rows;   // row i of L U is row rows[i] of the matrix
  std::vector<int64_t> swaps;  // step k exchanged rows k and swaps[k]
  double sign = 1;
  int64_t first_zero = -1;  // the first step without a pivot
};

// Of any shape. Without `pivot` rows stay where they are.
template <class S>
Lu<S> factorise(MatrixOf<S> a, bool pivot = true) {
  Lu<S> f{std::move(a), {}, {}, 1, -1};
  const int64_t m = f.a.m, n = f.a.n;
  f.rows.resize(static_cast<size_t>(m));
  std::iota(f.rows.begin(), f.rows.end(), 0);
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    int64_t p = k;
    for (int64_t i = k + 1; i < m && pivot; ++i)
      if (std::abs(f.a(i, k)) > std::abs(f.a(p, k))) p = i;
    f.swaps.push_back(p);
    if (f.a(p, k) == S(0)) {
      if (f.first_zero < 0) f.first_zero = k;
      continue;
    }
    if (p != k) {
      for (int64_t j = 0; j < n; ++j) std::swap(f.a(p, j), f.a(k, j));
      std::swap(f.rows[static_cast<size_t>(p)], f.rows[static_cast<size_t>(k)]);
      f.sign = -f.sign;
    }
    for (int64_t i = k + 1; i < m; ++i) {
      S factor = f.a(i, k) /= f.a(k, k);
      if (factor != S(0))
        for (int64_t j = k + 1; j < n; ++j) f.a(i, j) -= factor * f.a(k, j);
    }
  }
  return f;
}

template <class S>
MatrixOf<S> solve_with(const char* op, const Lu<S>& f, const MatrixOf<S>& y) {
  check(f.first_zero < 0, ErrorKind::kValue, "[{}] a matrix is singular", op);
  MatrixOf<S> x(y.m, y.n);
  for (int64_t i = 0; i < y.m; ++i)
    for (int64_t c = 0; c < y.n; ++c) {
      S v = y(f.rows[static_cast<size_t>(i)], c);
      for (int64_t j = 0; j < i; ++j) v -= f.a(i, j) * x(j, c);
      x(i, c) = v;
    }
  for (int64_t i = y.m - 1; i >= 0; --i)
    for (int64_t c = 0; c < y.n; ++c) {
      S v = x(i, c);
      for (int64_t j = i + 1; j < y.m; ++j) v -= f.a(i, j) * x(j, c);
      x(i, c) = v / f.a(i, i);
    }
  return x;
}

}  // namespace paddle::kernels
