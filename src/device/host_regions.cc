#include "device/host_regions.h"

#include <sys/mman.h>

#include <cstdint>
#include <iterator>

namespace paddle::device {
namespace {

constexpr size_t up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

char* up(char* p, size_t unit) { return reinterpret_cast<char*>(up(reinterpret_cast<uintptr_t>(p), unit)); }
char* down(char* p, size_t unit) { return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(p) / unit * unit); }

}  // namespace

HostRegions& HostRegions::process() {
  static auto* regions = new HostRegions;  // outlives every tensor
  return *regions;
}

void HostRegions::insert(char* p, size_t bytes) {
  free_.emplace(p, bytes);
  by_size_.emplace(bytes, p);
}

void HostRegions::remove(Ranges::iterator range) {
  by_size_.erase({range->second, range->first});
  free_.erase(range);
}

// A region is address space; pages become memory when they are written.
bool HostRegions::add_region() {
  void* all =
      ::mmap(nullptr, kRegion + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return false;
  char *begin = static_cast<char*>(all), *base = up(begin, kLargePage);
  if (base > begin) ::munmap(begin, static_cast<size_t>(base - begin));
  if (char* end = base + kRegion, *last = begin + kRegion + kLargePage; end < last)
    ::munmap(end, static_cast<size_t>(last - end));
  ::madvise(base, kRegion, MADV_HUGEPAGE);
  regions_.emplace(base, kRegion);
  insert(base, kRegion);
  return true;
}

HostRegions::Ranges::iterator HostRegions::region_of(char* p) {
  auto after = regions_.upper_bound(p);
  if (after == regions_.begin()) return regions_.end();
  auto region = std::prev(after);
  return p < region->first + region->second ? region : regions_.end();
}

void* HostRegions::allocate(size_t bytes) {
  if (bytes > kRegion / 2) return nullptr;
  bytes = up(bytes == 0 ? 1 : bytes, kPage);
  std::lock_guard guard(mutex_);
  auto fit = by_size_.lower_bound({bytes, nullptr});
  if (fit == by_size_.end()) {
    if (!add_region()) return nullptr;
    fit = by_size_.lower_bound({bytes, nullptr});
  }
  const auto [size, p] = *fit;
  remove(free_.find(p));
  if (size > bytes) insert(p + bytes, size - bytes);
  return p;
}

bool HostRegions::deallocate(void* block, size_t bytes) {
  char* p = static_cast<char*>(block);
  std::lock_guard guard(mutex_);
  const auto region = region_of(p);
  if (region == regions_.end()) return false;
  char *begin = p, *end = p + up(bytes == 0 ? 1 : bytes, kPage), *own_end = end;
  if (auto next = free_.find(end); next != free_.end() && end < region->first + region->second) {
    end += next->second;
    remove(next);
  }
  if (auto at = free_.lower_bound(p); at != free_.begin()) {
    const auto before = std::prev(at);
    if (before->first + before->second == p && before->first >= region->first) {
      begin = before->first;
      remove(before);
    }
  }
  if (begin == region->first && end == region->first + region->second) {
    ::munmap(region->first, region->second);
    regions_.erase(region);
    return true;
  }
  // Large pages that this block was the last to use.
  char *first = down(p, kLargePage), *last = up(own_end, kLargePage);
  if (first < begin) first += kLargePage;
  if (last > end) last -= kLargePage;
  if (first < last) ::madvise(first, static_cast<size_t>(last - first), MADV_DONTNEED);
  insert(begin, static_cast<size_t>(end - begin));
  return true;
}

}  // namespace paddle::device
