// The dtype that floating-point numbers get where nothing else says so: paddle.set_default_dtype. Part of the Context.
#pragma once
#include "tensor/dtype.h"

namespace paddle {

DType default_dtype();  // float32 at first
void set_default_dtype(DType t);

}  // namespace paddle
