#include <numeric>
#include <thread>

#include "base/error.h"
#include "distributed/comm/factory.h"
#include "distributed/comm/gloo/gloo_group.h"
#include "ranks.h"

namespace paddle::comm::test {
namespace {

GroupInfo info_of(int rank, int n, Milliseconds timeout = Milliseconds(60000)) {
  GroupInfo info{"g", rank, std::vector<int>(n), timeout};
  std::iota(info.ranks.begin(), info.ranks.end(), 0);
  return info;
}

class GlooSizes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, GlooSizes, testing::Values(2, 3, 4));

TEST_P(GlooSizes, Processes) {
  expect_all_well(fork_ranks(GetParam(), [&](int rank, const auto& store) {
    register_gloo();
    auto group = create_group("gloo", store, info_of(rank, GetParam()));
    return (GetParam() == 2 ? check_all(*group) : check_some(*group)) + check_asynchronous(*group);
  }));
}

TEST(Gloo, LargeReduceScatterThenAllGather) {
  expect_all_well(fork_ranks(2, [&](int rank, const auto& store) -> std::string {
    auto group = GlooGroup::create(store, info_of(rank, 2));
    constexpr int64_t kHalf = 1 << 20;
    std::vector<float> x(2 * kHalf, static_cast<float>(rank + 1)), part(kHalf);
    for (int turn = 0; turn < 3; ++turn) {
      group->reduce_scatter(x.data(), part.data(), kHalf, DType::kFloat32, ReduceOp::kAvg);
      group->all_gather(part.data(), x.data(), kHalf, DType::kFloat32);
    }
    return x == std::vector<float>(2 * kHalf, 1.5f) ? "" : "wrong";
  }));
}

TEST(Gloo, MissingRankIsNamed) {
  auto reports = fork_ranks(3, [&](int rank, const auto& store) -> std::string {
    auto group = GlooGroup::create(store, info_of(rank, 3, Milliseconds(800)));
    if (rank == 1) {
      std::this_thread::sleep_for(Milliseconds(2500));
      return "";
    }
    float x = 0;
    return raised([&] { group->all_reduce(&x, &x, 1, DType::kFloat32, ReduceOp::kSum); });
  });
  for (int r : {0, 2})
    EXPECT_NE(reports[r].find("rank 1 of group 'g' (3 ranks) did not come"), std::string::npos) << reports[r];
}

TEST(Gloo, RankThatNeverJoinsIsNamed) {
  auto store = std::make_shared<HashStore>();
  std::string message = raised([&] { GlooGroup::create(store, info_of(0, 2, Milliseconds(200))); });
  EXPECT_NE(message.find("rank 1 of 2 did not join 'g'"), std::string::npos) << message;
}

}  // namespace
}  // namespace paddle::comm::test
