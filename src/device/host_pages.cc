#include "device/host_pages.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>

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

bool has_memory(uintptr_t page) {
  unsigned char there = 1;
  return ::mincore(reinterpret_cast<void*>(page), kSmall, &there) != 0 || (there & 1);
}

bool other_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

// Clearing is the system's work: a second processor takes part in it even where computing is one thread's.
void back_by_two(uintptr_t begin, uintptr_t end) {
  constexpr uintptr_t kWorthAThread = 4 * kLarge;
  const uintptr_t middle = (begin + (end - begin) / 2) / kLarge * kLarge;
  if (end - begin < kWorthAThread || has_memory(end - kSmall) || !other_processors()) return back(begin, end);
  std::thread second;
  try {
    second = std::thread(back, middle, end);
  } catch (const std::system_error&) {  // no thread to be had
    return back(begin, end);
  }
  back(begin, middle);
  second.join();
}

}  // namespace

void back_pages(void* block, size_t bytes) {
  if (bytes < 2 * kLarge) return;
  const auto at = reinterpret_cast<uintptr_t>(block);
  const uintptr_t begin = (at + kSmall - 1) / kSmall * kSmall, end = (at + bytes) / kSmall * kSmall;
  if (num_threads() == 1) return back_by_two(begin, end);
  const uintptr_t first = begin / kLarge, last = (end + kLarge - 1) / kLarge;
  parallel_for(static_cast<int64_t>(first), static_cast<int64_t>(last), 4, [&](int64_t a, int64_t b) {
    back(std::max(begin, static_cast<uintptr_t>(a) * kLarge), std::min(end, static_cast<uintptr_t>(b) * kLarge));
  });
}

}  // namespace paddle::device
