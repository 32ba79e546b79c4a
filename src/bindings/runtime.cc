// Process and thread state: random numbers, flags, default dtype and place, autocast, memory, threads.
#include "bindings/py.h"

#include "base/error.h"
#include "base/flags.h"
#include "base/generator.h"
#include "base/parallel_for.h"
#include "device/allocator.h"
#include "device/default_place.h"
#include "device/registry.h"
#include "dispatch/autocast.h"
#include "dispatch/op_stats.h"
#include "dispatch/state.h"
#include "phi/kernels/forget.h"

namespace paddle::bindings {
namespace {

uint64_t unsigned_from(PyObject* o) {
  Object index = own(PyNumber_Index(o));
  uint64_t v = PyLong_AsUnsignedLongLongMask(index.get());
  if (PyErr_Occurred()) throw PythonError();
  return v;
}

PyObject* seed(PyObject*, PyObject* value) {
  return guard([&]() -> PyObject* {
    generator().seed(unsigned_from(value));
    Py_RETURN_NONE;
  });
}
PyObject* get_rng_state(PyObject*, PyObject*) {
  RandomKey k = generator().state();
  return Py_BuildValue("(KK)", static_cast<unsigned long long>(k.seed), static_cast<unsigned long long>(k.draw));
}
PyObject* enable_op_stats(PyObject*, PyObject*) {
  dispatch::start_op_stats();
  Py_RETURN_NONE;
}
// {operator: (calls in float16, bfloat16, float32, other)}
PyObject* disable_op_stats(PyObject*, PyObject*) {
  return guard([&] {
    Object table = own(PyDict_New());
    for (const auto& [name, n] : dispatch::stop_op_stats()) {
      Object row = own(Py_BuildValue("(LLLL)", static_cast<long long>(n[0]), static_cast<long long>(n[1]),
                                     static_cast<long long>(n[2]), static_cast<long long>(n[3])));
      must_zero(PyDict_SetItemString(table.get(), name.c_str(), row.get()));
    }
    return table.release();
  });
}
PyObject* set_rng_state(PyObject*, PyObject* state) {
  return guard([&]() -> PyObject* {
    check(PyTuple_Check(state) && PyTuple_GET_SIZE(state) == 2, ErrorKind::kValue,
          "[set_rng_state] expected (seed, offset)");
    generator().set_state({unsigned_from(PyTuple_GET_ITEM(state, 0)), unsigned_from(PyTuple_GET_ITEM(state, 1))});
    Py_RETURN_NONE;
  });
}

PyObject* wrap_flag(const flags::Value& v) {
  if (auto* b = std::get_if<bool>(&v)) return PyBool_FromLong(*b);
  if (auto* i = std::get_if<int64_t>(&v)) return PyLong_FromLongLong(*i);
  if (auto* d = std::get_if<double>(&v)) return PyFloat_FromDouble(*d);
  return PyUnicode_FromString(std::get<std::string>(v).c_str());
}
PyObject* flag_names(PyObject*, PyObject*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (const flags::Flag& f : flags::all())
      must_zero(PyList_Append(list.get(), own(PyUnicode_FromString(("FLAGS_" + f.name).c_str())).get()));
    return list.release();
  });
}
PyObject* flag_get(PyObject*, PyObject* name) {
  return guard([&] { return must(wrap_flag(flags::get(string_from(name, "get_flags")))); });
}
PyObject* flag_set(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *name, *value;
    if (!PyArg_ParseTuple(args, "OO", &name, &value)) throw PythonError();
    flags::Value v;
    if (PyBool_Check(value))
      v = value == Py_True;
    else if (PyLong_Check(value))
      v = static_cast<int64_t>(PyLong_AsLongLong(value));
    else if (PyFloat_Check(value))
      v = PyFloat_AsDouble(value);
    else
      v = string_from(value, "set_flags");
    if (PyErr_Occurred()) throw PythonError();
    flags::set(string_from(name, "set_flags"), v);
    Py_RETURN_NONE;
  });
}

PyObject* get_default(PyObject*, PyObject*) {
  return guard([] { return wrap_dtype(default_dtype()); });
}
PyObject* set_default(PyObject*, PyObject* value) {
  return guard([&]() -> PyObject* {
    DType t = dtype_from(value, "set_default_dtype");
    check(is_float(t) && !is_float8(t), ErrorKind::kType, "[set_default_dtype] expected a floating-point dtype, got {}",
          name_of(t));
    set_default_dtype(t);
    Py_RETURN_NONE;
  });
}
PyObject* current_place(PyObject*, PyObject*) {
  return guard([] { return wrap_place(device::default_place()); });
}
PyObject* set_current_place(PyObject*, PyObject* place) {
  return guard([&]() -> PyObject* {
    device::set_default_place(place_from(place, "set_device"));
    Py_RETURN_NONE;
  });
}
PyObject* device_kinds(PyObject*, PyObject*) {
  return guard([] {
    Object list = own(PyList_New(0));
    for (const std::string& k : device::kinds())
      must_zero(PyList_Append(list.get(), own(PyUnicode_FromString(k.c_str())).get()));
    return list.release();
  });
}
PyObject* device_count(PyObject*, PyObject* kind) {
  return guard(
      [&] { return must(PyLong_FromLong(device::count(place_from_string(string_from(kind, "device")).kind))); });
}
PyObject* load_device_plugin(PyObject*, PyObject* path) {
  return guard([&]() -> PyObject* {
    device::load_plugin(string_from(path, "load_device_plugin"));
    Py_RETURN_NONE;
  });
}
PyObject* synchronize(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* place = Py_None;
    if (!PyArg_ParseTuple(args, "|O", &place)) throw PythonError();
    device::synchronize(place == Py_None ? device::default_place() : place_from(place, "synchronize"));
    Py_RETURN_NONE;
  });
}

void fill_names(PyObject* o, std::unordered_set<std::string>& out) {
  if (!o || o == Py_None) return;
  Object it = own(PyObject_GetIter(o));
  while (Object item{PyIter_Next(it.get())}) out.insert(string_from(item.get(), "amp list"));
  if (PyErr_Occurred()) throw PythonError();
}
PyObject* wrap_names(const std::unordered_set<std::string>& names) {
  Object set = own(PyFrozenSet_New(nullptr));
  for (const std::string& n : names) must_zero(PySet_Add(set.get(), own(PyUnicode_FromString(n.c_str())).get()));
  return set.release();
}
PyObject* amp_state(PyObject*, PyObject*) {
  return guard([] {
    const dispatch::AmpState& s = dispatch::amp_state();
    Object white = own(wrap_names(s.white)), black = own(wrap_names(s.black)), dtype = own(wrap_dtype(s.dtype));
    return must(Py_BuildValue("(iOOO)", s.level, dtype.get(), white.get(), black.get()));
  });
}
PyObject* set_amp_state(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    int level;
    PyObject *dtype, *white, *black;
    if (!PyArg_ParseTuple(args, "iOOO", &level, &dtype, &white, &black)) throw PythonError();
    dispatch::AmpState s;
    s.level = level;
    if (dtype != Py_None) s.dtype = dtype_from(dtype, "amp");
    fill_names(white, s.white);
    fill_names(black, s.black);
    dispatch::set_amp_state(std::move(s));
    Py_RETURN_NONE;
  });
}

PyObject* memory_stats(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject* place = Py_None;
    if (!PyArg_ParseTuple(args, "|O", &place)) throw PythonError();
    device::AllocatorStats s =
        device::stats(place == Py_None ? device::default_place() : place_from(place, "memory_stats"));
    auto k = [](uint64_t v) { return static_cast<unsigned long long>(v); };
    return must(Py_BuildValue("{s:K,s:K,s:K,s:K,s:K}", "in_use", k(s.in_use), "reserved", k(s.reserved), "peak_in_use",
                              k(s.peak_in_use), "peak_reserved", k(s.peak_reserved), "device_calls",
                              k(s.device_calls)));
  });
}
PyObject* reset_peak_memory(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* place = Py_None;
    if (!PyArg_ParseTuple(args, "|O", &place)) throw PythonError();
    device::reset_peak(place == Py_None ? device::default_place() : place_from(place, "memory_stats"));
    Py_RETURN_NONE;
  });
}
PyObject* trim_memory(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* place = Py_None;
    if (!PyArg_ParseTuple(args, "|O", &place)) throw PythonError();
    kernels::forget_primitives();
    device::trim(place == Py_None ? device::default_place() : place_from(place, "empty_cache"));
    Py_RETURN_NONE;
  });
}
PyObject* set_threads(PyObject*, PyObject* n) {
  return guard([&]() -> PyObject* {
    int v = static_cast<int>(PyLong_AsLong(n));
    if (PyErr_Occurred()) throw PythonError();
    check(v >= 1, ErrorKind::kValue, "[set_num_threads] expected at least 1, got {}", v);
    set_num_threads(v);
    Py_RETURN_NONE;
  });
}
PyObject* get_threads(PyObject*, PyObject*) { return PyLong_FromLong(num_threads()); }

PyObject* py_to_tensor(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *value, *dtype = Py_None, *place = Py_None;
    int stop = 1;
    if (!PyArg_ParseTuple(args, "O|OOp", &value, &dtype, &place, &stop)) throw PythonError();
    Tensor t = to_tensor(value, dtype == Py_None ? DType::kUndefined : dtype_from(dtype, "to_tensor"),
                         place == Py_None ? device::default_place() : place_from(place, "to_tensor"));
    t.set_stop_gradient(stop);
    return wrap(t);
  });
}
PyObject* py_from_numpy(PyObject*, PyObject* array) {
  return guard([&] { return wrap(from_array(array, false)); });
}

PyMethodDef functions[] = {{"seed", seed, METH_O, nullptr},
                           {"get_rng_state", get_rng_state, METH_NOARGS, nullptr},
                           {"set_rng_state", set_rng_state, METH_O, nullptr},
                           {"enable_op_stats", enable_op_stats, METH_NOARGS, nullptr},
                           {"disable_op_stats", disable_op_stats, METH_NOARGS, nullptr},
                           {"flag_names", flag_names, METH_NOARGS, nullptr},
                           {"flag_get", flag_get, METH_O, nullptr},
                           {"flag_set", flag_set, METH_VARARGS, nullptr},
                           {"get_default_dtype", get_default, METH_NOARGS, nullptr},
                           {"set_default_dtype", set_default, METH_O, nullptr},
                           {"current_place", current_place, METH_NOARGS, nullptr},
                           {"set_current_place", set_current_place, METH_O, nullptr},
                           {"device_kinds", device_kinds, METH_NOARGS, nullptr},
                           {"device_count", device_count, METH_O, nullptr},
                           {"load_device_plugin", load_device_plugin, METH_O, nullptr},
                           {"synchronize", synchronize, METH_VARARGS, nullptr},
                           {"amp_state", amp_state, METH_NOARGS, nullptr},
                           {"set_amp_state", set_amp_state, METH_VARARGS, nullptr},
                           {"memory_stats", memory_stats, METH_VARARGS, nullptr},
                           {"reset_peak_memory", reset_peak_memory, METH_VARARGS, nullptr},
                           {"trim_memory", trim_memory, METH_VARARGS, nullptr},
                           {"set_num_threads", set_threads, METH_O, nullptr},
                           {"get_num_threads", get_threads, METH_NOARGS, nullptr},
                           {"to_tensor", py_to_tensor, METH_VARARGS, "to_tensor(value, dtype, place, stop_gradient)"},
                           {"from_numpy", py_from_numpy, METH_O, "shares the array's memory where it is writable"},
                           {}};

}  // namespace

void add_runtime(PyObject* module) {
  add_functions(module, functions);
  flags::on_change("prim_enable_dynamic",
                   [](const flags::Value& v) { dispatch::state().decompose = std::get<bool>(v); });
  flags::on_change("paddle_num_threads", [](const flags::Value& v) {
    if (int64_t n = std::get<int64_t>(v); n > 0) set_num_threads(static_cast<int>(n));
  });
}

}  // namespace paddle::bindings
