// lower: from a group of tensor operations to kernels of loops. The list of steps is in lower.cc.
#pragma once
#include <functional>
#include <string_view>

#include "cinn/compute/group.h"
#include "cinn/loop/ast.h"
#include "cinn/schedule/target.h"

namespace paddle::cinn {

// Called after each step that changed something, with the result as text and the time that the step took.
using StepLog = std::function<void(std::string_view step, const std::string& text, double milliseconds)>;

// Raises NotImplementedError for what can't be compiled. log: null prints nothing and formats nothing.
Module lower(const Group& group, const Target& target, const StepLog& log = nullptr);

}  // namespace paddle::cinn
