// Operators on lists of tensors (builtin.combine and its kin): they have no records.
#pragma once
#include "cinn/group/translator.h"

namespace paddle::cinn {

IndexRule list_rule(const pir::Operation& op);  // null: none of them

}  // namespace paddle::cinn
