#include "phi/kernels/registry.h"

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"

namespace paddle::kernels {
namespace {

constexpr size_t kKinds = 16;

struct Table {
  std::array<std::vector<RunFn>, kKinds> by_id;
  std::array<RunFn, kKinds> fallback{}, pointwise{}, reduction{};
  // Registered before the operator table was known to exist (static initialisation order): resolved on the first
  // look-up.
  std::array<std::unordered_map<std::string, RunFn>, kKinds> pending;
  bool resolved = false;

  Table() {
    // The null device computes nothing.
    fallback[1] = [](OpCall&) {};
  }

  void resolve() {
    for (size_t k = 0; k < kKinds; ++k) {
      by_id[k].assign(all_ops().size(), nullptr);
      for (auto& [name, fn] : pending[k]) {
        const OpInfo* op = find_op(name);
        if (!op) throw_internal(__FILE__, __LINE__, "a kernel is registered for '" + name + "', which has no record");
        by_id[k][op->id] = fn;
      }
      pending[k].clear();
      for (const OpInfo& op : all_ops()) {
        RunFn& fn = by_id[k][op.id];
        if (!fn && op.combine != Combine::kNone) fn = reduction[k];
        if (!fn && op.expr) fn = pointwise[k];
      }
    }
    resolved = true;
  }
};

Table& table() {
  static auto* t = new Table;
  return *t;
}

}  // namespace

void register_kernel(std::string_view op, uint8_t kind, RunFn fn) {
  Table& t = table();
  if (!t.resolved) {
    t.pending[kind][std::string(op)] = fn;
  } else {
    t.by_id[kind][op_named(op).id] = fn;
  }
}

void set_generic(uint8_t kind, RunFn pointwise, RunFn reduction) {
  table().pointwise[kind] = pointwise;
  table().reduction[kind] = reduction;
}

void set_fallback(uint8_t kind, RunFn fn) { table().fallback[kind] = fn; }

namespace {
void (*copy_function)(const Tensor&, const Tensor&) = nullptr;
std::array<DeviceCopy, kKinds> device_copies{};
}  // namespace
void set_device_copy(uint8_t kind, DeviceCopy fn) { device_copies[kind] = fn; }
DeviceCopy device_copy(uint8_t kind) { return device_copies[kind]; }
void copy_elements(const Tensor& dst, const Tensor& src) { copy_function(dst, src); }
void set_copy(void (*fn)(const Tensor&, const Tensor&)) { copy_function = fn; }

namespace {
std::array<std::unordered_map<std::string_view, HoldFn>, kKinds>& holds() {
  static auto* h = new std::array<std::unordered_map<std::string_view, HoldFn>, kKinds>;
  return *h;
}
}  // namespace
void register_hold(std::string_view op, uint8_t kind, HoldFn fn) { holds()[kind][op] = fn; }
HoldFn find_hold(const OpInfo& op, uint8_t kind) {
  auto it = holds()[kind].find(op.name);
  return it == holds()[kind].end() ? nullptr : it->second;
}

RunFn find_kernel(const OpInfo& op, uint8_t kind) {
  Table& t = table();
  if (!t.resolved) [[unlikely]]
    t.resolve();
  RunFn fn = t.by_id[kind][op.id];
  return fn ? fn : t.fallback[kind];
}

}  // namespace paddle::kernels
