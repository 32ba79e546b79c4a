// Shared by the files of paddle._core.ir that define classes.
#pragma once
#include "bindings/ir.h"

namespace paddle::bindings {

template <class T>
T* fields(PyObject* o) {
  return reinterpret_cast<T*>(o);
}
template <class F>
PyType_Slot slot(int id, F* f) {
  return {id, reinterpret_cast<void*>(f)};
}
template <class T>
T* make(PyTypeObject* type) {
  return reinterpret_cast<T*>(must(type->tp_alloc(type, 0)));
}
inline PyObject* text(std::string_view s) {
  return must(PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
}
inline void append(PyObject* list, PyObject* owned) { must_zero(PyList_Append(list, own(owned).get())); }
inline PyObject* program_of_op(PyObject* o) { return fields<PyOperation>(o)->program; }

}  // namespace paddle::bindings
