// Groups as kernels of a device that has a compiler: printed in the device's C dialect, built by the device.
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "cinn/compute/group.h"
#include "cinn/loop/ast.h"
#include "cinn/lower.h"
#include "device/place.h"

namespace paddle::cinn {

// Kernels that become one module of a device. Building a module has a price of its own, whatever is in it (a second
// with some compilers): what belongs together is added first, and the first launch builds all.
class DeviceBatch {
 public:
  explicit DeviceBatch(Place place) : place_(place) {}

  // The number by which launch() knows the module's first kernel; those after it follow. Raises NotImplementedError for
  // what the dialect can't say. Nothing can be added once the batch is built.
  size_t add(const Module& module);
  // buffers, sizes: as print_c lists the parameters, without begin and end. Enqueues all iterations [0, n).
  void launch(size_t kernel, bool by_group, int64_t n, std::span<void* const> buffers, std::span<const int64_t> sizes);

  Place place() const { return place_; }
  bool built() const;
  std::string source() const;

 private:
  struct Built;
  const Built& build();

  Place place_;
  mutable std::mutex mutex_;
  std::string kernels_;
  std::vector<std::string> names_;
  size_t modules_ = 0;
  std::shared_ptr<const Built> built_;
};

class DeviceGroup {
 public:
  DeviceGroup(Module module, std::shared_ptr<DeviceBatch> batch);

  // As CompiledGroup::run, with buffers of the device; returns when the work is enqueued on the default stream.
  void run(std::span<const void* const> inputs, std::span<void* const> outputs,
           std::span<const int64_t> sizes = {}) const;
  const Module& module() const { return module_; }
  const DeviceBatch& batch() const { return *batch_; }

 private:
  Module module_;
  std::shared_ptr<DeviceBatch> batch_;
  size_t first_;
};

bool can_compile_for(Place place);  // the device has a compiler
Target device_target(Place place);
std::shared_ptr<const DeviceGroup> compile_for_device(const Group& group, const std::shared_ptr<DeviceBatch>& batch,
                                                      const StepLog& log = nullptr);

}  // namespace paddle::cinn
