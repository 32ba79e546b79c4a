// An axis cut into chunks, and the reductions along it cut in two.
#pragma once
#include "cinn/compute/axes.h"

namespace paddle::cinn {

// Makes `axis` chunk, axis in every node: chunks of `length`, the last may be shorter. Returns the chunk axis.
int cut_axis(Group& group, Axes& axes, int axis, const Index& length);

// Every reduction over both axes becomes a partial one that keeps the chunk, and a short one over the chunks
// (`combine_inline`). Centred sums (centred.h) keep each chunk's own mean, so that no partial one waits for another.
void cut_reductions(Group& group, Axes& axes, int axis, int chunk);

}  // namespace paddle::cinn
