// key_of: everything in a module that its machine code depends on, as bytes. Equal keys, equal code, in any process of
// the same build; Module::str() is for people and leaves out what they don't ask for.
#pragma once
#include <string>

#include "cinn/loop/ast.h"

namespace paddle::cinn {

std::string key_of(const Module& module);

}  // namespace paddle::cinn
