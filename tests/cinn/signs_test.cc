// Exponentials whose operand is known not to be positive: what is known, and what the shorter code makes of it.
#include <gtest/gtest.h>

#include "reference.h"

namespace paddle::cinn {
namespace {

using scalar::Fn;
using testing::Tensor;

constexpr DType f32 = DType::kFloat32;

// Whether every exponential of the group was found to be of an operand that is not positive.
bool known(const Group& g) {
  int all = 0, found = 0;
  const auto compiled = compile(g);
  for (const Value& v : compiled->module().values)
    if (v.op == ValueOp::kFn && (v.fn == Fn::exp || v.fn == Fn::exp2)) ++all, found += (v.integer & kNotPositive) != 0;
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

TEST(Signs, OperandsThatAreNotPositive) {
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

TEST(Signs, OperandsThatMayBePositive) {
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

// Down to the smallest denormal and below, by whole vectors and the rest.
TEST(Signs, ExponentialsWithinThreeUlp) {
  for (DType t : {f32, DType::kFloat64})
    for (Fn f : {Fn::exp, Fn::exp2}) {
      constexpr int64_t n = 60005;
      Group g;
      const int x = g.pointwise(Fn::min, {g.input(t, {n}), g.constant(t, 0)}, t);
      g.output(g.pointwise(f, {x}, t));
      ASSERT_TRUE(known(g));
      Tensor in = testing::random_tensor(n, t, 3, t == f32 ? -160 : -1100, 0);
      const Tensor near = testing::random_tensor(n / 2, t, 4, -1, 0);
      std::copy(near.begin(), near.end(), in.begin());
      const Tensor y = testing::run_compiled(g, *compile(g), {}, {in})[0];
      for (int64_t i = 0; i < n; ++i) {
        const long double want =
            f == Fn::exp ? std::exp(static_cast<long double>(in[i])) : std::exp2(static_cast<long double>(in[i]));
        ASSERT_LE(ulps(y[i], static_cast<double>(want), t), 3) << scalar::info(f).name << " of " << in[i];
      }
    }
}

TEST(Signs, SpecialValues) {
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

// The product that the largest element comes from is rounded, so what is subtracted from it has to be too: of numbers
// of 1e30, the rest of one rounding is beyond every exponential.
TEST(Signs, LargeProductsBelowTheirMaximum) {
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
