// The process's OpenCL devices, and how calls report what went wrong.
#pragma once
#include <CL/cl.h>

#include <string>
#include <vector>

#include "device_api.h"

namespace paddle_opencl {

struct Device {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;  // the default stream, in order
  std::string name;
  std::string build_options;
  int64_t memory_bytes = 0, local_memory_bytes = 0, cache_bytes = 0, max_allocation = 0;
  int32_t compute_units = 1, max_group_size = 1;
  bool has_f64 = false;
};

constexpr PdStatus kOk{PD_OK, nullptr};

// A failed status; the message lives until this thread's next failure.
PdStatus failed(PdErrorCode code, std::string message);
// What OpenCL's answer means: CL_SUCCESS is success.
PdStatus checked(cl_int error, const char* call);

PdStatus initialize();
PdStatus finalize();
const std::vector<Device>& devices();
// The device of that number; null, with a status in *status, if there is none, or in a forked child: OpenCL's threads
// did not come along.
Device* device_at(int32_t index, PdStatus* status);
// The command queue that a stream is; the device's default one for NULL.
cl_command_queue queue_of(const Device& device, PdStream stream);

const PdDialect* dialect();  // after initialize()

// The table's functions by subject.
void fill_memory(PdDevice* table);
void fill_streams(PdDevice* table);
void fill_programs(PdDevice* table);

}  // namespace paddle_opencl
