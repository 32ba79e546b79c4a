// The null device: accepts every call and computes nothing. The whole pipeline (tracing, sharding, compiling,
// executing) runs on it with no hardware; memory is real, so that shapes and life times are checked, contents are not.
#pragma once
#include "device/device_api.h"

namespace paddle::device {
const PdDevice& null_device();
}
