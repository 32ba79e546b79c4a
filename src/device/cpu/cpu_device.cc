#include "device/cpu/cpu_device.h"

#include <unistd.h>

#include "device/host_table.h"

namespace paddle::device {
namespace {

PdStatus count(int32_t* out) {
  *out = 1;
  return {PD_OK, nullptr};
}

PdStatus facts(int32_t, PdDeviceFacts* out) {
  out->memory_bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  out->compute_units = static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN));
  out->max_group_size = 1;
  long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  out->cache_bytes = l2 > 0 ? l2 : (1 << 20);
  out->name = "CPU";
  return {PD_OK, nullptr};
}

}  // namespace

const PdDevice& cpu_device() {
  static const PdDevice device = [] {
    PdDevice d = host_memory_table();
    d.kind = "cpu";
    d.count = count;
    d.facts = facts;
    return d;
  }();
  return device;
}

}  // namespace paddle::device
