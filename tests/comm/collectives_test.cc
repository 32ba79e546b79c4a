// in_process and shared_memory groups. Right values are computed from what each rank is known to hold.
#include <unistd.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "distributed/comm/board_group.h"
#include "distributed/comm/factory.h"
#include "ranks.h"

namespace paddle::comm::test {
namespace {

std::vector<int> all_of(int n) {
  std::vector<int> ranks(n);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

class Sizes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Sizes, testing::Values(1, 2, 3, 4));

TEST_P(Sizes, Threads) {
  auto world = std::make_shared<InProcessWorld>(GetParam());
  expect_all_well(thread_ranks(GetParam(), [&](int rank) {
    auto group = world->group(rank);
    if (group->size() == 1) return std::string();
    return check_all(*group) + check_asynchronous(*group);
  }));
}

TEST_P(Sizes, SharedMemory) {
  expect_all_well(fork_ranks(GetParam(), [&](int rank, const auto& store) {
    // Small stages, so that few elements make many chunks.
    auto group = SharedMemoryGroup::create(store, {"g", rank, all_of(GetParam()), Milliseconds(60000)}, {1024, 256});
    if (group->size() == 1) return std::string();
    return check_all(*group) + check_asynchronous(*group);
  }));
}

TEST(Groups, OfOneCopy) {
  auto group = std::make_shared<InProcessWorld>(1)->group(0);
  std::vector<float> in{1, 2, 3}, out(3);
  group->all_reduce(in.data(), out.data(), 3, DType::kFloat32, ReduceOp::kAvg);
  EXPECT_EQ(out, in);
  out.assign(3, 0);
  group->all_to_all(in.data(), out.data(), 3, DType::kFloat32);
  EXPECT_EQ(out, in);
  EXPECT_TRUE(group->barrier()->is_success());
}

TEST(Groups, OfSomeRanks) {
  auto world = std::make_shared<InProcessWorld>(4);
  expect_all_well(thread_ranks(4, [&](int rank) -> std::string {
    std::vector<int> mine = rank % 2 ? std::vector<int>{3, 1} : std::vector<int>{0, 2};  // the order is the caller's
    auto group = world->group(rank, rank % 2 ? "odd" : "even", mine);
    int64_t in = rank, out[2];
    group->all_gather(&in, out, 1, DType::kInt64);
    return out[0] == mine[0] && out[1] == mine[1] ? "" : "wrong order";
  }));
}

TEST(Arena, BuffersAreReducedWhereTheyLie) {
  expect_all_well(fork_ranks(3, [&](int rank, const auto& store) -> std::string {
    auto group = SharedMemoryGroup::create(store, {"g", rank, all_of(3), Milliseconds(60000)}, {1024, 256});
    group->create_arena(1 << 20);
    void* first = group->arena_allocate(rank * 100 + 1);  // ranks may allocate differently
    auto* x = static_cast<float*>(group->arena_allocate(10000 * sizeof(float)));
    for (int i = 0; i < 10000; ++i) x[i] = static_cast<float>(rank * i % 7);
    group->all_reduce(x, x, 10000, DType::kFloat32, ReduceOp::kSum);
    for (int i = 0; i < 10000; ++i)
      if (x[i] != static_cast<float>(i % 7 + 2 * i % 7)) return "wrong sum at " + std::to_string(i);
    // One rank's buffer from elsewhere: all go through stages.
    std::vector<float> plain(10000, 1);
    float* y = rank == 1 ? plain.data() : x;
    std::fill(y, y + 10000, 1.0f);
    group->all_reduce(y, y, 10000, DType::kFloat32, ReduceOp::kSum);
    if (y[9999] != 3) return "wrong sum of mixed buffers";
    group->arena_free(first);
    group->arena_free(x);
    if (!group->arena_allocate(1 << 20)) return "the arena did not grow together again";
    return group->arena_allocate(64) == nullptr ? "" : "the arena gave more than it has";
  }));
}

TEST(Missing, RankIsNamedInTime) {
  auto world = std::make_shared<InProcessWorld>(3);
  auto reports = thread_ranks(2, [&](int rank) {
    auto group = world->group(rank, "default", {}, Milliseconds(300));
    float x = 0;
    std::string first = raised([&] { group->all_reduce(&x, &x, 1, DType::kFloat32, ReduceOp::kSum); });
    return first + " / " + raised([&] { group->barrier(); });
  });
  for (int r = 0; r < 2; ++r)
    EXPECT_EQ(reports[r], "[all_reduce] rank 2 of group 'default' (3 ranks) did not come within 0.3 s; rank " +
                              std::to_string(r) + " waited / [barrier] group 'default' is broken: rank " +
                              std::to_string(r) + " gave up in an earlier operation");
}

TEST(Missing, LateRankDoesNotGoOnAlone) {
  auto world = std::make_shared<InProcessWorld>(2);
  auto reports = thread_ranks(2, [&](int rank) {
    auto group = world->group(rank, "default", {}, Milliseconds(rank == 0 ? 100 : 5000));
    if (rank == 1) std::this_thread::sleep_for(Milliseconds(400));
    std::vector<float> x(1000);
    return raised([&] { group->all_reduce(x.data(), x.data(), 1000, DType::kFloat32, ReduceOp::kSum); });
  });
  EXPECT_NE(reports[0].find("rank 1"), std::string::npos);
  EXPECT_NE(reports[1].find("rank 0 of group 'default' gave up"), std::string::npos) << reports[1];
}

TEST(Missing, DeadProcessIsNoticedBeforeTheTimeOut) {
  auto reports = fork_ranks(2, [&](int rank, const auto& store) -> std::string {
    auto group = SharedMemoryGroup::create(store, {"g", rank, all_of(2), Milliseconds(60000)});
    if (rank == 1) ::_exit(0);
    return raised([&] { group->barrier(); });
  });
  EXPECT_EQ(reports[0], "[barrier] rank 1 of group 'g' has ended; rank 0 waited for it");
}

TEST(Missing, SenderIsNamed) {
  auto world = std::make_shared<InProcessWorld>(2);
  auto group = world->group(0, "default", {}, Milliseconds(100));
  float x;
  EXPECT_NE(raised([&] { group->recv(&x, 1, DType::kFloat32, 1); }).find("[recv] rank 1"), std::string::npos);
}

TEST(Misuse, RanksThatDisagreeAreTold) {
  auto world = std::make_shared<InProcessWorld>(2);
  auto reports = thread_ranks(2, [&](int rank) {
    auto group = world->group(rank);
    float x[4] = {};
    return raised([&] {
      if (rank == 0)
        group->all_reduce(x, x, 4, DType::kFloat32, ReduceOp::kSum);
      else
        group->broadcast(x, 4, DType::kFloat32, 0);
    });
  });
  EXPECT_EQ(reports[0],
            "[all_reduce] ranks of group 'default' disagree: rank 0 calls all_reduce(float32[4], sum), rank 1 calls "
            "broadcast(float32[4], root 0)");
  EXPECT_NE(reports[1].find("[broadcast] ranks"), std::string::npos);
}

TEST(Misuse, BadArgumentsRaise) {
  auto group = std::make_shared<InProcessWorld>(2)->group(0);
  std::complex<float> z;
  EXPECT_EQ(raised([&] { group->all_reduce(&z, &z, 1, DType::kComplex64, ReduceOp::kMax); }),
            "[all_reduce] complex numbers have no max");
  EXPECT_EQ(raised([&] { group->broadcast(&z, 1, DType::kComplex64, 2); }),
            "[broadcast] expected a rank of the group in [0, 2), got 2");
  EXPECT_EQ(raised([&] { group->send(&z, 1, DType::kComplex64, 0); }), "[send] rank 0 can't send to itself");
  EXPECT_EQ(raised([&] { group->all_gather(&z, &z, std::vector<int64_t>{1}, DType::kComplex64); }),
            "[all_gather] expected 2 counts, one for each rank, got 1");
}

TEST(SharedMemory, TooSmallIsSaidOnEveryRank) {
  auto reports = fork_ranks(2, [&](int rank, const auto& store) {
    return raised([&] {
      SharedMemoryGroup::create(store, {"g", rank, all_of(2), Milliseconds(10000)}, {size_t{1} << 46, 256});
    });
  });
  for (auto& report : reports) EXPECT_TRUE(report.starts_with("[shared memory] /dev/shm is too small")) << report;
}

TEST(Reduce, NanWinsWhereverItStands) {
  float nan = std::numeric_limits<float>::quiet_NaN(), a[2] = {nan, 1}, b[2] = {2, nan}, out[2];
  const void* inputs[] = {a, b};
  for (ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin}) {
    reduce(inputs, out, 2, DType::kFloat32, op);
    EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1])) << name_of(op);
  }
}

TEST(Reduce, IntegersWrapAround) {
  int64_t big = std::numeric_limits<int64_t>::max(), one = 1, out;
  const void* inputs[] = {&big, &one};
  reduce(inputs, &out, 1, DType::kInt64, ReduceOp::kSum);
  EXPECT_EQ(out, std::numeric_limits<int64_t>::min());
}

TEST(Reduce, SameBitsInEveryBackEndAndRun) {
  // Sums of these depend on the order: the rule is rank order, with one rounding for 16-bit floats.
  auto number = [](int rank, int i) { return 1.0f / static_cast<float>(3 + rank * 5 + i) * (i % 3 ? 1e6f : 1e-3f); };
  std::vector<float> expected(3000);
  for (int i = 0; i < 3000; ++i) expected[i] = ((number(0, i) + number(1, i)) + number(2, i)) + number(3, i);
  auto body = [&](ProcessGroup& group) -> std::string {
    std::vector<float> x(3000);
    for (int i = 0; i < 3000; ++i) x[i] = number(group.rank(), i);
    group.all_reduce(x.data(), x.data(), 3000, DType::kFloat32, ReduceOp::kSum);
    return x == expected ? "" : "other bits";
  };
  auto world = std::make_shared<InProcessWorld>(4);
  expect_all_well(thread_ranks(4, [&](int rank) { return body(*world->group(rank)); }));
  expect_all_well(fork_ranks(4, [&](int rank, const auto& store) {
    return body(*create_group("shared_memory", store, {"g", rank, all_of(4)}));
  }));
}

}  // namespace
}  // namespace paddle::comm::test
