// The shape rule of a record, where sizes may be symbols.
#pragma once
#include "api/op_call.h"

namespace paddle::pir {

// Runs the rule. Each size that follows from a tensor's value is a symbol that some result has by itself.
void infer_metas(OpCall& call);

}  // namespace paddle::pir
