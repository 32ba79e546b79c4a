// What is rounded to bfloat16 in the end needs no more digits on the way; what is seen as float32 does.
#include <gtest/gtest.h>

#include "cinn/compute/digits.h"
#include "reference.h"

namespace paddle::cinn {
namespace {

using scalar::Fn;
using testing::Tensor;

constexpr DType f32 = DType::kFloat32, bf16 = DType::kBFloat16;

struct Softmax {
  Group group;
  int exponential = -1;
};

// In float32, of elements of type `in`.
Softmax softmax(DType in, DType out, int64_t rows, int64_t n) {
  Softmax s;
  Group& g = s.group;
  const int x = g.cast(g.input(in, {rows, n}), f32);
  const int below = g.pointwise(Fn::sub, {x, g.reduce(ReduceKind::kMax, x, {1}, true, f32)}, f32);
  s.exponential = g.pointwise(Fn::exp, {below}, f32);
  const int sum = g.reduce(ReduceKind::kSum, s.exponential, {1}, true, f32);
  const int y = g.pointwise(Fn::div, {s.exponential, sum}, f32);
  g.output(out == f32 ? y : g.cast(y, out));
  return s;
}

TEST(Digits, ExponentialsOfASoftmaxCountAsItsResult) {
  const Softmax narrow = softmax(bf16, bf16, 4, 64), wide = softmax(bf16, f32, 4, 64),
                half = softmax(DType::kFloat16, DType::kFloat16, 4, 64);
  EXPECT_TRUE(count_as_bfloat(narrow.group)[static_cast<size_t>(narrow.exponential)]);
  EXPECT_FALSE(count_as_bfloat(wide.group)[static_cast<size_t>(wide.exponential)]);
  EXPECT_FALSE(count_as_bfloat(half.group)[static_cast<size_t>(half.exponential)]);  // which has more digits
}

// Products of two bfloat16 are often ties. Those with a coarse factor may round either way, by half a unit at most.
TEST(Digits, TiesOfExactProductsGoToEven) {
  for (bool coarse : {false, true}) {
    Group g;
    const int a = g.cast(g.input(bf16, {64, 64}), f32), b = g.cast(g.input(bf16, {64, 64}), f32);
    int product = g.pointwise(Fn::mul, {a, b}, f32);
    if (coarse)
      product = g.pointwise(Fn::mul, {product, g.pointwise(Fn::exp, {g.cast(g.input(bf16, {64, 64}), f32)}, f32)}, f32);
    g.output(g.cast(product, bf16));
    Tensor x, y;
    for (int i = 0; i < 64 * 64; ++i) x.push_back(129 + i % 64), y.push_back(129 + i / 64);
    std::vector<Tensor> inputs = {x, y};
    if (coarse) inputs.push_back(Tensor(64 * 64, 0.0));
    const Tensor got = testing::run_compiled(g, *compile(g), {}, inputs)[0];
    int ties = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      const double want = x[i] * y[i], unit = want < 32768 ? 128 : 256;
      ties += std::fmod(want, unit) == unit / 2;
      if (coarse)
        ASSERT_LE(std::fabs(got[i] - want), unit / 2) << x[i] << " * " << y[i];
      else
        ASSERT_EQ(got[i], testing::round_to(want, bf16)) << x[i] << " * " << y[i];
    }
    EXPECT_GT(ties, 20);
  }
}

TEST(Digits, NotWhereTheyCancelOrAreSeen) {
  Group g;
  const int x = g.input(f32, {64});
  const int added = g.pointwise(Fn::erf, {x}, f32), signs = g.pointwise(Fn::tanh, {x}, f32),
            seen = g.pointwise(Fn::exp, {x}, f32), product = g.pointwise(Fn::sigmoid, {x}, f32),
            power = g.pointwise(Fn::exp2, {x}, f32);
  g.output(g.cast(g.pointwise(Fn::add, {added, g.constant(f32, 1)}, f32), bf16));
  g.output(g.cast(g.reduce(ReduceKind::kSum, signs, {0}, false, f32), bf16));
  g.output(g.cast(seen, bf16));
  g.output(seen);
  g.output(g.cast(g.pointwise(Fn::mul, {product, x}, f32), bf16));
  int many = power;  // an error for each factor
  for (int k = 0; k < 3; ++k) many = g.pointwise(Fn::mul, {many, many}, f32);
  g.output(g.cast(many, bf16));
  const std::vector<bool> counts = count_as_bfloat(g);
  const auto does = [&](int node) { return static_cast<bool>(counts[static_cast<size_t>(node)]); };
  EXPECT_FALSE(does(added));
  EXPECT_FALSE(does(signs));
  EXPECT_FALSE(does(seen));
  EXPECT_TRUE(does(product));
  EXPECT_FALSE(does(power));
}

// To the nearest bfloat16 or its neighbour; the conversion before the store is the store's own.
TEST(Digits, SoftmaxOfBfloatsInFloat) {
  constexpr int64_t kRows = 3, kColumns = 96;
  const Softmax s = softmax(bf16, bf16, kRows, kColumns);
  EXPECT_EQ(lower(s.group, Target{}).str().find("= float32(v"), std::string::npos);
  Tensor x = testing::random_tensor(kRows * kColumns, bf16, 7);
  for (size_t i = 0; i < x.size(); i += 5) x[i] = -INFINITY;
  const Tensor y = testing::run_compiled(s.group, *compile(s.group), {}, {x}).at(0);
  for (int64_t r = 0; r < kRows; ++r) {
    const auto at = [&](int64_t c) { return static_cast<size_t>(r * kColumns + c); };
    double largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < kColumns; ++c) largest = std::max(largest, x[at(c)]);
    for (int64_t c = 0; c < kColumns; ++c) sum += std::exp(x[at(c)] - largest);
    for (int64_t c = 0; c < kColumns; ++c) {
      const double want = std::exp(x[at(c)] - largest) / sum;
      EXPECT_NEAR(y[at(c)], want, want * 0x1p-8 * 1.25);
    }
  }
}

}  // namespace
}  // namespace paddle::cinn
