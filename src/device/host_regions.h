// Host memory of middling size, cut out of regions that the system backs with large pages. From malloc each such block
// would be pages of 4 KiB touched one by one: for a first training step more time than its arithmetic.
//
// Blocks that are given back join their neighbours; large pages in which nothing is left go back to the system at once.
#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <set>

namespace paddle::device {

class HostRegions {
 public:
  static constexpr size_t kPage = 4096, kLargePage = size_t{2} << 20, kRegion = size_t{32} << 20;

  static HostRegions& process();

  // Aligned to a page; null where the system has no more. At most half a region.
  void* allocate(size_t bytes);
  // false: the block isn't from here.
  bool deallocate(void* block, size_t bytes);

 private:
  using Ranges = std::map<char*, size_t>;  // by address: bytes

  bool add_region();
  Ranges::iterator region_of(char* p);
  void insert(char* p, size_t bytes);
  void remove(Ranges::iterator range);

  std::mutex mutex_;
  Ranges regions_, free_;
  std::set<std::pair<size_t, char*>> by_size_;  // the same free ranges
};

}  // namespace paddle::device
