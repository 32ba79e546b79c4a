// emit_kernel: one kernel of the loop AST as an LLVM function with the signature of KernelFn.
#pragma once
#include <llvm/IR/Module.h>

#include "cinn/codegen/llvm/api.h"

namespace paddle::cinn {

struct EmitTarget {
  int vector_bytes = 16;
  bool avx512 = false;
  bool avx512_bf16 = false;
  bool streaming = true;
  bool fast_math = true;
};

void emit_kernel(const Module& module, const Kernel& kernel, const EmitTarget& target, llvm::Module& out);

}  // namespace paddle::cinn
