// Compiler access: sources that the framework wrote in our dialect become kernels.
#include <algorithm>
#include <mutex>

#include "runtime.h"

namespace paddle_opencl {
namespace {

struct Kernel {
  cl_kernel handle = nullptr;
  std::mutex mutex;  // arguments are state of the kernel: one launch at a time
};

std::string build_log(const Device& d, cl_program program) {
  size_t size = 0;
  clGetProgramBuildInfo(program, d.id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, d.id, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  return log;
}

PdStatus compile(int32_t index, const char* source, const char* options, PdModule* out) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  if (!d) return status;
  cl_int error = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(d->context, 1, &source, nullptr, &error);
  if (error != CL_SUCCESS) return checked(error, "clCreateProgramWithSource");
  const std::string all = d->build_options + (options && *options ? std::string(" ") + options : std::string());
  error = clBuildProgram(program, 1, &d->id, all.c_str(), nullptr, nullptr);
  if (error != CL_SUCCESS) {
    status = failed(PD_ERROR_COMPILE, "the source does not compile:\n" + build_log(*d, program));
    clReleaseProgram(program);
    return status;
  }
  *out = reinterpret_cast<PdModule>(program);
  return kOk;
}

PdStatus module_destroy(int32_t, PdModule module) {
  return module ? checked(clReleaseProgram(reinterpret_cast<cl_program>(module)), "clReleaseProgram") : kOk;
}

PdStatus module_kernel(int32_t index, PdModule module, const char* name, PdKernel* out) {
  PdStatus status = kOk;
  if (!device_at(index, &status)) return status;
  cl_int error = CL_SUCCESS;
  cl_kernel handle = clCreateKernel(reinterpret_cast<cl_program>(module), name, &error);
  if (error != CL_SUCCESS)
    return failed(PD_ERROR_INVALID_ARGUMENT, std::string("the module has no kernel '") + name + "'");
  auto* kernel = new Kernel;
  kernel->handle = handle;
  *out = reinterpret_cast<PdKernel>(kernel);
  return kOk;
}

PdStatus kernel_destroy(int32_t, PdKernel kernel) {
  if (!kernel) return kOk;
  auto* k = reinterpret_cast<Kernel*>(kernel);
  PdStatus status = checked(clReleaseKernel(k->handle), "clReleaseKernel");
  delete k;
  return status;
}

PdStatus launch(int32_t index, PdStream stream, PdKernel kernel, const int64_t grid[3], const int64_t group[3],
                void* const* buffers, int32_t num_buffers, const int64_t* sizes, int32_t num_sizes) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  if (!d) return status;
  auto* k = reinterpret_cast<Kernel*>(kernel);
  size_t global[3], local[3];
  cl_uint rank = 1;
  for (int i = 0; i < 3; ++i) {
    local[i] = static_cast<size_t>(group[i]);
    global[i] = static_cast<size_t>(grid[i] * group[i]);
    if (global[i] == 0) return kOk;
    if (global[i] > 1) rank = static_cast<cl_uint>(i + 1);
  }
  std::lock_guard<std::mutex> lock(k->mutex);
  cl_int error = CL_SUCCESS;
  cl_uint at = 0;
  for (int32_t i = 0; i < num_buffers && error == CL_SUCCESS; ++i)
    error = clSetKernelArgSVMPointer(k->handle, at++, buffers[i]);
  for (int32_t i = 0; i < num_sizes && error == CL_SUCCESS; ++i)
    error = clSetKernelArg(k->handle, at++, sizeof(cl_long), &sizes[i]);
  if (error != CL_SUCCESS) return checked(error, "an argument of the kernel");
  error = clEnqueueNDRangeKernel(queue_of(*d, stream), k->handle, rank, nullptr, global, local, 0, nullptr, nullptr);
  return checked(error, "clEnqueueNDRangeKernel");
}

}  // namespace

void fill_programs(PdDevice* table) {
  table->dialect = dialect();
  table->compile = compile;
  table->module_destroy = module_destroy;
  table->module_kernel = module_kernel;
  table->kernel_destroy = kernel_destroy;
  table->launch = launch;
}

}  // namespace paddle_opencl
