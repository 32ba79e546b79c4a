// Each scalar function against libm in a wider type, over the whole range of the operand.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include "tile_testing.h"

namespace paddle::tile {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// |got - want| in units of want's last place; 0 if both are NaN or equal, huge if only one is special.
template <class T>
double ulps(T got, long double want) {
  const T rounded = static_cast<T>(want);
  if (std::isnan(got) || std::isnan(rounded)) return std::isnan(got) && std::isnan(rounded) ? 0 : 1e30;
  if (got == rounded) return 0;
  if (std::isinf(got) || std::isinf(rounded)) {
    // The largest finite number beside infinity is one unit off.
    return std::fabs(static_cast<long double>(std::isinf(got) ? want : got)) >= std::numeric_limits<T>::max() ? 1 : 1e30;
  }
  const T step = std::max(std::fabs(rounded) - std::nextafter(std::fabs(rounded), T(0)), std::numeric_limits<T>::denorm_min());
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / step);
}

// Numbers of every exponent and both signs, the special ones, and a fine net over [-30, 30].
template <class T>
std::vector<T> probes() {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::vector<T> out = {T(0), T(-0.0), T(1), T(-1), T(0.5), T(-0.5), T(2), T(kInf), T(-kInf), T(kNaN),
                        std::numeric_limits<T>::min(), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max(),
                        -std::numeric_limits<T>::max(), T(88.7), T(-87.4), T(-103.9), T(89.3), T(-89.3), T(710.2), T(-745.1)};
  std::mt19937_64 random(7);
  for (int i = 0; i < 40000; ++i) {
    const Bits bits = static_cast<Bits>(random());
    T x;
    std::memcpy(&x, &bits, sizeof x);
    out.push_back(x);
  }
  for (int i = -30000; i <= 30000; ++i) out.push_back(static_cast<T>(i * 1e-3 + 1e-5));
  for (int i = -2000; i <= 2000; ++i) out.push_back(static_cast<T>(i * 5.1e-4));
  return out;
}

struct Case {
  Fn fn;
  double bound;
  long double (*reference)(long double);
};

long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

const Case kCases[] = {
    {Fn::exp, 2, std::exp}, {Fn::log, 2, std::log}, {Fn::tanh, 2, std::tanh}, {Fn::sigmoid, 2.5, sigmoid},
    {Fn::erf, 2, std::erf}, {Fn::exp2, 2, std::exp2}, {Fn::expm1, 2, std::expm1}, {Fn::log2, 2, std::log2},
    {Fn::log10, 2, std::log10}, {Fn::log1p, 2, std::log1p}, {Fn::sin, 2, std::sin}, {Fn::cos, 2, std::cos},
    {Fn::tan, 2, std::tan}, {Fn::asin, 2, std::asin}, {Fn::acos, 2, std::acos}, {Fn::atan, 2, std::atan},
    {Fn::sinh, 2, std::sinh}, {Fn::cosh, 2, std::cosh}, {Fn::asinh, 2, std::asinh}, {Fn::acosh, 2, std::acosh},
    {Fn::atanh, 2, std::atanh}, {Fn::erfc, 4, std::erfc}, {Fn::cbrt, 2, std::cbrt}, {Fn::sqrt, 0.5, std::sqrt},
    {Fn::rsqrt, 2, [](long double x) { return 1 / std::sqrt(x); }},
    {Fn::reciprocal, 0.5, [](long double x) { return 1 / x; }}, {Fn::lgamma, 4, [](long double x) { return std::lgamma(x); }},
    {Fn::floor, 0, std::floor}, {Fn::ceil, 0, std::ceil}, {Fn::round, 0, std::rint}, {Fn::trunc, 0, std::trunc},
};

template <class T>
void check_cases() {
  const std::vector<T> x = probes<T>();
  for (const Case& c : kCases) {
    const std::vector<T> got = apply<T>(c.fn, {x});
    double worst = 0;
    T at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = ulps(got[i], c.reference(x[i]));
      if (error > worst) worst = error, at = x[i];
    }
    EXPECT_LE(worst, c.bound) << scalar::info(c.fn).name << "(" << at << "), " << sizeof(T) * 8 << " bits: got "
                              << apply<T>(c.fn, {std::vector<T>{at}})[0] << ", want " << c.reference(at);
    if (std::getenv("TILE_SHOW_ERRORS")) printf("%-10s %2zu bits %.2f ulp at %g\n", scalar::info(c.fn).name, sizeof(T) * 8, worst, double(at));
  }
}

TEST(TileFunctions, UnaryFloat32) { for_each_isa(check_cases<float>); }
TEST(TileFunctions, UnaryFloat64) { for_each_isa(check_cases<double>); }

}  // namespace
}  // namespace paddle::tile
