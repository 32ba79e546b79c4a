#include "cinn/jit/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/flags.h"
#include "cinn/codegen/c_like/print.h"
#include "device/allocator.h"
#include "device/registry.h"

namespace paddle::cinn {
namespace {

Dialect dialect_at(Place place) { return dialect_of(*device::table(place).dialect); }

}  // namespace

// A module in the device, and its kernels by number. Equal sources are built once per process and stay: the device's
// compiler is slow, its code small.
struct DeviceBatch::Built {
  Built(Place place, const std::string& source, const std::vector<std::string>& names) : place(place) {
    const PdDevice& d = device::table(place);
    device::check_status(d.compile(place.index, source.c_str(), "", &module), place, "compile");
    kernels.resize(names.size());
    for (size_t i = 0; i < names.size(); ++i)
      device::check_status(d.module_kernel(place.index, module, names[i].c_str(), &kernels[i]), place, "module_kernel");
  }
  ~Built() {
    const PdDevice& d = device::table(place);
    for (PdKernel k : kernels)
      if (k) d.kernel_destroy(place.index, k);
    d.module_destroy(place.index, module);
  }
  Built(const Built&) = delete;

  Place place;
  PdModule module = nullptr;
  std::vector<PdKernel> kernels;
};

size_t DeviceBatch::add(const Module& module) {
  std::lock_guard guard(mutex_);
  PD_INVARIANT(!built_);
  const std::string prefix = fmt::format("g{}_", modules_);
  const std::string text = print_kernels(module, dialect_at(place_), prefix);
  ++modules_;
  kernels_ += text;
  const size_t first = names_.size();
  for (const Kernel& k : module.kernels) names_.push_back(prefix + k.name);
  return first;
}

bool DeviceBatch::built() const {
  std::lock_guard guard(mutex_);
  return built_ != nullptr;
}

std::string DeviceBatch::source() const {
  std::lock_guard guard(mutex_);
  return whole_source(kernels_, dialect_at(place_));
}

const DeviceBatch::Built& DeviceBatch::build() {
  static std::mutex cache_mutex;
  static auto* cache = new std::map<std::pair<std::pair<int, int>, std::string>, std::shared_ptr<const Built>>;
  std::lock_guard guard(mutex_);
  if (built_) return *built_;
  std::pair<std::pair<int, int>, std::string> key{{place_.kind, place_.index},
                                                  whole_source(kernels_, dialect_at(place_))};
  {
    std::lock_guard cache_guard(cache_mutex);
    if (auto it = cache->find(key); it != cache->end()) return *(built_ = it->second);
  }
  if (flags::get_bool("cinn_print")) fmt::print(stderr, "-- cinn: source for {}\n{}", to_string(place_), key.second);
  built_ = std::make_shared<const Built>(place_, key.second, names_);
  std::lock_guard cache_guard(cache_mutex);
  cache->emplace(std::move(key), built_);
  return *built_;
}

void DeviceBatch::launch(size_t kernel, bool by_group, int64_t n, std::span<void* const> buffers,
                         std::span<const int64_t> sizes) {
  if (n <= 0) return;
  const Built& built = build();
  const PdDevice& d = device::table(place_);
  const int64_t items = std::max<int64_t>(1, d.dialect->group_size);
  const int64_t grid[3] = {by_group ? n : (n + items - 1) / items, 1, 1}, group[3] = {items, 1, 1};
  std::vector<int64_t> all(sizes.begin(), sizes.end());
  all.push_back(0);
  all.push_back(n);
  device::check_status(d.launch(place_.index, nullptr, built.kernels.at(kernel), grid, group, buffers.data(),
                                static_cast<int32_t>(buffers.size()), all.data(), static_cast<int32_t>(all.size())),
                       place_, "launch");
}

DeviceGroup::DeviceGroup(Module module, std::shared_ptr<DeviceBatch> batch)
    : module_(std::move(module)), batch_(std::move(batch)), first_(batch_->add(module_)) {}

void DeviceGroup::run(std::span<const void* const> inputs, std::span<void* const> outputs,
                      std::span<const int64_t> sizes) const {
  PD_INVARIANT(static_cast<int>(inputs.size()) == module_.num_inputs &&
               static_cast<int>(outputs.size()) == module_.num_outputs &&
               static_cast<int>(sizes.size()) >= module_.num_symbols);
  const IndexPool& pool = module_.pool;
  std::vector<void*> buffers;
  for (const void* p : inputs) buffers.push_back(const_cast<void*>(p));
  buffers.insert(buffers.end(), outputs.begin(), outputs.end());
  const bool temporaries = std::any_of(module_.buffers.begin(), module_.buffers.end(),
                                       [](const Buffer& b) { return b.role == BufferRole::kTemp; });
  const Place place = batch_->place();
  const size_t bytes = static_cast<size_t>(pool.evaluate(module_.workspace_bytes, sizes.data()));
  // Given back when the kernels are enqueued, not done: whoever gets it next comes after them on the stream.
  struct Workspace {
    Place place;
    size_t bytes;
    void* data;
    ~Workspace() {
      if (data) device::deallocate(place, data, bytes);
    }
  } workspace{place, bytes, temporaries ? device::allocate(place, bytes) : nullptr};
  if (temporaries) buffers.push_back(workspace.data);
  for (size_t k = 0; k < module_.kernels.size(); ++k) {
    const Kernel& kernel = module_.kernels[k];
    batch_->launch(first_ + k, kernel.by_group, pool.evaluate(kernel.parallel_extent, sizes.data()), buffers,
                   sizes.first(static_cast<size_t>(module_.num_symbols)));
  }
}

bool can_compile_for(Place place) { return device::has_compiler(device::table(place)); }

Target device_target(Place place) {
  const PdDialect& d = *device::table(place).dialect;
  const PdDeviceFacts facts = device::facts(place);
  Target t;
  t.group_size = std::max(1, d.group_size);
  t.threads = 4 * std::max(1, facts.compute_units);
  t.streaming = false;
  return t;
}

std::shared_ptr<const DeviceGroup> compile_for_device(const Group& group, const std::shared_ptr<DeviceBatch>& batch,
                                                      const StepLog& log) {
  return std::make_shared<const DeviceGroup>(lower(group, device_target(batch->place()), log), batch);
}

}  // namespace paddle::cinn
