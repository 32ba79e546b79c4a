// plan_kernels: which kernels compute the group, and how each runs over its data.
//
// The anchors are the reductions: those that keep the same axes share a kernel, whose parallel loop runs over these
// axes; inside, the rest of the group is computed in passes over the remaining axes, one pass for each step of
// dependence (softmax: max; sum of exp; quotient). What lies between is recomputed in each pass, or kept in the
// thread's scratch memory where recomputing costs more than reading. No profiling: extents are compared with the
// target's facts.
#pragma once
#include <string>

#include "cinn/compute/axes.h"
#include "cinn/schedule/target.h"

namespace paddle::cinn {

// Something to be written to memory: an output, or a reduction that a later kernel reads.
struct StorePlan {
  int node;
  bool temporary;
  int slot;  // of the outputs, or of Plan::temporaries
};

struct PassPlan {
  AxisList axes;  // loops besides the parallel ones, outermost first
  std::vector<int> reductions;
  std::vector<StorePlan> stores;
  std::vector<int> keep;     // evaluated here and kept in scratch memory for a later pass
  std::vector<int> prelude;  // by columns: evaluated once per column, before the loops
  int depth = 0;
};

struct KernelPlan {
  AxisList parallel;  // outermost first
  // Rows: the innermost loop of each pass runs along memory. Columns: the innermost parallel axis does, so iterations
  // take blocks of it, each pass runs over the block inside its own loops, and accumulators lie in scratch memory.
  bool by_columns = false;
  int vector_axis = -1;  // by columns: the parallel axis that runs along memory (-1: there is none, a scalar result)
  // By columns, nothing reduced: a parallel axis along which an input runs (a transposed one). Iterations take tiles of
  // it, so that a line of the input, once fetched, serves the whole tile.
  int tile_axis = -1;
  bool by_group = false;  // devices with groups of threads: one iteration a group (Kernel::by_group)
  std::vector<PassPlan> passes;
  std::string why;  // what keeps it apart from the kernels before, for people; empty for the first
};

struct Plan {
  std::vector<KernelPlan> kernels;
  std::vector<int> temporaries;   // nodes, by slot
  std::vector<int> kernel_of;     // per node: where a reduction is computed, else -1
  std::vector<int> temporary_of;  // per node: slot, or -1
  std::string str(const Group& group) const;
};

Plan plan_kernels(const Group& group, const Axes& axes, const Target& target);

}  // namespace paddle::cinn
