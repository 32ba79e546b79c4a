// Operation of paddle._core.ir.
#include <mutex>

#include "base/error.h"
#include "bindings/ir_classes.h"
#include "pir/destroy_hook.h"
#include "pir/printer.h"
#include "pir/verifier.h"

namespace paddle::bindings {

PyTypeObject* ir_operation_type;

namespace {

using pir::Operation;
using pir::Value;

// ---- which object stands for which operation. Operations may be freed on any thread, without the interpreter's lock.
struct Living {
  std::mutex mutex;
  std::unordered_map<const Operation*, PyOperation*> objects;
};
Living& living() {
  static auto* l = new Living;
  return *l;
}
void forget(const Operation* op) {
  Living& l = living();
  std::lock_guard lock(l.mutex);
  auto it = l.objects.find(op);
  if (it == l.objects.end()) return;
  it->second->op = nullptr;
  l.objects.erase(it);
}

// ---- operations
void operation_dealloc(PyObject* o) {
  auto* p = fields<PyOperation>(o);
  {
    std::lock_guard lock(living().mutex);
    if (p->op) living().objects.erase(p->op);
  }
  Py_XDECREF(p->program);
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
}
PyObject* operation_str(PyObject* o) {
  return guard([&] {
    if (!fields<PyOperation>(o)->op) return text("<an operation that was erased>");
    return text(pir::print(*operation_of(o)));
  });
}
PyObject* operation_name(PyObject* o, PyObject*) {
  return guard([&] { return text(operation_of(o)->name()); });
}
PyObject* operation_operand(PyObject* o, PyObject* index) {
  return guard([&] {
    Operation* op = operation_of(o);
    int64_t i = dim_of(index).value();
    check(i >= 0 && i < static_cast<int64_t>(op->num_operands()), ErrorKind::kIndex, "{} has {} operands, got index {}",
          op->describe(), op->num_operands(), i);
    return wrap_ir_value(op->operand(static_cast<size_t>(i)), program_of_op(o));
  });
}
PyObject* operation_operands(PyObject* o, PyObject*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (Value v : operation_of(o)->operands()) append(list.get(), wrap_ir_value(v, program_of_op(o)));
    return list.release();
  });
}
PyObject* operation_set_operand(PyObject* o, PyObject* args) {
  return guard([&]() -> PyObject* {
    Py_ssize_t i;
    PyObject* v;
    if (!PyArg_ParseTuple(args, "nO", &i, &v)) throw PythonError();
    Operation* op = operation_of(o);
    check(i >= 0 && static_cast<size_t>(i) < op->num_operands(), ErrorKind::kIndex, "{} has {} operands, got index {}",
          op->describe(), op->num_operands(), i);
    op->set_operand(static_cast<size_t>(i), value_or_null(v));
    Py_RETURN_NONE;
  });
}
PyObject* operation_results(PyObject* o, PyObject*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (Value v : operation_of(o)->results_vector()) append(list.get(), wrap_ir_value(v, program_of_op(o)));
    return list.release();
  });
}
PyObject* operation_result(PyObject* o, PyObject* index) {
  return guard([&] {
    Operation* op = operation_of(o);
    int64_t i = dim_of(index).value();
    check(i >= 0 && i < static_cast<int64_t>(op->num_results()), ErrorKind::kIndex, "{} has {} results, got index {}",
          op->describe(), op->num_results(), i);
    return wrap_ir_value(op->result(static_cast<size_t>(i)), program_of_op(o));
  });
}
PyObject* operation_attrs(PyObject* o, PyObject*) {
  return guard([&] {
    Object dict = own(PyDict_New());
    for (const pir::NamedAttr& a : operation_of(o)->attrs())
      must_zero(
          PyDict_SetItemString(dict.get(), std::string(a.name.str()).c_str(), own(wrap_attribute(a.value)).get()));
    return dict.release();
  });
}
PyObject* operation_has_attr(PyObject* o, PyObject* name) {
  return guard([&] { return PyBool_FromLong(operation_of(o)->has_attr(string_from(name, "has_attr"))); });
}
PyObject* operation_set_attr(PyObject* o, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *name, *value;
    if (!PyArg_ParseTuple(args, "OO", &name, &value)) throw PythonError();
    Operation* op = operation_of(o);
    std::string n = string_from(name, "set_attr");
    op->set_attr(n, attribute_from(value, op->def().attr(n), op->attr(n)));
    Py_RETURN_NONE;
  });
}
PyObject* operation_erase_attr(PyObject* o, PyObject* name) {
  return guard([&]() -> PyObject* {
    operation_of(o)->erase_attr(string_from(name, "erase_attr"));
    Py_RETURN_NONE;
  });
}
PyObject* operation_block(PyObject* o, PyObject*) {
  return guard([&] { return wrap_block(operation_of(o)->block(), program_of_op(o)); });
}
PyObject* operation_blocks(PyObject* o, PyObject*) {
  return guard([&] {
    Operation* op = operation_of(o);
    Object list = own(PyList_New(0));
    for (size_t r = 0; r < op->num_regions(); ++r)
      for (size_t b = 0; b < op->region(r).size(); ++b)
        append(list.get(), wrap_block(&op->region(r).block(b), program_of_op(o)));
    return list.release();
  });
}
PyObject* operation_erase(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    Operation* op = operation_of(o);
    check(op->results_unused(), ErrorKind::kValue, "{} can't be erased: its results are used", op->describe());
    op->erase();
    Py_RETURN_NONE;
  });
}
template <bool before>
PyObject* operation_move(PyObject* o, PyObject* other) {
  return guard([&]() -> PyObject* {
    if (before)
      operation_of(o)->move_before(operation_of(other));
    else
      operation_of(o)->move_after(operation_of(other));
    Py_RETURN_NONE;
  });
}
PyObject* operation_walk(PyObject* o, PyObject*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    operation_of(o)->walk([&](Operation& op) { append(list.get(), wrap_operation(&op, program_of_op(o))); });
    return list.release();
  });
}
PyObject* operation_clone(PyObject* o, PyObject*) {
  return guard([&] {
    Operation* op = operation_of(o);
    pir::ValueMap map;
    Operation* copy = pir::clone_op(*op, map);
    op->block()->insert(op->next(), copy);
    return wrap_operation(copy, program_of_op(o));
  });
}
PyObject* operation_traits(PyObject* o, PyObject*) {
  return guard([&] {
    struct Trait {
      const char* name;
      uint64_t bit;
    };
    static const Trait all[] = {{"elementwise", kElementwise},
                                {"reduction", kReduction},
                                {"view", kView},
                                {"random", kRandom},
                                {"side_effect", kSideEffect},
                                {"collective", kCollective},
                                {"commutative", kCommutative},
                                {"factory", kFactory},
                                {"primitive", kPrimitive},
                                {"inplace_only", kInplaceOnly},
                                {"nondifferentiable", kNondifferentiable},
                                {"terminator", pir::kTerminator},
                                {"constant_like", pir::kConstantLike}};
    Object list = own(PyList_New(0));
    for (const Trait& t : all)
      if (operation_of(o)->has(t.bit)) append(list.get(), text(t.name));
    return list.release();
  });
}
PyObject* operation_names_of(PyObject* o, PyObject* which) {
  return guard([&] {
    const pir::OpDef& def = operation_of(o)->def();
    Object list = own(PyList_New(0));
    if (string_from(which, "names") == "operands")
      for (const auto& d : def.operands) append(list.get(), text(d.name));
    else
      for (const auto& d : def.results) append(list.get(), text(d.name));
    return list.release();
  });
}
PyObject* operation_problems(PyObject* o, PyObject*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (const std::string& s : pir::problems_of(*operation_of(o))) append(list.get(), text(s));
    return list.release();
  });
}
PyObject* operation_location(PyObject* o, void*) {
  return guard([&] { return text(operation_of(o)->loc().str()); });
}
PyObject* operation_program(PyObject* o, void*) {
  PyObject* p = program_of_op(o) ? program_of_op(o) : Py_None;
  Py_INCREF(p);
  return p;
}
PyObject* operation_parent(PyObject* o, void*) {
  return guard([&] { return wrap_operation(operation_of(o)->parent_op(), program_of_op(o)); });
}
PyObject* operation_alive(PyObject* o, void*) { return PyBool_FromLong(fields<PyOperation>(o)->op != nullptr); }

PyMethodDef operation_methods[] = {
    {"name", operation_name, METH_NOARGS, "with its dialect: pd_op.add"},
    {"operand_source", operation_operand, METH_O, "the value of operand i; None: absent"},
    {"operands_source", operation_operands, METH_NOARGS, "values of all operands"},
    {"set_operand", operation_set_operand, METH_VARARGS, "(i, value)"},
    {"results", operation_results, METH_NOARGS, "all results"},
    {"result", operation_result, METH_O, "result i"},
    {"attrs", operation_attrs, METH_NOARGS, "a dict of the attributes"},
    {"has_attr", operation_has_attr, METH_O, nullptr},
    {"set_attr", operation_set_attr, METH_VARARGS, "(name, value); the kind stays what it was"},
    {"erase_attr", operation_erase_attr, METH_O, nullptr},
    {"get_parent_block", operation_block, METH_NOARGS, nullptr},
    {"blocks", operation_blocks, METH_NOARGS, "blocks of all regions"},
    {"erase", operation_erase, METH_NOARGS, "ValueError if results are used"},
    {"move_before", operation_move<true>, METH_O, nullptr},
    {"move_after", operation_move<false>, METH_O, nullptr},
    {"walk", operation_walk, METH_NOARGS, "this operation and all inside it, outer first"},
    {"clone", operation_clone, METH_NOARGS, "a copy, right after this one"},
    {"traits", operation_traits, METH_NOARGS, "names of the operator's traits"},
    {"_names", operation_names_of, METH_O, nullptr},
    {"problems", operation_problems, METH_NOARGS, "what breaks the IR's rules, one text each"},
    {}};
PyGetSetDef operation_getset[] = {
    {"location", operation_location, nullptr, "where the user's code made it", nullptr},
    {"program", operation_program, nullptr, nullptr, nullptr},
    {"parent_op", operation_parent, nullptr, "that owns the region that holds this", nullptr},
    {"alive", operation_alive, nullptr, "False once it was erased", nullptr},
    {}};
}  // namespace

Operation* operation_of(PyObject* o) {
  check(Py_TYPE(o) == ir_operation_type, ErrorKind::kType, "expected an Operation, got {}", Py_TYPE(o)->tp_name);
  Operation* op = fields<PyOperation>(o)->op;
  check(op != nullptr, ErrorKind::kValue, "this operation was erased");
  return op;
}

PyObject* wrap_operation(Operation* op, PyObject* program) {
  if (!op) Py_RETURN_NONE;
  {
    std::lock_guard lock(living().mutex);
    auto it = living().objects.find(op);
    if (it != living().objects.end()) {
      Py_INCREF(it->second);
      return reinterpret_cast<PyObject*>(it->second);
    }
  }
  auto* p = make<PyOperation>(ir_operation_type);
  p->op = op;
  Py_XINCREF(program);
  p->program = program;
  std::lock_guard lock(living().mutex);
  living().objects[op] = p;
  return reinterpret_cast<PyObject*>(p);
}

PyObject* create_with(pir::Builder& b, PyObject* args, PyObject* program) {
  PyObject *name, *operands = nullptr, *attrs = nullptr, *types = Py_None, *before = nullptr;
  Py_ssize_t regions = 0;
  if (!PyArg_ParseTuple(args, "O|OOOnO", &name, &operands, &attrs, &types, &regions, &before)) throw PythonError();
  const pir::OpDef& def = pir::op_def(string_from(name, "create"));
  std::vector<Value> values = operands && operands != Py_None ? values_of(operands) : std::vector<Value>();
  pir::AttrMap map = attributes_from(attrs, def);
  // Sizes that a rule asks about are answered when the program runs.
  std::vector<DimGuard> asked;
  DimGuardSink sink(&asked);
  if (types == Py_None) return wrap_operation(b.create(def, values, std::move(map)), program);
  Object seq = own(PySequence_Fast(types, "types"));
  std::vector<pir::Type> results;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
    PyObject* t = PySequence_Fast_GET_ITEM(seq.get(), i);
    results.push_back(t == Py_None ? pir::Type() : ir_type_of(t));
  }
  Operation* op = b.create(def, values, std::move(map), results, static_cast<size_t>(regions));
  for (size_t r = 0; r < op->num_regions(); ++r) op->region(r).ensure_block();
  return wrap_operation(op, program);
}

PyTypeObject* add_ir_type(PyType_Spec& spec, PyObject* module, const char* name) {
  auto* t = reinterpret_cast<PyTypeObject*>(must(PyType_FromSpec(&spec)));
  must_zero(PyModule_AddObjectRef(module, name, reinterpret_cast<PyObject*>(t)));
  return t;
}

void add_ir_operation(PyObject* module) {
  constexpr unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  static char doc[] = "One operation of a program: its operands, results, attributes and regions.";
  static PyType_Slot operation_slots[] = {slot(Py_tp_dealloc, operation_dealloc),
                                          slot(Py_tp_str, operation_str),
                                          slot(Py_tp_repr, operation_str),
                                          {Py_tp_methods, operation_methods},
                                          {Py_tp_getset, operation_getset},
                                          {Py_tp_doc, doc},
                                          {0, nullptr}};
  static PyType_Spec operation_spec{"paddle._core.ir.Operation", sizeof(PyOperation), 0, flags, operation_slots};
  ir_operation_type = add_ir_type(operation_spec, module, "Operation");
  pir::destroy_hook = forget;
}

}  // namespace paddle::bindings
