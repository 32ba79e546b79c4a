#include "tensor/dim.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"

namespace paddle {
namespace {

TEST(Dim, ExpressionsAreCanonical) {
  Dim a = new_symbol(6, "a"), b = new_symbol(4, "b");
  EXPECT_EQ(a + b, b + a);
  EXPECT_EQ((a + Dim(1)) * (a - Dim(1)), a * a - Dim(1));
  EXPECT_EQ(a * b - b * a, Dim(0));
  EXPECT_EQ((a + b) * Dim(2) - a, a + b * Dim(2));
  EXPECT_NE(a + Dim(1), a);
  EXPECT_EQ((a * Dim(3) * b - Dim(4)).hint(), 68);
}

// Numbers from bad input stay numbers: none turns into an expression, sums stop at the ends, products say that they
// don't fit.
TEST(Dim, NumbersFarOut) {
  const Dim most(INT64_MAX), least(INT64_MIN);
  EXPECT_TRUE(least.is_const());
  EXPECT_EQ(least, Dim(Dim::kSymbolic));
  EXPECT_EQ(Dim(SIZE_MAX), most);
  EXPECT_EQ(most + Dim(1), most);
  EXPECT_EQ(most - Dim(-3), most);
  EXPECT_EQ(most - most, Dim(0));
  EXPECT_EQ(least + least, least);
  EXPECT_EQ(least - most, least);
  EXPECT_EQ(-least, Dim(int64_t{1} << 62));
  EXPECT_EQ(most * Dim(-1), least);
  EXPECT_THROW(Dim(int64_t{1} << 40) * Dim(int64_t{1} << 40), Error);
  EXPECT_THROW(most * Dim(2), Error);
  EXPECT_EQ(numel(Shape{0, int64_t{1} << 40, int64_t{1} << 40}), Dim(0));
  EXPECT_EQ(contiguous_strides(Shape{0, int64_t{1} << 40, int64_t{1} << 40})[2], 1);
}

TEST(Dim, DivisionIsExactWhereItCanBe) {
  Dim a = new_symbol(6, "a"), b = new_symbol(4, "b");
  EXPECT_EQ(floor_div(a * b * Dim(12), b * Dim(4)), a * Dim(3));
  EXPECT_EQ(floor_div(a * b + b, a + Dim(1)), b);
  EXPECT_EQ(floor_div(a * Dim(4) + Dim(3), Dim(4)), a);
  EXPECT_EQ(floor_div(a * Dim(4) - Dim(1), Dim(4)), a - Dim(1));  // floor(-1/4) = -1
  EXPECT_EQ(floor_div(floor_div(a, Dim(2)), Dim(3)), floor_div(a, Dim(6)));
  EXPECT_EQ(floor_div(a * Dim(4), Dim(6)), floor_div(a * Dim(2), Dim(3)));
  EXPECT_EQ(mod(a * Dim(6) + Dim(7), Dim(3)), Dim(1));
  EXPECT_EQ(mod(mod(a, Dim(4)), Dim(8)), mod(a, Dim(4)));
  EXPECT_EQ(floor_div(Dim(-7), Dim(2)), Dim(-4));
  EXPECT_EQ(mod(Dim(-7), Dim(2)), Dim(1));
  EXPECT_THROW(floor_div(a, Dim(0)), Error);
}

TEST(Dim, BoundsDecideWithoutGuards) {
  Dim a = new_symbol(6, "a");
  std::vector<DimGuard> guards;
  DimGuardSink sink(&guards);
  EXPECT_FALSE(equal(a, Dim(1)));  // a symbol is at least 2
  EXPECT_TRUE(less(Dim(0), a * a - Dim(1)));
  EXPECT_EQ(max(a, Dim(1)), a);
  EXPECT_EQ(min(a + Dim(1), a), a);
  EXPECT_TRUE(guards.empty());
  EXPECT_FALSE(equal(a, Dim(7)));
  EXPECT_TRUE(less(a, Dim(8)));
  EXPECT_FALSE(less(a, Dim(3)));
  ASSERT_EQ(guards.size(), 3u);
  EXPECT_EQ(guards[0].str(), a.str() + " != 7");
  EXPECT_EQ(guards[2].str(), "3 <= " + a.str());
  EXPECT_EQ(guard_int(a), 6);
  EXPECT_EQ(guards.back().str(), a.str() + " == 6");
}

TEST(Dim, QuestionsOutsideOfTracingAreBugs) {
  Dim a = new_symbol(6);
  EXPECT_THROW(less(a, Dim(5)), InternalError);
  EXPECT_THROW(a.value(), InternalError);
}

// Random expressions: simplification never changes the value, and text reads back to the same word.
TEST(Dim, RandomExpressionsKeepTheirValue) {
  std::mt19937 rng(7);
  std::vector<Dim> symbols = {new_symbol(0), new_symbol(0), new_symbol(0)};
  for (int round = 0; round < 2000; ++round) {
    std::vector<int64_t> values = {2 + int64_t(rng() % 9), 2 + int64_t(rng() % 9), 2 + int64_t(rng() % 9)};
    auto bind = [&](int64_t id) {
      for (int i = 0; i < 3; ++i)
        if (node_of(symbols[i]).value == id) return values[i];
      return int64_t{0};
    };
    std::vector<std::pair<Dim, int64_t>> pool;
    for (int i = 0; i < 3; ++i) pool.push_back({symbols[i], values[i]});
    for (int64_t c : {-3, 2, 5}) pool.push_back({Dim(c), c});
    auto floor_of = [](int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); };
    for (int step = 0; step < 6; ++step) {
      auto [a, x] = pool[rng() % pool.size()];
      auto [b, y] = pool[rng() % pool.size()];
      switch (rng() % 6) {
        case 0:
          pool.push_back({a + b, x + y});
          break;
        case 1:
          pool.push_back({a - b, x - y});
          break;
        case 2:
          if (std::abs(x * y) < 100000) pool.push_back({a * b, x * y});
          break;
        case 3:
          if (y > 0) pool.push_back({floor_div(a, b), floor_of(x, y)});
          break;
        case 4:
          if (y > 0 && b.is_const()) pool.push_back({mod(a, b), x - y * floor_of(x, y)});
          break;
        case 5:
          pool.push_back(rng() % 2 ? std::pair{min(a, b), std::min(x, y)} : std::pair{max(a, b), std::max(x, y)});
      }
    }
    auto [d, v] = pool.back();
    ASSERT_EQ(evaluate(d, bind), v) << d.str();
    ASSERT_EQ(parse_dim(d.str()), d) << d.str();
    ASSERT_EQ(substitute(d, [](Dim s) { return s; }), d) << d.str();
    Dim at = substitute(d, [&](Dim s) { return Dim(bind(node_of(s).value)); });
    ASSERT_EQ(at, Dim(v)) << d.str();
  }
}

TEST(Dim, BadTextIsAnError) {
  for (const char* text : {"", "S0 +", "floordiv(S0)", "foo(S0, 2)", "9999999999999999999", "((S0)", "S0 2",
                           "2*4611686018427387904*2", "mod(S0, 0)", "@"})
    EXPECT_THROW(parse_dim(text), Error) << text;
  EXPECT_THROW(parse_dim(std::string(100000, '(')), Error);
}

TEST(Dim, Shapes) {
  Dim a = new_symbol(0, "rows");
  Shape s{a, 3, 4};
  EXPECT_EQ(to_string(view(s)), "[" + a.str() + ", 3, 4]");
  EXPECT_EQ(numel(view(s)), a * Dim(12));
  EXPECT_FALSE(is_static(view(s)));
  Shape zero{0, int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_EQ(numel(view(zero)), Dim(0));
  Shape many{int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_THROW(numel(view(many)), Error);
  Shape c{2, 3, 4};
  EXPECT_EQ(contiguous_strides(view(c)), (Strides{12, 4, 1}));
}

}  // namespace
}  // namespace paddle
