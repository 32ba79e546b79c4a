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
};
Registry& registry() {
  static Registry* r = new Registry;
  return *r;
}

BackendFactory find(const std::string& name) {
  std::lock_guard lock(registry().mutex);
  auto it = registry().factories.find(name);
  if (it != registry().factories.end()) return it->second;
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

bool has_backend(const std::string& name) {
  std::lock_guard lock(registry().mutex);
  return registry().factories.contains(name);
}

ProcessGroupPtr create_group(const std::string& backend, StorePtr store, GroupInfo info,
                             const BackendOptions& options) {
  if (!backend.empty() && backend != "auto") return find(backend)(std::move(store), std::move(info), options);
  try {
    return SharedMemoryGroup::create(store, info);
  } catch (const Error& e) {
    // What shared memory refuses, it refuses on every rank, so all go on to gloo together. A missing rank stays
    // missing.
    if (e.kind() == ErrorKind::kTimeout || !has_backend("gloo")) throw;
    return find("gloo")(std::move(store), std::move(info), options);
  }
}

}  // namespace paddle::comm
