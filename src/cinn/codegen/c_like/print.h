// print_c: the loop AST as source text of a C-like language.
#pragma once
#include <string>

#include "cinn/codegen/c_like/dialect.h"
#include "cinn/loop/ast.h"

namespace paddle::cinn {

// One function per kernel, named as it is. Parameters: every buffer of the module in order (inputs, outputs), then the
// workspace and the thread's scratch memory as bytes, then one int64 per symbol, then begin and end of the range of
// iterations.
std::string print_c(const Module& module, const Dialect& dialect);

}  // namespace paddle::cinn
