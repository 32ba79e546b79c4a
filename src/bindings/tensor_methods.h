// The parts that the Tensor class is put together from.
#pragma once
#include <vector>

#include "bindings/py.h"

namespace paddle::bindings {
PyMethodDef* tensor_methods();              // numpy, item, backward, hooks, ...
std::vector<PyType_Slot> number_slots();    // + - * / and comparisons
std::vector<PyType_Slot> indexing_slots();  // x[...], x[...] = v
PyMethodDef dlpack_export();                // __dlpack__
PyMethodDef dlpack_device();                // __dlpack_device__
int64_t guard_int64(Dim d);                 // a symbolic extent as a number, under a guard
}  // namespace paddle::bindings
