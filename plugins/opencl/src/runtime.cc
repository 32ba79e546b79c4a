#include "runtime.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace paddle_opencl {
namespace {

std::vector<Device> all;
std::mutex start_mutex;
std::atomic<bool> forked{false};

const char* name_of(cl_int error) {
  switch (error) {
    case CL_DEVICE_NOT_AVAILABLE:
      return "the device is not available";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
      return "no memory for a buffer";
    case CL_OUT_OF_RESOURCES:
      return "out of resources";
    case CL_OUT_OF_HOST_MEMORY:
      return "out of host memory";
    case CL_BUILD_PROGRAM_FAILURE:
      return "the program does not build";
    case CL_INVALID_VALUE:
      return "invalid value";
    case CL_INVALID_KERNEL_NAME:
      return "no kernel of that name";
    case CL_INVALID_KERNEL_ARGS:
      return "kernel arguments are missing";
    case CL_INVALID_WORK_GROUP_SIZE:
      return "invalid work group size";
    case CL_INVALID_ARG_SIZE:
      return "a kernel argument of the wrong size";
    case CL_INVALID_ARG_INDEX:
      return "more arguments than the kernel has";
    default:
      return "error";
  }
}

std::string text(cl_device_id id, cl_device_info what) {
  size_t size = 0;
  if (clGetDeviceInfo(id, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string out(size, '\0');
  clGetDeviceInfo(id, what, size, out.data(), nullptr);
  out.resize(out.find('\0') == std::string::npos ? out.size() : out.find('\0'));
  return out;
}

template <class T>
T number(cl_device_id id, cl_device_info what) {
  T value{};
  clGetDeviceInfo(id, what, sizeof value, &value, nullptr);
  return value;
}

// Pointers into blocks need shared virtual memory; programs are compiled here.
bool usable(cl_device_id id) {
  const auto svm = number<cl_device_svm_capabilities>(id, CL_DEVICE_SVM_CAPABILITIES);
  return number<cl_bool>(id, CL_DEVICE_AVAILABLE) && number<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE) &&
         (svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
}

PdStatus open(cl_platform_id platform, cl_device_id id) {
  Device d;
  d.platform = platform;
  d.id = id;
  cl_int error = CL_SUCCESS;
  d.context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &error);
  if (error != CL_SUCCESS) return checked(error, "clCreateContext");
  d.queue = clCreateCommandQueueWithProperties(d.context, id, nullptr, &error);
  if (error != CL_SUCCESS) return checked(error, "clCreateCommandQueueWithProperties");
  d.name = text(id, CL_DEVICE_NAME);
  d.memory_bytes = static_cast<int64_t>(number<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE));
  d.max_allocation = static_cast<int64_t>(number<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  d.local_memory_bytes = static_cast<int64_t>(number<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE));
  d.cache_bytes = static_cast<int64_t>(number<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE));
  d.compute_units = static_cast<int32_t>(number<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS));
  d.max_group_size = static_cast<int32_t>(number<size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  d.has_f64 = number<cl_device_fp_config>(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  if (number<cl_device_fp_config>(id, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)
    d.build_options = "-cl-fp32-correctly-rounded-divide-sqrt";
  all.push_back(std::move(d));
  return kOk;
}

}  // namespace

PdStatus failed(PdErrorCode code, std::string message) {
  static thread_local std::string last;
  last = std::move(message);
  return {code, last.c_str()};
}

PdStatus checked(cl_int error, const char* call) {
  if (error == CL_SUCCESS) return kOk;
  const bool memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY;
  return failed(memory ? PD_ERROR_OUT_OF_MEMORY : PD_ERROR_DEVICE,
                std::string(call) + ": " + name_of(error) + " (" + std::to_string(error) + ")");
}

// Platforms that fail to answer are passed over: one broken driver must not hide the others.
PdStatus initialize() {
  std::lock_guard<std::mutex> lock(start_mutex);
  if (!all.empty()) return kOk;
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forked = true; });
  (void)registered;
  cl_uint num_platforms = 0;
  if (clGetPlatformIDs(0, nullptr, &num_platforms) != CL_SUCCESS) return kOk;  // none: no devices
  std::vector<cl_platform_id> platforms(num_platforms);
  clGetPlatformIDs(num_platforms, platforms.data(), nullptr);
  PdStatus last = kOk;
  for (cl_platform_id platform : platforms) {
    cl_uint n = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n) != CL_SUCCESS) continue;
    std::vector<cl_device_id> ids(n);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids.data(), nullptr);
    for (cl_device_id id : ids)
      if (usable(id))
        if (PdStatus s = open(platform, id); s.code != PD_OK) last = s;
  }
  return all.empty() ? last : kOk;
}

// Blocks that the framework still holds would outlive their context: the process's end releases all.
PdStatus finalize() { return kOk; }

const std::vector<Device>& devices() { return all; }

Device* device_at(int32_t index, PdStatus* status) {
  if (forked) {
    *status = failed(PD_ERROR_DEVICE, "OpenCL can't be used in a process forked after it was initialised");
    return nullptr;
  }
  if (index < 0 || index >= static_cast<int32_t>(all.size())) {
    *status = failed(PD_ERROR_INVALID_ARGUMENT,
                     "expected a device in [0, " + std::to_string(all.size()) + "), got " + std::to_string(index));
    return nullptr;
  }
  return &all[static_cast<size_t>(index)];
}

cl_command_queue queue_of(const Device& device, PdStream stream) {
  return stream ? reinterpret_cast<cl_command_queue>(stream) : device.queue;
}

}  // namespace paddle_opencl
