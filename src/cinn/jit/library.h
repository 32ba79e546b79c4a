// codegen(): the table of libpaddle_codegen.so, opened at the first call.
#pragma once
#include <string>

#include "cinn/codegen/llvm/api.h"

namespace paddle::cinn {

// Looked for beside the library that holds this code; the environment variable PADDLE_CODEGEN_LIBRARY overrides. Raises
// RuntimeError if it is missing or of another build.
const CodegenTable& codegen();

// Which build of the generator, for which processor: what it makes can run wherever this is the same. The library isn't
// opened. Empty where it is missing, or was linked without an id.
std::string codegen_identity();

}  // namespace paddle::cinn
