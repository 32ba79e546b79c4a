// The code of a program's groups (cinn_op.group), where it was compiled before the program comes to the executor.
#pragma once
#include <unordered_map>

#include "cinn/group/fuse.h"

namespace paddle::executor {

struct GroupCode {
  std::unordered_map<const pir::Operation*, cinn::CompiledRegion> of;
};

}  // namespace paddle::executor
