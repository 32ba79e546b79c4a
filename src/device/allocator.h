// The caching allocator: one per device. Small blocks come from per-thread pools of size classes; larger ones from a
// shared cache of blocks that were freed, kept by size, so that a training step allocates from the system once.
#pragma once
#include <cstddef>
#include <cstdint>

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

}  // namespace paddle::device
