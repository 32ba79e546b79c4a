// The body of a `While`: a block of statements that write the variables of the loop in place.
#include "base/error.h"
#include "bindings/ir_classes.h"

namespace paddle::bindings {
namespace {

using dispatch::Trace;
using dispatch::TraceRegion;

struct PyLoop {
  PyObject_HEAD TraceRegion* region;
};
PyTypeObject* loop_type;

Trace& active() {
  Trace* t = Trace::active();
  check(t != nullptr, ErrorKind::kRuntime, "[While] no program is being built on this thread");
  return *t;
}
TraceRegion& region_of(PyObject* o) {
  auto* r = reinterpret_cast<PyLoop*>(o)->region;
  check(r != nullptr, ErrorKind::kRuntime, "[While] this loop was built already");
  return *r;
}

bool lies_in(pir::Operation* op, const pir::Block& block) {
  for (; op && op->block(); op = op->parent_op())
    if (op->block() == &block) return true;
  return false;
}

PyObject* loop_new(PyTypeObject* type, PyObject*, PyObject*) {
  return guard([&] {
    auto region =
        std::make_unique<TraceRegion>(active(), std::span<const Tensor>(), std::span<const std::optional<Shape>>());
    PyObject* o = must(type->tp_alloc(type, 0));
    reinterpret_cast<PyLoop*>(o)->region = region.release();
    return o;
  });
}
void loop_dealloc(PyObject* o) {
  delete reinterpret_cast<PyLoop*>(o)->region;
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
}
PyObject* loop_enter(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    region_of(o).enter();
    Py_RETURN_NONE;
  });
}
PyObject* loop_leave(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    region_of(o).exit();
    Py_RETURN_NONE;
  });
}

// close(condition): what the body wrote goes from round to round; afterwards the handles mean the last round's values.
PyObject* loop_close(PyObject* o, PyObject* condition) {
  return guard([&]() -> PyObject* {
    TraceRegion& body = region_of(o);
    Trace& trace = active();
    Tensor cond = expect_tensor(condition, "While"), next_cond;
    Tensors handles, inits, next;
    for (const auto& w : body.writes()) {
      if (w.handle.same(cond)) next_cond = w.value;
      handles.push_back(w.handle);
      inits.push_back(trace.alias(w.handle));
      next.push_back(w.value);
    }
    check(next_cond.defined(), ErrorKind::kValue,
          "[While] the body doesn't change the condition: assign its new value with output=, or cond=");
    for (const Tensor& init : inits) {
      pir::Value outer = trace.find(init), arg = body.block().add_arg(outer.type());
      arg.set_stop_gradient(outer.stop_gradient());
      // Read before it was written: what the round before left.
      outer.replace_uses_if(arg, [&](pir::OpOperand& use) { return lies_in(use.owner(), body.block()); });
    }
    Tensors results = dispatch::build_while(trace, trace.alias(cond), inits, body, next_cond, next);
    for (size_t i = 0; i < handles.size(); ++i) trace.rebind(handles[i], results[i]);
    delete std::exchange(reinterpret_cast<PyLoop*>(o)->region, nullptr);
    Py_RETURN_NONE;
  });
}

PyMethodDef methods[] = {{"enter", loop_enter, METH_NOARGS, nullptr},
                         {"leave", loop_leave, METH_NOARGS, nullptr},
                         {"close", loop_close, METH_O, "(condition): the body is complete"},
                         {}};

}  // namespace

void add_ir_loops(PyObject* module) {
  static PyType_Slot slots[] = {
      slot(Py_tp_new, loop_new), slot(Py_tp_dealloc, loop_dealloc), {Py_tp_methods, methods}, {0, nullptr}};
  static PyType_Spec spec{"paddle._core.ir.Loop", sizeof(PyLoop), 0, Py_TPFLAGS_DEFAULT, slots};
  loop_type = add_ir_type(spec, module, "Loop");
}

}  // namespace paddle::bindings
