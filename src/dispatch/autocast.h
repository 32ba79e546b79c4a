// Autocast: inputs of an operator are cast by its record's `amp` rule before the call goes on.
#pragma once
#include <string>
#include <unordered_set>

#include "dispatch/dispatch.h"

namespace paddle::dispatch {

struct AmpState {
  int level = 0;  // 0: off, 1: white list in low precision, 2: all but the black list
  DType dtype = DType::kFloat16;
  std::unordered_set<std::string> white, black;  // the caller's own lists; they win over the records
};

const AmpState& amp_state();
void set_amp_state(AmpState state);  // pushes or pops the interpreter on this thread as needed

}  // namespace paddle::dispatch
