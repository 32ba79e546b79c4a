// fuse_groups: puts operations that belong in one kernel, or a few, into cinn_op.group operations.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cinn/group/translate.h"
#include "cinn/jit/compiled.h"
#include "cinn/jit/device.h"
#include "pir/operation.h"

namespace paddle::cinn {

// Why two operations stand in one group, or don't.
struct FusionDecision {
  const pir::Operation* first;  // makes what the second reads, or reads the same tensor
  const pir::Operation* second;
  bool joined;
  std::string why;
};

struct FuseOptions {
  size_t max_ops = 200;  // of one group: compile time grows with it
  size_t min_ops = 2;    // that compute something; less runs by kernels
  // For a device without kernels: every operation that the compiler knows goes into a group, if need be one of its own.
  bool all = false;
  std::vector<FusionDecision>* decisions = nullptr;  // filled in the order in which they are taken
};

// In every block under `root`. A group's operands are the values that it uses from outside; its region holds the
// operations unchanged, uses these values directly, and ends in cf.yield of the results. The order of operations with
// effects is kept. Groups: an operation joins its producers' group unless that would make the group depend on itself.
// Returns how many.
size_t fuse_groups(pir::Operation& root, const FuseOptions& options = {});

// Makes fuse_groups known as the pass "cinn_fuse".
void register_fuse_pass();

// A cinn_op.group, compiled: run's inputs are the values in `inputs`, its outputs the group's results, its sizes the
// values of `symbols`. Raises NotImplementedError where the group can't be compiled: its operations then run one by
// one.
struct CompiledRegion {
  std::shared_ptr<const CompiledGroup> code;  // for the host
  std::shared_ptr<const DeviceGroup> device;  // else for a device
  std::vector<pir::Value> inputs;
  std::vector<Dim> symbols;
};
// batch: of the device that it is compiled for; null: the host.
CompiledRegion compile_region(const pir::Operation& group, const std::shared_ptr<DeviceBatch>& batch = nullptr);

// Moves a group's operations back to where the group stands.
void dissolve_group(pir::Operation& group);

}  // namespace paddle::cinn
