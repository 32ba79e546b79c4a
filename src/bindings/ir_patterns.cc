// Patterns from Python: functions with a rewriter, and declarative ones (DRR).
#include "base/error.h"
#include "bindings/ir_classes.h"
#include "pir/rewrite/drr.h"
#include "pir/rewrite/pattern.h"

namespace paddle::bindings {
namespace {

std::shared_ptr<PyObject> held(PyObject* callable) {
  Py_INCREF(callable);
  return {callable, [](PyObject* p) {
            if (!Py_IsInitialized()) return;
            AcquireGil gil;
            Py_DECREF(p);
          }};
}

// ---- what a pattern changes the program with; valid while the pattern runs
struct PyRewriter {
  PyObject_HEAD pir::Rewriter* rewriter;
  PyObject* program;
};
PyTypeObject* rewriter_type;
pir::Rewriter& rewriter_of(PyObject* o) {
  auto* r = reinterpret_cast<PyRewriter*>(o)->rewriter;
  check(r != nullptr, ErrorKind::kRuntime, "this rewriter belongs to a pattern that has ended");
  return *r;
}
PyObject* program_in(PyObject* o) { return reinterpret_cast<PyRewriter*>(o)->program; }

PyObject* rewriter_create(PyObject* o, PyObject* args) {
  return guard([&] { return create_with(rewriter_of(o), args, program_in(o)); });
}
PyObject* rewriter_replace(PyObject* o, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *op, *values;
    if (!PyArg_ParseTuple(args, "OO", &op, &values)) throw PythonError();
    std::vector<pir::Value> list;
    if (Py_TYPE(values) == ir_value_type)
      list.push_back(value_of(values));
    else
      list = values_of(values);
    pir::Operation* old = operation_of(op);
    check(list.size() == old->num_results(), ErrorKind::kValue, "{} has {} results, got {} values to replace them",
          old->describe(), old->num_results(), list.size());
    rewriter_of(o).replace(old, list);
    Py_RETURN_NONE;
  });
}
PyObject* rewriter_erase(PyObject* o, PyObject* op) {
  return guard([&]() -> PyObject* {
    check(operation_of(op)->results_unused(), ErrorKind::kValue, "{} can't be erased: its results are used",
          operation_of(op)->describe());
    rewriter_of(o).erase(operation_of(op));
    Py_RETURN_NONE;
  });
}
PyObject* rewriter_replace_uses(PyObject* o, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *from, *to;
    if (!PyArg_ParseTuple(args, "OO", &from, &to)) throw PythonError();
    rewriter_of(o).replace_all_uses(value_of(from), value_of(to));
    Py_RETURN_NONE;
  });
}
PyObject* rewriter_modify(PyObject* o, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *op, *function;
    if (!PyArg_ParseTuple(args, "OO", &op, &function)) throw PythonError();
    rewriter_of(o).modify(operation_of(op), [&] { own(PyObject_CallNoArgs(function)); });
    Py_RETURN_NONE;
  });
}
template <bool before>
PyObject* rewriter_move(PyObject* o, PyObject* op) {
  return guard([&]() -> PyObject* {
    if (before)
      rewriter_of(o).before(operation_of(op));
    else
      rewriter_of(o).after(operation_of(op));
    Py_RETURN_NONE;
  });
}
void rewriter_dealloc(PyObject* o) {
  Py_XDECREF(program_in(o));
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
}

PyMethodDef rewriter_methods[] = {
    {"create", rewriter_create, METH_VARARGS,
     "(name, operands, attrs=None, types=None, num_regions=0) before the matched operation"},
    {"replace", rewriter_replace, METH_VARARGS, "(operation, value or values): takes its place, and it is erased"},
    {"erase", rewriter_erase, METH_O, "an operation that nobody uses"},
    {"replace_all_uses", rewriter_replace_uses, METH_VARARGS, "(from, to)"},
    {"modify", rewriter_modify, METH_VARARGS, "(operation, function): for changes of attributes and operands in place"},
    {"set_insertion_point", rewriter_move<true>, METH_O, "new operations go before this one"},
    {"set_insertion_point_after", rewriter_move<false>, METH_O, nullptr},
    {}};

// A pattern that is a Python function: match_and_rewrite(op, rewriter) -> was anything changed.
class PythonPattern final : public pir::Pattern {
 public:
  PythonPattern(std::string name, std::string root, int benefit, std::shared_ptr<PyObject> function)
      : Pattern(std::move(name), std::move(root), benefit), function_(std::move(function)) {}

  bool rewrite(pir::Operation& op, pir::Rewriter& r) const override {
    AcquireGil gil;
    Object object = own(wrap_operation(&op, nullptr));
    PyObject* program = reinterpret_cast<PyOperation*>(object.get())->program;
    Object rewriter = own(rewriter_type->tp_alloc(rewriter_type, 0));
    auto* fields = reinterpret_cast<PyRewriter*>(rewriter.get());
    fields->rewriter = &r;
    Py_XINCREF(program);
    fields->program = program;
    Object result(PyObject_CallFunctionObjArgs(function_.get(), object.get(), rewriter.get(), nullptr));
    fields->rewriter = nullptr;
    return PyObject_IsTrue(own(result.release()).get()) == 1;
  }

 private:
  std::shared_ptr<PyObject> function_;
};

// ---- DRR
struct PyMatch {
  PyObject_HEAD const pir::DrrMatch* match;
};
PyTypeObject* match_type;
const pir::DrrMatch& match_of(PyObject* o) {
  auto* m = reinterpret_cast<PyMatch*>(o)->match;
  check(m != nullptr, ErrorKind::kRuntime, "this match belongs to a rewriting that has ended");
  return *m;
}
PyObject* match_value(PyObject* o, PyObject* name) {
  return guard([&] { return wrap_ir_value(match_of(o).value(string_from(name, "value")), nullptr); });
}
PyObject* match_attr(PyObject* o, PyObject* name) {
  return guard([&] { return wrap_attribute(match_of(o).attr(string_from(name, "attr"))); });
}
PyObject* match_op(PyObject* o, PyObject* number) {
  return guard([&] { return wrap_operation(match_of(o).op(static_cast<size_t>(dim_of(number).value())), nullptr); });
}
void match_dealloc(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
}
PyMethodDef match_methods[] = {{"value", match_value, METH_O, "the value of that name in the source pattern"},
                               {"attr", match_attr, METH_O, "a captured attribute"},
                               {"op", match_op, METH_O, "source operation number i"},
                               {}};

Object call_with_match(PyObject* function, const pir::DrrMatch& m) {
  Object match = own(match_type->tp_alloc(match_type, 0));
  reinterpret_cast<PyMatch*>(match.get())->match = &m;
  Object result(PyObject_CallOneArg(function, match.get()));
  reinterpret_cast<PyMatch*>(match.get())->match = nullptr;
  return own(result.release());
}

std::vector<std::string> names_from(PyObject* list) {
  Object seq = own(PySequence_Fast(list, "expected a list of names"));
  std::vector<std::string> out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
    out.push_back(string_from(PySequence_Fast_GET_ITEM(seq.get(), i), "pattern"));
  return out;
}

// Attributes of a pattern: {name: (kind, value)}, kind one of literal, capture, use, compute.
pir::Drr::Attrs attrs_from(PyObject* dict, const std::string& op_name) {
  pir::Drr::Attrs out;
  const pir::OpDef* def = pir::find_op_def(op_name);
  PyObject *key, *value;
  Py_ssize_t at = 0;
  while (PyDict_Next(dict, &at, &key, &value)) {
    std::string name = string_from(key, "attribute");
    std::string kind = string_from(PyTuple_GET_ITEM(value, 0), "attribute");
    PyObject* what = PyTuple_GET_ITEM(value, 1);
    if (kind == "capture") {
      out.push_back(pir::Drr::capture(name, string_from(what, "capture")));
    } else if (kind == "use") {
      out.push_back(pir::Drr::use(name, string_from(what, "use")));
    } else if (kind == "compute") {
      const pir::AttrDef* attr = def ? def->attr(name) : nullptr;
      out.push_back(pir::Drr::compute(name, [attr, function = held(what)](const pir::DrrMatch& m) {
        AcquireGil gil;
        return attribute_from(call_with_match(function.get(), m).get(), attr);
      }));
    } else {
      out.push_back(pir::Drr::literal(name, attribute_from(what, def ? def->attr(name) : nullptr)));
    }
  }
  return out;
}

struct Node {
  std::string op;
  pir::Drr::Names operands, results;
  pir::Drr::Attrs attrs;
};
std::vector<Node> nodes_from(PyObject* list) {  // (name, operands, results, attrs)
  Object seq = own(PySequence_Fast(list, "expected a list"));
  std::vector<Node> out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
    PyObject *name, *operands, *results, *attrs;
    if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(seq.get(), i), "OOOO", &name, &operands, &results, &attrs))
      throw PythonError();
    std::string op = string_from(name, "pattern");
    out.push_back({op, names_from(operands), names_from(results), attrs_from(attrs, op)});
  }
  return out;
}

// ("drr", name, benefit, sources, results, [(by, with)], constraint or None)
std::unique_ptr<pir::Pattern> drr_from(PyObject* tuple) {
  PyObject *kind, *name, *sources, *results, *replaced, *constraint;
  int benefit = 1;
  if (!PyArg_ParseTuple(tuple, "OOiOOOO", &kind, &name, &benefit, &sources, &results, &replaced, &constraint))
    throw PythonError();
  pir::Drr drr(string_from(name, "pattern"), benefit);
  for (Node& n : nodes_from(sources)) drr.source(n.op, n.operands, n.results, n.attrs);
  for (Node& n : nodes_from(results)) drr.result(n.op, n.operands, n.results, n.attrs);
  Object pairs = own(PySequence_Fast(replaced, "expected a list"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(pairs.get()); ++i) {
    std::vector<std::string> pair = names_from(PySequence_Fast_GET_ITEM(pairs.get(), i));
    drr.replace(pair.at(0), pair.at(1));
  }
  if (constraint != Py_None)
    drr.where([function = held(constraint)](const pir::DrrMatch& m) {
      AcquireGil gil;
      return PyObject_IsTrue(call_with_match(function.get(), m).get()) == 1;
    });
  return drr.build();
}

// ("function", name, root, benefit, function) or a DRR, as tuples.
std::shared_ptr<pir::PatternSet> patterns_from(PyObject* list) {
  auto set = std::make_shared<pir::PatternSet>();
  Object seq = own(PySequence_Fast(list, "expected a list of patterns"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
    PyObject* tuple = PySequence_Fast_GET_ITEM(seq.get(), i);
    check(PyTuple_Check(tuple) && PyTuple_GET_SIZE(tuple) > 0, ErrorKind::kType, "expected a pattern");
    if (string_from(PyTuple_GET_ITEM(tuple, 0), "pattern") == "drr") {
      set->add(drr_from(tuple));
      continue;
    }
    PyObject *kind, *name, *root, *function;
    int benefit = 1;
    if (!PyArg_ParseTuple(tuple, "OOOiO", &kind, &name, &root, &benefit, &function)) throw PythonError();
    set->add(std::make_unique<PythonPattern>(string_from(name, "pattern"), string_from(root, "pattern"), benefit,
                                             held(function)));
  }
  return set;
}

PyObject* register_pattern_pass(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *name, *doc, *patterns;
    if (!PyArg_ParseTuple(args, "OOO", &name, &doc, &patterns)) throw PythonError();
    std::string label = string_from(name, "register_pass");
    std::shared_ptr<const pir::PatternSet> set = patterns_from(patterns);
    pir::register_pass(label, string_from(doc, "register_pass"), [label, set](const pir::PassOptions& options) {
      check(options.empty(), ErrorKind::kValue, "the pass '{}' has no options", label);
      return pir::make_pattern_pass(label, set);
    });
    Py_RETURN_NONE;
  });
}

// apply_patterns(root operation, patterns, fold, remove_dead) -> (rewrites, converged, {pattern: times})
PyObject* apply_patterns(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *root, *patterns;
    int fold = 1, dead = 1;
    if (!PyArg_ParseTuple(args, "OO|pp", &root, &patterns, &fold, &dead)) throw PythonError();
    std::vector<DimGuard> asked;
    DimGuardSink sink(&asked);
    pir::GreedyResult r = pir::apply_greedily(*operation_of(root), *patterns_from(patterns),
                                              {.fold = fold != 0, .remove_dead = dead != 0});
    Object times = own(PyDict_New());
    for (const auto& [name, n] : r.by_pattern)
      must_zero(PyDict_SetItemString(times.get(), name.c_str(), own(PyLong_FromSize_t(n)).get()));
    return must(
        Py_BuildValue("(nOO)", static_cast<Py_ssize_t>(r.rewrites), r.converged ? Py_True : Py_False, times.get()));
  });
}

PyMethodDef functions[] = {{"register_pattern_pass", register_pattern_pass, METH_VARARGS, "(name, doc, patterns)"},
                           {"apply_patterns", apply_patterns, METH_VARARGS, "(root, patterns, fold, remove_dead)"},
                           {}};

}  // namespace

void add_ir_patterns(PyObject* module) {
  constexpr unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  static PyType_Slot rewriter_slots[] = {
      slot(Py_tp_dealloc, rewriter_dealloc), {Py_tp_methods, rewriter_methods}, {0, nullptr}};
  static PyType_Spec rewriter_spec{"paddle._core.ir.Rewriter", sizeof(PyRewriter), 0, flags, rewriter_slots};
  rewriter_type = add_ir_type(rewriter_spec, module, "Rewriter");
  static PyType_Slot match_slots[] = {slot(Py_tp_dealloc, match_dealloc), {Py_tp_methods, match_methods}, {0, nullptr}};
  static PyType_Spec match_spec{"paddle._core.ir.Match", sizeof(PyMatch), 0, flags, match_slots};
  match_type = add_ir_type(match_spec, module, "Match");
  add_functions(module, functions);
}

}  // namespace paddle::bindings
