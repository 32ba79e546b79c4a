// print_c: the loop AST as source text of a C-like language.
#pragma once
#include <string>

#include "cinn/codegen/c_like/dialect.h"
#include "cinn/loop/ast.h"

namespace paddle::cinn {

// One function per kernel, named as it is. Parameters: the inputs, the outputs, then the workspace as bytes (in
// dialects of parallel devices only if there are temporaries), the thread's scratch memory as bytes (other dialects
// only), one int64 per symbol, then begin and end of the range of iterations.
std::string print_c(const Module& module, const Dialect& dialect);

// The parts, for sources that hold several modules: the kernels alone, `prefix` put before their names; and the prelude
// and helper functions added to kernels.
std::string print_kernels(const Module& module, const Dialect& dialect, const std::string& prefix);
std::string whole_source(const std::string& kernels, const Dialect& dialect);

}  // namespace paddle::cinn
