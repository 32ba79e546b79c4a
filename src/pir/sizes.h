// Symbolic sizes in operations.
#pragma once
#include "pir/operation.h"

namespace paddle::pir {

// Applies `to` to every size in the operation's results and attributes; not to what its regions hold.
void map_sizes(Operation& op, const std::function<Dim(Dim)>& to);

}  // namespace paddle::pir
