// The functions that devices living in host memory share: the CPU and the null device fill in their tables from here.
#pragma once
#include "device/device_api.h"

namespace paddle::device {
// Everything but kind, count, facts and the copies' meaning: streams are synchronous, events always done.
PdDevice host_memory_table();
}  // namespace paddle::device
