#include "phi/kernels/cpu/fft/plan.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <unordered_map>

#include "phi/kernels/cpu/fft/lanes.h"

namespace paddle::kernels::fft {
namespace {

constexpr int64_t kLargestRadix = 61;  // beyond it a chirp convolution is cheaper than a pass of radix^2 products

template <class L>
Complex<L> operator+(const Complex<L>& a, const Complex<L>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class L>
Complex<L> operator-(const Complex<L>& a, const Complex<L>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class L, class T>
Complex<L> times(const Complex<L>& a, const Complex<T>& w) {
  return {a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re};
}
// a * i and a * -i
template <class L>
Complex<L> up(const Complex<L>& a) {
  return {-a.im, a.re};
}
template <class L>
Complex<L> down(const Complex<L>& a) {
  return {a.im, -a.re};
}

int64_t smallest_factor(int64_t n) {
  if (n % 4 == 0) return 4;
  for (int64_t p : {2, 3, 5})
    if (n % p == 0) return p;
  for (int64_t p = 7; p * p <= n; p += 2)
    if (n % p == 0) return p;
  return n;
}

// The least length >= n with no prime factor above 5.
int64_t smooth_length(int64_t n) {
  int64_t best = 1;
  while (best < n) best *= 2;
  for (int64_t five = 1; five < best; five *= 5)
    for (int64_t three = five; three < best; three *= 3) {
      int64_t m = three;
      while (m < n) m *= 2;
      best = std::min(best, m);
    }
  return best;
}

// ---- transforms of few elements: a[0..p) in place
template <class T, class L>
void small2(Complex<L>* a) {
  Complex<L> t = a[1];
  a[1] = a[0] - t;
  a[0] = a[0] + t;
}
template <class T, class L>
void small3(Complex<L>* a) {
  constexpr T s = static_cast<T>(0.86602540378443864676);
  Complex<L> sum = a[1] + a[2], difference = a[1] - a[2];
  Complex<L> mid{a[0].re - sum.re * T(0.5), a[0].im - sum.im * T(0.5)};
  Complex<L> side{difference.re * s, difference.im * s};
  a[0] = a[0] + sum;
  a[1] = mid + down(side);
  a[2] = mid + up(side);
}
template <class T, class L>
void small4(Complex<L>* a) {
  Complex<L> p = a[0] + a[2], q = a[0] - a[2], r = a[1] + a[3], s = a[1] - a[3];
  a[0] = p + r;
  a[1] = q + down(s);
  a[2] = p - r;
  a[3] = q + up(s);
}
template <class T, class L>
void small5(Complex<L>* a) {
  constexpr T c1 = static_cast<T>(0.30901699437494742410), c2 = static_cast<T>(-0.80901699437494742410);
  constexpr T s1 = static_cast<T>(0.95105651629515357212), s2 = static_cast<T>(0.58778525229247312917);
  Complex<L> p = a[1] + a[4], q = a[1] - a[4], r = a[2] + a[3], s = a[2] - a[3], z = a[0];
  Complex<L> m1{z.re + p.re * c1 + r.re * c2, z.im + p.im * c1 + r.im * c2};
  Complex<L> m2{z.re + p.re * c2 + r.re * c1, z.im + p.im * c2 + r.im * c1};
  Complex<L> d1{q.re * s1 + s.re * s2, q.im * s1 + s.im * s2};
  Complex<L> d2{q.re * s2 - s.re * s1, q.im * s2 - s.im * s1};
  a[0] = z + p + r;
  a[1] = m1 + down(d1);
  a[2] = m2 + down(d2);
  a[3] = m2 + up(d2);
  a[4] = m1 + up(d1);
}
// Any odd radix: elements j and p - j go together.
template <class T, class L>
void small_odd(Complex<L>* a, int64_t p, const Complex<T>* roots) {
  Complex<L> out[kLargestRadix];
  const int64_t half = p / 2;
  out[0] = a[0];
  for (int64_t j = 1; j < p; ++j) out[0] = out[0] + a[j];
  for (int64_t k = 1; k <= half; ++k) {
    Complex<L> even = a[0], odd{a[0].re - a[0].re, a[0].re - a[0].re};
    for (int64_t j = 1; j <= half; ++j) {
      const Complex<T>& w = roots[j * k % p];
      Complex<L> sum = a[j] + a[p - j], difference = a[j] - a[p - j];
      even.re += sum.re * w.re;
      even.im += sum.im * w.re;
      odd.re -= difference.im * w.im;
      odd.im += difference.re * w.im;
    }
    out[k] = even + odd;
    out[p - k] = even - odd;
  }
  std::copy(out, out + p, a);
}

template <class T>
Complex<T> narrow(Complex<double> c) {
  return {static_cast<T>(c.re), static_cast<T>(c.im)};
}

}  // namespace

Complex<double> root(int64_t k, int64_t n) {
  k %= n;
  if (k < 0) k += n;
  const bool below = 2 * k > n;  // exp(-i a) for a in the lower half circle is the conjugate
  if (below) k = n - k;
  const bool left = 4 * k > n;
  const int64_t part = left ? n - 2 * k : 2 * k;  // the angle in units of pi / n, within [0, pi / 2]
  const bool steep = 4 * part > n;                // above an eighth: measured from the other axis
  const double angle =
      std::numbers::pi * static_cast<double>(steep ? n - 2 * part : 2 * part) / static_cast<double>(2 * n);
  double c = std::cos(angle), s = std::sin(angle);
  if (steep) std::swap(c, s);
  if (left) c = -c;
  return {c, below ? s : -s};
}

template <class T>
Plan<T>::Plan(int64_t n) : n_(n) {
  int64_t largest = 1;
  for (int64_t m = n; m > 1;) {
    int64_t p = smallest_factor(m);
    largest = std::max(largest, p);
    m /= p;
  }
  if (largest > kLargestRadix)
    make_chirp();
  else
    make_passes();
}

template <class T>
void Plan<T>::make_passes() {
  int64_t rest = n_, stride = 1;
  while (rest > 1) {
    const int64_t p = smallest_factor(rest);
    const int64_t length = rest;
    rest /= p;
    passes_.push_back({p, rest, stride, twiddles_.size()});
    for (int64_t q = 0; q < rest; ++q)
      for (int64_t k = 1; k < p; ++k) twiddles_.push_back(narrow<T>(root(q * k, length)));
    if (p > 5)
      for (int64_t j = 0; j < p; ++j) twiddles_.push_back(narrow<T>(root(j, p)));
    stride *= p;
  }
}

template <class T>
void Plan<T>::make_chirp() {
  const int64_t m = smooth_length(2 * n_ - 1);
  convolution_ = std::make_unique<Plan>(m);
  chirp_.resize(static_cast<size_t>(n_));
  Plan<double> exact(m);
  std::vector<Complex<double>> b(static_cast<size_t>(m), {0, 0}), work(static_cast<size_t>(exact.work_size()));
  int64_t square = 0;  // j^2 modulo 2 n
  for (int64_t j = 0; j < n_; ++j) {
    const Complex<double> w = root(square, 2 * n_);
    chirp_[static_cast<size_t>(j)] = narrow<T>(w);
    const Complex<double> conjugate{w.re / static_cast<double>(m), -w.im / static_cast<double>(m)};
    b[static_cast<size_t>(j)] = conjugate;
    if (j > 0) b[static_cast<size_t>(m - j)] = conjugate;
    square = (square + 2 * j + 1) % (2 * n_);
  }
  exact.run(b.data(), work.data());
  for (const Complex<double>& v : b) kernel_.push_back(narrow<T>(v));
}

template <class T>
int64_t Plan<T>::work_size() const {
  return convolution_ ? 2 * convolution_->size() : n_;
}

template <class T>
template <class L>
void Plan<T>::run_pass(const Pass& p, const Complex<L>* x, Complex<L>* y) const {
  const Complex<T>* w = twiddles_.data() + p.twiddles;
  const Complex<T>* roots = w + p.rest * (p.radix - 1);
  // kept: the radix where it is known to the compiler, else the most there may be.
  auto sweep = [&]<int64_t kept>(std::integral_constant<int64_t, kept>, int64_t radix, auto&& transform) {
    for (int64_t q = 0; q < p.rest; ++q, w += radix - 1)
      for (int64_t s = 0; s < p.stride; ++s) {
        Complex<L> a[kept];
        for (int64_t j = 0; j < radix; ++j) a[j] = x[s + p.stride * (q + p.rest * j)];
        transform(a);
        Complex<L>* to = y + s + p.stride * radix * q;
        to[0] = a[0];
        for (int64_t k = 1; k < radix; ++k) to[k * p.stride] = times(a[k], w[k - 1]);
      }
  };
  auto fixed = [&]<int64_t radix>(std::integral_constant<int64_t, radix> r, auto&& transform) {
    sweep(r, radix, transform);
  };
  switch (p.radix) {
    case 2:
      return fixed(std::integral_constant<int64_t, 2>(), [](Complex<L>* a) { small2<T>(a); });
    case 3:
      return fixed(std::integral_constant<int64_t, 3>(), [](Complex<L>* a) { small3<T>(a); });
    case 4:
      return fixed(std::integral_constant<int64_t, 4>(), [](Complex<L>* a) { small4<T>(a); });
    case 5:
      return fixed(std::integral_constant<int64_t, 5>(), [](Complex<L>* a) { small5<T>(a); });
    default:
      return sweep(std::integral_constant<int64_t, kLargestRadix>(), p.radix,
                   [&](Complex<L>* a) { small_odd<T>(a, p.radix, roots); });
  }
}

template <class T>
template <class L>
void Plan<T>::run_passes(Complex<L>* x, Complex<L>* work) const {
  Complex<L>*from = x, *to = work;
  for (const Pass& p : passes_) {
    run_pass(p, from, to);
    std::swap(from, to);
  }
  if (from != x) std::copy(from, from + n_, x);
}

template <class T>
template <class L>
void Plan<T>::run_chirp(Complex<L>* x, Complex<L>* work) const {
  const int64_t m = convolution_->size();
  Complex<L>* a = work;
  Complex<L>* inner = work + m;
  for (int64_t j = 0; j < n_; ++j) a[j] = times(x[j], chirp_[static_cast<size_t>(j)]);
  std::fill(a + n_, a + m, Complex<L>{L{}, L{}});
  convolution_->run_passes(a, inner);
  // The way back is a forward transform with the parts exchanged.
  for (int64_t j = 0; j < m; ++j) {
    Complex<L> v = times(a[j], kernel_[static_cast<size_t>(j)]);
    a[j] = {v.im, v.re};
  }
  convolution_->run_passes(a, inner);
  for (int64_t j = 0; j < n_; ++j) x[j] = times(Complex<L>{a[j].im, a[j].re}, chirp_[static_cast<size_t>(j)]);
}

template <class T>
template <class L>
void Plan<T>::run(Complex<L>* x, Complex<L>* work) const {
  if (convolution_)
    run_chirp(x, work);
  else
    run_passes(x, work);
}

template <class T>
std::shared_ptr<const Plan<T>> plan_for(int64_t n) {
  constexpr size_t kMost = 64;  // plans kept
  static std::mutex mutex;
  static std::unordered_map<int64_t, std::shared_ptr<const Plan<T>>> plans;
  {
    std::lock_guard lock(mutex);
    auto found = plans.find(n);
    if (found != plans.end()) return found->second;
  }
  auto made = std::make_shared<const Plan<T>>(n);
  std::lock_guard lock(mutex);
  if (plans.size() >= kMost) plans.clear();
  return plans.emplace(n, made).first->second;
}

template class Plan<float>;
template class Plan<double>;
template std::shared_ptr<const Plan<float>> plan_for(int64_t);
template std::shared_ptr<const Plan<double>> plan_for(int64_t);
template void Plan<float>::run(Complex<float>*, Complex<float>*) const;
template void Plan<float>::run(Complex<Floats>*, Complex<Floats>*) const;
template void Plan<double>::run(Complex<double>*, Complex<double>*) const;
template void Plan<double>::run(Complex<Doubles>*, Complex<Doubles>*) const;

}  // namespace paddle::kernels::fft
