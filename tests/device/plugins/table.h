// A device in host memory, for plugins of the tests: what a plugin has to fill in, at its shortest.
#pragma once
#include <stdlib.h>
#include <string.h>

#include "device_api.h"

namespace plugin {

inline PdStatus ok() { return {PD_OK, nullptr}; }

inline PdDevice table(const char* kind) {
  PdDevice d{};
  d.size = sizeof d;
  d.api_version = PD_DEVICE_API_VERSION;
  d.kind = kind;
  d.initialize = ok;
  d.finalize = ok;
  d.count = [](int32_t* out) { return *out = 2, ok(); };
  d.facts = [](int32_t, PdDeviceFacts* out) {
    out->compute_units = out->max_group_size = 1;
    out->name = "a device of the tests";
    return ok();
  };
  d.synchronize = [](int32_t) { return ok(); };
  d.allocate = [](int32_t, size_t bytes, void** out) {
    bytes = (bytes + 64) / 64 * 64;
    *out = bytes < (size_t{1} << 40) ? aligned_alloc(64, bytes) : nullptr;
    return *out ? ok() : PdStatus{PD_ERROR_OUT_OF_MEMORY, "no memory"};
  };
  d.deallocate = [](int32_t, void* p, size_t) { return free(p), ok(); };
  d.memory_stats = [](int32_t, size_t* total, size_t* free) { return *total = *free = 1 << 20, ok(); };
  d.copy_to_device = d.copy_to_host = d.copy_on_device = [](int32_t, PdStream, void* dst, const void* src, size_t n) {
    return memmove(dst, src, n), ok();
  };
  d.fill = [](int32_t, PdStream, void* dst, int32_t byte, size_t n) { return memset(dst, byte, n), ok(); };
  d.stream_create = [](int32_t, PdStream* out) { return *out = nullptr, ok(); };
  d.stream_destroy = d.stream_synchronize = [](int32_t, PdStream) { return ok(); };
  d.stream_wait_event = d.event_record = [](int32_t, PdStream, PdEvent) { return ok(); };
  d.event_create = [](int32_t, PdEvent* out) { return *out = nullptr, ok(); };
  d.event_destroy = d.event_synchronize = [](int32_t, PdEvent) { return ok(); };
  d.event_query = [](int32_t, PdEvent, int32_t* done) { return *done = 1, ok(); };
  return d;
}

}  // namespace plugin
