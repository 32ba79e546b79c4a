// What of the user's Python stays in captured programs: gradients (pir/custom_gradient.h), and functions that programs
// call (executor/host_call.h).
#include "dispatch/trace_gradients.h"

#include "api/ops.h"
#include "bindings/op_entry.h"
#include "bindings/trace_objects.h"
#include "dispatch/state.h"
#include "executor/host_call.h"

namespace paddle::bindings {
namespace {

Tensors grads_from(PyObject* list) {
  Object seq = own(PySequence_Fast(list, "gradients"));
  Tensors out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
    PyObject* g = PySequence_Fast_GET_ITEM(seq.get(), i);
    out.push_back(g == Py_None ? Tensor() : expect_tensor(g, "gradient"));
  }
  return out;
}

// build_custom_grad(what, inputs, computed, stops, [(given, region, gradients), ...]) -> results
PyObject* build_custom_grad(PyObject*, PyObject* args) {
  return guard([&] {
    const char* what;
    PyObject *inputs, *computed, *stops, *regions;
    if (!PyArg_ParseTuple(args, "sOOOO", &what, &inputs, &computed, &stops, &regions)) throw PythonError();
    dispatch::Trace& trace = active_capture();
    std::vector<pir::Value> values;
    for (const Tensor& t : values_from(inputs, what)) values.push_back(trace.value_of(t));
    std::vector<bool> ends;
    Object flags = own(PySequence_Fast(stops, what));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(flags.get()); ++i)
      ends.push_back(PyObject_IsTrue(PySequence_Fast_GET_ITEM(flags.get(), i)) == 1);
    std::vector<dispatch::GradientRegion> list;
    Object seq = own(PySequence_Fast(regions, what));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
      unsigned long long given;
      PyObject *region, *grads;
      if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(seq.get(), i), "KOO", &given, &region, &grads))
        throw PythonError();
      list.push_back({given, &region_of(region), grads_from(grads)});
    }
    return wrap_values(dispatch::build_custom_grad(trace, what, values, values_from(computed, what), ends, list));
  });
}

// Calls a Python function on the tensor once a segment has ended; what that gives is called to undo it.
dispatch::EagerHook eager_hook(PyObject* fn) {
  auto kept = std::make_shared<Object>(Object::borrow(fn));
  return [kept](const Tensor& t) -> std::function<void()> {
    Object arg = own(wrap(t));
    auto remove = std::make_shared<Object>(own(PyObject_CallOneArg(kept->get(), arg.get())));
    return [remove] { own(PyObject_CallNoArgs(remove->get())); };
  };
}

// add_gradient_hook(tensor, region, gradient or None, eagerly) -> name
PyObject* add_gradient_hook(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *tensor, *region, *result, *eagerly;
    if (!PyArg_ParseTuple(args, "OOOO", &tensor, &region, &result, &eagerly)) throw PythonError();
    Tensor g = result == Py_None ? Tensor() : expect_tensor(result, "hook's result");
    return must(PyLong_FromLongLong(dispatch::add_gradient_hook(
        active_capture(), expect_tensor(tensor, "register_hook"), region_of(region), g, eager_hook(eagerly))));
  });
}

PyObject* remove_gradient_hook(PyObject*, PyObject* id) {
  return guard([&]() -> PyObject* {
    const int64_t n = PyLong_AsLongLong(id);
    if (PyErr_Occurred()) throw PythonError();
    dispatch::remove_gradient_hook(n);
    Py_RETURN_NONE;
  });
}

// Does anyone but `result` hold what was made in the region?
PyObject* region_leaks(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *region, *result;
    if (!PyArg_ParseTuple(args, "OO", &region, &result)) throw PythonError();
    Tensor kept = is_tensor(result) ? tensor_of(result) : Tensor();
    return PyBool_FromLong(active_capture().holds_from(region_of(region), kept));
  });
}

// ---- functions that programs call (cf.host_call); a program may outlive everything else that holds one
std::vector<PyObject*>& host_functions() {
  static std::vector<PyObject*> list;
  return list;
}

// A tensor of its own: what it was given may be overwritten when the call is over.
Tensors call_python(int64_t function, std::span<const Tensor> inputs) {
  AcquireGil gil;
  dispatch::StackScope outside;
  dispatch::GradMode off(false);
  Object list = own(PyList_New(0));
  for (const Tensor& t : inputs) must_zero(PyList_Append(list.get(), own(wrap(ops::assign(t))).get()));
  Object result = own(PyObject_CallOneArg(host_functions().at(static_cast<size_t>(function)), list.get()));
  return tensors_from(result.get(), "py_func");
}

// host_call(function, inputs, [(shape, dtype), ...]) -> results. The function takes and returns a list of tensors.
PyObject* host_call(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *function, *inputs, *types;
    if (!PyArg_ParseTuple(args, "OOO", &function, &inputs, &types)) throw PythonError();
    dispatch::Trace& trace = active_capture();
    std::vector<pir::Value> values;
    for (const Tensor& t : values_from(inputs, "py_func")) values.push_back(trace.value_of(t));
    std::vector<pir::Type> results;
    Object seq = own(PySequence_Fast(types, "py_func"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
      PyObject *shape, *dtype;
      if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(seq.get(), i), "OO", &shape, &dtype)) throw PythonError();
      results.push_back(pir::Type::tensor(dtype_from(dtype, "py_func"), shape_of_spec(shape, nullptr, "")));
    }
    Py_INCREF(function);
    host_functions().push_back(function);
    pir::Operation* op =
        trace.emit(pir::op_def("cf.host_call"), values,
                   {{"function", pir::Attribute::i64(static_cast<int64_t>(host_functions().size()) - 1)},
                    {"process", pir::Attribute::string(executor::process_token())}},
                   results);
    Tensors out;
    for (size_t k = 0; k < op->num_results(); ++k) {
      op->result(k).set_stop_gradient(true);
      out.push_back(trace.tensor_of(op->result(k), true));
    }
    return wrap_values(out);
  });
}

PyMethodDef functions[] = {{"host_call", host_call, METH_VARARGS, nullptr},
                           {"build_custom_grad", build_custom_grad, METH_VARARGS, nullptr},
                           {"add_gradient_hook", add_gradient_hook, METH_VARARGS, nullptr},
                           {"remove_gradient_hook", remove_gradient_hook, METH_O, nullptr},
                           {"region_leaks", region_leaks, METH_VARARGS, nullptr},
                           {}};

}  // namespace

void add_trace_gradients(PyObject* module) {
  add_functions(module, functions);
  executor::host_call = call_python;
}

}  // namespace paddle::bindings
