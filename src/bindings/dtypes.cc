// paddle.float32 and its kin, and places, as Python objects.
#include "bindings/py.h"

#include <array>

#include "base/context.h"
#include "base/error.h"
#include "device/default_place.h"
#include "device/registry.h"
#include "tensor/default_dtype.h"

namespace paddle::bindings {
namespace {

struct PyDType {
  PyObject_HEAD DType value;
};
PyTypeObject* dtype_type = nullptr;
std::array<PyObject*, static_cast<size_t>(DType::kCount)> dtypes{};

DType value_of(PyObject* self) { return reinterpret_cast<PyDType*>(self)->value; }

PyObject* dtype_repr(PyObject* self) {
  return PyUnicode_FromFormat("paddle.%s", std::string(name_of(value_of(self))).c_str());
}
Py_hash_t dtype_hash(PyObject* self) { return static_cast<Py_hash_t>(value_of(self)) + 1; }

PyObject* dtype_compare(PyObject* a, PyObject* b, int op) {
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  bool same;
  if (Py_TYPE(b) == dtype_type) {
    same = a == b;
  } else if (PyUnicode_Check(b)) {
    const char* text = PyUnicode_AsUTF8(b);
    if (!text) return nullptr;
    std::string_view name(text);
    if (name.starts_with("paddle.")) name.remove_prefix(7);
    same = dtype_from_name(name) == value_of(a);
  } else {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return PyBool_FromLong(same == (op == Py_EQ));
}

// Attributes that torch-style callers ask of a dtype.
PyObject* get_itemsize(PyObject* self, void*) { return PyLong_FromSize_t(size_of(value_of(self))); }
PyObject* get_floating(PyObject* self, void*) { return PyBool_FromLong(is_float(value_of(self))); }
PyObject* get_complex(PyObject* self, void*) { return PyBool_FromLong(is_complex(value_of(self))); }
PyObject* get_signed(PyObject* self, void*) {
  DType t = value_of(self);
  return PyBool_FromLong(is_inexact(t) || is_signed_int(t));
}
PyObject* get_name(PyObject* self, void*) {
  static constexpr const char* names[] = {"UNDEFINED",  "BOOL",          "UINT8",      "INT8",    "INT16",
                                          "INT32",      "INT64",         "UINT16",     "UINT32",  "UINT64",
                                          "FLOAT16",    "BFLOAT16",      "FLOAT32",    "FLOAT64", "COMPLEX64",
                                          "COMPLEX128", "FLOAT8_E4M3FN", "FLOAT8_E5M2"};
  return PyUnicode_FromString(names[static_cast<size_t>(value_of(self))]);
}
PyObject* dtype_reduce(PyObject* self, PyObject*) {
  std::string name(name_of(value_of(self)));
  Object module(PyImport_ImportModule("paddle._core"));
  if (!module) return nullptr;
  Object fn(PyObject_GetAttrString(module.get(), "dtype"));
  if (!fn) return nullptr;
  return Py_BuildValue("O(s)", fn.get(), name.c_str());
}

PyObject* dtype_new(PyTypeObject*, PyObject* args, PyObject*) {
  return guard([&]() -> PyObject* {
    PyObject* value;
    if (!PyArg_ParseTuple(args, "O", &value)) throw PythonError();
    return wrap_dtype(dtype_from(value, "dtype"));
  });
}

PyGetSetDef dtype_getset[] = {{"itemsize", get_itemsize, nullptr, "bytes of one element", nullptr},
                              {"is_floating_point", get_floating, nullptr, nullptr, nullptr},
                              {"is_complex", get_complex, nullptr, nullptr, nullptr},
                              {"is_signed", get_signed, nullptr, nullptr, nullptr},
                              {"name", get_name, nullptr, nullptr, nullptr},
                              {}};
PyMethodDef dtype_methods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, nullptr}, {}};
PyType_Slot dtype_slots[] = {{Py_tp_repr, reinterpret_cast<void*>(dtype_repr)},
                             {Py_tp_hash, reinterpret_cast<void*>(dtype_hash)},
                             {Py_tp_richcompare, reinterpret_cast<void*>(dtype_compare)},
                             {Py_tp_getset, dtype_getset},
                             {Py_tp_methods, dtype_methods},
                             {Py_tp_new, reinterpret_cast<void*>(dtype_new)},
                             {Py_tp_doc, const_cast<char*>("An element type, such as paddle.float32.")},
                             {0, nullptr}};
PyType_Spec dtype_spec{"paddle.dtype", sizeof(PyDType), 0, Py_TPFLAGS_DEFAULT, dtype_slots};

// ---- places
struct PyPlace {
  PyObject_HEAD Place value;
};
PyTypeObject* place_type = nullptr;
PyTypeObject* cpu_place_type = nullptr;
PyTypeObject* custom_place_type = nullptr;

PyObject* make_place(PyTypeObject* type, Place p) {
  auto* o = reinterpret_cast<PyPlace*>(must(type->tp_alloc(type, 0)));
  o->value = p;
  return reinterpret_cast<PyObject*>(o);
}

PyObject* place_repr(PyObject* self) {
  return guard([&] {
    Place p = reinterpret_cast<PyPlace*>(self)->value;
    std::string kind = device::table(p).kind;
    return must(
        PyUnicode_FromString(("Place(" + (p.is_cpu() ? kind : kind + ":" + std::to_string(p.index)) + ")").c_str()));
  });
}
PyObject* place_compare(PyObject* a, PyObject* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(b, place_type)) Py_RETURN_NOTIMPLEMENTED;
  bool same = reinterpret_cast<PyPlace*>(a)->value == reinterpret_cast<PyPlace*>(b)->value;
  return PyBool_FromLong(same == (op == Py_EQ));
}
Py_hash_t place_hash(PyObject* self) {
  Place p = reinterpret_cast<PyPlace*>(self)->value;
  return (p.kind << 16) + p.index + 1;
}
PyObject* is_cpu_place(PyObject* self, PyObject*) {
  return PyBool_FromLong(reinterpret_cast<PyPlace*>(self)->value.is_cpu());
}
PyObject* no_place(PyObject*, PyObject*) { Py_RETURN_FALSE; }
PyObject* is_custom_place(PyObject* self, PyObject*) {
  return PyBool_FromLong(!reinterpret_cast<PyPlace*>(self)->value.is_cpu());
}
PyObject* get_device_id(PyObject* self, PyObject*) {
  return PyLong_FromLong(reinterpret_cast<PyPlace*>(self)->value.index);
}
PyObject* get_device_type(PyObject* self, PyObject*) {
  return guard([&] { return must(PyUnicode_FromString(device::table(reinterpret_cast<PyPlace*>(self)->value).kind)); });
}
PyObject* cpu_place_new(PyTypeObject* type, PyObject*, PyObject*) {
  return guard([&] { return make_place(type, Place::cpu()); });
}
PyObject* custom_place_new(PyTypeObject* type, PyObject* args, PyObject*) {
  return guard([&] {
    const char* kind;
    int index = 0;
    if (!PyArg_ParseTuple(args, "s|i", &kind, &index)) throw PythonError();
    return make_place(type, place_from_string(std::string(kind) + ":" + std::to_string(index)));
  });
}
PyObject* place_new(PyTypeObject* type, PyObject*, PyObject*) {
  return guard([&] { return make_place(type, Place::cpu()); });
}

PyMethodDef place_methods[] = {{"is_cpu_place", is_cpu_place, METH_NOARGS, nullptr},
                               {"is_gpu_place", no_place, METH_NOARGS, nullptr},
                               {"is_cuda_pinned_place", no_place, METH_NOARGS, nullptr},
                               {"is_xpu_place", no_place, METH_NOARGS, nullptr},
                               {"is_xpu_pinned_place", no_place, METH_NOARGS, nullptr},
                               {"is_ipu_place", no_place, METH_NOARGS, nullptr},
                               {"is_custom_place", is_custom_place, METH_NOARGS, nullptr},
                               {"get_device_id", get_device_id, METH_NOARGS, nullptr},
                               {"gpu_device_id", get_device_id, METH_NOARGS, nullptr},
                               {"xpu_device_id", get_device_id, METH_NOARGS, nullptr},
                               {"ipu_device_id", get_device_id, METH_NOARGS, nullptr},
                               {"get_device_type", get_device_type, METH_NOARGS, nullptr},
                               {"custom_device_type", get_device_type, METH_NOARGS, nullptr},
                               {"custom_device_id", get_device_id, METH_NOARGS, nullptr},
                               {}};
PyType_Slot place_slots[] = {{Py_tp_repr, reinterpret_cast<void*>(place_repr)},
                             {Py_tp_hash, reinterpret_cast<void*>(place_hash)},
                             {Py_tp_richcompare, reinterpret_cast<void*>(place_compare)},
                             {Py_tp_methods, place_methods},
                             {Py_tp_new, reinterpret_cast<void*>(place_new)},
                             {0, nullptr}};
PyType_Spec place_spec{"paddle.base.libpaddle.Place", sizeof(PyPlace), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                       place_slots};
char cpu_doc[] = "The memory and the processors of this machine: CPUPlace().";
PyType_Slot cpu_slots[] = {{Py_tp_new, reinterpret_cast<void*>(cpu_place_new)}, {Py_tp_doc, cpu_doc}, {0, nullptr}};
PyType_Spec cpu_spec{"paddle.CPUPlace", sizeof(PyPlace), 0, Py_TPFLAGS_DEFAULT, cpu_slots};
char custom_doc[] = "A device of a plugin: CustomPlace(kind, index=0). ValueError where no plugin brings that kind.";
PyType_Slot custom_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(custom_place_new)}, {Py_tp_doc, custom_doc}, {0, nullptr}};
PyType_Spec custom_spec{"paddle.CustomPlace", sizeof(PyPlace), 0, Py_TPFLAGS_DEFAULT, custom_slots};

PyTypeObject* derive(PyType_Spec* spec, PyTypeObject* base) {
  Object bases = own(PyTuple_Pack(1, base));
  return reinterpret_cast<PyTypeObject*>(must(PyType_FromSpecWithBases(spec, bases.get())));
}

}  // namespace

DType default_dtype() { return paddle::default_dtype(); }
void set_default_dtype(DType t) { paddle::set_default_dtype(t); }

PyObject* wrap_dtype(DType t) {
  PyObject* o = dtypes[static_cast<size_t>(t)];
  Py_INCREF(o);
  return o;
}

bool is_dtype_like(PyObject* o) { return Py_TYPE(o) == dtype_type || PyUnicode_Check(o) || PyType_Check(o); }

DType dtype_from(PyObject* o, const char* what) {
  if (Py_TYPE(o) == dtype_type) return value_of(o);
  std::string name;
  if (PyUnicode_Check(o)) {
    name = PyUnicode_AsUTF8(o);
    if (name.starts_with("paddle.")) name = name.substr(7);
  } else if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
    return DType::kFloat64;  // as NumPy reads it
  } else if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) {
    return DType::kInt64;
  } else if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) {
    return DType::kBool;
  } else if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) {
    return DType::kComplex128;
  } else if (PyType_Check(o)) {  // numpy.float32
    name = reinterpret_cast<PyTypeObject*>(o)->tp_name;
    name = name.substr(name.rfind('.') + 1);
    if (name == "bool_") name = "bool";
  } else if (Object n{PyObject_GetAttrString(o, "name")}; n && PyUnicode_Check(n.get())) {  // numpy.dtype("float32")
    name = PyUnicode_AsUTF8(n.get());
  } else {
    PyErr_Clear();
    name = Py_TYPE(o)->tp_name;
  }
  DType t = dtype_from_name(name);
  check(t != DType::kUndefined, ErrorKind::kType, "[{}] expected a dtype such as 'float32', got '{}'", what, name);
  return t;
}

PyObject* wrap_place(Place p) { return make_place(p.is_cpu() ? cpu_place_type : custom_place_type, p); }

Place place_from(PyObject* o, const char* what) {
  if (PyObject_TypeCheck(o, place_type)) return reinterpret_cast<PyPlace*>(o)->value;
  if (PyUnicode_Check(o)) return place_from_string(PyUnicode_AsUTF8(o));
  fail(ErrorKind::kType, "[{}] expected a place or a device name, got {}", what, Py_TYPE(o)->tp_name);
}

void add_dtypes(PyObject* module) {
  dtype_type = reinterpret_cast<PyTypeObject*>(must(PyType_FromSpec(&dtype_spec)));
  for (size_t i = 0; i < dtypes.size(); ++i) {
    auto* o = reinterpret_cast<PyDType*>(must(dtype_type->tp_alloc(dtype_type, 0)));
    o->value = static_cast<DType>(i);
    dtypes[i] = reinterpret_cast<PyObject*>(o);
    if (i) must_zero(PyModule_AddObjectRef(module, std::string(name_of(o->value)).c_str(), dtypes[i]));
  }
  must_zero(PyModule_AddObjectRef(module, "dtype", reinterpret_cast<PyObject*>(dtype_type)));
  must_zero(PyModule_AddObjectRef(module, "DType", reinterpret_cast<PyObject*>(dtype_type)));
  place_type = reinterpret_cast<PyTypeObject*>(must(PyType_FromSpec(&place_spec)));
  cpu_place_type = derive(&cpu_spec, place_type);
  custom_place_type = derive(&custom_spec, place_type);
  must_zero(PyModule_AddObjectRef(module, "Place", reinterpret_cast<PyObject*>(place_type)));
  must_zero(PyModule_AddObjectRef(module, "CPUPlace", reinterpret_cast<PyObject*>(cpu_place_type)));
  must_zero(PyModule_AddObjectRef(module, "CustomPlace", reinterpret_cast<PyObject*>(custom_place_type)));
}

}  // namespace paddle::bindings
