// The caching allocator: one per device. Small blocks come from per-thread pools of size classes; larger ones from a
// shared cache of blocks that were freed, kept by size, so that a training step allocates from the system once.
//
// The host's cache is bounded: a new block is made only after the blocks unused for longest went, if all would be more
// than half as much again as what was in use lately. What nobody used for half a minute goes, too, as soon as somebody
// allocates: a process that has done something large doesn't hold that memory for ever.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "device/large_blocks.h"
#include "device/place.h"

namespace paddle::device {

struct AllocatorStats {
  uint64_t in_use = 0;    // bytes handed out now (rounded to the size class)
  uint64_t reserved = 0;  // bytes held from the device
  uint64_t peak_in_use = 0;
  uint64_t peak_reserved = 0;
  uint64_t device_calls = 0;  // allocations that the cache could not serve
};

// `bytes` rounded up to the size class that is handed out. Throws MemoryError (after trimming the cache once) when the
// device has no more. 0 bytes: a valid pointer that may not be dereferenced.
void* allocate(Place place, size_t bytes);
void deallocate(Place place, void* ptr, size_t bytes) noexcept;

AllocatorStats stats(Place place);
void reset_peak(Place place);
void trim(Place place);  // gives cached blocks back to the device

// For those who keep large blocks of host memory themselves: memory past the cache, counted as reserved, and how much
// of it is in use. What is kept idle is given back when somebody trims, or when the system has no more: `fn` gives back
// what was not used since the time that it is given, by seconds_now().
void* reserve_pages(size_t bytes);
void release_pages(void* ptr, size_t bytes) noexcept;
void note_use(int64_t bytes);
void on_trim(std::function<void(Seconds before)> fn);

}  // namespace paddle::device
