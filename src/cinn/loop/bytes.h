// Modules as bytes and back. The bytes hold everything that machine code depends on and everything that running it asks
// for: they are the key under which code is kept, and what is kept of a finished program. Module::str() is for people
// and leaves out what they don't ask for.
#pragma once
#include <string>
#include <string_view>

#include "cinn/loop/ast.h"

namespace paddle::cinn {

std::string to_bytes(const Module& module);  // equal in every process of the same build
Module module_of(std::string_view bytes);    // ValueError for bytes that to_bytes() didn't make

}  // namespace paddle::cinn
