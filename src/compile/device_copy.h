// Copies between strided tensors of one device, by kernels that CINN's C-like back end prints.
#pragma once
#include "tensor/tensor.h"

namespace paddle::compile {

// Same shape and dtype, same place; a device with a compiler.
void copy_strided(const Tensor& dst, const Tensor& src);

}  // namespace paddle::compile
