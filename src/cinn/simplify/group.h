// simplify_group: equal nodes become one, and what no output needs goes. Captured programs compute the same mean, or
// the same broadcast, again and again; a reduction that exists once is one pass less over memory.
#pragma once
#include "cinn/compute/group.h"

namespace paddle::cinn {

Group simplify_group(const Group& group);

}  // namespace paddle::cinn
