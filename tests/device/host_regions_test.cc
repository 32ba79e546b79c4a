// Blocks out of regions: apart from each other, aligned, whole; what is given back joins up and goes back to the
// system.
#include "device/host_regions.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace paddle::device {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

struct Block {
  char* data;
  size_t bytes;
  unsigned char mark;
};

// Bytes of a range that are in memory.
size_t resident(const char* p, size_t bytes) {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages(bytes / page);
  if (::mincore(const_cast<char*>(p), bytes, pages.data()) != 0) return 0;  // no longer mapped
  size_t n = 0;
  for (unsigned char c : pages) n += (c & 1) ? page : 0;
  return n;
}

TEST(HostRegions, BlocksKeepWhatIsWrittenIntoThem) {
  HostRegions regions;
  std::mt19937 rng(7);
  std::vector<Block> blocks;
  auto check_and_free = [&](size_t i) {
    const Block b = blocks[i];
    for (size_t at = 0; at < b.bytes; at += 509) ASSERT_EQ(static_cast<unsigned char>(b.data[at]), b.mark);
    ASSERT_TRUE(regions.deallocate(b.data, b.bytes));
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(i));
  };
  for (int step = 0; step < 600; ++step) {
    if (blocks.size() > 20 && rng() % 2) {
      check_and_free(rng() % blocks.size());
      continue;
    }
    const size_t bytes = 1 + rng() % (3 * kMiB);
    auto* p = static_cast<char*>(regions.allocate(bytes));
    ASSERT_NE(p, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % HostRegions::kPage, 0u);
    blocks.push_back({p, bytes, static_cast<unsigned char>(step)});
    std::memset(p, step, bytes);
  }
  while (!blocks.empty()) check_and_free(blocks.size() - 1);
}

TEST(HostRegions, WhatIsGivenBackLeavesMemory) {
  HostRegions regions;
  std::vector<char*> blocks;
  for (int i = 0; i < 8; ++i) {
    blocks.push_back(static_cast<char*>(regions.allocate(kMiB)));
    std::memset(blocks.back(), 1, kMiB);
  }
  for (size_t i = 1; i < blocks.size(); ++i) ASSERT_EQ(blocks[i], blocks[0] + i * kMiB);
  EXPECT_EQ(resident(blocks[0], 8 * kMiB), 8 * kMiB);
  for (size_t i : {2, 5, 3, 4}) EXPECT_TRUE(regions.deallocate(blocks[i], kMiB));  // two large pages in the middle
  EXPECT_EQ(resident(blocks[2], 4 * kMiB), 0u);
  EXPECT_EQ(resident(blocks[0], 2 * kMiB), 2 * kMiB);
  EXPECT_EQ(regions.allocate(4 * kMiB), blocks[2]);  // joined
  EXPECT_TRUE(regions.deallocate(blocks[2], 4 * kMiB));
  for (size_t i : {0, 1, 6, 7}) EXPECT_TRUE(regions.deallocate(blocks[i], kMiB));
  EXPECT_EQ(resident(blocks[0], 8 * kMiB), 0u);
}

TEST(HostRegions, OthersAreNotTheirs) {
  HostRegions regions;
  std::vector<char> own(4096);
  EXPECT_FALSE(regions.deallocate(own.data(), own.size()));
  EXPECT_EQ(regions.allocate(HostRegions::kRegion), nullptr);
}

}  // namespace
}  // namespace paddle::device
