#include "executor/plan.h"

#include <gtest/gtest.h>

#include <random>

namespace paddle::executor {
namespace {

std::vector<Interval> random_intervals(std::mt19937& random, size_t n) {
  std::vector<Interval> out;
  for (size_t k = 0; k < n; ++k) {
    const uint32_t first = random() % 60, length = random() % 3 == 0 ? random() % 60 : random() % 4;
    out.push_back({random() % 9 == 0 ? 0 : random() % 5000, first, first + length});
  }
  return out;
}

TEST(Plan, ValuesThatLiveTogetherShareNoByte) {
  std::mt19937 random(1);
  double slack = 0;
  for (int round = 0; round < 300; ++round) {
    const std::vector<Interval> v = random_intervals(random, 1 + random() % 80);
    const Layout layout = assign_offsets(v);
    for (size_t a = 0; a < v.size(); ++a) {
      ASSERT_EQ(layout.offsets[a] % kArenaAlign, 0u);
      ASSERT_LE(layout.offsets[a] + v[a].bytes, layout.bytes + (v[a].bytes == 0 ? layout.offsets[a] : 0));
      for (size_t b = 0; b < a; ++b) {
        const bool together = v[a].first <= v[b].last && v[b].first <= v[a].last;
        const bool apart = layout.offsets[a] + v[a].bytes <= layout.offsets[b] ||
                           layout.offsets[b] + v[b].bytes <= layout.offsets[a] || !v[a].bytes || !v[b].bytes;
        ASSERT_TRUE(!together || apart) << "round " << round << ": " << a << " and " << b;
      }
    }
    ASSERT_GE(layout.bytes, lower_bound(v));
    slack += static_cast<double>(layout.bytes) / static_cast<double>(std::max<size_t>(1, lower_bound(v)));
  }
  EXPECT_LT(slack / 300, 1.1);  // near the bound that no layout can beat
}

TEST(Plan, AChainNeedsTwoBuffers) {
  std::vector<Interval> chain;
  for (uint32_t k = 0; k < 100; ++k) chain.push_back({1000, k, k + 1});
  EXPECT_EQ(assign_offsets(chain).bytes, 2 * 1024u);
}

TEST(Plan, BlocksThatAreLentHoldWhatFits) {
  std::mt19937 random(2);
  size_t lent_uses = 0;
  for (int round = 0; round < 300; ++round) {
    const std::vector<Interval> v = random_intervals(random, 1 + random() % 60);
    std::vector<Lent> blocks;
    for (unsigned k = random() % 6; k-- > 0;) blocks.push_back({random() % 6000, static_cast<uint32_t>(random() % 40)});
    const Layout layout = assign_offsets(v, blocks), alone = assign_offsets(v);
    ASSERT_LE(layout.bytes, alone.bytes * 5 / 4 + 64);
    for (size_t a = 0; a < v.size(); ++a) {
      if (!v[a].bytes) continue;
      if (layout.lent[a] >= 0) {
        const Lent& block = blocks[static_cast<size_t>(layout.lent[a])];
        ASSERT_GT(v[a].first, block.last);
        ASSERT_LE(layout.offsets[a] + v[a].bytes, block.bytes);
        ++lent_uses;
      }
      for (size_t b = 0; b < a; ++b) {
        const bool together = v[a].first <= v[b].last && v[b].first <= v[a].last && layout.lent[a] == layout.lent[b];
        const bool apart = layout.offsets[a] + v[a].bytes <= layout.offsets[b] ||
                           layout.offsets[b] + v[b].bytes <= layout.offsets[a] || !v[b].bytes;
        ASSERT_TRUE(!together || apart) << "round " << round << ": " << a << " and " << b;
      }
    }
  }
  EXPECT_GT(lent_uses, 1000u);
}

TEST(Plan, AChainMayLiveInWhatIsLent) {
  std::vector<Interval> chain;
  for (uint32_t k = 2; k < 100; ++k) chain.push_back({1000, k, k + 1});
  EXPECT_EQ(assign_offsets(chain, std::vector<Lent>{{1000, 1}, {1024, 0}}).bytes, 0u);
  EXPECT_EQ(assign_offsets(chain, std::vector<Lent>{{999, 0}, {1000, 0}}).bytes, 1024u);
}

TEST(Plan, Nothing) { EXPECT_EQ(assign_offsets({}).bytes, 0u); }

}  // namespace
}  // namespace paddle::executor
