// codegen(): the table of libpaddle_codegen.so, opened at the first call.
#pragma once
#include "cinn/codegen/llvm/api.h"

namespace paddle::cinn {

// Looked for beside the library that holds this code; the environment variable PADDLE_CODEGEN_LIBRARY overrides. Raises
// RuntimeError if it is missing or of another build.
const CodegenTable& codegen();

}  // namespace paddle::cinn
