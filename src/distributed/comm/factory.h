// Process groups by the name of a back end, as init_parallel_env and new_group ask for them.
#pragma once
#include "distributed/comm/process_group.h"
#include "distributed/comm/store.h"

namespace paddle::comm {

struct BackendOptions {
  std::string host;       // this machine's address as others can reach it (gloo)
  std::string interface;  // or its network interface
};

// Collective: all members call it.
using BackendFactory = ProcessGroupPtr (*)(StorePtr store, GroupInfo info, const BackendOptions& options);

// Back ends that other components bring ("gloo", "nccl") are registered by them; "shared_memory" is there. Registering
// again replaces.
void register_backend(const std::string& name, BackendFactory factory);
// Brings a back end that nobody has registered yet (it lies in a library of its own); says why it can't, or nothing.
void set_backend_loader(std::string (*load)(const std::string& name));

// "auto" (or ""): shared memory if all members are on one machine and /dev/shm is large enough, else gloo. Raises a
// ValueError for an unknown name, listing the known ones, and says why a known one can't be had.
ProcessGroupPtr create_group(const std::string& backend, StorePtr store, GroupInfo info,
                             const BackendOptions& options = {});

}  // namespace paddle::comm
