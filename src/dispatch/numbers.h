// Numbers that are given as tensors.
#pragma once
#include "tensor/scalar_value.h"

namespace paddle::dispatch {

// A concrete tensor's element, a number of the tensor's kind.
Scalar read_number(const Scalar& tensor);

}  // namespace paddle::dispatch
