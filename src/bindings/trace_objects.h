// Python objects that own C++ ones, and what the files of paddle._core.trace share.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "bindings/py.h"
#include "dispatch/trace.h"

namespace paddle::bindings {

// A Python object that owns a C++ one.
template <class T>
struct Boxed {
  PyObject_HEAD vectorcallfunc vectorcall;
  T* value;
};
template <class T>
T& unbox(PyObject* o) {
  return *reinterpret_cast<Boxed<T>*>(o)->value;
}
template <class T>
PyObject* box(PyTypeObject* type, std::unique_ptr<T> value) {
  auto* o = reinterpret_cast<Boxed<T>*>(must(type->tp_alloc(type, 0)));
  o->value = value.release();
  return reinterpret_cast<PyObject*>(o);
}
template <class T>
void dealloc(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  delete reinterpret_cast<Boxed<T>*>(o)->value;
  type->tp_free(o);
  Py_DECREF(type);
}
template <class F>
PyType_Slot slot(int id, F* f) {
  return {id, reinterpret_cast<void*>(f)};
}

PyTypeObject* make_type(PyType_Spec& spec, PyObject* module, const char* name);
dispatch::Trace& active_capture();  // RuntimeError if there is none on this thread

// ---- values of a program: tensors, and lists of them (Array)
PyObject* wrap_array(Tensor t);
PyObject* wrap_value(const Tensor& t);
Tensor value_from(PyObject* o, const char* what);
Tensors values_from(PyObject* list, const char* what);
PyObject* wrap_values(const Tensors& values);

// None in `shape` is a new symbol, seen as `hint` says (or as nothing).
Shape shape_of_spec(PyObject* shape, PyObject* hint, const std::string& name);
dispatch::TraceRegion& region_of(PyObject* o);  // TypeError if it is none

void add_trace_programs(PyObject* module);
void add_trace_regions(PyObject* module);
void add_trace_arrays(PyObject* module);
void add_trace_gradients(PyObject* module);
void add_trace_signatures(PyObject* module);
void add_capture(PyObject* module);

}  // namespace paddle::bindings
