// Helper functions that printed kernels call: plain arithmetic in every dialect, put before the kernels as needed.
#pragma once
#include <string>

#include "cinn/codegen/c_like/dialect.h"

namespace paddle::cinn {

// The helpers that `text` calls, and those that these call, in an order in which each stands before its callers.
std::string helpers_for(const std::string& text, const Dialect& dialect);

}  // namespace paddle::cinn
