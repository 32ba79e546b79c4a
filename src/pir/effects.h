// What passes may do with an operation, from its traits and those of what its regions hold.
#pragma once
#include <vector>

#include "pir/operation.h"

namespace paddle::pir {

bool is_removable(const Operation& op);  // if nothing uses its results
bool is_mergeable(const Operation& op);  // an equal operation before it may stand for it
// Its result is its operand, of the same type: an identity by trait, or a record whose expression is just its tensor.
bool is_identity(const Operation& op);
// The symbolic sizes in an operation's attributes and results; those of them in its results that its operands don't
// have: only running this operation tells them, so others may need it though they use none of its results.
void sizes_in(const Operation& op, std::vector<Dim>& out);
std::vector<Dim> sizes_told_by(const Operation& op);
inline bool is_dead(const Operation& op) { return op.results_unused() && is_removable(op); }

}  // namespace paddle::pir
