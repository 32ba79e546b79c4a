#include "distributed/comm/factory.h"

#include <fmt/ranges.h>

#include <map>
#include <mutex>

#include "base/error.h"
#include "distributed/comm/board_group.h"

namespace paddle::comm {
namespace {

ProcessGroupPtr shared_memory(StorePtr store, GroupInfo info, const BackendOptions&) {
  return SharedMemoryGroup::create(std::move(store), std::move(info));
}

struct Registry {
  std::mutex mutex;
  std::map<std::string, BackendFactory> factories{{"shared_memory", shared_memory}};
  std::string (*load)(const std::string&) = nullptr;
};
Registry& registry() {
  static Registry* r = new Registry;
  return *r;
}

BackendFactory registered(const std::string& name) {
  std::lock_guard lock(registry().mutex);
  auto it = registry().factories.find(name);
  return it == registry().factories.end() ? nullptr : it->second;
}

// Null with the reason where there is none.
BackendFactory find(const std::string& name, std::string& reason) {
  if (BackendFactory factory = registered(name)) return factory;
  if (registry().load) reason = registry().load(name);
  return registered(name);
}

BackendFactory find(const std::string& name) {
  std::string reason;
  if (BackendFactory factory = find(name, reason)) return factory;
  check(reason.empty(), ErrorKind::kRuntime, "[init_parallel_env] the back end '{}' can't be opened: {}", name, reason);
  std::lock_guard lock(registry().mutex);
  std::vector<std::string> names;
  for (auto& [known, factory] : registry().factories) names.push_back(known);
  fail(ErrorKind::kValue, "[init_parallel_env] no communication back end is called '{}'; there are {}", name,
       fmt::join(names, ", "));
}

}  // namespace

void register_backend(const std::string& name, BackendFactory factory) {
  std::lock_guard lock(registry().mutex);
  registry().factories[name] = factory;
}

void set_backend_loader(std::string (*load)(const std::string& name)) { registry().load = load; }

ProcessGroupPtr create_group(const std::string& backend, StorePtr store, GroupInfo info,
                             const BackendOptions& options) {
  if (!backend.empty() && backend != "auto") return find(backend)(std::move(store), std::move(info), options);
  try {
    return SharedMemoryGroup::create(store, info);
  } catch (const Error& e) {
    // What shared memory refuses, it refuses on every rank, so all go on to gloo together. A missing rank stays
    // missing.
    if (e.kind() == ErrorKind::kTimeout) throw;
    std::string reason;
    BackendFactory gloo = find("gloo", reason);
    if (!gloo) fail(e.kind(), "{}{}{}", e.what(), reason.empty() ? "" : "; Gloo can't be opened: ", reason);
    return gloo(std::move(store), std::move(info), options);
  }
}

}  // namespace paddle::comm
