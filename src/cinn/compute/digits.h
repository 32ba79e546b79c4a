// How many digits of a value are seen in the end.
#pragma once
#include <vector>

#include "cinn/compute/group.h"

namespace paddle::cinn {

// By node: of float32, and whatever it becomes part of is rounded to bfloat16 before anybody sees it, by operations on
// the way that keep relative errors as they are or add few of them: an error of 2^-13 here is an eighth of bfloat16's
// rounding there. A softmax of bfloat16 that computes in float32 has such exponentials.
std::vector<bool> count_as_bfloat(const Group& group);

}  // namespace paddle::cinn
