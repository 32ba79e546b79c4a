// Methods of the Tensor class and functions for gradients: backward, hooks, .grad.
#include "api/ops.h"
#include "autograd/accumulate.h"
#include "autograd/differentiate.h"
#include "autograd/engine.h"
#include "base/error.h"
#include "bindings/held.h"
#include "bindings/in_program.h"
#include "bindings/tensor_methods.h"
#include "dispatch/state.h"

namespace paddle::bindings {
namespace {

Tensor& self_tensor(PyObject* o) { return expect_tensor(o, "Tensor"); }

PyObject* backward(PyObject* o, PyObject* args, PyObject* kwargs) {
  return guard([&]() -> PyObject* {
    static const char* names[] = {"grad_tensor", "retain_graph", "dump_backward_graph_path", nullptr};
    PyObject *grad = Py_None, *path = Py_None;
    int retain = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OpO", const_cast<char**>(names), &grad, &retain, &path))
      throw PythonError();
    Tensors grads;
    if (grad != Py_None) grads.push_back(expect_tensor(grad, "backward"));
    Tensor t = self_tensor(o);
    auto traced = [&](dispatch::Trace& trace) { autograd::traced_backward(trace, {t}, grads, retain); };
    if (!in_program(traced, "backward")) {
      std::optional<Outside> outside;
      if (dispatch::tracing()) outside.emplace();
      ReleaseGil release(true);
      autograd::backward({t}, grads, retain);
    }
    Py_RETURN_NONE;
  });
}

Ref<HeldObject> hold(PyObject* fn) { return make_ref<HeldObject>(Object::borrow(fn)); }

PyObject* register_hook(PyObject* o, PyObject* fn) {
  return guard([&]() -> PyObject* {
    check(PyCallable_Check(fn), ErrorKind::kType, "[register_hook] expected a callable, got {}", Py_TYPE(fn)->tp_name);
    uint64_t id = autograd::add_hook(self_tensor(o), PythonHook{hold(fn)});
    return must(PyLong_FromUnsignedLongLong(id));
  });
}
PyObject* remove_hook(PyObject* o, PyObject* id) {
  return guard([&]() -> PyObject* {
    uint64_t v = PyLong_AsUnsignedLongLong(id);
    if (PyErr_Occurred()) throw PythonError();
    autograd::remove_hook(self_tensor(o), v);
    Py_RETURN_NONE;
  });
}
PyObject* register_backward_hook(PyObject* o, PyObject* fn) {
  return guard([&]() -> PyObject* {
    Tensor& t = self_tensor(o);
    check(!t.stop_gradient() && autograd::is_leaf(t), ErrorKind::kRuntime,
          "[_register_backward_hook] expected a leaf tensor that needs a gradient");
    autograd::meta_of(t).after_accumulate.push_back(PythonCall{hold(fn)});
    Py_RETURN_NONE;
  });
}
// The gradient of a tensor that is no leaf is dropped unless asked for.
PyObject* retain_grads(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    Tensor& t = self_tensor(o);
    if (t.stop_gradient() || autograd::is_leaf(t)) Py_RETURN_NONE;
    // The tensor may go before its node does, and the node must not keep it.
    autograd::add_hook(t, [meta = Ref<autograd::Meta>(&autograd::meta_of(t))](const Tensor& g) {
      meta->grad = ops::assign(g);
      return Tensor();
    });
    Py_RETURN_NONE;
  });
}

void clear_grad_of(const Tensor& t, bool set_to_zero) {
  autograd::Meta* m = autograd::find_meta(t);
  if (!m || !m->grad.defined()) return;
  if (dispatch::Trace* trace = dispatch::Trace::active()) return trace->set_grad(t, Tensor(), set_to_zero);
  if (set_to_zero && m->grad.is_dense()) {
    autograd::clear_to_zeros(t);
  } else {
    m->grad = Tensor();
    m->zeros = nullptr;
  }
}

PyObject* clear_gradient(PyObject* o, PyObject* args, PyObject* kwargs) {
  return guard([&]() -> PyObject* {
    static const char* names[] = {"set_to_zero", nullptr};
    int zero = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p", const_cast<char**>(names), &zero)) throw PythonError();
    clear_grad_of(self_tensor(o), zero);
    Py_RETURN_NONE;
  });
}
PyObject* clear_grad(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    clear_grad_of(self_tensor(o), true);
    Py_RETURN_NONE;
  });
}
PyObject* gradient(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    autograd::Meta* m = autograd::find_meta(self_tensor(o));
    if (!m || !m->grad.defined()) Py_RETURN_NONE;
    return to_numpy(m->grad);
  });
}

// The gradients of parameters, None where there is none: one call for a whole optimiser step.
PyObject* collect_grads(PyObject*, PyObject* params) {
  return guard([&] {
    Object seq = own(PySequence_Fast(params, "expected a list of parameters"));
    Py_ssize_t n = PySequence_Fast_GET_SIZE(seq.get());
    Object out = own(PyList_New(n));
    for (Py_ssize_t i = 0; i < n; ++i) {
      Tensor& t = self_tensor(PySequence_Fast_GET_ITEM(seq.get(), i));
      PyList_SET_ITEM(out.get(), i, must(wrap(t.stop_gradient() ? Tensor() : grad_now(t))));
    }
    return out.release();
  });
}

PyObject* clear_gradients(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* params;
    int zero = 0;
    if (!PyArg_ParseTuple(args, "O|p", &params, &zero)) throw PythonError();
    Object seq = own(PySequence_Fast(params, "expected a list of parameters"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
      Tensor& t = self_tensor(PySequence_Fast_GET_ITEM(seq.get(), i));
      if (!t.stop_gradient()) clear_grad_of(t, zero);
    }
    Py_RETURN_NONE;
  });
}

PyMethodDef grad_functions[] = {
    {"collect_grads", collect_grads, METH_O, "the gradients of a list of parameters"},
    {"clear_gradients", clear_gradients, METH_VARARGS, "zeroes or drops the gradients of a list of parameters"},
    {}};

}  // namespace

std::vector<PyMethodDef> grad_methods() {
  return {with_keywords("backward", backward, "accumulates the gradient of this tensor into every leaf it depends on"),
          {"_register_hook", register_hook, METH_O, nullptr},
          {"_remove_hook", remove_hook, METH_O, nullptr},
          {"_register_backward_hook", register_backward_hook, METH_O, nullptr},
          {"retain_grads", retain_grads, METH_NOARGS, "keep .grad of this tensor although it is no leaf"},
          with_keywords("clear_gradient", clear_gradient, "zeroes or drops .grad"),
          {"clear_grad", clear_grad, METH_NOARGS, "zeroes .grad"},
          {"gradient", gradient, METH_NOARGS, ".grad as a NumPy array, or None"}};
}

void add_grad_functions(PyObject* module) { add_functions(module, grad_functions); }

}  // namespace paddle::bindings
