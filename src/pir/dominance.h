// Which values an operation may use. A region's first block is where it is entered; there are no branches between
// blocks, so what a block defines is seen below it in the same block and in regions nested there.
#pragma once
#include "pir/operation.h"

namespace paddle::pir {

bool dominates(Value v, const Operation& user);
// Of operations in nested regions: where `op` or the operation that holds it lies in `block`; null if it isn't in it.
Operation* ancestor_in(const Block& block, Operation* op);
// Values that `op`'s regions use and that are defined outside of them, in order of first use.
std::vector<Value> captured_values(const Operation& op);
// Sorts the block so that definitions precede uses, keeping the order otherwise. False if there is a cycle.
bool sort_topologically(Block& block);

}  // namespace paddle::pir
