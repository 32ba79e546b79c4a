// make_groups: a block written anew, units as groups.
#pragma once
#include "cinn/group/units.h"

namespace paddle::cinn {

// grouped: by unit. Each group's operands are the values that it uses from outside, its results those that are used
// there. Returns how many groups there are; changes nothing where none is wanted.
size_t make_groups(pir::Block& block, const Units& units, const std::vector<bool>& grouped);

}  // namespace paddle::cinn
