// From a program to instructions.
#pragma once
#include "executor/instruction.h"

namespace paddle::executor {

void lower(Executable& e, GroupCode* groups);

}  // namespace paddle::executor
