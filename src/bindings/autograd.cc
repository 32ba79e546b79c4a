// backward, grad, grad mode, and functions with a gradient written in Python.
#include "bindings/py.h"

#include <optional>

#include "autograd/differentiate.h"
#include "autograd/engine.h"
#include "autograd/op_node.h"
#include "base/error.h"
#include "bindings/held.h"
#include "bindings/in_program.h"
#include "dispatch/state.h"

namespace paddle::bindings {
namespace {

PyObject* grad_enabled(PyObject*, PyObject*) { return PyBool_FromLong(dispatch::state().grad_enabled); }

PyObject* set_grad_enabled(PyObject*, PyObject* value) {
  return guard([&] {
    int v = PyObject_IsTrue(value);
    if (v < 0) throw PythonError();
    bool previous = dispatch::state().grad_enabled;
    dispatch::state().grad_enabled = v;
    return PyBool_FromLong(previous);
  });
}

PyObject* backward(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *tensors, *grads;
    int retain = 0;
    if (!PyArg_ParseTuple(args, "OO|p", &tensors, &grads, &retain)) throw PythonError();
    Tensors outs = tensors_from(tensors, "backward"), seeds = tensors_from(grads, "backward", true);
    auto traced = [&](dispatch::Trace& trace) { autograd::traced_backward(trace, outs, seeds, retain); };
    if (in_program(traced, "backward")) Py_RETURN_NONE;
    {
      std::optional<Outside> outside;
      if (dispatch::tracing()) outside.emplace();
      ReleaseGil release(true);
      autograd::backward(outs, seeds, retain);
    }
    Py_RETURN_NONE;
  });
}

PyObject* grad(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *outputs, *inputs, *seeds, *stops = Py_None;
    int retain = 0, create = 0, only_inputs = 1, allow_unused = 0;
    if (!PyArg_ParseTuple(args, "OOO|ppppO", &outputs, &inputs, &seeds, &retain, &create, &only_inputs, &allow_unused,
                          &stops))
      throw PythonError();
    Tensors outs = tensors_from(outputs, "grad"), ins = tensors_from(inputs, "grad");
    Tensors grad_outputs = tensors_from(seeds, "grad", true), no_grad = tensors_from(stops, "grad");
    Tensors result;
    auto differentiate = [&](dispatch::Trace& trace) {
      result = autograd::traced_grad(trace, outs, ins, grad_outputs, create, allow_unused, no_grad);
    };
    if (!in_program(differentiate, "grad")) {
      std::optional<Outside> outside;
      if (dispatch::tracing()) outside.emplace();
      ReleaseGil release(true);
      result = autograd::grad(outs, ins, grad_outputs, retain, create, allow_unused, no_grad);
    }
    return wrap_list(result);
  });
}

// Outputs that a context keeps have no history of their own, or they and it would keep each other alive. While backward
// runs and is recorded, they have it: [(number of the output, tensor), ...].
class LentHistory {
 public:
  LentHistory(PyObject* ctx, autograd::Node& node) {
    if (!ctx) return;
    Object kept = own(PyObject_GetAttrString(ctx, "_own_outputs"));
    Object pairs = own(PySequence_Fast(kept.get(), "PyLayer"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(pairs.get()); ++i) {
      unsigned index;
      PyObject* tensor;
      if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(pairs.get(), i), "IO", &index, &tensor)) throw PythonError();
      Tensor t = expect_tensor(tensor, "PyLayer");
      if (!is_inexact(t.dtype())) continue;
      autograd::set_history(t, Ref<autograd::Node>(&node), index);
      tensors_.push_back(std::move(t));
    }
  }
  ~LentHistory() {
    for (Tensor& t : tensors_) {
      t->grad_fn = nullptr;
      t.set_stop_gradient(true);
    }
  }
  LentHistory(const LentHistory&) = delete;

 private:
  Tensors tensors_;
};

// The node of a PyLayer: its backward is a Python method of the context.
class PyNode final : public autograd::Node {
 public:
  PyNode(Object ctx, std::string name) : ctx_(make_ref<HeldObject>(std::move(ctx))), name_(std::move(name)) {}

  Tensors apply(Tensors&& out_grads, bool create_graph) override {
    AcquireGil gil;
    dispatch::GradMode mode(create_graph);
    Object list = own(wrap_list(out_grads));
    LentHistory lent(create_graph ? ctx_->get() : nullptr, *this);
    Object result = own(PyObject_CallMethod(ctx_->get(), "_run_backward", "O", list.get()));
    Tensors grads = tensors_from(result.get(), "PyLayer.backward", true);
    check(grads.size() == edges.size(), ErrorKind::kValue, "[{}] backward returned {} gradients, expected {}", name_,
          grads.size(), edges.size());
    return grads;
  }
  void visit_held(autograd::HeldVisitor& visitor) const override { visitor.object(ctx_.get()); }
  std::string name() const override { return name_; }

 private:
  Ref<HeldObject> ctx_;
  std::string name_;
};

void find_tensors(PyObject* o, Tensors& out, std::vector<PyObject*>& objects) {
  if (is_tensor(o)) {
    out.push_back(tensor_of(o));
    objects.push_back(o);
  } else if (PyList_Check(o) || PyTuple_Check(o)) {
    Object seq = own(PySequence_Fast(o, "outputs"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
      find_tensors(PySequence_Fast_GET_ITEM(seq.get(), i), out, objects);
  } else if (PyDict_Check(o)) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(o, &at, &key, &value)) find_tensors(value, out, objects);
  }
}

// Gives what forward made a node whose backward is the context's.
void record(PyObject* ctx, const Ref<autograd::Node>& node, PyObject* result) {
  Tensors outs;
  std::vector<PyObject*> objects;
  find_tensors(result, outs, objects);
  node->num_outputs = static_cast<uint32_t>(outs.size());
  for (uint32_t i = 0; i < outs.size(); ++i) {
    node->output_metas.push_back({outs[i].dtype(), outs[i].shape()});
    Object differentiable = own(PyObject_CallMethod(ctx, "_is_differentiable", "O", objects[i]));
    if (!PyObject_IsTrue(differentiable.get()) || !is_inexact(outs[i].dtype())) continue;
    autograd::set_history(outs[i], node, i);
  }
}

Ref<autograd::Node> py_node(PyObject* cls, PyObject* ctx, const Tensors& ins) {
  Ref<autograd::Node> node = make_ref<PyNode>(Object::borrow(ctx), reinterpret_cast<PyTypeObject*>(cls)->tp_name);
  for (const Tensor& t : ins) node->edges.push_back(autograd::edge_of(t));
  return node;
}

// What forward returned may be an input itself: it then becomes a tensor of its own, unless it was written in place.
PyObject* py_layer_apply(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *cls, *ctx, *inputs, *run;
    if (!PyArg_ParseTuple(args, "OOOO", &cls, &ctx, &inputs, &run)) throw PythonError();
    Tensors ins = tensors_from(inputs, "PyLayer");
    bool records = false;
    if (dispatch::state().grad_enabled)
      for (const Tensor& t : ins) records |= !t.stop_gradient();
    if (records && dispatch::tracing()) {
      Object module = own(PyImport_ImportModule("paddle.jit.custom_gradient"));
      return must(PyObject_CallMethod(module.get(), "apply_py_layer", "OOOO", cls, ctx, inputs, run));
    }
    Ref<autograd::Node> node;
    if (records) node = py_node(cls, ctx, ins);
    Object result;
    {
      dispatch::GradMode off(false);
      result = own(PyObject_CallNoArgs(run));
    }
    if (records) record(ctx, node, result.get());
    return result.release();
  });
}

// py_layer_record(cls, ctx, inputs, result): of a forward that has run already.
PyObject* py_layer_record(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *cls, *ctx, *inputs, *result;
    if (!PyArg_ParseTuple(args, "OOOO", &cls, &ctx, &inputs, &result)) throw PythonError();
    record(ctx, py_node(cls, ctx, tensors_from(inputs, "PyLayer")), result);
    Py_RETURN_NONE;
  });
}

// saved_tensors_hooks: pairs of Python functions, the innermost last.
struct PySavedHooks final : autograd::SavedTensorHooks {
  PySavedHooks(Object pack, Object unpack)
      : pack_(make_ref<HeldObject>(std::move(pack))), unpack_(make_ref<HeldObject>(std::move(unpack))) {}
  Ref<RefCounted> pack(const Tensor& t) override {
    AcquireGil gil;
    Object arg = own(wrap(t));
    return make_ref<HeldObject>(own(PyObject_CallOneArg(pack_->get(), arg.get())));
  }
  Tensor unpack(RefCounted& packed) override {
    AcquireGil gil;
    Object result = own(PyObject_CallOneArg(unpack_->get(), static_cast<HeldObject&>(packed).get()));
    return expect_tensor(result.get(), "result of unpack_hook");
  }
  void visit_held(autograd::HeldVisitor& visitor) const override {
    visitor.object(pack_.get());
    visitor.object(unpack_.get());
  }

 private:
  Ref<HeldObject> pack_, unpack_;
};

std::vector<Ref<autograd::SavedTensorHooks>>& saved_hooks() {
  static thread_local std::vector<Ref<autograd::SavedTensorHooks>> stack;
  return stack;
}

PyObject* push_saved_hooks(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *pack, *unpack;
    if (!PyArg_ParseTuple(args, "OO", &pack, &unpack)) throw PythonError();
    saved_hooks().push_back(make_ref<PySavedHooks>(Object::borrow(pack), Object::borrow(unpack)));
    autograd::saved_tensor_hooks = saved_hooks().back().get();
    Py_RETURN_NONE;
  });
}
PyObject* pop_saved_hooks(PyObject*, PyObject*) {
  return guard([&]() -> PyObject* {
    check(!saved_hooks().empty(), ErrorKind::kRuntime, "[saved_tensors_hooks] there are none in force");
    saved_hooks().pop_back();
    autograd::saved_tensor_hooks = saved_hooks().empty() ? nullptr : saved_hooks().back().get();
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {
    {"grad_enabled", grad_enabled, METH_NOARGS, nullptr},
    {"set_grad_enabled", set_grad_enabled, METH_O, "sets whether operators are recorded; returns what it was"},
    {"backward", backward, METH_VARARGS, nullptr},
    {"grad", grad, METH_VARARGS, nullptr},
    {"saved_tensors_hooks_push", push_saved_hooks, METH_VARARGS, nullptr},
    {"saved_tensors_hooks_pop", pop_saved_hooks, METH_NOARGS, nullptr},
    {"py_layer_apply", py_layer_apply, METH_VARARGS, nullptr},
    {"py_layer_record", py_layer_record, METH_VARARGS, nullptr},
    {}};

}  // namespace

void add_functions(PyObject* module, PyMethodDef* methods) { must_zero(PyModule_AddFunctions(module, methods)); }
void add_autograd(PyObject* module) { add_functions(module, functions); }

}  // namespace paddle::bindings
