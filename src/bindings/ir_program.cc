// Program of paddle._core.ir: what static mode builds and passes work on. Python subclasses it.
#include "base/error.h"
#include "bindings/ir_classes.h"
#include "device/default_place.h"
#include "pir/dot.h"
#include "pir/printer.h"
#include "pir/verifier.h"

namespace paddle::bindings {

PyTypeObject* ir_program_type;

pir::Program& IrProgram::program() const {
  if (trace) return trace->program();
  check(lent != nullptr, ErrorKind::kRuntime, "this program was lent to a pass that has ended");
  return *lent;
}

dispatch::Trace& IrProgram::building() const {
  check(trace != nullptr, ErrorKind::kRuntime, "this program belongs to a pipeline: it can't be built on or run");
  return *trace;
}

namespace {

using dispatch::Trace;

std::shared_ptr<IrProgram>& state_of(PyObject* o) { return reinterpret_cast<PyProgram*>(o)->state; }

std::shared_ptr<IrProgram> fresh(pir::Program&& p) {
  auto state = std::make_shared<IrProgram>();
  state->trace = std::make_unique<Trace>(Trace::Lasting{}, "program", std::move(p));
  return state;
}

PyObject* program_new(PyTypeObject* type, PyObject*, PyObject*) {
  return guard([&] { return wrap_program_state(fresh(pir::Program()), type); });
}
void program_dealloc(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  using Pointer = std::shared_ptr<IrProgram>;
  state_of(o).~Pointer();
  type->tp_free(o);
  Py_DECREF(type);
}

PyObject* program_enter(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    program_of(o).building().enter();
    Py_RETURN_NONE;
  });
}
PyObject* program_leave(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    program_of(o).building().leave();
    Py_RETURN_NONE;
  });
}

// data(name, shape, dtype, stop_gradient): sizes None or negative are any.
PyObject* program_data(PyObject* o, PyObject* args) {
  return guard([&] {
    PyObject *name, *shape, *dtype;
    int stop = 1;
    if (!PyArg_ParseTuple(args, "OOO|p", &name, &shape, &dtype, &stop)) throw PythonError();
    Object seq = own(PySequence_Fast(shape, "shape"));
    Shape sizes;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
      PyObject* d = PySequence_Fast_GET_ITEM(seq.get(), i);
      Dim n = d == Py_None ? Dim(-1) : dim_of(d);
      sizes.push_back(n.is_const() && n.value() < 0 ? new_symbol() : n);
    }
    std::string label = string_from(name, "data");
    Trace& trace = program_of(o).building();
    Tensor t = trace.add_input(label, sizes, dtype_from(dtype, "data"), stop);
    t->name = std::make_unique<std::string>(label);
    trace.note_name(label, t);
    trace.edited();
    return wrap(t);
  });
}
PyObject* program_inputs(PyObject* o, void*) {
  return guard([&] { return wrap_list(program_of(o).building().input_handles()); });
}
PyObject* program_input_names(PyObject* o, void*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (pir::Operation& op : program_of(o).program().block())
      if (op.is("pd_op.data") || op.is("pd_op.feed"))
        must_zero(PyList_Append(list.get(), own(text(op.attr("name").as_string())).get()));
    return list.release();
  });
}
PyObject* program_fetched(PyObject* o, void*) {
  return guard([&] { return wrap_list(program_of(o).fetched); });
}
PyObject* program_named(PyObject* o, PyObject* name) {
  return guard([&] { return wrap(program_of(o).building().named(string_from(name, "named"))); });
}
// (name, tensor, was it written) of each captured tensor.
PyObject* program_captured(PyObject* o, PyObject*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (const auto& c : program_of(o).building().captured()) {
      Object handle = own(wrap(c.handle));
      must_zero(PyList_Append(
          list.get(),
          own(Py_BuildValue("(sOO)", c.name.c_str(), handle.get(), c.now == c.original ? Py_False : Py_True)).get()));
    }
    return list.release();
  });
}
PyObject* program_edits(PyObject* o, void*) {
  return guard([&] { return must(PyLong_FromUnsignedLongLong(program_of(o).building().edits())); });
}
PyObject* program_edited(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    if (program_of(o).trace) program_of(o).trace->edited();
    Py_RETURN_NONE;
  });
}
PyObject* get_role(PyObject* o, void*) {
  return guard([&] { return must(PyLong_FromLong(program_of(o).building().role())); });
}
int set_role(PyObject* o, PyObject* value, void*) {
  return guard_int([&] {
    program_of(o).building().set_role(static_cast<int>(dim_of(value).value()));
    return 0;
  });
}
// to_text(locations)
PyObject* program_text(PyObject* o, PyObject* args) {
  return guard([&] {
    int locations = 0;
    if (!PyArg_ParseTuple(args, "|p", &locations)) throw PythonError();
    IrProgram& p = program_of(o);
    if (!p.trace) return text(pir::print(p.program(), {.locations = locations != 0}));
    pir::ValueMap map;
    return text(pir::print(p.trace->snapshot(map), {.locations = locations != 0}));
  });
}
PyObject* program_dot(PyObject* o, PyObject*) {
  return guard([&] { return text(pir::to_dot(program_of(o).program())); });
}
PyObject* program_parse(PyObject* type, PyObject* source) {
  return guard([&] {
    return wrap_program_state(fresh(pir::parse_program(string_from(source, "parse"))),
                              reinterpret_cast<PyTypeObject*>(type));
  });
}
PyObject* program_num_ops(PyObject* o, PyObject*) {
  return guard([&] { return must(PyLong_FromSize_t(program_of(o).program().num_ops())); });
}
PyObject* program_block(PyObject* o, PyObject*) {
  return guard([&] { return wrap_block(&program_of(o).program().block(), o); });
}
PyObject* program_module(PyObject* o, PyObject*) {
  return guard([&] { return wrap_operation(&program_of(o).program().module(), o); });
}
PyObject* program_verify(PyObject* o, PyObject* args) {
  return guard([&]() -> PyObject* {
    int infer = 0;
    if (!PyArg_ParseTuple(args, "|p", &infer)) throw PythonError();
    pir::verify(program_of(o).program(), {.infer = infer != 0});
    Py_RETURN_NONE;
  });
}

// A write that an optimiser or a backward pass made is none of a test's.
bool is_training_write(const Trace::Captured& c) {
  pir::Operation* op = c.now.defining_op();
  if (op && op->is("builtin.split")) op = op->operand(0).defining_op();
  pir::Attribute role = op ? op->attr("op_role") : pir::Attribute();
  return role && role.as_int() != 0;
}

void as_test(pir::Program& p) {
  p.walk([](pir::Operation& op) {
    for (const char* name : {"is_test", "test_mode"})
      if (pir::Attribute a = op.attr(name); a && a.kind() == pir::AttrKind::kBool)
        op.set_attr(name, pir::Attribute::boolean(true));
    if (pir::Attribute a = op.attr("training"); a && a.kind() == pir::AttrKind::kBool)
      op.set_attr("training", pir::Attribute::boolean(false));
  });
}

// clone(for_test): operations copied, parameters shared.
PyObject* program_clone(PyObject* o, PyObject* args) {
  return guard([&] {
    int for_test = 0;
    if (!PyArg_ParseTuple(args, "|p", &for_test)) throw PythonError();
    IrProgram& from = program_of(o);
    Trace& trace = from.building();
    pir::ValueMap map;
    auto keeps = [](const Trace::Captured& c) { return !is_training_write(c); };
    pir::Program copy = trace.snapshot(map, for_test ? std::function<bool(const Trace::Captured&)>(keeps) : nullptr);
    if (for_test) as_test(copy);
    std::shared_ptr<IrProgram> state = fresh(std::move(copy));
    for (const auto& [id, values] : from.origins)
      for (const auto& [old, here] : values)
        if (pir::Value now = pir::mapped(map, here); now != here) state->origins[id][old] = now;
    state->origins[trace.id()] = std::move(map);
    return wrap_program_state(std::move(state), Py_TYPE(o));
  });
}

// The value behind a tensor of this program or of one that it was cloned from.
PyObject* program_value(PyObject* o, PyObject* tensor) {
  return guard([&] { return wrap_ir_value(resolve(program_of(o), expect_tensor(tensor, "value")), o); });
}
PyObject* program_tensor(PyObject* o, PyObject* value) {
  return guard([&] {
    pir::Value v = value_of(value);
    return wrap(program_of(o).building().tensor_of(v, v.stop_gradient()));
  });
}
PyObject* program_owns(PyObject* o, PyObject* tensor) {
  return guard([&] {
    const Tensor& t = expect_tensor(tensor, "owns");
    Trace& trace = program_of(o).building();
    return PyBool_FromLong(t.is_traced() &&
                           static_cast<dispatch::TracedPayload*>(t->payload.get())->trace == trace.id());
  });
}

// A tensor without elements: a program refers to it by name, its values are in a scope.
PyObject* declared(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *name, *shape, *dtype;
    if (!PyArg_ParseTuple(args, "OOO", &name, &shape, &dtype)) throw PythonError();
    Object seq = own(PySequence_Fast(shape, "shape"));
    Shape sizes;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
      sizes.push_back(dim_of(PySequence_Fast_GET_ITEM(seq.get(), i)));
    Tensor t = Tensor::meta(view(sizes), dtype_from(dtype, "declared"), device::default_place());
    t->name = std::make_unique<std::string>(string_from(name, "declared"));
    t->persistable = true;
    t.set_stop_gradient(true);
    return wrap(t);
  });
}
PyObject* is_declared(PyObject*, PyObject* o) {
  return guard([&] {
    const Tensor& t = expect_tensor(o, "is_declared");
    return PyBool_FromLong(!t.is_dense() && !t.is_traced() && !t.is_dist());
  });
}
// Of a program that is built over time: a traced tensor, or one that stands for state.
PyObject* is_variable(PyObject*, PyObject* o) {
  return guard([&] {
    const Tensor& t = expect_tensor(o, "is_variable");
    return PyBool_FromLong(Trace::owner(t) || (!t.is_dense() && !t.is_traced() && !t.is_dist()));
  });
}
// states(program) -> [(name, tensor, what the program starts with, what it is now)] as variables.
PyObject* states(PyObject*, PyObject* program) {
  return guard([&] {
    Trace& trace = program_of(program).building();
    Object list = own(PyList_New(0));
    for (const auto& c : trace.captured()) {
      bool stop = c.handle.stop_gradient();
      Object handle = own(wrap(c.handle)), first = own(wrap(trace.tensor_of(c.original, stop))),
             now = own(wrap(trace.tensor_of(c.now, stop)));
      must_zero(PyList_Append(
          list.get(), own(Py_BuildValue("(sOOO)", c.name.c_str(), handle.get(), first.get(), now.get())).get()));
    }
    return list.release();
  });
}
PyObject* same_value(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *program, *a, *b;
    if (!PyArg_ParseTuple(args, "OOO", &program, &a, &b)) throw PythonError();
    IrProgram& p = program_of(program);
    return PyBool_FromLong(resolve(p, expect_tensor(a, "same_value")) == resolve(p, expect_tensor(b, "same_value")));
  });
}
PyMethodDef functions[] = {{"declared", declared, METH_VARARGS, "(name, shape, dtype): a tensor without elements"},
                           {"is_declared", is_declared, METH_O, nullptr},
                           {"is_variable", is_variable, METH_O, nullptr},
                           {"states", states, METH_O, "(name, tensor, original, now) of each captured tensor"},
                           {"same_value", same_value, METH_VARARGS, "(program, a, b)"},
                           {}};

PyMethodDef methods[] = {
    {"_enter", program_enter, METH_NOARGS, "operators called on this thread are appended from here on"},
    {"_leave", program_leave, METH_NOARGS, nullptr},
    {"_data", program_data, METH_VARARGS, "(name, shape, dtype, stop_gradient): an input"},
    {"_named", program_named, METH_O, "the variable of that name, or None"},
    {"_captured", program_captured, METH_NOARGS,
     "(name, tensor, written) of parameters and other tensors from outside"},
    {"_edited", program_edited, METH_NOARGS, "notes a change made behind the program's back"},
    {"_text", program_text, METH_VARARGS, "(locations)"},
    {"_clone", program_clone, METH_VARARGS, "(for_test)"},
    {"_value", program_value, METH_O, "the Value behind a variable"},
    {"_tensor", program_tensor, METH_O, "a variable for a Value"},
    {"_owns", program_owns, METH_O, "whether a variable was made in this program"},
    {"parse", program_parse, METH_O | METH_CLASS, "a program from its text"},
    {"num_ops", program_num_ops, METH_NOARGS, "operations, those in regions included"},
    {"module_op", program_module, METH_NOARGS, nullptr},
    {"_block", program_block, METH_NOARGS, nullptr},
    {"to_dot", program_dot, METH_NOARGS, "a graph in Graphviz' language"},
    {"verify", program_verify, METH_VARARGS,
     "(infer=False): ValueError with the first thing that breaks the IR's rules"},
    {}};
PyGetSetDef getset[] = {{"_inputs", program_inputs, nullptr, nullptr, nullptr},
                        {"_input_names", program_input_names, nullptr, nullptr, nullptr},
                        {"_fetched", program_fetched, nullptr, "outputs of a loaded program", nullptr},
                        {"_edits", program_edits, nullptr, "grows with every change", nullptr},
                        {"_role", get_role, set_role, "op_role of what is appended", nullptr},
                        {}};

}  // namespace

IrProgram& program_of(PyObject* o) {
  check(PyObject_TypeCheck(o, ir_program_type), ErrorKind::kType, "expected a Program, got {}", Py_TYPE(o)->tp_name);
  return *state_of(o);
}

pir::Value resolve(IrProgram& p, const Tensor& t) {
  Trace& trace = p.building();
  pir::Value v = trace.find(t);
  if (!v && t.is_traced()) {
    auto* payload = static_cast<dispatch::TracedPayload*>(t->payload.get());
    auto it = p.origins.find(payload->trace);
    if (it != p.origins.end()) v = pir::mapped(it->second, payload->value);
    if (v == payload->value) v = {};
  }
  if (!v && t->name) {
    Tensor own = trace.named(*t->name);
    if (own.defined()) v = trace.find(own);
  }
  check(static_cast<bool>(v), ErrorKind::kValue, "[static] the variable {} of shape {} is not in this program",
        t->name ? *t->name : "without a name", to_string(view(t.shape())));
  return v;
}

PyObject* wrap_program_state(std::shared_ptr<IrProgram> state, PyTypeObject* type) {
  PyObject* o = must(type->tp_alloc(type, 0));
  new (&state_of(o)) std::shared_ptr<IrProgram>(std::move(state));
  return o;
}

LentProgram::LentProgram(pir::Program* program) : state_(std::make_shared<IrProgram>()) {
  state_->lent = program;
  Object pir = own(PyImport_ImportModule("paddle.pir"));
  Object type = own(PyObject_GetAttrString(pir.get(), "Program"));
  object_ = Object(wrap_program_state(state_, reinterpret_cast<PyTypeObject*>(type.get())));
}
LentProgram::~LentProgram() { state_->lent = nullptr; }

void add_ir_program(PyObject* module) {
  static PyType_Slot slots[] = {slot(Py_tp_new, program_new),
                                slot(Py_tp_dealloc, program_dealloc),
                                {Py_tp_methods, methods},
                                {Py_tp_getset, getset},
                                {0, nullptr}};
  static PyType_Spec spec{"paddle._core.ir.Program", sizeof(PyProgram), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                          slots};
  ir_program_type = add_ir_type(spec, module, "Program");
  add_functions(module, functions);
}

namespace {
PyModuleDef definition{
    PyModuleDef_HEAD_INIT, "paddle._core.ir", "Programs as objects.", -1, nullptr, nullptr, nullptr, nullptr, nullptr};
}

void add_ir(PyObject* core) {
  Object module = own(PyModule_Create(&definition));
  add_ir_program(module.get());
  add_ir_operation(module.get());
  add_ir_values(module.get());
  add_ir_run(module.get());
  add_ir_files(module.get());
  add_ir_loops(module.get());
  add_ir_passes(module.get());
  add_ir_patterns(module.get());
  must_zero(PyModule_AddObjectRef(core, "ir", module.get()));
  must_zero(PyDict_SetItemString(PyImport_GetModuleDict(), "paddle._core.ir", module.get()));
}

}  // namespace paddle::bindings
