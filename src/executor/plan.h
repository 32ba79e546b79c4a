// Offsets in one block of memory for values whose lifetimes are known.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace paddle::executor {

constexpr size_t kArenaAlign = 64;

struct Interval {
  size_t bytes = 0;
  uint32_t first = 0, last = 0;  // instructions during which the memory is needed, both included
};

// A block that somebody else has given up: it may be used after instruction `last`.
struct Lent {
  size_t bytes = 0;
  uint32_t last = 0;
};

struct Layout {
  std::vector<size_t> offsets;  // per interval, multiples of kArenaAlign
  std::vector<int> lent;        // per interval: the lent block that it lies in; -1: in the own one
  size_t bytes = 0;             // of the own block
};

// No two intervals that share an instruction share a byte. Larger ones are placed first, each at the lowest gap that
// fits (greedy by size: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020), in the
// smallest lent block that has one, else in the own block.
Layout assign_offsets(std::span<const Interval> intervals, std::span<const Lent> lent = {});

// The most bytes needed at any one instruction: no layout is smaller.
size_t lower_bound(std::span<const Interval> intervals);

}  // namespace paddle::executor
