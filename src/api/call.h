// Declared here, defined by dispatch: what the generated functions call.
#pragma once
#include "api/op_call.h"

namespace paddle::dispatch {
void call(OpCall& c);
}
