// Large blocks that were freed, kept for the next allocation of their size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace paddle::device {

using Seconds = int64_t;
Seconds seconds_now();  // of a clock that costs next to nothing to read
inline constexpr Seconds kEver = std::numeric_limits<Seconds>::max();

class LargeBlocks {
 public:
  struct Block {
    void* data;
    size_t bytes;
  };

  void* take(size_t bytes);  // the one used last; null where there is none of this size
  void put(void* data, size_t bytes);
  // Those that nobody used since `before`, no longer kept here.
  std::vector<Block> unused_since(Seconds before);
  // Those unused for longest, until they are so many bytes.
  std::vector<Block> oldest(size_t bytes);

 private:
  struct Idle {
    void* data;
    Seconds since;
    uint64_t order;
  };
  uint64_t next_ = 0;
  std::map<size_t, std::vector<Idle>> by_size_;  // each used last comes last
};

}  // namespace paddle::device
