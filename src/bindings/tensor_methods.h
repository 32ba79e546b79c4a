// The parts that the Tensor class is put together from.
#pragma once
#include <vector>

#include "bindings/py.h"

namespace paddle::bindings {
PyMethodDef* tensor_methods();              // numpy, item, detach, ... and those of grad_methods()
std::vector<PyMethodDef> grad_methods();    // backward, hooks, clear_grad, ...
void add_grad_functions(PyObject* module);  // collect_grads, clear_gradients
std::vector<PyType_Slot> number_slots();    // + - * / and comparisons
std::vector<PyType_Slot> indexing_slots();  // x[...], x[...] = v
PyMethodDef dlpack_export();                // __dlpack__
PyMethodDef dlpack_device();                // __dlpack_device__
inline PyMethodDef with_keywords(const char* name, PyCFunctionWithKeywords f, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f)), METH_VARARGS | METH_KEYWORDS, doc};
}
int64_t guard_int64(Dim d);  // a symbolic extent as a number, under a guard
}  // namespace paddle::bindings
