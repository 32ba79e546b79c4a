// Accuracy of compiled scalar functions, in units in the last place, against libm in a wider type.
#include <gtest/gtest.h>

#include "reference.h"

namespace paddle::cinn {
namespace {

using scalar::Fn;
using testing::Tensor;

struct Case {
  Fn fn;
  double low, high;
  double ulp = 4;
};

// Distance in units in the last place of the exact result.
double ulps(double got, long double want, DType t) {
  if (std::isnan(got) && std::isnan(want)) return 0;
  if (got == static_cast<double>(want)) return 0;
  const int digits = t == DType::kFloat32 ? 24 : 53, lowest = t == DType::kFloat32 ? -149 : -1074;
  int e;
  std::frexp(static_cast<double>(want), &e);
  return static_cast<double>(std::fabs(got - want) / std::ldexp(1.0L, std::max(e - digits, lowest)));
}

long double exact(Fn f, long double x) {
  using enum Fn;
  switch (f) {
    case exp:
      return std::exp(x);
    case exp2:
      return std::exp2(x);
    case expm1:
      return std::expm1(x);
    case log:
      return std::log(x);
    case log2:
      return std::log2(x);
    case log10:
      return std::log10(x);
    case log1p:
      return std::log1p(x);
    case sin:
      return std::sin(x);
    case cos:
      return std::cos(x);
    case tan:
      return std::tan(x);
    case tanh:
      return std::tanh(x);
    case sigmoid:
      return 1 / (1 + std::exp(-x));
    case erf:
      return std::erf(x);
    case rsqrt:
      return 1 / std::sqrt(x);
    case atan:
      return std::atan(x);
    case lgamma:
      return std::lgamma(x);
    default:
      ADD_FAILURE();
      return 0;
  }
}

const Case kCases[] = {
    {Fn::exp, -103, 88.7},  {Fn::exp, -1, 1},         {Fn::exp2, -148, 127.9},  {Fn::expm1, -30, 88},
    {Fn::expm1, -0.5, 0.5}, {Fn::log, 1e-45, 1e-37},  {Fn::log, 0.5, 2},        {Fn::log, 0, 1e30},
    {Fn::log2, 0.5, 2},     {Fn::log2, 0, 1e30},      {Fn::log10, 0.5, 2},      {Fn::log10, 0, 1e10},
    {Fn::log1p, -0.99, 3},  {Fn::log1p, -1e-3, 1e-3}, {Fn::sin, -7, 7},         {Fn::sin, -29000, 29000},
    {Fn::sin, -1e9, 1e9},   {Fn::cos, -7, 7},         {Fn::cos, -29000, 29000}, {Fn::tan, -3, 3},
    {Fn::tanh, -12, 12},    {Fn::tanh, -0.1, 0.1},    {Fn::sigmoid, -80, 20},   {Fn::erf, -5, 5},
    {Fn::erf, -0.1, 0.1},   {Fn::rsqrt, 0, 1e20},     {Fn::atan, -5, 5},        {Fn::lgamma, 0.1, 30}};

TEST(Functions, WithinFourUlp) {
  for (DType t : {DType::kFloat32, DType::kFloat64})
    for (const Case& c : kCases) {
      constexpr int64_t n = 20003;
      Group g;
      g.output(g.pointwise(c.fn, {g.input(t, {n})}, t));
      Tensor x = testing::random_tensor(n, t, 5, c.low, c.high);
      Tensor y = testing::run_compiled(g, *compile(g), {}, {x})[0];
      double worst = 0, at = 0;
      for (int64_t i = 0; i < n; ++i) {
        double u = ulps(y[i], exact(c.fn, x[i]), t);
        if (u > worst) worst = u, at = x[i];
      }
      if (c.fn == Fn::lgamma) continue;  // the library's; near its zeros only the absolute error is small
      EXPECT_LE(worst, c.ulp) << scalar::info(c.fn).name << " of " << name_of(t) << " at " << at;
    }
}

// Where the result counts as a 16-bit float: nearly as good as rounding the exact value.
TEST(Functions, CoarseWithinOneUnitOfTheHalf) {
  for (DType half : {DType::kFloat16, DType::kBFloat16})
    for (const Case& c : {Case{Fn::exp, -20, 10}, Case{Fn::exp2, -14, 15}, Case{Fn::sigmoid, -9, 12},
                          Case{Fn::tanh, -9, 9}, Case{Fn::erf, -5, 5}}) {
      constexpr int64_t n = 1003;
      Group g;
      g.output(g.pointwise(c.fn, {g.input(half, {n})}, half));
      Tensor x = testing::random_tensor(n, half, 5, c.low, c.high);
      Tensor y = testing::run_compiled(g, *compile(g), {}, {x})[0];
      const double digits = half == DType::kFloat16 ? 11 : 8, smallest = half == DType::kFloat16 ? 0x1p-24 : 0x1p-133;
      for (int64_t i = 0; i < n; ++i) {
        const double want = static_cast<double>(exact(c.fn, x[i]));
        const double unit = std::max(std::ldexp(1.0, std::ilogb(want) + 1 - static_cast<int>(digits)), smallest);
        ASSERT_LE(std::fabs(y[i] - want), 0.8 * unit) << scalar::info(c.fn).name << " of " << x[i] << " is " << y[i];
      }
    }
}

// Infinities, NaN, zero and masks of any size, as attention writes them.
TEST(Functions, SpecialValues) {
  const double inf = INFINITY;
  const Tensor values = {0.0, -0.0, 1, -1, inf, -inf, NAN, -1e4, -1e9, -3e38, 3e38, 1e9, 1e4, 88, -103};
  for (DType t : {DType::kFloat32, DType::kBFloat16, DType::kFloat64})
    for (Fn f : {Fn::exp, Fn::sigmoid, Fn::tanh, Fn::erf, Fn::rsqrt, Fn::exp2}) {
      Tensor x;
      for (int k = 0; k < 3; ++k)  // whole vectors and a rest
        for (double v : values) x.push_back(testing::round_to(v, t));
      Group g;
      g.output(g.pointwise(f, {g.input(t, {static_cast<int64_t>(x.size())})}, t));
      Tensor y = testing::run_compiled(g, *compile(g), {}, {x})[0];
      for (size_t i = 0; i < x.size(); ++i) {
        if (f == Fn::rsqrt && x[i] < 0) {
          EXPECT_TRUE(std::isnan(y[i])) << x[i];
          continue;
        }
        const double want = testing::round_to(static_cast<double>(exact(f, x[i])), t);
        if (std::isnan(want) || std::isinf(want) || want == 0 || std::fabs(want) == 1)
          EXPECT_TRUE(y[i] == want || (std::isnan(want) && std::isnan(y[i])))
              << scalar::info(f).name << " of " << x[i] << " as " << name_of(t) << " is " << y[i] << ", expected "
              << want;
        else
          EXPECT_NEAR(y[i] / want, 1, t == DType::kBFloat16 ? 8e-3 : 1e-6) << scalar::info(f).name << " of " << x[i];
      }
    }
}

TEST(Functions, QuotientsByRoots) {
  const double inf = INFINITY;
  Tensor a, b;
  for (double x : {0.0, 1.0, -2.5, inf, static_cast<double>(NAN), 1e-30, 1e30})
    for (double y : {0.0, 1.0, 2.0, 1e-40, 1e-20, 1e38, inf, -1.0, static_cast<double>(NAN)})
      a.push_back(static_cast<float>(x)), b.push_back(static_cast<float>(y));
  Group g;
  const Index n = static_cast<int64_t>(a.size());
  int root = g.pointwise(Fn::sqrt, {g.input(DType::kFloat32, {n})}, DType::kFloat32);
  g.output(g.pointwise(Fn::div, {g.input(DType::kFloat32, {n}), root}, DType::kFloat32));
  Tensor y = testing::run_compiled(g, *compile(g), {}, {b, a})[0];
  for (size_t i = 0; i < a.size(); ++i) {
    const double want = testing::round_to(a[i] / std::sqrt(b[i]), DType::kFloat32);
    EXPECT_LE(ulps(y[i], want, DType::kFloat32), 3) << a[i] << " / sqrt(" << b[i] << ") is " << y[i];
  }
}

TEST(Functions, PowerOfSpecialValues) {
  const double inf = INFINITY;
  const Tensor values = {0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, inf, -inf, NAN, 1e30, 1e-30};
  Tensor a, b;
  for (double x : values)
    for (double y : values) a.push_back(static_cast<float>(x)), b.push_back(static_cast<float>(y));
  for (DType t : {DType::kFloat32, DType::kFloat64}) {
    Group g;
    const Index n = static_cast<int64_t>(a.size());
    g.output(g.pointwise(Fn::pow, {g.input(t, {n}), g.input(t, {n})}, t));
    Tensor y = testing::run_compiled(g, *compile(g), {}, {a, b})[0];
    for (size_t i = 0; i < a.size(); ++i) {
      double want = testing::round_to(std::pow(a[i], b[i]), t);
      EXPECT_LE(ulps(y[i], want, t), 2) << a[i] << " ** " << b[i] << " is " << y[i] << ", expected " << want;
      EXPECT_EQ(std::signbit(y[i]), std::signbit(want) || std::isnan(want) ? std::signbit(y[i]) : false)
          << a[i] << " ** " << b[i];
    }
  }
}

TEST(Functions, PowerOfRandomNumbers) {
  constexpr int64_t n = 20001;
  Group g;
  g.output(g.pointwise(Fn::pow, {g.input(DType::kFloat32, {n}), g.input(DType::kFloat32, {n})}, DType::kFloat32));
  Tensor a = testing::random_tensor(n, DType::kFloat32, 1, 0, 30),
         b = testing::random_tensor(n, DType::kFloat32, 2, -20, 20);
  Tensor y = testing::run_compiled(g, *compile(g), {}, {a, b})[0];
  for (int64_t i = 0; i < n; ++i)
    ASSERT_LE(ulps(y[i], std::pow(static_cast<long double>(a[i]), b[i]), DType::kFloat32), 1) << a[i] << " ** " << b[i];
}

}  // namespace
}  // namespace paddle::cinn
