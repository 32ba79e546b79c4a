// What the allocator keeps of large blocks that were freed, and what it gives back.
#include "device/large_blocks.h"

#include <gtest/gtest.h>

#include "base/pool.h"
#include "device/allocator.h"

namespace paddle::device {
namespace {

char memory[3];

TEST(LargeBlocks, TheOneUsedLastIsTakenFirstAndOnlyForItsSize) {
  LargeBlocks blocks;
  blocks.put(&memory[0], 100);
  blocks.put(&memory[1], 100);
  EXPECT_EQ(blocks.take(200), nullptr);
  EXPECT_EQ(blocks.take(100), &memory[1]);
  EXPECT_EQ(blocks.take(100), &memory[0]);
  EXPECT_EQ(blocks.take(100), nullptr);
}

TEST(LargeBlocks, TheOnesUnusedForLongestGo) {
  LargeBlocks blocks;
  blocks.put(&memory[0], 300);
  blocks.put(&memory[1], 100);
  blocks.put(&memory[2], 300);
  const auto oldest = blocks.oldest(301);
  ASSERT_EQ(oldest.size(), 2u);
  EXPECT_EQ(oldest[0].data, &memory[0]);
  EXPECT_EQ(oldest[1].data, &memory[1]);
  EXPECT_TRUE(blocks.unused_since(seconds_now() - 1000).empty());
  const auto all = blocks.unused_since(kEver);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].data, &memory[2]);
  EXPECT_EQ(all[0].bytes, 300u);
  EXPECT_TRUE(blocks.oldest(1).empty());
}

TEST(Allocator, WhatTheHostHasReservedIsBoundedByWhatWasInUse) {
  if (!kReuseBlocks) GTEST_SKIP();
  constexpr size_t kMiB = size_t{1} << 20;
  trim(Place::cpu());
  // One block at a time, of ever new sizes: all of them kept would be 3 GiB. Nothing is written, so no page is taken.
  for (size_t size = 32 * kMiB; size < 512 * kMiB; size += 16 * kMiB) {
    deallocate(Place::cpu(), allocate(Place::cpu(), size), size);
    EXPECT_LE(stats(Place::cpu()).reserved, size * 5 / 4 * 3 / 2 + 257 * kMiB);
  }
  trim(Place::cpu());
  EXPECT_LT(stats(Place::cpu()).reserved, kMiB);
}

}  // namespace
}  // namespace paddle::device
