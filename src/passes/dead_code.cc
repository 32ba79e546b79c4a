#include "passes/passes.h"
#include "pir/effects.h"

namespace paddle::passes {

using pir::Block;
using pir::Operation;
using pir::Region;

namespace {

// Backwards: users stand below definitions, so one sweep removes whole chains.
size_t sweep(Block& block) {
  size_t removed = 0;
  for (Operation* op = block.back(); op;) {
    Operation* previous = op->prev();
    if (pir::is_dead(*op)) {
      op->erase();
      ++removed;
    } else {
      for (size_t r = 0; r < op->num_regions(); ++r)
        for (size_t b = op->region(r).size(); b-- > 0;) removed += sweep(op->region(r).block(b));
    }
    op = previous;
  }
  return removed;
}

}  // namespace

size_t remove_dead_code(Operation& root) {
  size_t removed = 0;
  for (size_t r = 0; r < root.num_regions(); ++r)
    for (size_t b = root.region(r).size(); b-- > 0;) removed += sweep(root.region(r).block(b));
  return removed;
}

}  // namespace paddle::passes
