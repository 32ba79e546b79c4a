#include "device/host_table.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/pool.h"
#include "device/host_regions.h"

namespace paddle::device {
namespace {

constexpr PdStatus kOk{PD_OK, nullptr};
constexpr size_t kHugePage = HostRegions::kLargePage;
// Less comes from malloc, which shares pages; more has large pages of its own.
constexpr size_t kLeastOfRegions = size_t{32} << 10, kMostOfRegions = 2 * kHugePage;

PdStatus ok() { return kOk; }
PdStatus ok_device(int32_t) { return kOk; }

PdStatus allocate(int32_t, size_t bytes, void** out) {
  if (!kReuseBlocks)  // no rounding: the address sanitizer watches the bytes that were asked for
    return posix_memalign(out, 64, bytes ? bytes : 1) == 0
               ? kOk
               : PdStatus{PD_ERROR_OUT_OF_MEMORY, "the system has no memory left"};
  if (bytes >= kLeastOfRegions && bytes < kMostOfRegions)
    if ((*out = HostRegions::process().allocate(bytes))) return kOk;
  bool large = bytes >= kMostOfRegions;
  size_t align = large ? kHugePage : 64;
  size_t rounded = (bytes + align - 1) / align * align;
  void* p = std::aligned_alloc(align, rounded ? rounded : align);
  if (!p) return {PD_ERROR_OUT_OF_MEMORY, "the system has no memory left"};
  // Page faults dominate fresh large tensors; huge pages make them 500 times fewer.
  if (large) madvise(p, rounded, MADV_HUGEPAGE);
  *out = p;
  return kOk;
}

PdStatus deallocate(int32_t, void* p, size_t bytes) {
  const bool middling = kReuseBlocks && bytes >= kLeastOfRegions && bytes < kMostOfRegions;
  if (!middling || !HostRegions::process().deallocate(p, bytes)) std::free(p);
  return kOk;
}

PdStatus memory_stats(int32_t, size_t* total, size_t* free) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  *total = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * page;
  *free = static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES)) * page;
  return kOk;
}

PdStatus copy(int32_t, PdStream, void* dst, const void* src, size_t bytes) {
  std::memmove(dst, src, bytes);
  return kOk;
}

PdStatus fill(int32_t, PdStream, void* dst, int32_t byte, size_t bytes) {
  std::memset(dst, byte, bytes);
  return kOk;
}

PdStatus stream_create(int32_t, PdStream* out) {
  *out = nullptr;
  return kOk;
}
PdStatus stream_op(int32_t, PdStream) { return kOk; }
PdStatus stream_wait(int32_t, PdStream, PdEvent) { return kOk; }
PdStatus event_create(int32_t, PdEvent* out) {
  *out = nullptr;
  return kOk;
}
PdStatus event_op(int32_t, PdEvent) { return kOk; }
PdStatus event_query(int32_t, PdEvent, int32_t* done) {
  *done = 1;
  return kOk;
}

}  // namespace

PdDevice host_memory_table() {
  PdDevice d{};
  d.size = sizeof d;
  d.api_version = PD_DEVICE_API_VERSION;
  d.initialize = ok;
  d.finalize = ok;
  d.synchronize = ok_device;
  d.allocate = allocate;
  d.deallocate = deallocate;
  d.memory_stats = memory_stats;
  d.copy_to_device = copy;
  d.copy_to_host = copy;
  d.copy_on_device = copy;
  d.fill = fill;
  d.stream_create = stream_create;
  d.stream_destroy = stream_op;
  d.stream_synchronize = stream_op;
  d.stream_wait_event = stream_wait;
  d.event_create = event_create;
  d.event_destroy = event_op;
  d.event_record = stream_wait;
  d.event_synchronize = event_op;
  d.event_query = event_query;
  return d;
}

}  // namespace paddle::device
