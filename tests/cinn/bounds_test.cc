// Exponentials of operands whose bounds are known: what is known, and what the shorter code makes of it.
#include <gtest/gtest.h>

#include <bit>

#include "reference.h"

namespace paddle::cinn {
namespace {

using scalar::Fn;
using testing::Tensor;

constexpr DType f32 = DType::kFloat32;

// Whether that was found of every exponential of the group.
bool known(const Group& g, FnTraits trait = kNotPositive) {
  int all = 0, found = 0;
  const auto compiled = compile(g);
  for (const Value& v : compiled->module().values)
    if (v.op == ValueOp::kFn && (v.fn == Fn::exp || v.fn == Fn::exp2)) ++all, found += (v.integer & trait) != 0;
  EXPECT_GT(all, 0);
  return found == all;
}

int below_maximum(Group& g, int x, int axis, ReduceKind kind = ReduceKind::kMax) {
  return g.pointwise(Fn::sub, {x, g.reduce(kind, x, {axis}, true, g.nodes[x].dtype)}, g.nodes[x].dtype);
}

Group exponential(const std::function<int(Group&, int)>& operand, DType t = f32) {
  Group g;
  g.output(g.pointwise(Fn::exp, {operand(g, g.input(t, {40, 40}))}, t));
  return g;
}

TEST(Bounds, OperandsThatAreNotPositive) {
  const std::vector<std::function<int(Group&, int)>> operands = {
      [](Group& g, int x) { return below_maximum(g, x, 1); },
      [](Group& g, int x) { return below_maximum(g, x, 0); },
      [](Group& g, int x) { return g.pointwise(Fn::neg, {g.pointwise(Fn::abs, {x}, f32)}, f32); },
      [](Group& g, int x) {
        return g.pointwise(Fn::mul, {g.pointwise(Fn::square, {x}, f32), g.constant(f32, -0.5)}, f32);
      },
      [](Group& g, int x) {
        return g.pointwise(Fn::min, {x, g.constant(f32, 0)}, f32);
      },
      [](Group& g, int x) {
        return below_maximum(g, g.pointwise(Fn::mul, {x, g.constant(f32, 0.125)}, f32), 1);
      }};
  for (size_t i = 0; i < operands.size(); ++i) {
    const Group g = exponential(operands[i]);
    EXPECT_TRUE(known(g)) << g.str();
    testing::check_group(g);
  }
  for (DType t : {DType::kBFloat16, DType::kFloat16, DType::kFloat64})
    EXPECT_TRUE(known(exponential([](Group& g, int x) { return below_maximum(g, x, 1); }, t))) << name_of(t);
  const Group cut = exponential([](Group& g, int) { return below_maximum(g, g.input(f32, {1, 400000}), 1); });
  EXPECT_TRUE(known(cut));  // its maximum is one of several threads' maxima
}

TEST(Bounds, OperandsThatAreSmall) {
  const auto scaled = [](Group& g, int x, double by) { return g.pointwise(Fn::mul, {x, g.constant(f32, by)}, f32); };
  const auto tanh = [](Group& g, int x) { return g.pointwise(Fn::tanh, {x}, f32); };
  const auto sum = [](Group& g, int a, int b) { return g.pointwise(Fn::add, {a, b}, f32); };
  const auto clip = [](Group& g, int x, double low, double high) {
    return g.pointwise(Fn::min, {g.pointwise(Fn::max, {x, g.constant(f32, low)}, f32), g.constant(f32, high)}, f32);
  };
  const std::vector<std::function<int(Group&, int)>> small = {
      [&](Group& g, int x) { return scaled(g, tanh(g, x), 0.5); },
      [&](Group& g, int x) { return scaled(g, tanh(g, x), -70); },
      [&](Group& g, int x) { return sum(g, scaled(g, tanh(g, x), 40), g.pointwise(Fn::sigmoid, {x}, f32)); },
      [&](Group& g, int x) { return clip(g, scaled(g, x, 100), -79, 79); },
      [&](Group& g, int x) { return g.pointwise(Fn::abs, {clip(g, scaled(g, x, 100), -79, 79)}, f32); },
      [&](Group& g, int x) {
        return g.pointwise(Fn::where,
                           {g.pointwise(Fn::gt, {x, tanh(g, x)}, DType::kBool), g.constant(f32, 3), tanh(g, x)}, f32);
      }};
  const std::vector<std::function<int(Group&, int)>> large = {
      [&](Group& g, int x) { return scaled(g, tanh(g, x), 81); },
      [&](Group& g, int x) { return sum(g, tanh(g, x), x); },
      [&](Group& g, int x) { return scaled(g, clip(g, scaled(g, x, 1e30), -1e38, 1e38), 1e-37); },
      [&](Group& g, int x) { return clip(g, x, -90, 3); },
      [&](Group& g, int x) {
        return g.pointwise(Fn::div, {tanh(g, x), g.pointwise(Fn::abs, {x}, f32)}, f32);
      }};
  for (const auto& operand : small) EXPECT_TRUE(known(exponential(operand), kOrdinary)) << exponential(operand).str();
  for (const auto& operand : large) EXPECT_FALSE(known(exponential(operand), kOrdinary)) << exponential(operand).str();
}

TEST(Bounds, OperandsThatMayBePositive) {
  const std::vector<std::function<int(Group&, int)>> operands = {
      [](Group&, int x) { return x; }, [](Group& g, int x) { return below_maximum(g, x, 1, ReduceKind::kMin); },
      // The maximum of row j below column j.
      [](Group& g, int x) {
        return g.pointwise(Fn::sub, {x, g.reduce(ReduceKind::kMax, x, {1}, false, f32)}, f32);
      },
      // Of other numbers.
      [](Group& g, int x) {
        return g.pointwise(Fn::sub, {x, g.reduce(ReduceKind::kMax, g.input(f32, {40, 40}), {1}, true, f32)}, f32);
      },
      [](Group& g, int x) {
        return g.pointwise(Fn::sub, {g.reduce(ReduceKind::kMax, x, {1}, true, f32), x}, f32);
      },
      // May be rounded in one way below the maximum, and in another where the maximum is taken.
      [](Group& g, int x) {
        const int product = g.pointwise(Fn::mul, {x, g.input(f32, {40, 40})}, f32);
        return below_maximum(g, g.pointwise(Fn::add, {product, g.input(f32, {40, 40})}, f32), 1);
      }};
  for (const auto& operand : operands) {
    const Group g = exponential(operand);
    EXPECT_FALSE(known(g)) << g.str();
    testing::check_group(g);
  }
}

double ulps(double got, double want, DType t) {
  if (got == want) return 0;
  const int digits = t == f32 ? 24 : 53, lowest = t == f32 ? -149 : -1074;
  int e;
  std::frexp(want, &e);
  return std::fabs(got - want) / std::ldexp(1.0, std::max(e - digits, lowest));
}

void expect_exact(Fn f, DType t, double low, double high, FnTraits trait) {
  constexpr int64_t n = 60005;
  Group g;
  const int above = g.pointwise(Fn::max, {g.input(t, {n}), g.constant(t, low)}, t);
  g.output(g.pointwise(f, {g.pointwise(Fn::min, {above, g.constant(t, high)}, t)}, t));
  ASSERT_TRUE(known(g, trait));
  Tensor in = testing::random_tensor(n, t, 3, low, high);
  const Tensor near = testing::random_tensor(n / 2, t, 4, -1, std::min(high, 1.0));
  std::copy(near.begin(), near.end(), in.begin());
  const Tensor y = testing::run_compiled(g, *compile(g), {}, {in})[0];
  for (int64_t i = 0; i < n; ++i) {
    const long double x = in[i], want = f == Fn::exp ? std::exp(x) : std::exp2(x);
    ASSERT_LE(ulps(y[i], static_cast<double>(want), t), 3) << scalar::info(f).name << " of " << in[i];
  }
}

// Down to the smallest denormal and below, by whole vectors and the rest.
TEST(Bounds, ExponentialsWithinThreeUlp) {
  for (Fn f : {Fn::exp, Fn::exp2}) {
    expect_exact(f, f32, -160, 0, kNotPositive);
    expect_exact(f, f32, -79, 79, kOrdinary);
    expect_exact(f, DType::kFloat64, -1100, 0, kNotPositive);
    expect_exact(f, DType::kFloat64, -690, 690, kOrdinary);
  }
}

// Where the result counts as a 16-bit float, of which float16 has the more digits: rounding is 0.5 of the 0.71.
TEST(Bounds, CoarseExponentials) {
  for (DType half : {DType::kFloat16, DType::kBFloat16})
    for (Fn f : {Fn::exp, Fn::exp2})
      for (int high : {0, 9}) {
        Tensor x;  // with digits for either type
        for (int k = -9 * 128; k <= high * 128; k += 5)
          x.push_back(std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(k) / 128) & 0xffff0000));
        const auto n = static_cast<int64_t>(x.size());
        Group g;
        const int above = g.pointwise(Fn::max, {g.input(half, {n}), g.constant(half, -9)}, half);
        g.output(g.pointwise(f, {g.pointwise(Fn::min, {above, g.constant(half, high)}, half)}, half));
        ASSERT_TRUE(known(g, kOrdinary));
        const Tensor y = testing::run_compiled(g, *compile(g), {}, {x})[0];
        const int digits = half == DType::kFloat16 ? 11 : 8;
        for (int64_t i = 0; i < n; ++i) {
          const double want = f == Fn::exp ? std::exp(x[i]) : std::exp2(x[i]);
          const double unit = std::ldexp(1.0, std::max(std::ilogb(want) + 1 - digits, -24));
          ASSERT_LE(std::fabs(y[i] - want), 0.71 * unit) << scalar::info(f).name << " of " << x[i];
        }
      }
}

int count_of(const Group& g, Fn f) {
  const auto compiled = compile(g);
  int n = 0;
  for (const Value& v : compiled->module().values) n += v.op == ValueOp::kFn && v.fn == f;
  return n;
}

// x / sum(exp(x - m)) over the rows; m: the maximum over the axes `most`, or of other numbers.
Group by_sum_of_exponentials(const std::vector<int>& most, bool others = false) {
  Group g;
  const int x = g.input(f32, {40, 40});
  const int m = g.reduce(ReduceKind::kMax, others ? g.input(f32, {40, 40}) : x, most, true, f32);
  const int e = g.pointwise(Fn::exp, {g.pointwise(Fn::sub, {x, m}, f32)}, f32);
  g.output(g.pointwise(Fn::div, {x, g.reduce(ReduceKind::kSum, e, {1}, true, f32)}, f32));
  return g;
}

// A sum of exponentials that has a 1 in it is of ordinary size: its reciprocal needs no scale, which is made of its
// absolute value.
TEST(Bounds, SumsThatAreAtLeastOne) {
  const Group own = by_sum_of_exponentials({1});
  EXPECT_EQ(count_of(own, Fn::abs), 0);
  testing::check_group(own);
  for (const Group& g : {by_sum_of_exponentials({0, 1}), by_sum_of_exponentials({1}, true)}) {
    EXPECT_GT(count_of(g, Fn::abs), 0) << g.str();
    testing::check_group(g);
  }
  const double inf = INFINITY;
  for (const Tensor& row : {Tensor{-inf, -inf, -inf}, {1, inf, 2}, {1, NAN, 2}, {-inf, 3e38, -3e38}}) {
    Tensor x(1600, -1.0);
    std::copy(row.begin(), row.end(), x.begin() + 80);
    testing::check_group(own, *compile(own), {}, {x});
  }
}

TEST(Bounds, SpecialValues) {
  const double inf = INFINITY;
  const Tensor values = {0.0, -0.0, -inf, NAN, -NAN, -1e4, -1e9, -3e38, -88, -87.5, -103.5, -104, -1e-30, -1e-45, inf};
  for (DType t : {f32, DType::kBFloat16, DType::kFloat64})
    for (Fn f : {Fn::exp, Fn::exp2}) {
      Tensor x;
      for (int k = 0; k < 3; ++k)
        for (double v : values) x.push_back(testing::round_to(v, t));
      Group g;
      const int in = g.pointwise(Fn::min, {g.input(t, {static_cast<int64_t>(x.size())}), g.constant(t, 0)}, t);
      g.output(g.pointwise(f, {in}, t));
      ASSERT_TRUE(known(g));
      const Tensor y = testing::run_compiled(g, *compile(g), {}, {x})[0];
      for (size_t i = 0; i < x.size(); ++i) {
        const double low = std::isnan(x[i]) ? x[i] : std::min(x[i], 0.0);
        const double want = f == Fn::exp ? std::exp(low) : std::exp2(low);
        if (std::isnan(want))
          EXPECT_TRUE(std::isnan(y[i])) << x[i];
        else
          EXPECT_NEAR(y[i], want, t == DType::kBFloat16 ? 4e-3 * want + 0x1p-126 : 1e-6 * want + 2e-45) << x[i];
      }
    }
}

TEST(Bounds, NanOfASmallOperand) {
  for (DType t : {f32, DType::kBFloat16, DType::kFloat64}) {
    Group g;
    const int x = g.pointwise(Fn::min, {g.input(t, {11}), g.constant(t, 5)}, t);
    g.output(g.pointwise(Fn::exp, {g.pointwise(Fn::max, {x, g.constant(t, -5)}, t)}, t));
    ASSERT_TRUE(known(g, kOrdinary));
    const Tensor y = testing::run_compiled(g, *compile(g), {}, {Tensor{NAN, 1, -NAN, 2, 3, 4, 5, 6, 7, NAN, -100}})[0];
    for (size_t i : {0, 2, 9}) EXPECT_TRUE(std::isnan(y[i])) << name_of(t);
    EXPECT_NEAR(y[8], std::exp(5), 0.6);
    EXPECT_NEAR(y[10], std::exp(-5), 3e-5);
  }
}

// The product that the largest element comes from is rounded, so what is subtracted from it has to be too: of numbers
// of 1e30, the rest of one rounding is beyond every exponential.
TEST(Bounds, LargeProductsBelowTheirMaximum) {
  constexpr int64_t rows = 8, n = 67;
  Group g;
  const int x = g.input(f32, {rows, n});
  const int e =
      g.pointwise(Fn::exp, {below_maximum(g, g.pointwise(Fn::mul, {x, g.input(f32, {rows, n})}, f32), 1)}, f32);
  g.output(e);
  Tensor a = testing::random_tensor(rows * n, f32, 1, 1e15, 2e15),
         b = testing::random_tensor(rows * n, f32, 2, 1e15, 2e15);
  const Tensor y = testing::run_compiled(g, *compile(g), {}, {a, b})[0];
  for (int64_t r = 0; r < rows; ++r) {
    double most = 0;
    for (int64_t i = 0; i < n; ++i) most = std::max(most, testing::round_to(a[r * n + i] * b[r * n + i], f32));
    for (int64_t i = 0; i < n; ++i)
      EXPECT_EQ(y[r * n + i], testing::round_to(a[r * n + i] * b[r * n + i], f32) == most ? 1 : 0) << r << ", " << i;
  }
}

}  // namespace
}  // namespace paddle::cinn
