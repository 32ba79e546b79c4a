#include "phi/kernels/cpu/tile/special.h"

#include <cmath>
#include <limits>

namespace paddle::tile {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Hurwitz zeta(s, q) for s > 1, q > 0: direct terms, then Euler-Maclaurin.
double zeta(double s, double q) {
  constexpr double kBernoulli[] = {// B(2k) / (2k)!
                                   8.333333333333333e-02,  -1.388888888888889e-03, 3.306878306878307e-05,
                                   -8.267195767195767e-07, 2.0876756987868100e-08, -5.284190138687493e-10,
                                   1.3382536530684679e-11, -3.389680296322583e-13, 8.586062056277845e-15,
                                   -2.174868698558062e-16, 5.509002828360229e-18,  -1.395446468581252e-19};
  double sum = 0, at = q;
  const int direct = 12;
  for (int i = 0; i < direct; ++i, at += 1) sum += std::pow(at, -s);
  sum += std::pow(at, 1 - s) / (s - 1) + 0.5 * std::pow(at, -s);
  double factor = s, power = std::pow(at, -s - 1);
  for (int k = 0; k < 12; ++k) {
    const double term = kBernoulli[k] * factor * power;
    sum += term;
    if (std::abs(term) < 1e-17 * std::abs(sum)) break;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2);
    power /= at * at;
  }
  return sum;
}

// The series a^k e^-x / Gamma: fast for x < a + 1.
double gamma_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < 10000; ++n) {
    term *= x / (a + n);
    sum += term;
    if (term < sum * 1e-17) break;
  }
  int sign;
  return sum * std::exp(-x + a * std::log(x) - lgamma_r(a, &sign));
}

// The continued fraction of the complement (Lentz's method): fast for x > a + 1.
double gamma_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int n = 1; n < 10000; ++n) {
    const double an = -n * (n - a);
    b += 2;
    d = an * d + b;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = b + an / c;
    c = std::abs(c) < kTiny ? kTiny : c;
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  int sign;
  return h * std::exp(-x + a * std::log(x) - lgamma_r(a, &sign));
}

bool outside_gamma(double a, double x) { return !(a >= 0) || !(x >= 0) || (a == 0 && x == 0); }

// exp(-x) I_v(x) for x >= 0, v = 0 or 1. Power series below 30 (all terms positive, so it loses nothing), else Hankel's
// asymptotic series, whose terms fall below 1e-17 there.
double bessel_scaled(int v, double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return 0;
  if (x < 30) {
    const double quarter = x * x / 4;
    double term = v == 0 ? 1 : x / 2, sum = term;
    for (int k = 1; k < 200 && term > sum * 1e-18; ++k) {
      term *= quarter / (static_cast<double>(k) * (k + v));
      sum += term;
    }
    return sum * std::exp(-x);
  }
  const double mu = 4.0 * v * v;
  double term = 1, sum = 1;
  for (int k = 1; k < 60; ++k) {
    const double odd = 2 * k - 1, next = -term * (mu - odd * odd) / (8 * k * x);
    if (std::abs(next) >= std::abs(term)) break;
    term = next;
    sum += term;
    if (std::abs(term) < 1e-18) break;
  }
  return sum / std::sqrt(2 * kPi * x);
}

}  // namespace

double digamma(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  if (x == -kInf) return kNaN;
  double result = 0;
  if (x < 0) {
    if (x == std::floor(x)) return kNaN;
    // Reflection; the fraction first, so that tan is taken of a small angle.
    const double fraction = x - std::round(x);
    result = -kPi / std::tan(kPi * fraction);
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z *
      (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}

double polygamma(double order, double x) {
  if (order == 0) return digamma(x);
  if (!(order > 0) || order != std::floor(order)) return kNaN;
  if (std::isnan(x)) return x;
  const int n = static_cast<int>(order);
  const double sign = n % 2 ? 1 : -1, factorial = std::tgamma(order + 1);
  if (x <= 0) {
    if (x == std::floor(x)) return n % 2 ? kInf : kNaN;
    // psi_n(x) = psi_n(x + m) + (-1)^(n+1) n! sum of 1 / (x + i)^(n+1)
    double sum = 0;
    for (; x < 0; x += 1) sum += 1 / std::pow(x, n + 1);
    return sign * factorial * (sum + zeta(order + 1, x));
  }
  return sign * factorial * zeta(order + 1, x);
}

double gammainc(double a, double x) {
  if (outside_gamma(a, x)) return kNaN;
  if (a == 0 || std::isinf(x)) return 1;
  if (x == 0 || std::isinf(a)) return 0;
  return x < a + 1 ? gamma_series(a, x) : 1 - gamma_fraction(a, x);
}

double gammaincc(double a, double x) {
  if (outside_gamma(a, x)) return kNaN;
  if (a == 0 || std::isinf(x)) return 0;
  if (x == 0 || std::isinf(a)) return 1;
  return x < a + 1 ? 1 - gamma_series(a, x) : gamma_fraction(a, x);
}

double erfinv(double x) {
  if (!(std::abs(x) < 1)) return std::abs(x) == 1 ? std::copysign(kInf, x) : kNaN;
  if (x == 0) return x;
  // A start good to 2e-3 (S. Winitzki), then Halley steps on the function that is accurate there.
  const double a = 0.147, tail = 1 - std::abs(x), l = std::log(tail * (1 + std::abs(x))), t = 2 / (kPi * a) + l / 2;
  double y = std::sqrt(std::sqrt(t * t - l / a) - t);
  for (int i = 0; i < 3; ++i) {
    const double error = std::abs(x) < 0.5 ? std::erf(y) - std::abs(x) : tail - std::erfc(y);
    const double step = error / (2 / std::sqrt(kPi) * std::exp(-y * y));
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

double bessel_i0e(double x) { return bessel_scaled(0, std::abs(x)); }
double bessel_i1e(double x) { return std::copysign(bessel_scaled(1, std::abs(x)), x); }

}  // namespace paddle::tile
