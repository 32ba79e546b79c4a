// How a program says that a part of it is to be computed again in the backward pass rather than kept: attributes of the
// operations that were captured inside of a recompute region.
#pragma once
#include "pir/operation.h"

namespace paddle::pir {

// i64s: the regions around the operation, outermost first.
inline constexpr const char* kRecompute = "recompute";
// i64: a random operator's draw has this name within the program. The first that runs draws; one that has kReplayed
// takes what was drawn.
inline constexpr const char* kRandomKey = "random_key";
inline constexpr const char* kReplayed = "replayed";

std::vector<int64_t> recompute_path(const Operation& op);

}  // namespace paddle::pir
