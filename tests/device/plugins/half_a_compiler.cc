#include "table.h"

extern "C" PdStatus paddle_device_init(const PdHost*, PdDevice* device) {
  *device = plugin::table("half_a_compiler");
  device->module_destroy = [](int32_t, PdModule) { return plugin::ok(); };
  return plugin::ok();
}
