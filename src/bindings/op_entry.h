// What the operators' entry points share with the rest of the binding.
#pragma once
#include "bindings/py.h"

namespace paddle::bindings {
// The dtype of a Python number that meets a tensor of dtype `other` (kUndefined: meets none): numbers don't widen
// tensors.
DType number_dtype(const Scalar& s, DType other);
void assign_out(Tensor& target, const Tensor& value);
int64_t dim_as_int(PyObject* o);
}  // namespace paddle::bindings
