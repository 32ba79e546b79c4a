// Eager calls on devices that have a compiler and no kernels: each operator is captured as a program of one operation,
// compiled by CINN for the device, and kept by what the code depends on.
#pragma once
#include "api/op_call.h"

namespace paddle::compile {

// The kernel of every operator on such a device (kernels::set_fallback). An operator that CINN can't write runs its
// composition, operator by operator; one that has none either runs on the CPU (host_fallback.h).
void run_on_device(OpCall& c);

// Makes run_on_device and copy_strided known for each kind of device that has a compiler, now or when it is registered.
void serve_devices();

}  // namespace paddle::compile
