// Captured programs and what runs them, as Python objects.
#include "bindings/trace_objects.h"

#include <structmember.h>

#include "bindings/trace_types.h"
#include "compile/runner.h"
#include "dispatch/state.h"
#include "executor/bundle.h"

namespace paddle::bindings {
namespace {

PyTypeObject *program_type, *runner_type;

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
    Object list = own(wrap_list(outs));
    for (size_t i = 0; i < outs.size(); ++i)  // a list of tensors comes as one
      if (executor::Bundle* b = executor::find_bundle(outs[i]))
        must_zero(PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), must(wrap_list(b->items.at(0).at(0).list))));
    return list.release();
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
PyObject* runner_fits(PyObject* o, PyObject* tensors) {
  return guard([&] { return PyBool_FromLong(runner_of(o)->fits(values_from(tensors, "fits"))); });
}
PyObject* runner_sharing(PyObject* o, PyObject* tensors) {
  return guard([&] { return wrap_list(runner_of(o)->sharing(values_from(tensors, "sharing"))); });
}
PyObject* runner_assume_shared_as(PyObject* o, PyObject* tensors) {
  return guard([&]() -> PyObject* {
    runner_of(o)->assume_shared_as(values_from(tensors, "assume_shared_as"));
    Py_RETURN_NONE;
  });
}
PyObject* runner_program(PyObject* o, void*) {
  return guard([&] { return box(program_type, std::make_unique<std::shared_ptr<compile::Runner>>(runner_of(o))); });
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

PyMethodDef functions[] = {{"compile", compile_program, METH_VARARGS, nullptr}, {}};

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

void add_trace_programs(PyObject* module) {
  using RunnerPtr = std::shared_ptr<compile::Runner>;
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
      {"fits", runner_fits, METH_O, "whether the program holds for tensors that share memory as these do"},
      {"sharing", runner_sharing, METH_O, "captured tensors that share memory with some of these"},
      {"assume_shared_as", runner_assume_shared_as, METH_O, "the program is for tensors that share memory as these do"},
      {"grads_fit", runner_grads_fit, METH_NOARGS, "whether leaves have a .grad, or none, as at the capture"},
      {}};
  static PyType_Slot runner_slots[] = {slot(Py_tp_dealloc, dealloc<RunnerPtr>), slot(Py_tp_call, PyVectorcall_Call),
                                       {Py_tp_members, runner_members},         {Py_tp_getset, runner_getset},
                                       {Py_tp_methods, runner_methods},         {0, nullptr}};
  static PyType_Spec runner_spec{"paddle._core.trace.Runner", sizeof(Boxed<RunnerPtr>), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 runner_slots};
  runner_type = make_type(runner_spec, module, "Runner");
  add_functions(module, functions);
}

}  // namespace paddle::bindings
