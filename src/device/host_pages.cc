#include "device/host_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "base/parallel_for.h"
#include "device/host_regions.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace paddle::device {

void back_pages(void* block, size_t bytes) {
  constexpr uintptr_t kLarge = HostRegions::kLargePage, kSmall = HostRegions::kPage;
  if (bytes < 2 * kLarge) return;
  const auto at = reinterpret_cast<uintptr_t>(block);
  const uintptr_t begin = (at + kSmall - 1) / kSmall * kSmall, end = (at + bytes) / kSmall * kSmall;
  const uintptr_t first = begin / kLarge, last = (end + kLarge - 1) / kLarge;
  parallel_for(static_cast<int64_t>(first), static_cast<int64_t>(last), 4, [&](int64_t a, int64_t b) {
    const uintptr_t from = std::max(begin, static_cast<uintptr_t>(a) * kLarge);
    const uintptr_t to = std::min(end, static_cast<uintptr_t>(b) * kLarge);
    ::madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE);
  });
}

}  // namespace paddle::device
