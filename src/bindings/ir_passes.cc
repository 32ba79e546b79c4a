// Passes of Python's, pipelines, and plugins that bring passes.
#include <dlfcn.h>

#include "base/error.h"
#include "bindings/ir_classes.h"
#include "pir/printer.h"
#include "pir/rewrite/stages.h"
#include "pir/verifier.h"

namespace paddle::bindings {
namespace {

// A callable held by C++ for as long as the process or a table wants it: let go under the interpreter's lock.
std::shared_ptr<PyObject> held(PyObject* callable) {
  Py_INCREF(callable);
  return {callable, [](PyObject* p) {
            if (!Py_IsInitialized()) return;
            AcquireGil gil;
            Py_DECREF(p);
          }};
}

// function(program or None, root, options) -> changed, {counted: number}
class PythonPass final : public pir::Pass {
 public:
  PythonPass(std::string name, std::shared_ptr<PyObject> function, pir::PassOptions options)
      : Pass(std::move(name)), function_(std::move(function)), options_(std::move(options)) {}

  bool run(pir::Operation& root, pir::PassContext& context) override {
    AcquireGil gil;
    LentProgram program(context.has_program() ? &context.program() : nullptr);
    PyObject* lent = context.has_program() ? program.object() : Py_None;
    Object op = own(wrap_operation(&root, lent == Py_None ? nullptr : lent));
    Object options = own(PyDict_New());
    for (const auto& [key, value] : options_)
      must_zero(PyDict_SetItemString(options.get(), key.c_str(), own(text(value)).get()));
    Object result = own(PyObject_CallFunctionObjArgs(function_.get(), lent, op.get(), options.get(), nullptr));
    int changed = 0;
    PyObject* counted = nullptr;
    if (!PyArg_ParseTuple(result.get(), "pO", &changed, &counted)) throw PythonError();
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Check(counted) && PyDict_Next(counted, &at, &key, &value))
      context.count(string_from(key, "count"), dim_of(value).value());
    return changed != 0;
  }

 private:
  std::shared_ptr<PyObject> function_;
  pir::PassOptions options_;
};

PyObject* register_pass(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *name, *doc, *function;
    if (!PyArg_ParseTuple(args, "OOO", &name, &doc, &function)) throw PythonError();
    check(PyCallable_Check(function), ErrorKind::kType, "[register_pass] expected a function, got {}",
          Py_TYPE(function)->tp_name);
    std::string label = string_from(name, "register_pass");
    pir::register_pass(label, string_from(doc, "register_pass"),
                       [label, function = held(function)](const pir::PassOptions& options) {
                         return std::unique_ptr<pir::Pass>(new PythonPass(label, function, options));
                       });
    Py_RETURN_NONE;
  });
}
PyObject* unregister_pass(PyObject*, PyObject* name) {
  return guard([&]() -> PyObject* {
    pir::unregister_pass(string_from(name, "unregister_pass"));
    Py_RETURN_NONE;
  });
}
PyObject* registered_passes(PyObject*, PyObject*) {
  return guard([] {
    Object dict = own(PyDict_New());
    for (const pir::PassInfo& p : pir::registered_passes())
      must_zero(PyDict_SetItemString(dict.get(), p.name.c_str(), own(text(p.doc)).get()));
    return dict.release();
  });
}

PyObject* record_of(const pir::PassRecord& r) {
  Object dict = own(Py_BuildValue("{s:s,s:d,s:O,s:n,s:n}", "name", r.name.c_str(), "seconds", r.seconds, "changed",
                                  r.changed ? Py_True : Py_False, "ops_before", static_cast<Py_ssize_t>(r.ops_before),
                                  "ops_after", static_cast<Py_ssize_t>(r.ops_after)));
  Object counts = own(PyDict_New());
  for (const auto& [what, n] : r.statistics)
    must_zero(PyDict_SetItemString(counts.get(), what.c_str(), own(PyLong_FromLongLong(n)).get()));
  must_zero(PyDict_SetItemString(dict.get(), "statistics", counts.get()));
  return dict.release();
}

// run_passes(program, pipeline, verify, print or None, whole) -> (changed, records, report)
PyObject* run_passes(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *program, *pipeline, *print;
    int verify = 0, whole = 0;
    if (!PyArg_ParseTuple(args, "OOpOp", &program, &pipeline, &verify, &print, &whole)) throw PythonError();
    IrProgram& p = program_of(program);
    pir::PassManager::Options options = pir::PassManager::Options::from_flags();
    options.verify |= verify != 0;
    options.print_diff = whole == 0;
    if (print != Py_None)
      options.print = [print](std::string_view change) {
        AcquireGil gil;
        own(PyObject_CallOneArg(print, own(text(change)).get()));
      };
    pir::PassManager manager(options);
    manager.add_pipeline(string_from(pipeline, "run_passes"));
    std::vector<DimGuard> asked;
    DimGuardSink sink(&asked);
    bool changed;
    if (p.trace) p.trace->seal();
    try {
      dispatch::StackScope scope;
      changed = manager.run(p.program());
    } catch (...) {
      if (p.trace) p.trace->unseal();
      throw;
    }
    if (p.trace) p.trace->unseal();
    Object records = own(PyList_New(0));
    for (const pir::PassRecord& r : manager.records()) must_zero(PyList_Append(records.get(), own(record_of(r)).get()));
    return must(Py_BuildValue("(OOs)", changed ? Py_True : Py_False, records.get(), manager.report().c_str()));
  });
}

PyObject* load_plugin(PyObject*, PyObject* path) {
  return guard([&]() -> PyObject* {
    std::string file = string_from(path, "load_plugin");
    // Its static initialisers register what it brings; it stays for the life of the process.
    if (!dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      const char* why = dlerror();
      fail(ErrorKind::kOS, "[load_plugin] {}", why ? why : file.c_str());
    }
    Py_RETURN_NONE;
  });
}

template <void (*change)(const std::string&, const std::string&)>
PyObject* change_stage(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *stage, *pass;
    if (!PyArg_ParseTuple(args, "OO", &stage, &pass)) throw PythonError();
    change(string_from(stage, "stage"), string_from(pass, "pass"));
    Py_RETURN_NONE;
  });
}
PyObject* enter_passes(PyObject*, PyObject* names) {
  return guard([&]() -> PyObject* {
    std::vector<std::string> list;
    Object items = own(PySequence_List(names));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i)
      list.push_back(string_from(PyList_GET_ITEM(items.get(), i), "passes"));
    pir::enter_passes(std::move(list));
    Py_RETURN_NONE;
  });
}
PyObject* leave_passes(PyObject*, PyObject*) {
  return guard([&]() -> PyObject* {
    pir::leave_passes();
    Py_RETURN_NONE;
  });
}
PyObject* stage_passes(PyObject*, PyObject* stage) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (const std::string& s : pir::passes_of_stage(string_from(stage, "stage")))
      must_zero(PyList_Append(list.get(), own(text(s)).get()));
    return list.release();
  });
}
PyObject* diff(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *before, *after;
    if (!PyArg_ParseTuple(args, "OO", &before, &after)) throw PythonError();
    return text(pir::diff(string_from(before, "diff"), string_from(after, "diff")));
  });
}

PyMethodDef functions[] = {
    {"register_pass", register_pass, METH_VARARGS, "(name, doc, function)"},
    {"unregister_pass", unregister_pass, METH_O, nullptr},
    {"registered_passes", registered_passes, METH_NOARGS, "name -> what it does"},
    {"run_passes", run_passes, METH_VARARGS, "(program, pipeline, verify, print, whole): changed, records, report"},
    {"load_plugin", load_plugin, METH_O, "a shared library that registers passes when it is loaded"},
    {"add_to_stage", change_stage<pir::add_to_stage>, METH_VARARGS, "(stage, pass)"},
    {"remove_from_stage", change_stage<pir::remove_from_stage>, METH_VARARGS, "(stage, pass)"},
    {"passes_of_stage", stage_passes, METH_O, nullptr},
    {"enter_passes", enter_passes, METH_O, "(passes): this thread's compilations run them until leave_passes"},
    {"leave_passes", leave_passes, METH_NOARGS, nullptr},
    {"diff", diff, METH_VARARGS, "(before, after): lines that two texts don't share"},
    {}};

}  // namespace

void add_ir_passes(PyObject* module) { add_functions(module, functions); }

}  // namespace paddle::bindings
