// A capture from its beginning to its end, whole or in segments.
#include "bindings/trace_objects.h"

#include <frameobject.h>

#include <array>

#include "bindings/op_entry.h"
#include "bindings/trace.h"
#include "bindings/trace_types.h"
#include "compile/runner.h"
#include "compile/segments.h"

namespace paddle::bindings {
namespace {

using dispatch::Trace;

PyTypeObject *trace_type, *segments_type;

// ---- locations: the innermost frame outside of the package
pir::Location location_here() {
  AcquireGil gil;
  PyFrameObject* frame = PyEval_GetFrame();
  Object held = Object::borrow(reinterpret_cast<PyObject*>(frame));
  while (frame) {
    Object code(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    auto* c = reinterpret_cast<PyCodeObject*>(code.get());
    const char* path = PyUnicode_AsUTF8(c->co_filename);
    if (!path) {
      PyErr_Clear();
      return {};
    }
    if (!is_package_file(path)) {
      const char* name = PyUnicode_AsUTF8(c->co_name);
      return pir::Location::at(path, PyFrame_GetLineNumber(frame), name ? name : "");
    }
    PyFrameObject* back = PyFrame_GetBack(frame);
    held = Object(reinterpret_cast<PyObject*>(back));
    frame = back;
  }
  return {};
}

}  // namespace

dispatch::Trace& active_capture() {
  Trace* t = Trace::active();
  check(t != nullptr, ErrorKind::kRuntime, "[to_static] no program is being captured on this thread");
  return *t;
}

Shape shape_of_spec(PyObject* shape, PyObject* hint, const std::string& name) {
  Object seq = own(PySequence_Fast(shape, "shape"));
  Object hints = hint && hint != Py_None ? own(PySequence_Fast(hint, "hint")) : Object();
  Shape out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
    PyObject* d = PySequence_Fast_GET_ITEM(seq.get(), i);
    if (d != Py_None) {
      out.push_back(dim_of(d));
      continue;
    }
    int64_t seen = 0;
    if (hints && i < PySequence_Fast_GET_SIZE(hints.get())) {
      PyObject* h = PySequence_Fast_GET_ITEM(hints.get(), i);
      if (h != Py_None) seen = PyLong_AsLongLong(h);
    }
    out.push_back(new_symbol(seen >= 2 ? seen : 0));
  }
  return out;
}

namespace {

// ---- segments
PyObject* segments_new(PyTypeObject* type, PyObject* args, PyObject*) {
  return guard([&] {
    PyObject* backend = Py_None;
    if (!PyArg_ParseTuple(args, "|O", &backend)) throw PythonError();
    compile::PipelineOptions options;
    options.cinn = backend != Py_None;
    return box(type, std::make_unique<compile::SegmentCache>(options));
  });
}
PyObject* segments_size(PyObject* o, void*) { return PyLong_FromSize_t(unbox<compile::SegmentCache>(o).size()); }

// Runs segments from the cache. on_break(why, where) is called before, on_run(operators, fresh) after each.
dispatch::SegmentRunner segment_runner(PyObject* cache, PyObject* on_break, PyObject* on_run) {
  auto kept = std::make_shared<std::array<Object, 3>>(
      std::array<Object, 3>{Object::borrow(cache), Object::borrow(on_break), Object::borrow(on_run)});
  return [kept](dispatch::CapturedProgram* program, Tensors inputs, const std::string& why,
                const std::string& where) -> Tensors {
    own(PyObject_CallFunction((*kept)[1].get(), "ss", why.c_str(), where.c_str()));
    if (!program) return {};
    size_t operators = program->program.num_ops();
    bool fresh = false;
    auto runner = unbox<compile::SegmentCache>((*kept)[0].get()).find(std::move(*program), inputs, fresh);
    Tensors results = runner->run(inputs);
    own(PyObject_CallFunction((*kept)[2].get(), "nO", static_cast<Py_ssize_t>(operators), fresh ? Py_True : Py_False));
    return results;
  };
}

PyObject* begin_trace(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *name, *specs, *given = Py_None, *cache = Py_None, *on_break = Py_None, *on_run = Py_None,
                            *known = nullptr;
    if (!PyArg_ParseTuple(args, "OO|OOOOO", &name, &specs, &given, &cache, &on_break, &on_run, &known))
      throw PythonError();
    auto trace = std::make_unique<Trace>(string_from(name, "begin_trace"));
    Tensors inputs;
    Object seq = own(PySequence_Fast(specs, "begin_trace"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
      PyObject* spec = PySequence_Fast_GET_ITEM(seq.get(), i);
      auto get = [&](const char* n) { return own(PyObject_GetAttrString(spec, n)); };
      Object shape = get("shape"), dtype = get("dtype"), stop = get("stop_gradient"), label = get("name"),
             hint = get("hint");
      Object leaf = own(PyObject_GetAttrString(spec, "leaf"));
      std::string text = label.get() != Py_None ? string_from(label.get(), "name") : std::string();
      inputs.push_back(trace->add_input(text, shape_of_spec(shape.get(), hint.get(), text),
                                        dtype_from(dtype.get(), "begin_trace"), PyObject_IsTrue(stop.get()),
                                        PyObject_IsTrue(leaf.get())));
    }
    if (cache != Py_None) {
      check(Py_TYPE(cache) == segments_type, ErrorKind::kType, "[begin_trace] expected Segments, got {}",
            Py_TYPE(cache)->tp_name);
      trace->allow_segments(segment_runner(cache, on_break, on_run));
    }
    if (given != Py_None) {
      const std::vector<size_t> stands_for =
          trace->share_memory(values_from(given, "begin_trace"), known ? values_from(known, "begin_trace") : Tensors());
      for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = inputs[stands_for[i]];
    }
    Object list = own(wrap_list(inputs));
    Object handle(box(trace_type, std::move(trace)));
    return must(PyTuple_Pack(2, handle.get(), list.get()));
  });
}

std::unique_ptr<Trace> take_trace(PyObject* o) {
  check(Py_TYPE(o) == trace_type && reinterpret_cast<Boxed<Trace>*>(o)->value, ErrorKind::kRuntime,
        "[end_trace] expected a capture in progress");
  return std::unique_ptr<Trace>(std::exchange(reinterpret_cast<Boxed<Trace>*>(o)->value, nullptr));
}

PyObject* end_trace(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *handle, *outputs;
    int histories = 1;
    if (!PyArg_ParseTuple(args, "OO|p", &handle, &outputs, &histories)) throw PythonError();
    Tensors outs = values_from(outputs, "end_trace");
    std::unique_ptr<Trace> trace = take_trace(handle);
    dispatch::CapturedProgram captured = trace->finish(outs, histories != 0);
    compile::PipelineOptions options;
    auto runner = std::make_shared<compile::Runner>(std::move(captured), options);
    return wrap_program(runner);
  });
}

// Runs what was captured since the last break, if there was one or `always`; whether there was.
PyObject* finish_segments(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject* handle;
    int always = 0;
    if (!PyArg_ParseTuple(args, "O|p", &handle, &always)) throw PythonError();
    Trace& trace = unbox<Trace>(handle);
    bool broke = trace.num_segments() > 0;
    if (trace.can_break() && (broke || always)) trace.break_here("return");
    return PyBool_FromLong(broke || always);
  });
}
PyObject* break_here(PyObject*, PyObject* why) {
  return guard([&]() -> PyObject* {
    active_capture().break_here(string_from(why, "break_here").c_str());
    Py_RETURN_NONE;
  });
}
PyObject* can_break(PyObject*, PyObject*) {
  Trace* t = Trace::active();
  return PyBool_FromLong(t && t->can_break());
}

PyObject* abort_trace(PyObject*, PyObject* handle) {
  return guard([&]() -> PyObject* {
    if (reinterpret_cast<Boxed<Trace>*>(handle)->value) take_trace(handle).reset();
    Py_RETURN_NONE;
  });
}

PyObject* is_traced(PyObject*, PyObject* o) {
  return PyBool_FromLong(is_tensor(o) && (dispatch::tracing() || tensor_of(o).is_traced()));
}
PyObject* in_program(PyObject*, PyObject* o) { return PyBool_FromLong(is_tensor(o) && tensor_of(o).is_traced()); }
PyObject* tracing(PyObject*, PyObject*) { return PyBool_FromLong(dispatch::tracing()); }
PyObject* py_is_symint(PyObject*, PyObject* o) { return PyBool_FromLong(is_symint(o)); }

PyObject* same_size(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *a, *b;
    if (!PyArg_ParseTuple(args, "OO", &a, &b)) throw PythonError();
    if (a == Py_None || b == Py_None) return PyBool_FromLong(a == b);
    return PyBool_FromLong(dim_of(a) == dim_of(b));
  });
}

PyMethodDef functions[] = {
    {"begin_trace", begin_trace, METH_VARARGS, nullptr}, {"end_trace", end_trace, METH_VARARGS, nullptr},
    {"abort_trace", abort_trace, METH_O, nullptr},       {"finish_segments", finish_segments, METH_VARARGS, nullptr},
    {"break_here", break_here, METH_O, nullptr},         {"can_break", can_break, METH_NOARGS, nullptr},
    {"is_traced", is_traced, METH_O, nullptr},           {"in_program", in_program, METH_O, nullptr},
    {"tracing", tracing, METH_NOARGS, nullptr},          {"is_symint", py_is_symint, METH_O, nullptr},
    {"same_size", same_size, METH_VARARGS, nullptr},     {}};

}  // namespace

void add_capture(PyObject* module) {
  static PyType_Slot trace_slots[] = {slot(Py_tp_dealloc, dealloc<Trace>), {0, nullptr}};
  static PyType_Spec trace_spec{"paddle._core.trace.Trace", sizeof(Boxed<Trace>), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, trace_slots};
  trace_type = make_type(trace_spec, module, "Trace");

  static PyGetSetDef segments_getset[] = {{"size", segments_size, nullptr, "how many were compiled", nullptr}, {}};
  static PyType_Slot segments_slots[] = {slot(Py_tp_new, segments_new),
                                         slot(Py_tp_dealloc, dealloc<compile::SegmentCache>),
                                         {Py_tp_getset, segments_getset},
                                         {0, nullptr}};
  static PyType_Spec segments_spec{"paddle._core.trace.Segments", sizeof(Boxed<compile::SegmentCache>), 0,
                                   Py_TPFLAGS_DEFAULT, segments_slots};
  segments_type = make_type(segments_spec, module, "Segments");
  add_functions(module, functions);
  dispatch::current_location = location_here;
}

}  // namespace paddle::bindings
