// Pages that are backed before they are written.
#include "device/host_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "base/parallel_for.h"

namespace paddle::device {
namespace {

constexpr size_t kPage = 4096, kBytes = size_t{12} << 20;

class HostPages : public testing::Test {
 protected:
  void SetUp() override {
    void* p = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(p, MAP_FAILED);
    block_ = static_cast<char*>(p);
    ASSERT_EQ(::madvise(block_, kBytes, MADV_NOHUGEPAGE), 0);
  }
  void TearDown() override {
    ::munmap(block_, kBytes);
    set_num_threads(threads_);
  }
  // For each page, whether there is memory behind it.
  std::vector<bool> there() const {
    std::vector<unsigned char> state(kBytes / kPage);
    EXPECT_EQ(::mincore(block_, kBytes, state.data()), 0);
    std::vector<bool> out;
    for (unsigned char s : state) out.push_back(s & 1);
    return out;
  }
  static bool system_can() {
    void* p = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool can = ::madvise(p, kPage, 23 /* MADV_POPULATE_WRITE */) == 0;
    ::munmap(p, kPage);
    return can;
  }
  char* block_ = nullptr;
  int threads_ = num_threads();
};

TEST_F(HostPages, WholePagesInsideAreBackedAndNoOther) {
  if (!system_can()) GTEST_SKIP() << "the system can't back pages";
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    ::madvise(block_, kBytes, MADV_DONTNEED);
    back_pages(block_ + kPage + 64, kBytes - 4 * kPage);  // ends inside of the third last page
    const std::vector<bool> pages = there();
    for (size_t i = 0; i < pages.size(); ++i) EXPECT_EQ(pages[i], i >= 2 && i + 3 < pages.size()) << i;
  }
}

TEST_F(HostPages, ContentsStay) {
  block_[5 * kPage + 7] = 42;
  back_pages(block_, kBytes);
  EXPECT_EQ(block_[5 * kPage + 7], 42);
  EXPECT_TRUE(std::all_of(block_ + 6 * kPage, block_ + kBytes, [](char c) { return c == 0; }));
}

TEST_F(HostPages, SmallBlocksAreLeftAlone) {
  back_pages(block_, size_t{1} << 20);
  const std::vector<bool> pages = there();
  EXPECT_TRUE(std::none_of(pages.begin(), pages.end(), [](bool b) { return b; }));
}

}  // namespace
}  // namespace paddle::device
