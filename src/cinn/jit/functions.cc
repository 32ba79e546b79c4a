#include "cinn/jit/functions.h"

#include <cmath>

#include "phi/kernels/cpu/tile/special.h"

namespace paddle::cinn {
namespace {

double floor_mod(double a, double b) {
  double m = std::fmod(a, b);
  if (m == 0) return std::copysign(0.0, b);
  return (m < 0) != (b < 0) ? m + b : m;
}

// NumPy's: exact where the quotient is a whole number.
double floor_divide(double a, double b) {
  if (b == 0) return a / b;
  double m = std::fmod(a, b), q = (a - m) / b;
  if (m != 0 && (m < 0) != (b < 0)) q -= 1;
  if (q == 0) return std::copysign(0.0, a / b);
  double whole = std::floor(q);
  return q - whole > 0.5 ? whole + 1 : whole;
}

double log_gamma(double x) {
  int sign;  // std::lgamma would write a global
  return lgamma_r(x, &sign);
}

template <class T, auto F>
void unary(T* out, const T* a, const T*, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(F(a[i]));
}

template <class T, auto F>
void binary(T* out, const T* a, const T* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(F(a[i], b[i]));
}

// Functions for which double serves f32 too, and those that need the type's own rounding or are much faster in it.
#define UNARY(name, f)                                               \
  {"pd_" #name "_f32", reinterpret_cast<void*>(&unary<float, f>)}, { \
    "pd_" #name "_f64", reinterpret_cast<void*>(&unary<double, f>)   \
  }
#define BINARY(name, f)                                               \
  {"pd_" #name "_f32", reinterpret_cast<void*>(&binary<float, f>)}, { \
    "pd_" #name "_f64", reinterpret_cast<void*>(&binary<double, f>)   \
  }
#define D1(f) [](double x) -> double { return f(x); }
#define D2(f) [](double x, double y) -> double { return f(x, y); }

const LibraryFn kFunctions[] = {
    UNARY(sin, D1(std::sin)),
    UNARY(cos, D1(std::cos)),
    UNARY(tan, D1(std::tan)),
    UNARY(asin, D1(std::asin)),
    UNARY(acos, D1(std::acos)),
    UNARY(atan, D1(std::atan)),
    UNARY(sinh, D1(std::sinh)),
    UNARY(cosh, D1(std::cosh)),
    UNARY(asinh, D1(std::asinh)),
    UNARY(acosh, D1(std::acosh)),
    UNARY(atanh, D1(std::atanh)),
    UNARY(cbrt, D1(std::cbrt)),
    UNARY(erf, D1(std::erf)),
    UNARY(erfc, D1(std::erfc)),
    UNARY(erfinv, D1(tile::erfinv)),
    UNARY(lgamma, D1(log_gamma)),
    UNARY(digamma, D1(tile::digamma)),
    UNARY(i0e, D1(tile::bessel_i0e)),
    UNARY(i1e, D1(tile::bessel_i1e)),
    UNARY(i0, [](double x) { return tile::bessel_i0e(x) * std::exp(std::fabs(x)); }),
    UNARY(i1, [](double x) { return tile::bessel_i1e(x) * std::exp(std::fabs(x)); }),
    BINARY(pow, D2(std::pow)),
    BINARY(hypot, D2(std::hypot)),
    BINARY(atan2, D2(std::atan2)),
    BINARY(fmod, D2(std::fmod)),
    BINARY(mod, D2(floor_mod)),
    BINARY(floor_div, D2(floor_divide)),
    BINARY(polygamma, D2(tile::polygamma)),
    BINARY(gammainc, D2(tile::gammainc)),
    BINARY(gammaincc, D2(tile::gammaincc)),
    {"pd_nextafter_f32",
     reinterpret_cast<void*>(&binary<float, [](float x, float y) { return std::nextafter(x, y); }>)},
    {"pd_nextafter_f64",
     reinterpret_cast<void*>(&binary<double, [](double x, double y) { return std::nextafter(x, y); }>)},
};

#undef UNARY
#undef BINARY
#undef D1
#undef D2

}  // namespace

std::span<const LibraryFn> library_functions() { return kFunctions; }

}  // namespace paddle::cinn
