// split_long_reductions: a sum over eight million numbers must not run on one thread, nor read them twice.
//
// Where the axes that a reduction keeps offer too few iterations for the threads, one reduced axis is cut into chunks.
// The reduction becomes two: a partial one that keeps the chunk, hence runs in parallel, and a short one over the
// chunks that each reader repeats for itself (`combine_inline`), so that no extra kernel or barrier is needed.
// Everything else that runs along the axis is cut the same way and stays fused.
//
// A centred sum (centred.h) over more than the cache holds is cut into blocks that fit, for one thread too.
#pragma once
#include <optional>

#include "cinn/compute/axes.h"
#include "cinn/schedule/target.h"

namespace paddle::cinn {

// True if it changed something.
bool split_long_reductions(Group& group, Axes& axes, const Target& target);

// The same for calls with few rows, where how many there are only the call knows: cuts reductions over constant extents
// whose kept axes are of symbolic size. Returns the number of rows that decides: below 2 * target.threads the group
// should be computed so. Nothing where there is no such reduction.
std::optional<Index> split_few_rows(Group& group, Axes& axes, const Target& target);

}  // namespace paddle::cinn
