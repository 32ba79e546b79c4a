#include "pir/effects.h"

namespace paddle::pir {
namespace {

bool free_of(const Operation& op, uint64_t traits) {
  if (op.has(traits)) return false;
  bool free = true;
  const_cast<Operation&>(op).walk([&](Operation& inner) {
    // Inside, yields end blocks and that is all they do.
    if (&inner != &op && inner.has(traits & ~uint64_t{kTerminator})) free = false;
  });
  return free;
}

}  // namespace

bool is_removable(const Operation& op) { return op.num_regions() ? free_of(op, kKeep) : !op.has(kKeep); }
bool is_mergeable(const Operation& op) { return op.num_regions() ? free_of(op, kDistinct) : !op.has(kDistinct); }

}  // namespace paddle::pir
