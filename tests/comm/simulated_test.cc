#include <gtest/gtest.h>

#include <numeric>

#include "distributed/comm/simulated_group.h"

namespace paddle::comm {
namespace {

GroupInfo thousand() {
  GroupInfo info{"paper", 3, std::vector<int>(1000)};
  std::iota(info.ranks.begin(), info.ranks.end(), 0);
  return info;
}

TEST(Simulated, CountsWithoutBuffers) {
  SimulatedGroup group(thousand(), {1e-6, 1e9, 1e12});
  group.all_reduce(nullptr, nullptr, 1'000'000, DType::kFloat32, ReduceOp::kSum);
  SimulatedCost c = group.cost(CollectiveKind::kAllReduce);
  // Ring: 2 (n - 1) messages, 2 (n - 1) / n of the buffer.
  EXPECT_DOUBLE_EQ(c.bytes, 2 * 0.999 * 4e6);
  EXPECT_NEAR(c.seconds, 1998e-6 + 7.992e-3 + 3.996e-6, 1e-12);
  group.all_gather(nullptr, nullptr, 1000, DType::kBFloat16);
  EXPECT_DOUBLE_EQ(group.cost(CollectiveKind::kAllGather).bytes, 0.999 * 2e6);
  EXPECT_EQ(group.total().calls, 2);
}

TEST(Simulated, GivesWhatEqualRanksWouldGet) {
  SimulatedGroup group(thousand(), {});
  float x = 2, y = 0;
  group.all_reduce(&x, &y, 1, DType::kFloat32, ReduceOp::kSum);
  EXPECT_EQ(y, 2000);
  group.all_reduce(&x, &y, 1, DType::kFloat32, ReduceOp::kAvg);
  EXPECT_EQ(y, 2);
  std::vector<float> all(1000);
  group.all_gather(&x, all.data(), 1, DType::kFloat32);
  EXPECT_EQ(all, std::vector<float>(1000, 2));
}

}  // namespace
}  // namespace paddle::comm
