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
namespace {

constexpr uintptr_t kLarge = HostRegions::kLargePage, kSmall = HostRegions::kPage;

void back(uintptr_t from, uintptr_t to) {
  if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE);
}

}  // namespace

void back_pages(void* block, size_t bytes) {
  if (bytes < 2 * kLarge) return;
  const auto at = reinterpret_cast<uintptr_t>(block);
  const uintptr_t begin = (at + kSmall - 1) / kSmall * kSmall, end = (at + bytes) / kSmall * kSmall;
  const uintptr_t first = begin / kLarge, last = (end + kLarge - 1) / kLarge;
  parallel_for(static_cast<int64_t>(first), static_cast<int64_t>(last), 4, [&](int64_t a, int64_t b) {
    back(std::max(begin, static_cast<uintptr_t>(a) * kLarge), std::min(end, static_cast<uintptr_t>(b) * kLarge));
  });
}

}  // namespace paddle::device
