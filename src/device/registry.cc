#include "device/registry.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>

#include "base/error.h"
#include "device/cpu/cpu_device.h"
#include "device/null/null_device.h"

namespace paddle::device {
namespace {

constexpr size_t kMaxKinds = 16;

struct Registry {
  std::array<PdDevice, kMaxKinds> tables{};
  std::atomic<uint32_t> size{0};
  std::mutex mutex;
  std::vector<void (*)(uint8_t)> listeners;
  KernelRegistrar registrar = nullptr;
  // Kernels that a plugin registered while it started: its kind has no number yet.
  std::map<std::string, std::vector<std::pair<std::string, PdKernelFn>>> waiting;

  Registry() {
    add(cpu_device());
    add(null_device());
  }

  uint8_t add(const PdDevice& d) {
    std::lock_guard lock(mutex);
    uint32_t n = size.load();
    check(n < kMaxKinds, ErrorKind::kRuntime, "[device] at most {} kinds of device can be registered", kMaxKinds);
    for (uint32_t i = 0; i < n; ++i)
      check(std::strcmp(tables[i].kind, d.kind) != 0, ErrorKind::kValue, "[device] kind '{}' is registered already",
            d.kind);
    tables[n] = d;
    size.store(n + 1);
    return static_cast<uint8_t>(n);
  }
};

Registry& registry() {
  static auto* r = new Registry;  // outlives every tensor
  return *r;
}

void check_complete(const PdDevice& d) {
  check(d.api_version == PD_DEVICE_API_VERSION, ErrorKind::kValue,
        "[device] kind '{}': expected version {} of the device API, got {}; build the plugin against this release's "
        "device_api.h",
        d.kind ? d.kind : "", PD_DEVICE_API_VERSION, d.api_version);
  check(d.size >= offsetof(PdDevice, allocate_pinned), ErrorKind::kValue,
        "[device] kind '{}': expected a table of at least {} bytes, got {}: it ends before the required functions do",
        d.kind ? d.kind : "", offsetof(PdDevice, allocate_pinned), d.size);
  check(d.kind && *d.kind, ErrorKind::kValue, "[device] the table has no kind");
  struct Required {
    const char* name;
    bool present;
  };
  const Required required[] = {{"initialize", d.initialize != nullptr},
                               {"finalize", d.finalize != nullptr},
                               {"count", d.count != nullptr},
                               {"facts", d.facts != nullptr},
                               {"synchronize", d.synchronize != nullptr},
                               {"allocate", d.allocate != nullptr},
                               {"deallocate", d.deallocate != nullptr},
                               {"memory_stats", d.memory_stats != nullptr},
                               {"copy_to_device", d.copy_to_device != nullptr},
                               {"copy_to_host", d.copy_to_host != nullptr},
                               {"copy_on_device", d.copy_on_device != nullptr},
                               {"fill", d.fill != nullptr},
                               {"stream_create", d.stream_create != nullptr},
                               {"stream_destroy", d.stream_destroy != nullptr},
                               {"stream_synchronize", d.stream_synchronize != nullptr},
                               {"stream_wait_event", d.stream_wait_event != nullptr},
                               {"event_create", d.event_create != nullptr},
                               {"event_destroy", d.event_destroy != nullptr},
                               {"event_record", d.event_record != nullptr},
                               {"event_synchronize", d.event_synchronize != nullptr},
                               {"event_query", d.event_query != nullptr}};
  for (const Required& r : required)
    check(r.present, ErrorKind::kValue, "[device] kind '{}' lacks the required function '{}'", d.kind, r.name);
  const bool any = d.dialect || d.compile || d.module_destroy || d.module_kernel || d.kernel_destroy || d.launch;
  check(
      !any || has_compiler(d), ErrorKind::kValue,
      "[device] kind '{}' has some of dialect, compile, module_destroy, module_kernel, kernel_destroy and launch, but "
      "not all",
      d.kind);
}

void host_log(int32_t level, const char* message) { std::fprintf(stderr, "[device] %d: %s\n", level, message); }

PdStatus host_register_kernel(const char* kind, const char* op, PdKernelFn fn) {
  if (!kind || !op || !fn)
    return {PD_ERROR_INVALID_ARGUMENT, "register_kernel needs a kind, an operator and a function"};
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.waiting[kind].emplace_back(op, fn);
  return {PD_OK, nullptr};
}

// A table as this build knows it: what the plugin's own, perhaps shorter, does not cover is absent.
PdDevice whole(const PdDevice& d) {
  PdDevice out{};
  std::memcpy(&out, &d, std::min(d.size, sizeof out));
  out.size = sizeof out;
  return out;
}

}  // namespace

uint8_t register_device(const PdDevice& d) {
  check_complete(d);
  PdStatus started = d.initialize();
  check(started.code == PD_OK, ErrorKind::kRuntime, "[device] kind '{}' failed to start: {}", d.kind,
        started.message ? started.message : "no message");
  Registry& r = registry();
  uint8_t kind = r.add(whole(d));
  for (auto* listener : r.listeners) listener(kind);
  if (auto it = r.waiting.find(d.kind); it != r.waiting.end() && r.registrar)
    for (auto& [op, fn] : it->second) r.registrar(kind, op.c_str(), fn);
  return kind;
}

void on_register(void (*listener)(uint8_t kind)) {
  Registry& r = registry();
  r.listeners.push_back(listener);
  for (uint32_t i = 0; i < r.size.load(); ++i) listener(static_cast<uint8_t>(i));
}

void set_kernel_registrar(KernelRegistrar registrar) { registry().registrar = registrar; }

bool has_compiler(const PdDevice& d) {
  return d.dialect && d.compile && d.module_destroy && d.module_kernel && d.kernel_destroy && d.launch;
}

uint8_t load_plugin(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  check(library, ErrorKind::kOS, "[device] can't open plugin '{}': {}", path, library ? "" : dlerror());
  auto init = reinterpret_cast<PdDeviceInit>(dlsym(library, "paddle_device_init"));
  check(init, ErrorKind::kValue, "[device] plugin '{}' exports no paddle_device_init", path);
  static const PdHost host{sizeof(PdHost), PD_DEVICE_API_VERSION, host_log, host_register_kernel};
  PdDevice d{};
  d.size = sizeof(PdDevice);
  PdStatus s = init(&host, &d);
  check(s.code == PD_OK, ErrorKind::kRuntime, "[device] plugin '{}' failed to start: {}", path,
        s.message ? s.message : "no message");
  return register_device(d);
}

namespace {

struct EnvironmentPlugins {
  std::string failures;  // "; plugin '/x.so' ..." for each that could not be used

  EnvironmentPlugins() {
    const char* root = std::getenv("CUSTOM_DEVICE_ROOT");
    std::istringstream folders(root ? root : "");
    for (std::string folder; std::getline(folders, folder, ':');)
      if (!folder.empty()) load_folder(folder);
  }

  void load_folder(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (auto& entry : std::filesystem::directory_iterator(folder, error))
      if (entry.path().extension() == ".so") files.push_back(entry.path());
    if (error) failures += fmt::format("; folder '{}' of CUSTOM_DEVICE_ROOT: {}", folder, error.message());
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      try {
        load_plugin(file);
      } catch (const Error& e) {
        failures += fmt::format("; plugin '{}': {}", file, e.what());
      }
    }
  }
};

const EnvironmentPlugins& environment_plugins() {
  static const EnvironmentPlugins plugins;
  return plugins;
}

}  // namespace

void load_environment_plugins() { environment_plugins(); }

const PdDevice& table(uint8_t kind) {
  Registry& r = registry();
  check(kind < r.size.load(std::memory_order_acquire), ErrorKind::kValue, "[device] no device kind {}", kind);
  return r.tables[kind];
}

std::vector<std::string> kinds() {
  load_environment_plugins();
  Registry& r = registry();
  std::vector<std::string> out;
  for (uint32_t i = 0; i < r.size.load(); ++i) out.emplace_back(r.tables[i].kind);
  return out;
}

int32_t count(uint8_t kind) {
  int32_t n = 0;
  check_status(table(kind).count(&n), Place{kind, 0}, "count");
  return n;
}

PdDeviceFacts facts(Place p) {
  PdDeviceFacts f{};
  f.size = sizeof f;
  check_status(table(p).facts(p.index, &f), p, "facts");
  return f;
}

void check_status(PdStatus s, Place place, const char* what) {
  if (s.code == PD_OK) [[likely]]
    return;
  ErrorKind kind = s.code == PD_ERROR_OUT_OF_MEMORY      ? ErrorKind::kMemory
                   : s.code == PD_ERROR_INVALID_ARGUMENT ? ErrorKind::kValue
                   : s.code == PD_ERROR_UNSUPPORTED      ? ErrorKind::kNotImplemented
                                                         : ErrorKind::kRuntime;
  fail(kind, "[device] {} on {} failed: {}", what, to_string(place), s.message ? s.message : "no message");
}

void copy(void* dst, Place dst_place, const void* src, Place src_place, size_t bytes) {
  if (bytes == 0) return;
  if (dst_place.is_cpu() && src_place.is_cpu()) {
    std::memcpy(dst, src, bytes);
  } else if (dst_place.is_cpu()) {
    check_status(table(src_place).copy_to_host(src_place.index, nullptr, dst, src, bytes), src_place, "copy_to_host");
    synchronize(src_place);
  } else if (src_place.is_cpu()) {
    check_status(table(dst_place).copy_to_device(dst_place.index, nullptr, dst, src, bytes), dst_place,
                 "copy_to_device");
    synchronize(dst_place);
  } else if (dst_place == src_place) {
    check_status(table(dst_place).copy_on_device(dst_place.index, nullptr, dst, src, bytes), dst_place,
                 "copy_on_device");
    synchronize(dst_place);
  } else {
    std::string staging(bytes, '\0');
    copy(staging.data(), Place::cpu(), src, src_place, bytes);
    copy(dst, dst_place, staging.data(), Place::cpu(), bytes);
  }
}

void synchronize(Place p) { check_status(table(p).synchronize(p.index), p, "synchronize"); }

}  // namespace paddle::device

namespace paddle {

std::string to_string(Place p) {
  const char* kind = device::table(p).kind;
  return p.is_cpu() ? kind : fmt::format("{}:{}", kind, p.index);
}

Place place_from_string(const std::string& text) {
  size_t colon = text.find(':');
  std::string kind = text.substr(0, colon);
  auto kinds = device::kinds();
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != kind) continue;
    Place p{static_cast<uint8_t>(i), 0};
    if (colon != std::string::npos) {
      char* end = nullptr;
      long index = std::strtol(text.c_str() + colon + 1, &end, 10);
      check(end && *end == 0 && end != text.c_str() + colon + 1 && index >= 0 && index < device::count(p.kind),
            ErrorKind::kValue, "[device] expected an index in [0, {}) after '{}:', got '{}'", device::count(p.kind),
            kind, text.substr(colon + 1));
      p.index = static_cast<int16_t>(index);
    }
    return p;
  }
  std::string have;
  for (auto& k : kinds) have += (have.empty() ? "" : ", ") + k;
  fail(ErrorKind::kValue, "[device] unknown device '{}'; there are: {}{}", text, have,
       device::environment_plugins().failures);
}

}  // namespace paddle
