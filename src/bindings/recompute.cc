// Marks around what a captured program is to compute again in its backward pass.
#include "base/error.h"
#include "bindings/py.h"
#include "bindings/trace_types.h"
#include "dispatch/trace.h"

namespace paddle::bindings {
namespace {

dispatch::Trace& capture_here() {
  dispatch::Trace* t = dispatch::Trace::active();
  check(t != nullptr, ErrorKind::kRuntime, "[recompute] no program is being captured on this thread");
  return *t;
}

PyObject* enter(PyObject*, PyObject* preserve_rng) {
  return guard([&] {
    dispatch::Trace& t = capture_here();
    const bool before = t.marks.preserve_rng;
    const int preserve = PyObject_IsTrue(preserve_rng);
    if (preserve < 0) throw PythonError();
    t.marks.path.push_back(t.fresh_mark());
    t.marks.preserve_rng = preserve;
    return PyBool_FromLong(before);
  });
}

PyObject* leave(PyObject*, PyObject* before) {
  return guard([&]() -> PyObject* {
    dispatch::Trace& t = capture_here();
    check(!t.marks.path.empty(), ErrorKind::kRuntime, "[recompute] left more often than entered");
    t.marks.path.pop_back();
    t.marks.preserve_rng = before == Py_True;
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {{"recompute_enter", enter, METH_O, "(preserve_rng_state) -> what recompute_exit takes"},
                           {"recompute_exit", leave, METH_O, nullptr},
                           {}};

}  // namespace

void add_recompute(PyObject* module) { add_functions(module, functions); }

}  // namespace paddle::bindings
