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
    return std::fabs(static_cast<long double>(std::isinf(got) ? want : got)) >= std::numeric_limits<T>::max() ? 1
                                                                                                              : 1e30;
  }
  const T step =
      std::max(std::fabs(rounded) - std::nextafter(std::fabs(rounded), T(0)), std::numeric_limits<T>::denorm_min());
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / step);
}

// Numbers of every exponent and both signs, the special ones, and a fine net over [-30, 30].
template <class T>
std::vector<T> probes() {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::vector<T> out = {T(0),
                        T(-0.0),
                        T(1),
                        T(-1),
                        T(0.5),
                        T(-0.5),
                        T(2),
                        T(kInf),
                        T(-kInf),
                        T(kNaN),
                        std::numeric_limits<T>::min(),
                        std::numeric_limits<T>::denorm_min(),
                        std::numeric_limits<T>::max(),
                        -std::numeric_limits<T>::max(),
                        T(88.7),
                        T(-87.4),
                        T(-103.9),
                        T(89.3),
                        T(-89.3),
                        T(710.2),
                        T(-745.1)};
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
    {Fn::exp, 2, std::exp},
    {Fn::log, 2, std::log},
    {Fn::tanh, 2, std::tanh},
    {Fn::sigmoid, 2.5, sigmoid},
    {Fn::erf, 2, std::erf},
    {Fn::exp2, 2, std::exp2},
    {Fn::expm1, 2, std::expm1},
    {Fn::log2, 2, std::log2},
    {Fn::log10, 2, std::log10},
    {Fn::log1p, 2, std::log1p},
    {Fn::sin, 2, std::sin},
    {Fn::cos, 2, std::cos},
    {Fn::tan, 2, std::tan},
    {Fn::asin, 2, std::asin},
    {Fn::acos, 2, std::acos},
    {Fn::atan, 2, std::atan},
    {Fn::sinh, 2, std::sinh},
    {Fn::cosh, 2, std::cosh},
    {Fn::asinh, 2, std::asinh},
    {Fn::acosh, 2, std::acosh},
    {Fn::atanh, 2, std::atanh},
    {Fn::erfc, 4, std::erfc},
    {Fn::cbrt, 2, std::cbrt},
    {Fn::sqrt, 0.5, std::sqrt},
    {Fn::rsqrt, 2, [](long double x) { return 1 / std::sqrt(x); }},
    {Fn::reciprocal, 0.5, [](long double x) { return 1 / x; }},
    {Fn::lgamma, 4, [](long double x) { return std::lgamma(x); }},
    {Fn::floor, 0, std::floor},
    {Fn::ceil, 0, std::ceil},
    {Fn::round, 0, std::rint},
    {Fn::trunc, 0, std::trunc},
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
    if (std::getenv("TILE_SHOW_ERRORS"))
      printf("%-10s %2zu bits %.2f ulp at %g\n", scalar::info(c.fn).name, sizeof(T) * 8, worst, double(at));
  }
}

TEST(TileFunctions, UnaryFloat32) { for_each_isa(check_cases<float>); }
TEST(TileFunctions, UnaryFloat64) { for_each_isa(check_cases<double>); }

// Values of SciPy 1.17.
template <size_t N, class Got>
void check_table(const double (&rows)[N][2], Got got, double tolerance) {
  for (const auto& [x, want] : rows) EXPECT_NEAR(got(x), want, tolerance * std::max(1.0, std::fabs(want))) << x;
}

double call1(Fn f, double x) { return apply<double>(f, {std::vector<double>{x}})[0]; }
double call2(Fn f, double a, double x) { return apply<double>(f, {std::vector<double>{a}, std::vector<double>{x}})[0]; }

TEST(TileFunctions, Special) {
  check_table(
      {{-4.3, 3.8529116001270105},
       {-2.5, 1.1031566406452433},
       {-0.7, -2.073952793628703},
       {0.05, -20.49784499129987},
       {0.3, -3.502524222200133},
       {1.0, -0.5772156649015329},
       {1.4616321449683622, 0},
       {9.9, 2.2411803166063815},
       {37.0, 3.597343531893106},
       {10000.0, 9.21029037114285}},
      [](double x) { return call1(Fn::digamma, x); }, 2e-15);
  check_table(
      {{-0.999999, -3.458910737275499},
       {-0.9, -1.1630871536766743},
       {-0.5, -0.4769362762044699},
       {0.1, 0.08885599049425769},
       {0.3, 0.2724627147267544},
       {0.75, 0.8134198475976184},
       {0.99, 1.8213863677184496},
       {0.9999999999, 4.572824958544925}},
      [](double x) { return call1(Fn::erfinv, x); }, 1e-15);
  EXPECT_DOUBLE_EQ(call1(Fn::erfinv, -1e-8), -8.86226925452758e-09);
  const double polygammas[][3] = {{1, 0.1, 101.43329915079275},   {1, 1.0, 1.6449340668482266},
                                  {1, 7.3, 0.14679576813142703},  {2, 0.5, -16.828796644234316},
                                  {2, 3.0, -0.15411380631918856}, {3, 1.5, 1.4090910340024367},
                                  {5, 2.2, 1.201921216126424},    {1, 25.0, 0.04081066325722558}};
  for (const auto& [n, x, want] : polygammas) EXPECT_NEAR(call2(Fn::polygamma, n, x) / want, 1, 1e-14) << n << " " << x;
  const double gammas[][4] = {{0.5, 0.1, 0.34527915398142317, 0.6547208460185768},
                              {1.0, 1.0, 0.6321205588285577, 0.36787944117144245},
                              {2.5, 0.3, 0.011996757205906265, 0.9880032427940937},
                              {2.5, 9.0, 0.9970535954121197, 0.0029464045878802923},
                              {10.0, 8.0, 0.28337574127298903, 0.716624258727011},
                              {100.0, 110.0, 0.8417213299399129, 0.15827867006008706},
                              {3.0, 50.0, 1.0, 2.509303552201055e-19},
                              {0.001, 1e-05, 0.9891230446957835, 0.010876955304217334},
                              {150.0, 100.0, 1.8842104660386844e-06, 0.999998115789534}};
  for (const auto& [a, x, lower, upper] : gammas) {
    EXPECT_NEAR(call2(Fn::gammainc, a, x) / lower, 1, 1e-12) << a << " " << x;
    EXPECT_NEAR(call2(Fn::gammaincc, a, x) / upper, 1, 1e-12) << a << " " << x;
  }
  const double bessel[][5] = {
      {-3.0, 0.24300035416182536, -0.19682671329730084, 4.880792585865024, -3.9533702174026093},
      {0, 1, 0, 1, 0},
      {5.5, 0.17448325638192988, 0.1577010090167565, 42.69464515184779, 38.58816461632739},
      {29.9, 0.07326921904600191, 0.0720333749118688, 708478330489.0146, 696528308361.0928},
      {30.1, 0.07302329413106094, 0.07179985435101434, 862432920031.7792, 847983630191.5414},
      {500.0, 0.017845706500153165, 0.017827851852898053, 2.504809476570078e+215, 2.5023034121760998e+215}};
  for (const auto& [x, i0e, i1e, i0, i1] : bessel) {
    EXPECT_NEAR(call1(Fn::i0e, x), i0e, 1e-14 * i0e);
    EXPECT_NEAR(call1(Fn::i1e, x), i1e, 1e-14 * std::fabs(i0e));
    EXPECT_NEAR(call1(Fn::i0, x), i0, 1e-13 * i0);
    EXPECT_NEAR(call1(Fn::i1, x), i1, 1e-13 * i0);
  }
}

TEST(TileFunctions, PowAtan2Hypot) {
  for_each_isa([] {
    const std::vector<double> a = {2, -2, -2, 0, 0, 1.5, 3, kNaN, 5, -0.5, 1e300},
                              b = {10, 3, 0.5, 0, -1, -2.25, -1, 0, 2, -3, 1.1};
    const std::vector<double> power = apply<double>(Fn::pow, {a, b}), angle = apply<double>(Fn::atan2, {a, b}),
                              length = apply<double>(Fn::hypot, {a, b});
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_LE(ulps(power[i], std::pow(static_cast<long double>(a[i]), static_cast<long double>(b[i]))), 1.5)
          << a[i] << "^" << b[i];
      EXPECT_LE(ulps(angle[i], std::atan2(static_cast<long double>(a[i]), static_cast<long double>(b[i]))), 1.5);
      EXPECT_LE(ulps(length[i], std::hypot(static_cast<long double>(a[i]), static_cast<long double>(b[i]))), 1.5);
    }
    // Exponents that are one number for all have loops of their own.
    int64_t n = 33;
    std::vector<float> x(n), got(n);
    for (int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i) - 16.5f;
    for (const double exponent : {2.0, 3.0, -1.0, 4.0, 0.0}) {
      const ScalarParam p(exponent);
      const TileOperand in = dense(x), out = dense(got);
      run_pointwise(Code{{{Fn::pow, 0, 1}}, {2}, 1, 1}.program(), {&in, 1}, {&p, 1}, {&out, 1}, {&n, 1}, Compute::kF32);
      for (int64_t i = 0; i < n; ++i)
        EXPECT_LE(ulps(got[i], std::pow(static_cast<long double>(x[i]), static_cast<long double>(exponent))), 1.5);
    }
  });
}

}  // namespace
}  // namespace paddle::tile
