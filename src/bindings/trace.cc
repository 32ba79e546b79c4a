// paddle._core.trace: capture of programs. What python/paddle/jit/_trace_api.py describes.
#include "bindings/trace.h"

#include <frameobject.h>
#include <structmember.h>

#include <array>

#include "api/ops.h"
#include "base/flags.h"
#include "bindings/op_entry.h"
#include "bindings/py.h"
#include "bindings/trace_types.h"
#include "compile/runner.h"
#include "compile/segments.h"
#include "device/default_place.h"
#include "dispatch/autocast.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"

namespace paddle::bindings {

PyObject* graph_break_class = nullptr;

namespace {

using dispatch::Trace;

PyTypeObject *trace_type, *program_type, *runner_type, *region_type, *array_type, *segments_type;

// A Python object that owns a C++ one.
template <class T>
struct Boxed {
  PyObject_HEAD vectorcallfunc vectorcall;
  T* value;
};
template <class T>
T& unbox(PyObject* o) {
  return *reinterpret_cast<Boxed<T>*>(o)->value;
}
template <class T>
PyObject* box(PyTypeObject* type, std::unique_ptr<T> value) {
  auto* o = reinterpret_cast<Boxed<T>*>(must(type->tp_alloc(type, 0)));
  o->value = value.release();
  return reinterpret_cast<PyObject*>(o);
}
template <class T>
void dealloc(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  delete reinterpret_cast<Boxed<T>*>(o)->value;
  type->tp_free(o);
  Py_DECREF(type);
}
template <class F>
PyType_Slot slot(int id, F* f) {
  return {id, reinterpret_cast<void*>(f)};
}

Trace& active() {
  Trace* t = Trace::active();
  check(t != nullptr, ErrorKind::kRuntime, "[to_static] no program is being captured on this thread");
  return *t;
}

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

// ---- arrays: a traced handle in a class of its own
bool is_array_object(PyObject* o) { return Py_TYPE(o) == array_type; }
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

// ---- the program
PyObject* program_str(PyObject* o) {
  return guard([&] {
    return must(PyUnicode_FromString(unbox<std::shared_ptr<compile::Runner>>(o)->captured().program.str().c_str()));
  });
}
PyObject* program_num_ops(PyObject* o, void*) {
  return guard([&] {
    return must(PyLong_FromSize_t(unbox<std::shared_ptr<compile::Runner>>(o)->captured().program.num_ops()));
  });
}
PyObject* program_inputs(PyObject* o, void*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (const auto& i : unbox<std::shared_ptr<compile::Runner>>(o)->captured().inputs)
      must_zero(PyList_Append(list.get(), own(PyUnicode_FromString(i.name.c_str())).get()));
    return list.release();
  });
}
PyObject* program_outputs(PyObject* o, void*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (const auto& n : unbox<std::shared_ptr<compile::Runner>>(o)->captured().output_names)
      must_zero(PyList_Append(list.get(), own(PyUnicode_FromString(n.c_str())).get()));
    return list.release();
  });
}
PyObject* program_parameters(PyObject* o, void*) {
  return guard([&] { return wrap_list(unbox<std::shared_ptr<compile::Runner>>(o)->parameters()); });
}
PyObject* program_all_ops(PyObject* o, void*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    unbox<std::shared_ptr<compile::Runner>>(o)->captured().program.walk([&](pir::Operation& op) {
      must_zero(PyList_Append(list.get(), own(PyUnicode_FromString(std::string(op.name()).c_str())).get()));
    });
    return list.release();
  });
}
PyObject* program_compiled(PyObject* o, PyObject*) {
  return guard(
      [&] { return must(PyUnicode_FromString(unbox<std::shared_ptr<compile::Runner>>(o)->compiled_text().c_str())); });
}

PyObject* program_stages(PyObject* o, PyObject*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (auto& [name, text] : unbox<std::shared_ptr<compile::Runner>>(o)->stages())
      must_zero(PyList_Append(list.get(), own(Py_BuildValue("(ss)", name.c_str(), text.c_str())).get()));
    return list.release();
  });
}

// ---- running
std::shared_ptr<compile::Runner>& runner_of(PyObject* o) { return unbox<std::shared_ptr<compile::Runner>>(o); }

PyObject* runner_call(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    size_t n = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
    check(!kwnames, ErrorKind::kType, "a program takes no keyword arguments");
    Tensors inputs;
    inputs.reserve(n);
    for (size_t i = 0; i < n; ++i) inputs.push_back(expect_tensor(args[i], "program"));
    compile::Runner& r = *runner_of(o);
    Tensors outs;
    {
      ReleaseGil release(!dispatch::tracing());
      outs = r.run(inputs);
    }
    return wrap_list(outs);
  });
}

PyObject* runner_accepts(PyObject* o, PyObject* shapes) {
  return guard([&] {
    Object seq = own(PySequence_Fast(shapes, "accepts"));
    std::vector<Shape> all;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
      Object one = own(PySequence_Fast(PySequence_Fast_GET_ITEM(seq.get(), i), "shape"));
      Shape s;
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(one.get()); ++k)
        s.push_back(dim_of(PySequence_Fast_GET_ITEM(one.get(), k)));
      all.push_back(s);
    }
    return PyBool_FromLong(runner_of(o)->accepts(all));
  });
}
PyObject* runner_program(PyObject* o, void*) {
  return guard([&] { return box(program_type, std::make_unique<std::shared_ptr<compile::Runner>>(runner_of(o))); });
}

// ---- capture
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
    PyObject *name, *specs, *given = Py_None, *cache = Py_None, *on_break = Py_None, *on_run = Py_None;
    if (!PyArg_ParseTuple(args, "OO|OOOO", &name, &specs, &given, &cache, &on_break, &on_run)) throw PythonError();
    auto trace = std::make_unique<Trace>(string_from(name, "begin_trace"));
    Tensors inputs;
    Object seq = own(PySequence_Fast(specs, "begin_trace"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
      PyObject* spec = PySequence_Fast_GET_ITEM(seq.get(), i);
      auto get = [&](const char* n) { return own(PyObject_GetAttrString(spec, n)); };
      Object shape = get("shape"), dtype = get("dtype"), stop = get("stop_gradient"), label = get("name"),
             hint = get("hint");
      std::string text = label.get() != Py_None ? string_from(label.get(), "name") : std::string();
      inputs.push_back(trace->add_input(text, shape_of_spec(shape.get(), hint.get(), text),
                                        dtype_from(dtype.get(), "begin_trace"), PyObject_IsTrue(stop.get())));
    }
    Object list = own(wrap_list(inputs));
    if (cache != Py_None) {
      check(Py_TYPE(cache) == segments_type, ErrorKind::kType, "[begin_trace] expected Segments, got {}",
            Py_TYPE(cache)->tp_name);
      trace->allow_segments(values_from(given, "begin_trace"), segment_runner(cache, on_break, on_run));
    }
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
    if (!PyArg_ParseTuple(args, "OO", &handle, &outputs)) throw PythonError();
    Tensors outs = values_from(outputs, "end_trace");
    std::unique_ptr<Trace> trace = take_trace(handle);
    dispatch::CapturedProgram captured = trace->finish(outs);
    compile::PipelineOptions options;
    auto runner = std::make_shared<compile::Runner>(std::move(captured), options);
    return box(program_type, std::make_unique<std::shared_ptr<compile::Runner>>(std::move(runner)));
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
    active().break_here(string_from(why, "break_here").c_str());
    Py_RETURN_NONE;
  });
}
PyObject* can_break(PyObject*, PyObject*) {
  Trace* t = Trace::active();
  return PyBool_FromLong(t && t->can_break());
}
PyObject* runner_grads_fit(PyObject* o, PyObject*) {
  return guard([&] { return PyBool_FromLong(runner_of(o)->grads_fit()); });
}
PyObject* runner_reads_grads(PyObject* o, void*) {
  return guard([&] {
    const auto& c = runner_of(o)->captured();
    bool reads = !c.grad_reads.empty();
    for (const auto& w : c.grad_writes) reads |= w.absent;
    return PyBool_FromLong(reads);
  });
}

PyObject* abort_trace(PyObject*, PyObject* handle) {
  return guard([&]() -> PyObject* {
    if (reinterpret_cast<Boxed<Trace>*>(handle)->value) take_trace(handle).reset();
    Py_RETURN_NONE;
  });
}

PyObject* compile_program(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *program, *options = Py_None;
    if (!PyArg_ParseTuple(args, "O|O", &program, &options)) throw PythonError();
    check(Py_TYPE(program) == program_type, ErrorKind::kType, "[compile] expected a captured program");
    auto& r = unbox<std::shared_ptr<compile::Runner>>(program);
    if (PyDict_Check(options)) {
      PyObject* backend = PyDict_GetItemString(options, "backend");
      r->set_cinn(!(backend && backend == Py_None));
    }
    return wrap_runner(r);
  });
}

PyObject* is_traced(PyObject*, PyObject* o) {
  return PyBool_FromLong(is_tensor(o) && (dispatch::tracing() || tensor_of(o).is_traced()));
}
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

// ---- regions
struct RegionBox {
  Object trace_owner;
  std::unique_ptr<dispatch::TraceRegion> region;
};

PyObject* region_new(PyTypeObject* type, PyObject* args, PyObject*) {
  return guard([&] {
    PyObject *inits = nullptr, *shapes = Py_None, *needs = Py_None;
    if (!PyArg_ParseTuple(args, "|OOO", &inits, &shapes, &needs)) throw PythonError();
    Tensors values = inits ? values_from(inits, "Region") : Tensors();
    std::vector<std::optional<Shape>> given;
    if (shapes != Py_None) {
      Object seq = own(PySequence_Fast(shapes, "Region"));
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
        PyObject* s = PySequence_Fast_GET_ITEM(seq.get(), i);
        given.push_back(s == Py_None ? std::nullopt : std::optional<Shape>(shape_of_spec(s, nullptr, "")));
      }
    }
    std::vector<bool> needs_grad;
    if (needs != Py_None) {
      Object seq = own(PySequence_Fast(needs, "Region"));
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
        needs_grad.push_back(PyObject_IsTrue(PySequence_Fast_GET_ITEM(seq.get(), i)) == 1);
    }
    auto boxed = std::make_unique<RegionBox>();
    boxed->region = std::make_unique<dispatch::TraceRegion>(active(), values, given, needs_grad);
    return box(region_type, std::move(boxed));
  });
}
PyObject* region_enter(PyObject* o, PyObject*) {
  return guard([&] {
    unbox<RegionBox>(o).region->enter();
    Py_INCREF(o);
    return o;
  });
}
PyObject* region_exit(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    unbox<RegionBox>(o).region->exit();
    Py_RETURN_NONE;
  });
}
PyObject* region_args(PyObject* o, void*) {
  return guard([&] { return wrap_values(unbox<RegionBox>(o).region->args()); });
}
PyObject* region_writes(PyObject* o, void*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (const auto& w : unbox<RegionBox>(o).region->writes()) {
      Object handle = own(wrap(w.handle)), value = own(wrap_value(w.value));
      must_zero(PyList_Append(list.get(), own(PyTuple_Pack(2, handle.get(), value.get())).get()));
    }
    return list.release();
  });
}
dispatch::TraceRegion& region_of(PyObject* o) {
  check(Py_TYPE(o) == region_type, ErrorKind::kType, "expected a Region, got {}", Py_TYPE(o)->tp_name);
  return *unbox<RegionBox>(o).region;
}

PyObject* build_if(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *pred, *yes, *outs_yes, *no, *outs_no;
    if (!PyArg_ParseTuple(args, "OOOOO", &pred, &yes, &outs_yes, &no, &outs_no)) throw PythonError();
    return wrap_values(dispatch::build_if(active(), expect_tensor(pred, "if"), region_of(yes),
                                          values_from(outs_yes, "if"), region_of(no), values_from(outs_no, "if")));
  });
}
PyObject* build_while(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *cond, *inits, *body, *next_cond, *next;
    if (!PyArg_ParseTuple(args, "OOOOO", &cond, &inits, &body, &next_cond, &next)) throw PythonError();
    return wrap_values(dispatch::build_while(active(), expect_tensor(cond, "while"), values_from(inits, "while"),
                                             region_of(body), expect_tensor(next_cond, "while"),
                                             values_from(next, "while")));
  });
}
PyObject* rebind(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *handle, *value;
    if (!PyArg_ParseTuple(args, "OO", &handle, &value)) throw PythonError();
    if (dispatch::tracing())
      active().rebind(expect_tensor(handle, "rebind"), value_from(value, "rebind"));
    else
      expect_tensor(handle, "rebind").become(expect_tensor(value, "rebind"));
    Py_RETURN_NONE;
  });
}
PyObject* py_alias(PyObject*, PyObject* handle) {
  return guard([&] { return wrap_value(active().alias(value_from(handle, "alias"))); });
}

// ---- with outside(): calls in the block are not captured
using Suspension = std::optional<dispatch::StackScope>;
PyObject* outside_new(PyTypeObject* type, PyObject*, PyObject*) {
  return guard([&] { return box(type, std::make_unique<Suspension>()); });
}
PyObject* outside_enter(PyObject* o, PyObject*) {
  return guard([&] {
    if (dispatch::tracing()) unbox<Suspension>(o).emplace();
    Py_INCREF(o);
    return o;
  });
}
PyObject* outside_exit(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    unbox<Suspension>(o).reset();
    Py_RETURN_NONE;
  });
}

// ---- small operators
PyObject* constant(PyObject*, PyObject* args, PyObject* kwargs) {
  return guard([&] {
    static const char* names[] = {"value", "shape", "dtype", nullptr};
    PyObject *value, *shape = nullptr, *dtype = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO", const_cast<char**>(names), &value, &shape, &dtype))
      throw PythonError();
    Scalar s = scalar_from(value, "constant");
    DType t = dtype != Py_None ? dtype_from(dtype, "constant") : number_dtype(s, DType::kUndefined);
    Ints sizes = shape && shape != Py_None ? ints_from(shape, "constant") : Ints();
    return wrap(ops::full(sizes, s, t));
  });
}
PyObject* cast(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *x, *dtype;
    if (!PyArg_ParseTuple(args, "OO", &x, &dtype)) throw PythonError();
    return wrap(ops::cast(expect_tensor(x, "cast"), dtype_from(dtype, "cast")));
  });
}
PyObject* logical_and(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *a, *b;
    if (!PyArg_ParseTuple(args, "OO", &a, &b)) throw PythonError();
    return wrap(ops::logical_and(expect_tensor(a, "logical_and"), expect_tensor(b, "logical_and")));
  });
}
PyObject* logical_or(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *a, *b;
    if (!PyArg_ParseTuple(args, "OO", &a, &b)) throw PythonError();
    return wrap(ops::logical_or(expect_tensor(a, "logical_or"), expect_tensor(b, "logical_or")));
  });
}
PyObject* logical_not(PyObject*, PyObject* a) {
  return guard([&] { return wrap(ops::logical_not(expect_tensor(a, "logical_not"))); });
}
PyObject* assert_(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *cond, *message, *data = nullptr;
    if (!PyArg_ParseTuple(args, "OO|O", &cond, &message, &data)) throw PythonError();
    Object text = own(PyObject_Str(message));
    Tensors tensors;
    if (data && data != Py_None) {
      Object seq = own(PySequence_Fast(data, "assert"));
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
        if (PyObject* d = PySequence_Fast_GET_ITEM(seq.get(), i); is_tensor(d)) tensors.push_back(tensor_of(d));
    }
    dispatch::trace_assert(active(), expect_tensor(cond, "assert"), string_from(text.get(), "assert"), tensors);
    Py_RETURN_NONE;
  });
}
PyObject* print_(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    Object seq = own(PySequence_Fast(args, "print"));
    std::vector<std::string> texts;
    Tensors tensors;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
      PyObject* a = PySequence_Fast_GET_ITEM(seq.get(), i);
      if (is_tensor(a)) {
        tensors.push_back(tensor_of(a));
        texts.emplace_back("\x01");
      } else {
        texts.push_back(string_from(own(PyObject_Str(a)).get(), "print"));
      }
    }
    dispatch::trace_print(active(), texts, tensors);
    Py_RETURN_NONE;
  });
}
void print_through_python(std::span<const std::string> texts, std::span<const Tensor> tensors) {
  AcquireGil gil;
  Object parts = own(PyTuple_New(static_cast<Py_ssize_t>(texts.size())));
  size_t at = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    PyObject* part = texts[i] == "\x01" ? wrap(tensors[at++]) : PyUnicode_FromString(texts[i].c_str());
    PyTuple_SET_ITEM(parts.get(), static_cast<Py_ssize_t>(i), must(part));
  }
  PyObject* print = PyDict_GetItemString(PyEval_GetBuiltins(), "print");
  own(PyObject_Call(must(print), parts.get(), nullptr));
}

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
    return wrap_array(dispatch::array_create(active(), dtype_from(dtype, "array"), values_from(items, "array"), sizes));
  });
}
PyObject* array_write(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *a, *i, *v;
    if (!PyArg_ParseTuple(args, "OOO", &a, &i, &v)) throw PythonError();
    return wrap_array(
        dispatch::array_write(active(), value_from(a, "array"), index_from(i), expect_tensor(v, "array")));
  });
}
PyObject* array_read(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *a, *i;
    if (!PyArg_ParseTuple(args, "OO", &a, &i)) throw PythonError();
    return wrap(dispatch::array_read(active(), value_from(a, "array"), index_from(i)));
  });
}
PyObject* array_length(PyObject*, PyObject* a) {
  return guard([&] { return wrap(dispatch::array_length(active(), value_from(a, "array"))); });
}
PyObject* array_pop(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *a, *i;
    if (!PyArg_ParseTuple(args, "OO", &a, &i)) throw PythonError();
    Tensor index = index_from(i), array = value_from(a, "array");
    Object item = own(wrap(dispatch::array_read(active(), array, index)));
    Object rest = own(wrap_array(dispatch::array_pop(active(), array, index)));
    return must(PyTuple_Pack(2, rest.get(), item.get()));
  });
}
template <bool stack>
PyObject* array_join(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *a, *axis;
    if (!PyArg_ParseTuple(args, "OO", &a, &axis)) throw PythonError();
    return wrap(dispatch::array_join(active(), value_from(a, "array"), dim_as_int(axis), stack));
  });
}

// ---- signatures
PyObject* tensor_key(const Tensor& t) {
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

template <class F>
PyCFunction keywords(F f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

PyMethodDef functions[] = {{"begin_trace", begin_trace, METH_VARARGS, nullptr},
                           {"end_trace", end_trace, METH_VARARGS, nullptr},
                           {"abort_trace", abort_trace, METH_O, nullptr},
                           {"finish_segments", finish_segments, METH_VARARGS, nullptr},
                           {"break_here", break_here, METH_O, nullptr},
                           {"can_break", can_break, METH_NOARGS, nullptr},
                           {"compile", compile_program, METH_VARARGS, nullptr},
                           {"is_traced", is_traced, METH_O, nullptr},
                           {"tracing", tracing, METH_NOARGS, nullptr},
                           {"is_symint", py_is_symint, METH_O, nullptr},
                           {"same_size", same_size, METH_VARARGS, nullptr},
                           {"build_if", build_if, METH_VARARGS, nullptr},
                           {"build_while", build_while, METH_VARARGS, nullptr},
                           {"rebind", rebind, METH_VARARGS, nullptr},
                           {"alias", py_alias, METH_O, nullptr},
                           {"constant", keywords(constant), METH_VARARGS | METH_KEYWORDS, nullptr},
                           {"cast", cast, METH_VARARGS, nullptr},
                           {"logical_and", logical_and, METH_VARARGS, nullptr},
                           {"logical_or", logical_or, METH_VARARGS, nullptr},
                           {"logical_not", logical_not, METH_O, nullptr},
                           {"assert_", assert_, METH_VARARGS, nullptr},
                           {"print_", print_, METH_O, nullptr},
                           {"array_create", array_create, METH_VARARGS, nullptr},
                           {"array_write", array_write, METH_VARARGS, nullptr},
                           {"array_read", array_read, METH_VARARGS, nullptr},
                           {"array_length", array_length, METH_O, nullptr},
                           {"array_pop", array_pop, METH_VARARGS, nullptr},
                           {"array_stack", array_join<true>, METH_VARARGS, nullptr},
                           {"array_concat", array_join<false>, METH_VARARGS, nullptr},
                           {"quick_signature", quick_signature, METH_O, nullptr},
                           {"state_key", state_key, METH_NOARGS, nullptr},
                           {"get_default_dtype", py_default_dtype, METH_NOARGS, nullptr},
                           {"as_dtype", py_as_dtype, METH_O, nullptr},
                           {"to_tensor", py_to_tensor, METH_O, nullptr},
                           {}};

PyTypeObject* make_type(PyType_Spec& spec, PyObject* module, const char* name) {
  auto* t = reinterpret_cast<PyTypeObject*>(must(PyType_FromSpec(&spec)));
  must_zero(PyModule_AddObjectRef(module, name, reinterpret_cast<PyObject*>(t)));
  return t;
}

void add_types(PyObject* module) {
  using RunnerPtr = std::shared_ptr<compile::Runner>;
  static PyType_Slot trace_slots[] = {slot(Py_tp_dealloc, dealloc<Trace>), {0, nullptr}};
  static PyType_Spec trace_spec{"paddle._core.trace.Trace", sizeof(Boxed<Trace>), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, trace_slots};
  trace_type = make_type(trace_spec, module, "Trace");

  static PyGetSetDef program_getset[] = {{"num_ops", program_num_ops, nullptr, nullptr, nullptr},
                                         {"inputs", program_inputs, nullptr, nullptr, nullptr},
                                         {"outputs", program_outputs, nullptr, nullptr, nullptr},
                                         {"parameters", program_parameters, nullptr, nullptr, nullptr},
                                         {"all_ops", program_all_ops, nullptr, "names of the operations", nullptr},
                                         {}};
  static PyMethodDef program_methods[] = {
      {"compiled", program_compiled, METH_NOARGS, "the program after every pass, as text"},
      {"stages", program_stages, METH_NOARGS, "(name, text) of the program: captured, sharded, decomposed, fused"},
      {}};
  static PyType_Slot program_slots[] = {slot(Py_tp_dealloc, dealloc<RunnerPtr>), slot(Py_tp_str, program_str),
                                        slot(Py_tp_repr, program_str),           {Py_tp_getset, program_getset},
                                        {Py_tp_methods, program_methods},        {0, nullptr}};
  static PyType_Spec program_spec{"paddle._core.trace.Program", sizeof(Boxed<RunnerPtr>), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, program_slots};
  program_type = make_type(program_spec, module, "Program");

  static PyMemberDef runner_members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(Boxed<RunnerPtr>, vectorcall), READONLY, nullptr}, {}};
  static PyGetSetDef runner_getset[] = {{"program", runner_program, nullptr, nullptr, nullptr},
                                        {"reads_grads", runner_reads_grads, nullptr,
                                         "whether it holds only for leaves with, or without, a .grad", nullptr},
                                        {}};
  static PyMethodDef runner_methods[] = {
      {"accepts", runner_accepts, METH_O, "whether the program holds for inputs of these shapes"},
      {"grads_fit", runner_grads_fit, METH_NOARGS, "whether leaves have a .grad, or none, as at the capture"},
      {}};
  static PyType_Slot runner_slots[] = {slot(Py_tp_dealloc, dealloc<RunnerPtr>), slot(Py_tp_call, PyVectorcall_Call),
                                       {Py_tp_members, runner_members},         {Py_tp_getset, runner_getset},
                                       {Py_tp_methods, runner_methods},         {0, nullptr}};
  static PyType_Spec runner_spec{"paddle._core.trace.Runner", sizeof(Boxed<RunnerPtr>), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 runner_slots};
  runner_type = make_type(runner_spec, module, "Runner");

  static PyGetSetDef region_getset[] = {
      {"args", region_args, nullptr, nullptr, nullptr}, {"writes", region_writes, nullptr, nullptr, nullptr}, {}};
  static PyMethodDef region_methods[] = {
      {"__enter__", region_enter, METH_NOARGS, nullptr}, {"__exit__", region_exit, METH_VARARGS, nullptr}, {}};
  static PyType_Slot region_slots[] = {slot(Py_tp_new, region_new),
                                       slot(Py_tp_dealloc, dealloc<RegionBox>),
                                       {Py_tp_getset, region_getset},
                                       {Py_tp_methods, region_methods},
                                       {0, nullptr}};
  static PyType_Spec region_spec{"paddle._core.trace.Region", sizeof(Boxed<RegionBox>), 0, Py_TPFLAGS_DEFAULT,
                                 region_slots};
  region_type = make_type(region_spec, module, "Region");

  static PyMethodDef outside_methods[] = {
      {"__enter__", outside_enter, METH_NOARGS, nullptr}, {"__exit__", outside_exit, METH_VARARGS, nullptr}, {}};
  static PyType_Slot outside_slots[] = {slot(Py_tp_new, outside_new),
                                        slot(Py_tp_dealloc, dealloc<Suspension>),
                                        {Py_tp_methods, outside_methods},
                                        {0, nullptr}};
  static PyType_Spec outside_spec{"paddle._core.trace.outside", sizeof(Boxed<Suspension>), 0, Py_TPFLAGS_DEFAULT,
                                  outside_slots};
  make_type(outside_spec, module, "outside");

  static PyGetSetDef segments_getset[] = {{"size", segments_size, nullptr, "how many were compiled", nullptr}, {}};
  static PyType_Slot segments_slots[] = {slot(Py_tp_new, segments_new),
                                         slot(Py_tp_dealloc, dealloc<compile::SegmentCache>),
                                         {Py_tp_getset, segments_getset},
                                         {0, nullptr}};
  static PyType_Spec segments_spec{"paddle._core.trace.Segments", sizeof(Boxed<compile::SegmentCache>), 0,
                                   Py_TPFLAGS_DEFAULT, segments_slots};
  segments_type = make_type(segments_spec, module, "Segments");

  static PyGetSetDef array_getset[] = {{"dtype", array_dtype, nullptr, nullptr, nullptr},
                                       {"shape", array_shape, nullptr, "of an item", nullptr},
                                       {"stop_gradient", array_stop_gradient, nullptr, nullptr, nullptr},
                                       {}};
  static PyType_Slot array_slots[] = {slot(Py_tp_dealloc, dealloc<Tensor>), {Py_tp_getset, array_getset}, {0, nullptr}};
  static PyType_Spec array_spec{"paddle._core.trace.Array", sizeof(Boxed<Tensor>), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, array_slots};
  array_type = make_type(array_spec, module, "Array");
}

PyModuleDef definition{PyModuleDef_HEAD_INIT,
                       "paddle._core.trace",
                       "Capture of programs.",
                       -1,
                       functions,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace

std::shared_ptr<compile::Runner> program_in(PyObject* program) {
  check(Py_TYPE(program) == program_type, ErrorKind::kType, "expected a captured program, got {}",
        Py_TYPE(program)->tp_name);
  return unbox<std::shared_ptr<compile::Runner>>(program);
}

PyObject* wrap_runner(const std::shared_ptr<compile::Runner>& r) {
  auto* o = reinterpret_cast<Boxed<std::shared_ptr<compile::Runner>>*>(
      must(box(runner_type, std::make_unique<std::shared_ptr<compile::Runner>>(r))));
  o->vectorcall = runner_call;
  return reinterpret_cast<PyObject*>(o);
}

PyObject* wrap_program(const std::shared_ptr<compile::Runner>& r) {
  return box(program_type, std::make_unique<std::shared_ptr<compile::Runner>>(r));
}

void add_trace(PyObject* core) {
  Object module = own(PyModule_Create(&definition));
  graph_break_class = must(PyErr_NewExceptionWithDoc("paddle._core.trace.GraphBreak",
                                                     "The value of a tensor is needed while a program is captured.",
                                                     PyExc_RuntimeError, nullptr));
  must_zero(PyModule_AddObjectRef(module.get(), "GraphBreak", graph_break_class));
  must_zero(PyModule_AddObjectRef(module.get(), "Tensor", reinterpret_cast<PyObject*>(tensor_type)));
  add_types(module.get());
  add_trace_files(module.get());
  add_recompute(module.get());
  dispatch::current_location = location_here;
  executor::print_hook = print_through_python;
  for (const flags::Flag& f : flags::all()) flags::on_change(f.name, [](const flags::Value&) { ++flags_version; });
  must_zero(PyModule_AddObjectRef(core, "trace", module.get()));
  // `from paddle._core import trace` finds the attribute; `import paddle._core.trace` looks here.
  must_zero(PyDict_SetItemString(PyImport_GetModuleDict(), "paddle._core.trace", module.get()));
}

}  // namespace paddle::bindings
