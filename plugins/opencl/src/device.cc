// The plugin's one export.
#include "runtime.h"

namespace paddle_opencl {
namespace {

PdStatus count(int32_t* out) {
  *out = static_cast<int32_t>(devices().size());
  return kOk;
}

PdStatus facts(int32_t index, PdDeviceFacts* out) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  if (!d) return status;
  out->memory_bytes = d->memory_bytes;
  out->compute_units = d->compute_units;
  out->max_group_size = d->max_group_size;
  out->cache_bytes = d->cache_bytes;
  out->name = d->name.c_str();
  return kOk;
}

}  // namespace
}  // namespace paddle_opencl

extern "C" __attribute__((visibility("default"))) PdStatus paddle_device_init(const PdHost* host, PdDevice* device) {
  using namespace paddle_opencl;
  if (host->api_version != PD_DEVICE_API_VERSION)
    return failed(PD_ERROR_UNSUPPORTED, "built for version " + std::to_string(PD_DEVICE_API_VERSION) +
                                            " of the device API, the framework speaks version " +
                                            std::to_string(host->api_version));
  if (PdStatus status = initialize(); status.code != PD_OK) return status;
  device->size = sizeof(PdDevice);
  device->api_version = PD_DEVICE_API_VERSION;
  device->kind = "opencl";
  device->initialize = initialize;
  device->finalize = finalize;
  device->count = count;
  device->facts = facts;
  fill_memory(device);
  fill_streams(device);
  fill_programs(device);
  return kOk;
}
