// What a program depends on besides its operations: signatures of arguments, the state that calls read.
#include "bindings/trace_objects.h"

#include <atomic>

#include "autograd/view.h"
#include "base/flags.h"
#include "bindings/op_entry.h"
#include "device/default_place.h"
#include "dispatch/autocast.h"
#include "dispatch/state.h"

namespace paddle::bindings {
namespace {

// ---- signatures
PyObject* tensor_key(const Tensor& t) {
  if (t->base) autograd::refresh_view(t);  // it needs a gradient where its base does since
  Object dtype = own(wrap_dtype(t.dtype()));
  Object shape = own(PyTuple_New(t.rank()));
  for (int64_t i = 0; i < t.rank(); ++i) PyTuple_SET_ITEM(shape.get(), i, must(wrap_dim(t.dim(i))));
  return must(PyTuple_Pack(3, dtype.get(), shape.get(), t.stop_gradient() ? Py_True : Py_False));
}

// (key, tensors), or None where an argument is neither a plain tensor nor a plain value.
PyObject* quick_signature(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    Object key = own(PyTuple_New(n)), tensors = own(PyList_New(0));
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* v = PyTuple_GET_ITEM(args, i);
      PyTypeObject* type = Py_TYPE(v);
      if (type == tensor_type) {
        PyTuple_SET_ITEM(key.get(), i, tensor_key(expect_tensor(v, "argument")));
        must_zero(PyList_Append(tensors.get(), v));
      } else if (type == &PyLong_Type || type == &PyBool_Type || type == &PyUnicode_Type || v == Py_None) {
        PyTuple_SET_ITEM(key.get(), i, must(PyTuple_Pack(2, reinterpret_cast<PyObject*>(type), v)));
      } else {
        Py_RETURN_NONE;
      }
    }
    return must(PyTuple_Pack(2, key.get(), tensors.get()));
  });
}

// ([(dict, key, value, ...)], [(dict, (value, ...))]): whether each key still has that very object, and each dict these
// values.
PyObject* unchanged(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guard([&]() -> PyObject* {
    check(n == 2 && PyList_Check(args[0]) && PyList_Check(args[1]), ErrorKind::kType, "[unchanged] expected two lists");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args[0]); ++i) {
      PyObject* entry = PyList_GET_ITEM(args[0], i);
      PyObject* now = PyDict_GetItemWithError(PyTuple_GET_ITEM(entry, 0), PyTuple_GET_ITEM(entry, 1));
      if (now != PyTuple_GET_ITEM(entry, 2)) Py_RETURN_FALSE;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args[1]); ++i) {
      PyObject* dict = PyTuple_GET_ITEM(PyList_GET_ITEM(args[1], i), 0);
      PyObject* values = PyTuple_GET_ITEM(PyList_GET_ITEM(args[1], i), 1);
      if (PyDict_GET_SIZE(dict) != PyTuple_GET_SIZE(values)) Py_RETURN_FALSE;
      PyObject* value;
      Py_ssize_t position = 0, k = 0;
      while (PyDict_Next(dict, &position, nullptr, &value))
        if (value != PyTuple_GET_ITEM(values, k++)) Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
  });
}

std::atomic<uint64_t> flags_version{0};

PyObject* state_key(PyObject*, PyObject*) {
  return guard([&] {
    const dispatch::AmpState& amp = dispatch::amp_state();
    unsigned long long bits = dispatch::state().grad_enabled ? 1 : 0;
    bits |= static_cast<unsigned long long>(default_dtype()) << 8;
    bits |= static_cast<unsigned long long>(amp.level) << 16;
    if (amp.level) bits |= static_cast<unsigned long long>(amp.dtype) << 24;
    Place p = device::default_place();
    bits |= (static_cast<unsigned long long>(p.kind) << 32) |
            (static_cast<unsigned long long>(static_cast<uint16_t>(p.index)) << 40);
    if (!amp.level) return must(Py_BuildValue("(KK)", bits, static_cast<unsigned long long>(flags_version.load())));
    std::vector<std::string> names;
    std::string lists;
    for (auto* set : {&amp.white, &amp.black}) {
      names.assign(set->begin(), set->end());
      std::sort(names.begin(), names.end());
      for (auto& n : names) lists += n + ",";
      lists += ";";
    }
    return must(Py_BuildValue("(KKs)", bits, static_cast<unsigned long long>(flags_version.load()), lists.c_str()));
  });
}

PyObject* py_default_dtype(PyObject*, PyObject*) {
  return guard([] { return wrap_dtype(default_dtype()); });
}
PyObject* py_as_dtype(PyObject*, PyObject* o) {
  return guard([&] { return wrap_dtype(dtype_from(o, "dtype")); });
}
PyObject* py_to_tensor(PyObject*, PyObject* o) {
  return guard([&] { return wrap(to_tensor(o, DType::kUndefined, device::default_place())); });
}

PyMethodDef functions[] = {
    {"quick_signature", quick_signature, METH_O, nullptr},
    {"unchanged", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(unchanged)), METH_FASTCALL, nullptr},
    {"state_key", state_key, METH_NOARGS, nullptr},
    {"get_default_dtype", py_default_dtype, METH_NOARGS, nullptr},
    {"as_dtype", py_as_dtype, METH_O, nullptr},
    {"to_tensor", py_to_tensor, METH_O, nullptr},
    {}};

}  // namespace

void add_trace_signatures(PyObject* module) {
  add_functions(module, functions);
  for (const flags::Flag& f : flags::all()) flags::on_change(f.name, [](const flags::Value&) { ++flags_version; });
}

}  // namespace paddle::bindings
