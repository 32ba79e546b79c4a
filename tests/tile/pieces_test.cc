// Loops whose threads help one another.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/parallel_pieces.h"

namespace paddle {
namespace {

class ParallelPieces : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(4); }
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

TEST_F(ParallelPieces, CoversOnceAndRethrows) {
  for (int64_t n : {1, 3, 4, 63, 1000})
    for (int64_t grain : {0, 1, 7, 400}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
      parallel_pieces(10, 10 + n, grain, [&](int64_t a, int64_t b) {
        EXPECT_LT(a, b);
        parallel_pieces(a, b, 1, [&](int64_t c, int64_t d) {  // nested: serial, where there are several threads
          for (int64_t i = c; i < d; ++i) ++seen[static_cast<size_t>(i - 10)];
        });
      });
      for (const auto& s : seen) EXPECT_EQ(s, 1) << n << " by " << grain;
    }
  parallel_pieces(5, 5, 1, [](int64_t, int64_t) { FAIL(); });
  EXPECT_THROW(parallel_pieces(0, 1000, 1, [](int64_t a, int64_t) { check(a == 0, ErrorKind::kValue, "piece {}", a); }),
               Error);
}

TEST_F(ParallelPieces, PiecesAreNoSmallerThanAsked) {
  std::atomic<int> count{0};
  parallel_pieces(0, 1000, 100, [&](int64_t a, int64_t b) {
    EXPECT_GE(b - a, 100);
    ++count;
  });
  EXPECT_GT(count, 1);
}

// A thread that is held up in its first piece finds the rest of its part done.
TEST_F(ParallelPieces, WhoIsDoneHelpsOthers) {
  constexpr int64_t kElements = 256;
  std::atomic<int64_t> done{0};
  bool helped = false;
  parallel_pieces(0, kElements, 1, [&](int64_t a, int64_t b) {
    if (a == 0) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (done < kElements - b && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      helped = done == kElements - b;
    }
    done += b - a;
  });
  EXPECT_TRUE(helped);
  EXPECT_EQ(done, kElements);
}

}  // namespace
}  // namespace paddle
