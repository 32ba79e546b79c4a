// paddle._core.trace: capture of programs. What python/paddle/jit/_trace_api.py describes.
#include "bindings/trace.h"

#include "bindings/trace_objects.h"
#include "bindings/trace_types.h"

namespace paddle::bindings {

PyObject* graph_break_class = nullptr;

PyTypeObject* make_type(PyType_Spec& spec, PyObject* module, const char* name) {
  auto* t = reinterpret_cast<PyTypeObject*>(must(PyType_FromSpec(&spec)));
  must_zero(PyModule_AddObjectRef(module, name, reinterpret_cast<PyObject*>(t)));
  return t;
}

namespace {

PyModuleDef definition{PyModuleDef_HEAD_INIT,
                       "paddle._core.trace",
                       "Capture of programs.",
                       -1,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace

void add_trace(PyObject* core) {
  Object module = own(PyModule_Create(&definition));
  graph_break_class = must(PyErr_NewExceptionWithDoc("paddle._core.trace.GraphBreak",
                                                     "The value of a tensor is needed while a program is captured.",
                                                     PyExc_RuntimeError, nullptr));
  must_zero(PyModule_AddObjectRef(module.get(), "GraphBreak", graph_break_class));
  must_zero(PyModule_AddObjectRef(module.get(), "Tensor", reinterpret_cast<PyObject*>(tensor_type)));
  add_capture(module.get());
  add_trace_programs(module.get());
  add_trace_regions(module.get());
  add_trace_arrays(module.get());
  add_trace_gradients(module.get());
  add_trace_signatures(module.get());
  add_trace_files(module.get());
  add_recompute(module.get());
  must_zero(PyModule_AddObjectRef(core, "trace", module.get()));
  // `from paddle._core import trace` finds the attribute; `import paddle._core.trace` looks here.
  must_zero(PyDict_SetItemString(PyImport_GetModuleDict(), "paddle._core.trace", module.get()));
}

}  // namespace paddle::bindings
