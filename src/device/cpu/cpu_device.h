#pragma once
#include "device/device_api.h"

namespace paddle::device {
const PdDevice& cpu_device();
}
