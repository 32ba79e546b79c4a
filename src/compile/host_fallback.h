// Operators that a device has no kernel for and CINN can't write one for: computed on the CPU, results copied back.
#pragma once
#include <string>

#include "api/op_call.h"

namespace paddle::compile {

// c is as a kernel finds it: outputs allocated on the device, or the targets of an in-place call. Logged once per
// operator and kind of device with `reason`; NotImplementedError under FLAGS_forbid_host_fallback. What is only made
// from the call's own numbers, without reading a tensor, is just an upload.
void run_on_host(OpCall& c, const std::string& reason);

}  // namespace paddle::compile
