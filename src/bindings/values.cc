// Python values <-> scalars, lists of integers, shapes.
#include "bindings/py.h"

#include "base/error.h"

namespace paddle::bindings {

namespace {

PyTypeObject* size_type = nullptr;  // paddle.Size, a subclass of list without fields of its own

// The type is written in Python. Plain lists serve until it is there.
PyObject* set_size_type(PyObject*, PyObject* type) {
  return guard([&]() -> PyObject* {
    check(PyType_Check(type) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), &PyList_Type), ErrorKind::kType,
          "[set_size_type] expected a subclass of list");
    Py_INCREF(type);
    size_type = reinterpret_cast<PyTypeObject*>(type);
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {{"set_size_type", set_size_type, METH_O, "the class of shapes"}, {}};

}  // namespace

void add_values(PyObject* module) { add_functions(module, functions); }

PyObject* wrap_shape(std::span<const Dim> shape) {
  Object list = own(PyList_New(static_cast<Py_ssize_t>(shape.size())));
  for (size_t i = 0; i < shape.size(); ++i) PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), wrap_dim(shape[i]));
  if (!size_type) return list.release();
  // An empty Size takes the items over: cheaper than copying them.
  Object size = own(size_type->tp_alloc(size_type, 0));
  auto *to = reinterpret_cast<PyListObject*>(size.get()), *from = reinterpret_cast<PyListObject*>(list.get());
  std::swap(to->ob_item, from->ob_item);
  std::swap(to->allocated, from->allocated);
  Py_SET_SIZE(to, static_cast<Py_ssize_t>(shape.size()));
  Py_SET_SIZE(from, 0);
  return size.release();
}

Scalar scalar_from(PyObject* o, const char* what) {
  if (PyFloat_Check(o)) return Scalar(PyFloat_AS_DOUBLE(o));
  if (PyBool_Check(o)) return Scalar(o == Py_True);
  if (PyLong_Check(o)) {
    int overflow = 0;
    int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) {  // beyond int64: as close as a double gets, as NumPy does for uint64-sized values
      double d = PyLong_AsDouble(o);
      if (d == -1 && PyErr_Occurred()) throw PythonError();
      return Scalar(d);
    }
    return Scalar(v);
  }
  if (is_tensor(o)) return Scalar(expect_tensor(o, what));
  if (is_symint(o)) return Scalar(dim_of(o));
  if (PyComplex_Check(o)) return Scalar(std::complex<double>(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
  // NumPy scalars and 0-d arrays: their own item() says what they are.
  if (Object item{PyObject_HasAttrString(o, "item") ? PyObject_CallMethod(o, "item", nullptr) : nullptr}; item) {
    if (PyFloat_Check(item.get()) || PyLong_Check(item.get()) || PyComplex_Check(item.get()))
      return scalar_from(item.get(), what);
  } else if (PyErr_Occurred()) {
    throw PythonError();
  }
  if (PyIndex_Check(o)) return Scalar(dim_of(o));
  fail(ErrorKind::kType, "[{}] expected a number or a Tensor of one element, got {}", what, Py_TYPE(o)->tp_name);
}

Ints ints_from(PyObject* o, const char* what) {
  if (is_tensor(o)) return Ints(expect_tensor(o, what));
  if (PyIndex_Check(o) || is_symint(o)) {
    Shape one{dim_of(o)};
    return Ints(one);
  }
  if (o == Py_None) return Ints();
  check(PySequence_Check(o) && !PyUnicode_Check(o), ErrorKind::kType,
        "[{}] expected a list of integers or a Tensor, got {}", what, Py_TYPE(o)->tp_name);
  Object seq = own(PySequence_Fast(o, what));
  Shape values;
  Tensors tensors;
  Py_ssize_t n = PySequence_Fast_GET_SIZE(seq.get());
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(seq.get(), i);
    if (is_tensor(item)) {
      tensors.resize(static_cast<size_t>(n));
      tensors[static_cast<size_t>(i)] = expect_tensor(item, what);
      values.push_back(Dim(-1));
    } else if (PyFloat_Check(item) || !(PyIndex_Check(item) || is_symint(item))) {
      fail(ErrorKind::kType, "[{}] expected integers in the list, got {}", what, Py_TYPE(item)->tp_name);
    } else {
      values.push_back(dim_of(item));
    }
  }
  return tensors.empty() ? Ints(values) : Ints(values, std::move(tensors));
}

std::vector<int64_t> int_list_from(PyObject* o, const char* what) {
  Ints ints = ints_from(o, what);
  if (!ints.resolved()) ints = ints.read();
  std::vector<int64_t> out;
  for (Dim d : ints.values()) out.push_back(d.is_const() ? d.value() : guard_int(d));
  return out;
}

std::string string_from(PyObject* o, const char* what) {
  check(PyUnicode_Check(o), ErrorKind::kType, "[{}] expected a string, got {}", what, Py_TYPE(o)->tp_name);
  return PyUnicode_AsUTF8(o);
}

}  // namespace paddle::bindings
