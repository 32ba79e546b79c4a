// Objects that the code generator wrote, loaded into this process. Nothing of LLVM is needed for it: where all code
// comes from the disk, the generator's library is never opened.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "cinn/codegen/llvm/api.h"

namespace paddle::cinn {

class LoadedObject {
 public:
  // A relocatable ELF object for this kind of processor that defines kernel0, kernel1, ... What it calls is looked for
  // among library_functions(), then in the process. RuntimeError for bytes that aren't such an object, and for what
  // they ask for that isn't there.
  LoadedObject(std::string_view object, size_t num_kernels);
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  KernelFn kernel(size_t i) const { return kernels_[i]; }

 private:
  void release();
  std::vector<KernelFn> kernels_;
  void* memory_ = nullptr;
  size_t size_ = 0;
};

}  // namespace paddle::cinn
