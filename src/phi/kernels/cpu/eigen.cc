// Spectra of matrices, and the packed LU form. Golub & Van Loan, "Matrix Computations" (4th ed., 2013), chapters 3, 7
// and 8.
#include <algorithm>
#include <limits>

#include "phi/kernels/cpu/matrix.h"
#include "phi/rules_decomposition.h"
#include "phi/rules_eigen.h"

namespace paddle::kernels {
namespace {

using Complex = std::complex<double>;
constexpr double kPrecision = std::numeric_limits<double>::epsilon();

// ---- symmetric and Hermitian matrices: Jacobi rotations
double real_part(double x) { return x; }
double real_part(Complex x) { return x.real(); }

// Makes m(p, q) zero by a rotation of columns and rows p and q; v collects the rotations.
template <class S>
void rotate(MatrixOf<S>& m, MatrixOf<S>& v, int64_t p, int64_t q) {
  const S a = m(p, q);
  const double size = std::abs(a);
  if (size == 0) return;
  const S phase = a / size;  // a = size * phase
  const double theta = (real_part(m(q, q)) - real_part(m(p, p))) / (2 * size);
  const double tan = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(1.0, theta));
  const double cos = 1 / std::hypot(1.0, tan);
  const S sin = tan * cos * phase;
  const int64_t n = m.n;
  auto columns = [&](MatrixOf<S>& x) {
    for (int64_t i = 0; i < n; ++i) {
      const S xp = x(i, p), xq = x(i, q);
      x(i, p) = cos * xp - conjugate(sin) * xq;
      x(i, q) = sin * xp + cos * xq;
    }
  };
  columns(m);
  for (int64_t i = 0; i < n; ++i) {
    const S mp = m(p, i), mq = m(q, i);
    m(p, i) = cos * mp - sin * mq;
    m(q, i) = conjugate(sin) * mp + cos * mq;
  }
  columns(v);
}

void eigh(OpCall& c) {
  rules::eigh::Args a(c);
  Tensor x = dense(a.x);
  each_number_matrix("eigh", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    using S = Precise<T>;
    MatrixOf<S> m = read<T>(x, b), v = identity<S>(m.n);
    const int64_t n = m.n;
    for (int64_t i = 0; i < n; ++i) {
      m(i, i) = real_part(m(i, i));
      for (int64_t j = 0; j < i; ++j) a.UPLO == "L" ? m(j, i) = conjugate(m(i, j)) : m(i, j) = conjugate(m(j, i));
    }
    for (int sweep = 0; sweep < 60; ++sweep) {
      double off = 0, all = 0;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) (i == j ? all : off) += std::norm(m(i, j));
      if (off <= 1e-32 * (all + off)) break;
      for (int64_t p = 0; p < n; ++p)
        for (int64_t q = p + 1; q < n; ++q) rotate(m, v, p, q);
    }
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int64_t p, int64_t q) { return real_part(m(p, p)) < real_part(m(q, q)); });
    std::vector<double> values;
    MatrixOf<S> vectors(n, n);
    for (int64_t j = 0; j < n; ++j) {
      const int64_t from = order[static_cast<size_t>(j)];
      values.push_back(real_part(m(from, from)));
      for (int64_t i = 0; i < n; ++i) vectors(i, j) = v(i, from);
    }
    using R = decltype(std::abs(T{}));
    write<R>(c.out(0), b, values);
    write<T>(c.out(1), b, vectors.e);
  });
}

// ---- general matrices
// a becomes Q^H a Q, zero below the first subdiagonal; q is multiplied by Q.
void to_hessenberg(ComplexMatrix& a, ComplexMatrix& q) {
  const int64_t n = a.n;
  std::vector<Complex> v(static_cast<size_t>(n));
  for (int64_t k = 0; k + 2 < n; ++k) {
    double norm = 0, below = 0;
    for (int64_t i = k + 1; i < n; ++i) norm = std::hypot(norm, std::abs(a(i, k)));
    for (int64_t i = k + 2; i < n; ++i) below = std::hypot(below, std::abs(a(i, k)));
    if (below == 0) continue;
    const Complex first = a(k + 1, k);
    const Complex phase = first == 0.0 ? Complex(1) : first / std::abs(first);
    double length = 0;
    for (int64_t i = k + 1; i < n; ++i) v[static_cast<size_t>(i)] = a(i, k) + (i == k + 1 ? phase * norm : Complex(0));
    for (int64_t i = k + 1; i < n; ++i) length = std::hypot(length, std::abs(v[static_cast<size_t>(i)]));
    for (int64_t i = k + 1; i < n; ++i) v[static_cast<size_t>(i)] /= length;
    for (int64_t j = 0; j < n; ++j) {
      Complex dot = 0;
      for (int64_t i = k + 1; i < n; ++i) dot += std::conj(v[static_cast<size_t>(i)]) * a(i, j);
      for (int64_t i = k + 1; i < n; ++i) a(i, j) -= 2.0 * v[static_cast<size_t>(i)] * dot;
    }
    for (ComplexMatrix* x : {&a, &q})
      for (int64_t i = 0; i < n; ++i) {
        Complex dot = 0;
        for (int64_t j = k + 1; j < n; ++j) dot += (*x)(i, j) * v[static_cast<size_t>(j)];
        for (int64_t j = k + 1; j < n; ++j) (*x)(i, j) -= 2.0 * dot * std::conj(v[static_cast<size_t>(j)]);
      }
    for (int64_t i = k + 2; i < n; ++i) a(i, k) = 0;
  }
}

// The eigenvalue of the 2 x 2 block that ends at `end` which is nearer to its last entry (Wilkinson's shift).
Complex shift_at(const ComplexMatrix& h, int64_t end, int iteration) {
  if (iteration % 10 == 9) return h(end, end) + std::abs(h(end, end - 1));  // out of a cycle
  const Complex a = h(end - 1, end - 1), b = h(end - 1, end), c = h(end, end - 1), d = h(end, end);
  const Complex half = (a - d) / 2.0, root = std::sqrt(half * half + b * c);
  const Complex first = d + half + root, second = d + half - root;
  return std::abs(first - d) < std::abs(second - d) ? first : second;
}

// One QR step of the block [begin, end] of a Hessenberg matrix.
void qr_step(ComplexMatrix& h, ComplexMatrix& q, int64_t begin, int64_t end, Complex shift) {
  const int64_t n = h.n;
  std::vector<std::pair<double, Complex>> rotations;
  for (int64_t i = begin; i <= end; ++i) h(i, i) -= shift;
  for (int64_t k = begin; k < end; ++k) {
    const Complex x = h(k, k), y = h(k + 1, k);
    const double length = std::hypot(std::abs(x), std::abs(y));
    double cos = 1;
    Complex sin = 0;
    if (length > 0) {
      const Complex phase = x == 0.0 ? Complex(1) : x / std::abs(x);
      cos = std::abs(x) / length;
      sin = phase * std::conj(y) / length;
    }
    rotations.emplace_back(cos, sin);
    for (int64_t j = k; j < n; ++j) {
      const Complex top = h(k, j), low = h(k + 1, j);
      h(k, j) = cos * top + sin * low;
      h(k + 1, j) = cos * low - std::conj(sin) * top;
    }
  }
  for (int64_t k = begin; k < end; ++k) {
    const auto& [cos, sin] = rotations[static_cast<size_t>(k - begin)];
    auto columns = [&](ComplexMatrix& x, int64_t rows) {
      for (int64_t i = 0; i < rows; ++i) {
        const Complex left = x(i, k), right = x(i, k + 1);
        x(i, k) = cos * left + std::conj(sin) * right;
        x(i, k + 1) = cos * right - sin * left;
      }
    };
    columns(h, std::min(k + 2, end) + 1);
    columns(q, n);
  }
  for (int64_t i = begin; i <= end; ++i) h(i, i) += shift;
}

// a = q t q^H with t upper triangular, which a becomes.
void to_schur(ComplexMatrix& a, ComplexMatrix& q) {
  to_hessenberg(a, q);
  int iteration = 0;
  for (int64_t end = a.n - 1; end > 0;) {
    int64_t begin = end;
    for (; begin > 0; --begin) {
      const double around = std::abs(a(begin, begin)) + std::abs(a(begin - 1, begin - 1));
      if (std::abs(a(begin, begin - 1)) <= kPrecision * around) {
        a(begin, begin - 1) = 0;
        break;
      }
    }
    if (begin == end) {
      --end;
      iteration = 0;
      continue;
    }
    check(iteration < 300, ErrorKind::kRuntime, "[eig] the QR iterations of a matrix don't converge");
    qr_step(a, q, begin, end, shift_at(a, end, iteration++));
  }
}

double largest(const ComplexMatrix& a) {
  double m = 0;
  for (const Complex& e : a.e) m = std::max(m, std::abs(e));
  return m;
}

// The eigenvector of upper triangular t for its k-th diagonal entry, times q.
std::vector<Complex> vector_of(const ComplexMatrix& t, const ComplexMatrix& q, int64_t k) {
  const int64_t n = t.n;
  const double least = std::max(kPrecision * largest(t), std::numeric_limits<double>::min());
  std::vector<Complex> x(static_cast<size_t>(n)), out(static_cast<size_t>(n));
  x[static_cast<size_t>(k)] = 1;
  for (int64_t i = k - 1; i >= 0; --i) {
    Complex s = 0;
    for (int64_t j = i + 1; j <= k; ++j) s += t(i, j) * x[static_cast<size_t>(j)];
    Complex d = t(i, i) - t(k, k);
    if (std::abs(d) < least) d = least;
    x[static_cast<size_t>(i)] = -s / d;
  }
  double length = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= k; ++j) out[static_cast<size_t>(i)] += q(i, j) * x[static_cast<size_t>(j)];
    length = std::hypot(length, std::abs(out[static_cast<size_t>(i)]));
  }
  // The largest component becomes real, as LAPACK has it.
  const Complex top = *std::max_element(out.begin(), out.end(),
                                        [](const Complex& a, const Complex& b) { return std::abs(a) < std::abs(b); });
  const Complex turn = std::abs(top) > 0 ? std::conj(top) / std::abs(top) : Complex(1);
  for (Complex& e : out) e *= turn / length;
  return out;
}

template <class T>
ComplexMatrix read_complex(const Tensor& x, int64_t b) {
  const auto a = read<T>(x, b);
  ComplexMatrix m(a.m, a.n);
  std::copy(a.e.begin(), a.e.end(), m.e.begin());
  return m;
}

struct Spectrum {
  std::vector<Complex> values;
  std::vector<std::vector<Complex>> vectors;  // none where they weren't asked for
};

// The spectrum of a real matrix as it is without rounding: real values with real vectors, and pairs of conjugates next
// to each other, the one above the axis first.
Spectrum completed(const Spectrum& rough, double noise) {
  Spectrum out;
  const size_t n = rough.values.size();
  std::vector<bool> taken(n);
  auto add = [&](Complex w, size_t from, bool conjugate) {
    out.values.push_back(w);
    if (rough.vectors.empty()) return;
    std::vector<Complex> v = rough.vectors[from];
    for (Complex& e : v) e = w.imag() == 0 ? Complex(e.real()) : conjugate ? std::conj(e) : e;
    out.vectors.push_back(std::move(v));
  };
  for (size_t k = 0; k < n; ++k) {
    if (taken[k]) continue;
    const Complex w = rough.values[k];
    size_t partner = k;
    for (size_t j = k + 1; j < n && std::abs(w.imag()) > noise; ++j)
      if (!taken[j] &&
          (partner == k || std::abs(rough.values[j] - std::conj(w)) < std::abs(rough.values[partner] - std::conj(w))))
        partner = j;
    if (partner == k) {
      add(w.real(), k, false);
      continue;
    }
    taken[partner] = true;
    const Complex mean = (w + std::conj(rough.values[partner])) / 2.0;
    const Complex above(mean.real(), std::abs(mean.imag()));
    add(above, k, w.imag() < 0);
    add(std::conj(above), k, w.imag() > 0);
  }
  return out;
}

template <class T>
Spectrum spectrum(const Tensor& x, int64_t b, bool with_vectors) {
  ComplexMatrix a = read_complex<T>(x, b), q = identity<Complex>(a.n);
  const double noise = 8 * kPrecision * static_cast<double>(a.n) * largest(a);
  to_schur(a, q);
  Spectrum out;
  for (int64_t k = 0; k < a.n; ++k) {
    out.values.push_back(a(k, k));
    if (with_vectors) out.vectors.push_back(vector_of(a, q, k));
  }
  return std::is_floating_point_v<T> ? completed(out, noise) : out;
}

template <class T>
using ComplexOf = std::complex<decltype(std::abs(T{}))>;

void eig(OpCall& c) {
  Tensor x = dense(rules::eig::Args(c).x);
  each_number_matrix("eig", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    const Spectrum s = spectrum<T>(x, b, true);
    ComplexMatrix vectors(x.size(-1), x.size(-1));
    for (int64_t k = 0; k < vectors.n; ++k)
      for (int64_t i = 0; i < vectors.n; ++i) vectors(i, k) = s.vectors[static_cast<size_t>(k)][static_cast<size_t>(i)];
    write<ComplexOf<T>>(c.out(0), b, s.values);
    write<ComplexOf<T>>(c.out(1), b, vectors.e);
  });
}

void eigvals(OpCall& c) {
  Tensor x = dense(rules::eigvals::Args(c).x);
  each_number_matrix("eigvals", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    write<ComplexOf<T>>(c.out(0), b, spectrum<T>(x, b, false).values);
  });
}

// ---- the packed LU form
void lu(OpCall& c) {
  rules::lu::Args a(c);
  Tensor x = dense(a.x);
  each_matrix("lu", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    const Lu<double> f = factorise(read<T>(x, b), a.pivot);
    write<T>(c.out(0), b, f.a.e);
    std::vector<int64_t> pivots = f.swaps;
    for (int64_t& p : pivots) ++p;
    write<int32_t>(c.out(1), b, pivots);
    c.out(2).template data<int32_t>()[b] = static_cast<int32_t>(f.first_zero + 1);
  });
}

void lu_unpack(OpCall& c) {
  rules::lu_unpack::Args a(c);
  Tensor x = dense(a.x), pivots = dense(a.y);
  each_matrix("lu_unpack", x, [&](auto t, int64_t b) {
    using T = decltype(t);
    const Matrix packed = read<T>(x, b);
    const int64_t m = packed.m, n = packed.n, k = std::min(m, n);
    if (a.unpack_pivots) {
      std::vector<int64_t> rows(static_cast<size_t>(m));
      std::iota(rows.begin(), rows.end(), 0);
      for (int64_t i = 0; i < k; ++i) {
        const int64_t p = wrapped("lu_unpack", int64_t{pivots.data<int32_t>()[b * k + i]} - 1, m, ErrorKind::kValue);
        std::swap(rows[static_cast<size_t>(i)], rows[static_cast<size_t>(p)]);
      }
      Matrix p(m, m);
      for (int64_t i = 0; i < m; ++i) p(rows[static_cast<size_t>(i)], i) = 1;
      write<T>(c.out(0), b, p.e);
    }
    if (!a.unpack_ludata) return;
    Matrix l(m, k), u(k, n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < k; ++j) l(i, j) = i == j ? 1 : i > j ? packed(i, j) : 0;
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = i; j < n; ++j) u(i, j) = packed(i, j);
    write<T>(c.out(1), b, l.e);
    write<T>(c.out(2), b, u.e);
  });
}

const RegisterCpu registered[] = {
    {"eigh", eigh}, {"eig", eig}, {"eigvals", eigvals}, {"lu", lu}, {"lu_unpack", lu_unpack}};

}  // namespace
}  // namespace paddle::kernels
