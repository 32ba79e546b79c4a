#include "table.h"

extern "C" PdStatus paddle_device_init(const PdHost*, PdDevice* device) {
  *device = plugin::table("wrong_version");
  device->api_version = PD_DEVICE_API_VERSION + 1;
  return plugin::ok();
}
