// What the code of one operator call depends on, as a string of bytes: a key for caches.
#pragma once
#include <string>

#include "api/op_call.h"

namespace paddle::compile {

// The operator, in-place or not, the place, dtypes and shapes of tensors, and the values of all other arguments.
std::string call_key(const OpCall& c);

// Updates read their floats (learning rates) when they run: these are no part of the key.
inline bool reads_numbers_at_run(const OpInfo& op) { return op.has(kInplaceOnly); }

}  // namespace paddle::compile
