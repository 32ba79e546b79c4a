// The activation that a fused operator names, in place and by the activation's own kernel.
#pragma once
#include <string_view>

#include "tensor/tensor.h"

namespace paddle::kernels {

// none, identity and "" leave x as it is. x is contiguous.
void activate(const Tensor& x, std::string_view name);

}  // namespace paddle::kernels
