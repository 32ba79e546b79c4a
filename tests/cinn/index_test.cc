#include "cinn/compute/index.h"

#include <gtest/gtest.h>

namespace paddle::cinn {
namespace {

TEST(Index, PolynomialsAreCanonical) {
  IndexPool pool;
  Index s = pool.symbol(0), i = pool.var(s), j = pool.var(4);
  EXPECT_EQ((i + 1) * (j + 2), i * j + 2 * i + j + 2);
  EXPECT_EQ(i - i, Index(0));
  EXPECT_EQ((i * s + j).coefficient(i.terms()[0].first[0]), s);
}

TEST(Index, DivisionTakesApartWhatBoundsAllow) {
  IndexPool pool;
  Index s = pool.symbol(0), i = pool.var(7), j = pool.var(s), k = pool.var(4);
  EXPECT_EQ(pool.div(i * s + j, s), i);
  EXPECT_EQ(pool.mod(i * s + j, s), j);
  EXPECT_EQ(pool.div(8 * i + 2 * k + 1, 2), 4 * i + k);
  EXPECT_EQ(pool.mod(8 * i + 2 * k + 1, 2), Index(1));
  EXPECT_EQ(pool.div(pool.div(j, 3), 5), pool.div(j, 15));
  EXPECT_FALSE(pool.div(i + j, s) == Index(0));  // not known to be below s
  EXPECT_EQ(pool.min(k, 4), k);
  EXPECT_EQ(pool.max(k - 4, 0), Index(0));
}

TEST(Index, RemaindersJoinTheirQuotients) {
  IndexPool pool;
  Index s = pool.symbol(0), t = pool.symbol(1), i = pool.var(1 << 20), k = pool.var(8);
  const auto apart = [&](const Index& n, const Index& m) {  // as the indices of three dimensions, the inner two n and m
    const Index rest = pool.div(i, m);
    return 8 * m * n * pool.div(rest, n) + 8 * m * pool.mod(rest, n) + 8 * pool.mod(i, m) + k;
  };
  EXPECT_EQ(pool.joined(apart(12, 512)), 8 * i + k);
  EXPECT_EQ(pool.joined(apart(s, t)), 8 * i + k);
  const Index other = 7 * pool.div(i, 12) + pool.mod(i, 12), alone = 3 * pool.mod(i, s) + pool.div(k, 3);
  EXPECT_EQ(pool.joined(other), other);
  EXPECT_EQ(pool.joined(alone), alone);
}

TEST(Index, Evaluates) {
  IndexPool pool;
  Index s = pool.symbol(0), t = pool.symbol(1);
  const int64_t sizes[] = {10, 3};
  EXPECT_EQ(pool.evaluate(pool.ceil_div(s, t) * 2 + pool.mod(s, t) + pool.min(s, t), sizes), 4 * 2 + 1 + 3);
}

}  // namespace
}  // namespace paddle::cinn
