// The operations that have no record: what programs are glued together with. Described by tables, as all others.
#pragma once
#include <vector>

#include "pir/op_def.h"

namespace paddle::pir {

// builtin, cf, cinn_op, dist_op, and pd_op's data, feed, fetch, if, while ...
std::vector<OpDef> builtin_dialects();

}  // namespace paddle::pir
