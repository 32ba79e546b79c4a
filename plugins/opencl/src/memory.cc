// Memory: shared virtual memory, so that a pointer into the middle of a block is one that kernels take.
#include "runtime.h"

namespace paddle_opencl {
namespace {

PdStatus allocate(int32_t index, size_t bytes, void** out) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  if (!d) return status;
  if (d->max_allocation && bytes > static_cast<size_t>(d->max_allocation))
    return failed(PD_ERROR_OUT_OF_MEMORY, "a block of " + std::to_string(bytes) + " bytes is more than the device's " +
                                              std::to_string(d->max_allocation));
  *out = clSVMAlloc(d->context, CL_MEM_READ_WRITE, bytes ? bytes : 64, 128);
  return *out ? kOk : failed(PD_ERROR_OUT_OF_MEMORY, "no memory for " + std::to_string(bytes) + " bytes");
}

// Work in flight may still use the block.
PdStatus deallocate(int32_t index, void* ptr, size_t) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  if (!d) return status;
  status = checked(clFinish(d->queue), "clFinish");
  clSVMFree(d->context, ptr);
  return status;
}

PdStatus memory_stats(int32_t index, size_t* total, size_t* free) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  if (!d) return status;
  *total = static_cast<size_t>(d->memory_bytes);
  *free = *total;  // OpenCL does not tell
  return kOk;
}

PdStatus copy(int32_t index, PdStream stream, void* dst, const void* src, size_t bytes) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  if (!d) return status;
  if (bytes == 0) return kOk;
  return checked(clEnqueueSVMMemcpy(queue_of(*d, stream), CL_FALSE, dst, src, bytes, 0, nullptr, nullptr),
                 "clEnqueueSVMMemcpy");
}

PdStatus fill(int32_t index, PdStream stream, void* dst, int32_t byte, size_t bytes) {
  PdStatus status = kOk;
  Device* d = device_at(index, &status);
  if (!d) return status;
  if (bytes == 0) return kOk;
  const unsigned char value = static_cast<unsigned char>(byte);
  return checked(clEnqueueSVMMemFill(queue_of(*d, stream), dst, &value, 1, bytes, 0, nullptr, nullptr),
                 "clEnqueueSVMMemFill");
}

}  // namespace

void fill_memory(PdDevice* table) {
  table->allocate = allocate;
  table->deallocate = deallocate;
  table->memory_stats = memory_stats;
  table->copy_to_device = copy;
  table->copy_to_host = copy;
  table->copy_on_device = copy;
  table->fill = fill;
}

}  // namespace paddle_opencl
