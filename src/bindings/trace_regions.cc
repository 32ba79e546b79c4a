// Branches and loops of a program under construction, and what stands in them.
#include "bindings/trace_objects.h"

#include "api/ops.h"
#include "bindings/op_entry.h"
#include "bindings/trace.h"
#include "compile/runner.h"
#include "dispatch/state.h"
#include "dispatch/trace_gradients.h"
#include "executor/message.h"

namespace paddle::bindings {
namespace {

PyTypeObject* region_type;

// ---- regions
struct RegionBox {
  std::unique_ptr<dispatch::TraceRegion> region;
  bool gradient = false;  // entered as dispatch::GradientScope says
  std::optional<dispatch::GradientScope> scope;
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
    boxed->region = std::make_unique<dispatch::TraceRegion>(active_capture(), values, given, needs_grad);
    return box(region_type, std::move(boxed));
  });
}
// A region whose arguments are the gradients of the given tensors.
PyObject* gradient_region(PyObject*, PyObject* tensors) {
  return guard([&] {
    std::vector<pir::Type> types;
    for (const Tensor& t : values_from(tensors, "gradient_region"))
      types.push_back(active_capture().value_of(t).type());
    auto boxed = std::make_unique<RegionBox>();
    boxed->region = std::make_unique<dispatch::TraceRegion>(active_capture(), std::span<const pir::Type>(types));
    boxed->gradient = true;
    return box(region_type, std::move(boxed));
  });
}
PyObject* region_enter(PyObject* o, PyObject*) {
  return guard([&] {
    RegionBox& b = unbox<RegionBox>(o);
    if (b.gradient)
      b.scope.emplace(active_capture(), *b.region);
    else
      b.region->enter();
    Py_INCREF(o);
    return o;
  });
}
PyObject* region_exit(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    RegionBox& b = unbox<RegionBox>(o);
    if (b.gradient)
      b.scope.reset();
    else
      b.region->exit();
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
}  // namespace

dispatch::TraceRegion& region_of(PyObject* o) {
  check(Py_TYPE(o) == region_type, ErrorKind::kType, "expected a Region, got {}", Py_TYPE(o)->tp_name);
  return *unbox<RegionBox>(o).region;
}

namespace {

PyObject* build_if(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *pred, *yes, *outs_yes, *no, *outs_no;
    if (!PyArg_ParseTuple(args, "OOOOO", &pred, &yes, &outs_yes, &no, &outs_no)) throw PythonError();
    return wrap_values(dispatch::build_if(active_capture(), expect_tensor(pred, "if"), region_of(yes),
                                          values_from(outs_yes, "if"), region_of(no), values_from(outs_no, "if")));
  });
}
PyObject* build_while(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *cond, *inits, *body, *next_cond, *next;
    if (!PyArg_ParseTuple(args, "OOOOO", &cond, &inits, &body, &next_cond, &next)) throw PythonError();
    return wrap_values(dispatch::build_while(active_capture(), expect_tensor(cond, "while"),
                                             values_from(inits, "while"), region_of(body),
                                             expect_tensor(next_cond, "while"), values_from(next, "while")));
  });
}
// In their places; undefined for what is no tensor.
Tensors tensors_among(PyObject* list) {
  Object seq = own(PySequence_Fast(list, "a loop's values"));
  Tensors all;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
    PyObject* o = PySequence_Fast_GET_ITEM(seq.get(), i);
    all.push_back(is_tensor(o) ? expect_tensor(o, "a loop's values") : Tensor());
  }
  return all;
}
// What the body writes of what other names mean, too: None, "first" (round), "every".
PyObject* loop_sharing(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *body, *entries, *outs, *held;
    if (!PyArg_ParseTuple(args, "OOOO", &body, &entries, &outs, &held)) throw PythonError();
    std::vector<bool> others;
    Object flags = own(PySequence_Fast(held, "loop_sharing"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(flags.get()); ++i)
      others.push_back(PySequence_Fast_GET_ITEM(flags.get(), i) == Py_True);
    switch (active_capture().loop_sharing(region_of(body), tensors_among(entries), tensors_among(outs), others)) {
      case dispatch::Trace::LoopSharing::kFirstRound:
        return must(PyUnicode_FromString("first"));
      case dispatch::Trace::LoopSharing::kEveryRound:
        return must(PyUnicode_FromString("every"));
      default:
        Py_RETURN_NONE;
    }
  });
}
PyObject* note_choice(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *result, *condition, *yes, *no, *around = nullptr;
    if (!PyArg_ParseTuple(args, "OOOO|O", &result, &condition, &yes, &no, &around)) throw PythonError();
    active_capture().note_choice(expect_tensor(result, "note_choice"), expect_tensor(condition, "note_choice"),
                                 expect_tensor(yes, "note_choice"), expect_tensor(no, "note_choice"),
                                 around ? values_from(around, "note_choice") : Tensors());
    Py_RETURN_NONE;
  });
}
PyObject* looked_into(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *body, *entries, *outs, *of;
    if (!PyArg_ParseTuple(args, "OOOO", &body, &entries, &outs, &of)) throw PythonError();
    return wrap_list(active_capture().looked_into(region_of(body), tensors_among(entries), tensors_among(outs),
                                                  expect_tensor(of, "looked_into")));
  });
}
PyObject* check_choice(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *yes, *no;
    if (!PyArg_ParseTuple(args, "OO", &yes, &no)) throw PythonError();
    active_capture().check_choice(expect_tensor(yes, "check_choice"), expect_tensor(no, "check_choice"));
    Py_RETURN_NONE;
  });
}
PyObject* rebind(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *handle, *value;
    if (!PyArg_ParseTuple(args, "OO", &handle, &value)) throw PythonError();
    if (dispatch::tracing())
      active_capture().rebind(expect_tensor(handle, "rebind"), value_from(value, "rebind"), true);
    else
      expect_tensor(handle, "rebind").become(expect_tensor(value, "rebind"));
    Py_RETURN_NONE;
  });
}
PyObject* py_alias(PyObject*, PyObject* handle) {
  return guard([&] { return wrap_value(active_capture().alias(value_from(handle, "alias"))); });
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
// Strings and (tensor, conversion, format or None for the tensor as it is).
void take_parts(PyObject* parts, std::vector<std::string>& texts, Tensors& tensors) {
  Object seq = own(PySequence_Fast(parts, "text"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
    PyObject* p = PySequence_Fast_GET_ITEM(seq.get(), i);
    if (!PyTuple_Check(p)) {
      texts.push_back(string_from(p, "text"));
      continue;
    }
    PyObject *tensor, *conversion, *spec;
    if (!PyArg_ParseTuple(p, "OOO", &tensor, &conversion, &spec)) throw PythonError();
    tensors.push_back(expect_tensor(tensor, "text"));
    texts.push_back(spec == Py_None ? "\x01"
                                    : "\x01" + string_from(conversion, "text") + ":" + string_from(spec, "text"));
  }
}
PyObject* assert_(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *cond, *parts;
    if (!PyArg_ParseTuple(args, "OO", &cond, &parts)) throw PythonError();
    std::vector<std::string> texts;
    Tensors tensors;
    take_parts(parts, texts, tensors);
    dispatch::trace_assert(active_capture(), expect_tensor(cond, "assert"), texts, tensors);
    Py_RETURN_NONE;
  });
}
PyObject* print_(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *list, *options;
    if (!PyArg_ParseTuple(args, "OO!", &list, &PyDict_Type, &options)) throw PythonError();
    std::vector<std::string> texts;
    Tensors tensors;
    Object seq = own(PySequence_Fast(list, "print"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
      if (i) texts.emplace_back("\x02");
      take_parts(PySequence_Fast_GET_ITEM(seq.get(), i), texts, tensors);
    }
    pir::AttrMap attrs;
    for (const char* name : {"sep", "end", "file"})
      attrs.set(name, pir::Attribute::string(string_from(PyDict_GetItemString(options, name), "print")));
    attrs.set("flush", pir::Attribute::boolean(PyDict_GetItemString(options, "flush") == Py_True));
    dispatch::trace_print(active_capture(), texts, tensors, std::move(attrs));
    Py_RETURN_NONE;
  });
}

// ---- when the program runs
Object text_of(const std::string& how, const Tensor& t) {
  Object value = own(wrap(t));
  if (how.size() < 2) return own(PyObject_Str(value.get()));
  const size_t colon = how.find(':');
  if (how[1] == 's') value = own(PyObject_Str(value.get()));
  if (how[1] == 'r') value = own(PyObject_Repr(value.get()));
  if (how[1] == 'a') value = own(PyObject_ASCII(value.get()));
  Object spec = own(PyUnicode_FromString(how.c_str() + colon + 1));
  return own(PyObject_Format(value.get(), spec.get()));
}
// The arguments of a print; one that is a tensor alone stays one.
Object arguments_of(const executor::Message& m, std::span<const Tensor> tensors) {
  Object list = own(PyList_New(0));
  size_t at = 0;
  for (size_t i = 0; i <= m.texts.size();) {
    size_t end = i;
    while (end < m.texts.size() && m.texts[end] != "\x02") ++end;
    if (end == i + 1 && m.texts[i] == "\x01") {
      must_zero(PyList_Append(list.get(), own(wrap(tensors[at++])).get()));
    } else {
      Object text = own(PyUnicode_FromString(""));
      for (; i < end; ++i) {
        const std::string& t = m.texts[i];
        Object part = t.starts_with('\x01') ? text_of(t, tensors[at++]) : own(PyUnicode_FromString(t.c_str()));
        text = own(PyUnicode_Concat(text.get(), part.get()));
      }
      must_zero(PyList_Append(list.get(), text.get()));
    }
    i = end + 1;
  }
  return list;
}
void print_through_python(const executor::Message& m, std::span<const Tensor> tensors) {
  AcquireGil gil;
  Object arguments = own(PyList_AsTuple(arguments_of(m, tensors).get()));
  PyObject* file = PySys_GetObject(m.file.c_str());
  Object options = own(Py_BuildValue("{s:s,s:s,s:O,s:O}", "sep", m.sep.c_str(), "end", m.end.c_str(), "file",
                                     file ? file : Py_None, "flush", m.flush ? Py_True : Py_False));
  PyObject* print = PyDict_GetItemString(PyEval_GetBuiltins(), "print");
  own(PyObject_Call(must(print), arguments.get(), options.get()));
}
std::string format_through_python(const executor::Message& m, std::span<const Tensor> tensors) {
  AcquireGil gil;
  Object list = arguments_of(m, tensors);
  return string_from(own(PyObject_Str(PyList_GET_ITEM(list.get(), 0))).get(), "assert");
}

template <class F>
PyCFunction keywords(F f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

PyMethodDef functions[] = {
    {"gradient_region", gradient_region, METH_O, nullptr},
    {"build_if", build_if, METH_VARARGS, nullptr},
    {"build_while", build_while, METH_VARARGS, nullptr},
    {"loop_sharing", loop_sharing, METH_VARARGS, nullptr},
    {"note_choice", note_choice, METH_VARARGS, nullptr},
    {"looked_into", looked_into, METH_VARARGS, "what a value of a loop's body may look into outside"},
    {"check_choice", check_choice, METH_VARARGS, "raises where a choice between tensors couldn't be settled"},
    {"rebind", rebind, METH_VARARGS, nullptr},
    {"alias", py_alias, METH_O, nullptr},
    {"constant", keywords(constant), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"cast", cast, METH_VARARGS, nullptr},
    {"logical_and", logical_and, METH_VARARGS, nullptr},
    {"logical_or", logical_or, METH_VARARGS, nullptr},
    {"logical_not", logical_not, METH_O, nullptr},
    {"assert_", assert_, METH_VARARGS, nullptr},
    {"print_", print_, METH_VARARGS, nullptr},
    {}};

}  // namespace

void add_trace_regions(PyObject* module) {
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
  add_functions(module, functions);
  executor::print_hook = print_through_python;
  executor::format_hook = format_through_python;
}

}  // namespace paddle::bindings
