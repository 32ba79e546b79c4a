// What a kernel moves and computes, counted from its loops.
#pragma once
#include <optional>

#include "cinn/loop/ast.h"

namespace paddle::cinn {

struct KernelTraffic {
  int64_t bytes = 0;  // of the elements that it reads and writes in buffers that all threads see, each buffer once
  int64_t flops = 0;  // scalar functions on floats, whatever each costs, and combinations of reductions
};

// Empty where a size is known only when it runs.
std::optional<KernelTraffic> traffic_of(const Module& module, const Kernel& kernel);

}  // namespace paddle::cinn
