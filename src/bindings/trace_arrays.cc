// Lists of tensors whose length only running tells: a traced handle in a class of its own.
#include "bindings/trace_objects.h"

#include "api/ops.h"
#include "bindings/op_entry.h"
#include "executor/bundle.h"

namespace paddle::bindings {
namespace {
PyTypeObject* array_type;
}  // namespace

// ---- arrays: a traced handle in a class of its own
static bool is_array_object(PyObject* o) { return Py_TYPE(o) == array_type; }
PyObject* wrap_array(Tensor t) { return box(array_type, std::make_unique<Tensor>(std::move(t))); }
PyObject* wrap_value(const Tensor& t) { return dispatch::is_array(t) ? wrap_array(t) : wrap(t); }
Tensor value_from(PyObject* o, const char* what) {
  if (is_array_object(o)) return unbox<Tensor>(o);
  return expect_tensor(o, what);
}
Tensors values_from(PyObject* list, const char* what) {
  Object seq = own(PySequence_Fast(list, what));
  Tensors out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
    out.push_back(value_from(PySequence_Fast_GET_ITEM(seq.get(), i), what));
  return out;
}
PyObject* wrap_values(const Tensors& values) {
  Object list = own(PyList_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), must(wrap_value(values[i])));
  return list.release();
}
namespace {

PyObject* array_dtype(PyObject* o, void*) {
  return guard([&] { return wrap_dtype(unbox<Tensor>(o).dtype()); });
}
PyObject* array_shape(PyObject* o, void*) {
  return guard([&] {
    const Shape& shape = unbox<Tensor>(o).shape();
    Object list = own(PyList_New(static_cast<Py_ssize_t>(shape.size())));
    for (size_t i = 0; i < shape.size(); ++i)
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), must(wrap_dim(shape[i])));
    return list.release();
  });
}
PyObject* array_stop_gradient(PyObject* o, void*) { return PyBool_FromLong(unbox<Tensor>(o).stop_gradient()); }

// ---- arrays
Tensor index_from(PyObject* o) {
  if (is_tensor(o)) return expect_tensor(o, "index");
  return ops::full({}, scalar_from(o, "index"), DType::kInt64);
}
PyObject* array_create(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *dtype, *items, *shape = nullptr;
    if (!PyArg_ParseTuple(args, "OO|O", &dtype, &items, &shape)) throw PythonError();
    Shape sizes = shape && shape != Py_None ? shape_of_spec(shape, nullptr, "") : Shape();
    return wrap_array(
        dispatch::array_create(active_capture(), dtype_from(dtype, "array"), values_from(items, "array"), sizes));
  });
}
PyObject* array_write(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *a, *i, *v;
    if (!PyArg_ParseTuple(args, "OOO", &a, &i, &v)) throw PythonError();
    return wrap_array(
        dispatch::array_write(active_capture(), value_from(a, "array"), index_from(i), expect_tensor(v, "array")));
  });
}
PyObject* array_read(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *a, *i;
    if (!PyArg_ParseTuple(args, "OO", &a, &i)) throw PythonError();
    return wrap(dispatch::array_read(active_capture(), value_from(a, "array"), index_from(i)));
  });
}
PyObject* array_length(PyObject*, PyObject* a) {
  return guard([&] { return wrap(dispatch::array_length(active_capture(), value_from(a, "array"))); });
}
PyObject* array_pop(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *a, *i;
    if (!PyArg_ParseTuple(args, "OO", &a, &i)) throw PythonError();
    Tensor index = index_from(i), array = value_from(a, "array");
    Object item = own(wrap(dispatch::array_read(active_capture(), array, index)));
    Object rest = own(wrap_array(dispatch::array_pop(active_capture(), array, index)));
    return must(PyTuple_Pack(2, rest.get(), item.get()));
  });
}
PyObject* array_rows(PyObject*, PyObject* a) {
  return guard([&]() -> PyObject* {
    Tensor array = value_from(a, "array");
    if (!dispatch::has_rows(array)) Py_RETURN_NONE;
    return wrap(dispatch::array_rows(active_capture(), array));
  });
}
// The items of a list whose segment has run; None for others.
PyObject* array_elements(PyObject*, PyObject* a) {
  return guard([&]() -> PyObject* {
    Tensor array = value_from(a, "array");
    if (array.is_traced()) Py_RETURN_NONE;
    if (executor::Bundle* b = executor::find_bundle(array)) return wrap_list(b->items.at(0).at(0).list);
    Tensors items = ops::unbind(array, 0);
    items.pop_back();  // the row that array_rows adds
    return wrap_list(items);
  });
}
template <bool stack>
PyObject* array_join(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *a, *axis;
    if (!PyArg_ParseTuple(args, "OO", &a, &axis)) throw PythonError();
    return wrap(dispatch::array_join(active_capture(), value_from(a, "array"), dim_as_int(axis), stack));
  });
}

PyMethodDef functions[] = {{"array_create", array_create, METH_VARARGS, nullptr},
                           {"array_write", array_write, METH_VARARGS, nullptr},
                           {"array_read", array_read, METH_VARARGS, nullptr},
                           {"array_length", array_length, METH_O, nullptr},
                           {"array_pop", array_pop, METH_VARARGS, nullptr},
                           {"array_rows", array_rows, METH_O, nullptr},
                           {"array_elements", array_elements, METH_O, nullptr},
                           {"array_stack", array_join<true>, METH_VARARGS, nullptr},
                           {"array_concat", array_join<false>, METH_VARARGS, nullptr},
                           {}};

}  // namespace

void add_trace_arrays(PyObject* module) {
  static PyGetSetDef array_getset[] = {{"dtype", array_dtype, nullptr, nullptr, nullptr},
                                       {"shape", array_shape, nullptr, "of an item", nullptr},
                                       {"stop_gradient", array_stop_gradient, nullptr, nullptr, nullptr},
                                       {}};
  static PyType_Slot array_slots[] = {slot(Py_tp_dealloc, dealloc<Tensor>), {Py_tp_getset, array_getset}, {0, nullptr}};
  static PyType_Spec array_spec{"paddle._core.trace.Array", sizeof(Boxed<Tensor>), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, array_slots};
  array_type = make_type(array_spec, module, "Array");
  add_functions(module, functions);
}

}  // namespace paddle::bindings
