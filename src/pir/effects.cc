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
bool is_identity(const Operation& op) {
  if (op.num_operands() != 1 || op.num_results() != 1 || !op.operand(0) || op.num_regions()) return false;
  if (op.operand(0).type() != op.result().type()) return false;
  if (op.has(kIdentity)) return true;
  const scalar::Program* e = op.info() && !op.has(kKeep) ? op.info()->expr : nullptr;
  return e && e->instrs.empty() && e->num_inputs == 1 && e->outputs.size() == 1;
}

bool is_mergeable(const Operation& op) { return op.num_regions() ? free_of(op, kDistinct) : !op.has(kDistinct); }

}  // namespace paddle::pir
