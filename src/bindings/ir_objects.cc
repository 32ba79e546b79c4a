// Operation, Block, Value and Type of paddle._core.ir.
#include <mutex>

#include "base/error.h"
#include "bindings/ir.h"
#include "pir/destroy_hook.h"
#include "pir/printer.h"
#include "pir/verifier.h"

namespace paddle::bindings {

PyTypeObject *ir_operation_type, *ir_block_type, *ir_value_type, *ir_type_type;

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

template <class T>
T* fields(PyObject* o) {
  return reinterpret_cast<T*>(o);
}
template <class F>
PyType_Slot slot(int id, F* f) {
  return {id, reinterpret_cast<void*>(f)};
}
PyObject* text(std::string_view s) {
  return must(PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
}
void append(PyObject* list, PyObject* owned) { must_zero(PyList_Append(list, own(owned).get())); }
PyObject* program_of_op(PyObject* o) { return fields<PyOperation>(o)->program; }

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

// ---- blocks
void block_dealloc(PyObject* o) {
  Py_XDECREF(fields<PyBlock>(o)->parent);
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
}
PyObject* block_program(PyObject* o) { return program_of_op(fields<PyBlock>(o)->parent); }
PyObject* block_ops(PyObject* o, void*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (Operation& op : *block_of(o)) append(list.get(), wrap_operation(&op, block_program(o)));
    return list.release();
  });
}
PyObject* block_args(PyObject* o, PyObject*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (Value v : block_of(o)->args()) append(list.get(), wrap_ir_value(v, block_program(o)));
    return list.release();
  });
}
PyObject* block_parent(PyObject* o, void*) {
  Py_INCREF(fields<PyBlock>(o)->parent);
  return fields<PyBlock>(o)->parent;
}
Py_ssize_t block_length(PyObject* o) {
  try {
    return static_cast<Py_ssize_t>(block_of(o)->size());
  } catch (...) {
    set_error();
    return -1;
  }
}
PyObject* block_str(PyObject* o) {
  return guard([&] { return text(pir::print(*block_of(o))); });
}
// create(name, operands, attrs, types=None, num_regions=0, before=None)
PyObject* block_create(PyObject* o, PyObject* args) {
  return guard([&] {
    check(PyTuple_GET_SIZE(args) >= 1, ErrorKind::kType, "[create] expected the operation's name");
    pir::Builder b(block_of(o));
    if (PyTuple_GET_SIZE(args) > 5) {
      PyObject* before = PyTuple_GET_ITEM(args, 5);
      if (before != Py_None) {
        check(operation_of(before)->block() == block_of(o), ErrorKind::kValue, "[create] `before` is in another block");
        b.before(operation_of(before));
      }
    }
    return create_with(b, args, block_program(o));
  });
}
PyObject* compare_pointers(const void* a, const void* b, int op) {
  if (op == Py_EQ) return PyBool_FromLong(a == b);
  if (op == Py_NE) return PyBool_FromLong(a != b);
  Py_RETURN_NOTIMPLEMENTED;
}
PyObject* block_compare(PyObject* a, PyObject* b, int op) {
  if (Py_TYPE(b) != ir_block_type) Py_RETURN_NOTIMPLEMENTED;
  return compare_pointers(fields<PyBlock>(a)->block, fields<PyBlock>(b)->block, op);
}
Py_hash_t block_hash(PyObject* o) {
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(fields<PyBlock>(o)->block) >> 4);
}

// ---- values
void value_dealloc(PyObject* o) {
  Py_XDECREF(fields<PyValue>(o)->owner);
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
}
PyObject* value_program(PyObject* o) {
  PyObject* owner = fields<PyValue>(o)->owner;
  return Py_TYPE(owner) == ir_block_type ? block_program(owner) : program_of_op(owner);
}
PyObject* value_compare(PyObject* a, PyObject* b, int op) {
  if (Py_TYPE(b) != ir_value_type) Py_RETURN_NOTIMPLEMENTED;
  return guard([&] { return compare_pointers(value_of(a).impl(), value_of(b).impl(), op); });
}
Py_hash_t value_hash(PyObject* o) {
  return static_cast<Py_hash_t>((reinterpret_cast<uintptr_t>(fields<PyValue>(o)->owner) >> 4) * 31 +
                                fields<PyValue>(o)->index);
}
PyObject* value_str(PyObject* o) {
  return guard([&] {
    Value v = value_of(o);
    std::string type = v.type() ? v.type().str() : "<none>";
    if (v.is_argument()) return text(fmt::format("Value(argument {}, {})", v.index(), type));
    return text(fmt::format("Value(result {} of {}, {})", v.index(), v.defining_op()->name(), type));
  });
}
PyObject* value_dtype(PyObject* o, void*) {
  return guard([&] { return wrap_dtype(value_of(o).dtype()); });
}
PyObject* value_shape(PyObject* o, void*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (Dim d : value_of(o).shape()) append(list.get(), must(PyLong_FromLongLong(d.is_const() ? d.value() : -1)));
    return list.release();
  });
}
PyObject* value_type(PyObject* o, PyObject*) {
  return guard([&] { return wrap_ir_type(value_of(o).type()); });
}
PyObject* value_set_type(PyObject* o, PyObject* type) {
  return guard([&]() -> PyObject* {
    value_of(o).set_type(ir_type_of(type));
    Py_RETURN_NONE;
  });
}
PyObject* value_defining_op(PyObject* o, PyObject*) {
  return guard([&] { return wrap_operation(value_of(o).defining_op(), value_program(o)); });
}
PyObject* value_block(PyObject* o, PyObject*) {
  return guard([&] { return wrap_block(value_of(o).owner_block(), value_program(o)); });
}
PyObject* value_users(PyObject* o, PyObject*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (Operation* op : value_of(o).users()) append(list.get(), wrap_operation(op, value_program(o)));
    return list.release();
  });
}
PyObject* value_uses(PyObject* o, PyObject*) {  // (operation, number of its operand)
  return guard([&] {
    Object list = own(PyList_New(0));
    for (pir::OpOperand& use : value_of(o).uses()) {
      Object op = own(wrap_operation(use.owner(), value_program(o)));
      append(list.get(), must(Py_BuildValue("(OI)", op.get(), use.index())));
    }
    return list.release();
  });
}
PyObject* value_replace(PyObject* o, PyObject* other) {
  return guard([&]() -> PyObject* {
    value_of(o).replace_all_uses_with(value_of(other));
    Py_RETURN_NONE;
  });
}
PyObject* value_index(PyObject* o, PyObject*) { return PyLong_FromUnsignedLong(fields<PyValue>(o)->index); }
PyObject* value_attr(PyObject* o, PyObject* name) {
  return guard([&] { return wrap_attribute(value_of(o).attr(string_from(name, "attr"))); });
}
PyObject* value_set_attr(PyObject* o, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *name, *value;
    if (!PyArg_ParseTuple(args, "OO", &name, &value)) throw PythonError();
    value_of(o).set_attr(string_from(name, "set_attr"), attribute_from(value, nullptr));
    Py_RETURN_NONE;
  });
}

// ---- types
PyObject* type_str(PyObject* o) {
  return guard([&] { return text(ir_type_of(o) ? ir_type_of(o).str() : "<none>"); });
}
PyObject* type_compare(PyObject* a, PyObject* b, int op) {
  if (Py_TYPE(b) != ir_type_type) Py_RETURN_NOTIMPLEMENTED;
  return compare_pointers(ir_type_of(a).data(), ir_type_of(b).data(), op);
}
Py_hash_t type_hash(PyObject* o) { return static_cast<Py_hash_t>(ir_type_of(o).hash()); }
PyObject* type_dtype(PyObject* o, void*) {
  return guard([&] { return wrap_dtype(ir_type_of(o).dtype()); });
}
PyObject* type_shape(PyObject* o, void*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (Dim d : ir_type_of(o).shape()) append(list.get(), must(PyLong_FromLongLong(d.is_const() ? d.value() : -1)));
    return list.release();
  });
}
PyObject* type_elements(PyObject* o, PyObject*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    if (ir_type_of(o).is_vector())
      for (pir::Type t : ir_type_of(o).elements()) append(list.get(), wrap_ir_type(t));
    return list.release();
  });
}
PyObject* tensor_type_of(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *dtype, *shape;
    if (!PyArg_ParseTuple(args, "OO", &dtype, &shape)) throw PythonError();
    Object seq = own(PySequence_Fast(shape, "tensor_type"));
    Shape sizes;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
      PyObject* d = PySequence_Fast_GET_ITEM(seq.get(), i);
      Dim n = d == Py_None ? Dim(-1) : dim_of(d);
      sizes.push_back(n == Dim(-1) ? new_symbol() : n);
    }
    return wrap_ir_type(pir::Type::tensor(dtype_from(dtype, "tensor_type"), sizes));
  });
}
PyObject* vector_type_of(PyObject*, PyObject* list) {
  return guard([&] {
    Object seq = own(PySequence_Fast(list, "vector_type"));
    std::vector<pir::Type> types;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
      types.push_back(ir_type_of(PySequence_Fast_GET_ITEM(seq.get(), i)));
    return wrap_ir_type(pir::Type::vector(types));
  });
}

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
PyMethodDef block_methods[] = {
    {"args", block_args, METH_NOARGS, "the block's arguments"},
    {"create", block_create, METH_VARARGS, "(name, operands, attrs=None, types=None, num_regions=0, before=None)"},
    {}};
PyGetSetDef block_getset[] = {{"ops", block_ops, nullptr, "a list of the operations", nullptr},
                              {"parent_op", block_parent, nullptr, nullptr, nullptr},
                              {}};
PyMethodDef value_methods[] = {{"type", value_type, METH_NOARGS, nullptr},
                               {"set_type", value_set_type, METH_O, nullptr},
                               {"get_defining_op", value_defining_op, METH_NOARGS, "None for an argument of a block"},
                               {"block", value_block, METH_NOARGS, nullptr},
                               {"all_used_ops", value_users, METH_NOARGS, "each user once"},
                               {"uses", value_uses, METH_NOARGS, "(operation, operand) for each use"},
                               {"replace_all_uses_with", value_replace, METH_O, nullptr},
                               {"index", value_index, METH_NOARGS, nullptr},
                               {"attr", value_attr, METH_O, "stop_gradient, persistable, ...; None: nothing is said"},
                               {"set_attr", value_set_attr, METH_VARARGS, nullptr},
                               {}};
PyGetSetDef value_getset[] = {{"dtype", value_dtype, nullptr, nullptr, nullptr},
                              {"shape", value_shape, nullptr, "-1: a size that only running tells", nullptr},
                              {}};
PyGetSetDef type_getset[] = {
    {"dtype", type_dtype, nullptr, nullptr, nullptr}, {"shape", type_shape, nullptr, nullptr, nullptr}, {}};
PyMethodDef type_methods[] = {{"elements", type_elements, METH_NOARGS, "of a list: its items' types"}, {}};
PyMethodDef functions[] = {{"tensor_type", tensor_type_of, METH_VARARGS, "(dtype, shape); -1 or None: any size"},
                           {"vector_type", vector_type_of, METH_O, "of a list of types"},
                           {}};

template <class T>
T* make(PyTypeObject* type) {
  return reinterpret_cast<T*>(must(type->tp_alloc(type, 0)));
}

}  // namespace

Operation* operation_of(PyObject* o) {
  check(Py_TYPE(o) == ir_operation_type, ErrorKind::kType, "expected an Operation, got {}", Py_TYPE(o)->tp_name);
  Operation* op = fields<PyOperation>(o)->op;
  check(op != nullptr, ErrorKind::kValue, "this operation was erased");
  return op;
}

pir::Block* block_of(PyObject* o) {
  check(Py_TYPE(o) == ir_block_type, ErrorKind::kType, "expected a Block, got {}", Py_TYPE(o)->tp_name);
  auto* p = fields<PyBlock>(o);
  Operation* parent = operation_of(p->parent);
  for (size_t r = 0; r < parent->num_regions(); ++r)
    for (size_t b = 0; b < parent->region(r).size(); ++b)
      if (&parent->region(r).block(b) == p->block) return p->block;
  fail(ErrorKind::kValue, "this block is gone");
}

Value value_of(PyObject* o) {
  check(Py_TYPE(o) == ir_value_type, ErrorKind::kType, "expected a Value, got {}", Py_TYPE(o)->tp_name);
  auto* p = fields<PyValue>(o);
  if (Py_TYPE(p->owner) == ir_block_type) {
    pir::Block* b = block_of(p->owner);
    check(p->index < b->num_args(), ErrorKind::kValue, "this argument is gone");
    return b->arg(p->index);
  }
  return operation_of(p->owner)->result(p->index);
}
Value value_or_null(PyObject* o) { return o == Py_None ? Value() : value_of(o); }

std::vector<Value> values_of(PyObject* sequence) {
  Object seq = own(PySequence_Fast(sequence, "expected a list of values"));
  std::vector<Value> out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
    out.push_back(value_or_null(PySequence_Fast_GET_ITEM(seq.get(), i)));
  return out;
}

pir::Type ir_type_of(PyObject* o) {
  check(Py_TYPE(o) == ir_type_type, ErrorKind::kType, "expected a Type, got {}", Py_TYPE(o)->tp_name);
  return fields<PyType>(o)->type;
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

PyObject* wrap_block(pir::Block* block, PyObject* program) {
  if (!block || !block->parent_op()) Py_RETURN_NONE;
  Object parent = own(wrap_operation(block->parent_op(), program));
  auto* p = make<PyBlock>(ir_block_type);
  p->parent = parent.release();
  p->block = block;
  return reinterpret_cast<PyObject*>(p);
}

PyObject* wrap_ir_value(Value v, PyObject* program) {
  if (!v) Py_RETURN_NONE;
  Object owner = own(v.is_argument() ? wrap_block(v.owner_block(), program) : wrap_operation(v.defining_op(), program));
  auto* p = make<PyValue>(ir_value_type);
  p->owner = owner.release();
  p->index = v.index();
  return reinterpret_cast<PyObject*>(p);
}

PyObject* wrap_ir_type(pir::Type t) {
  if (!t) Py_RETURN_NONE;
  auto* p = make<PyType>(ir_type_type);
  p->type = t;
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

void add_ir_objects(PyObject* module) {
  constexpr unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  static PyType_Slot operation_slots[] = {slot(Py_tp_dealloc, operation_dealloc), slot(Py_tp_str, operation_str),
                                          slot(Py_tp_repr, operation_str),        {Py_tp_methods, operation_methods},
                                          {Py_tp_getset, operation_getset},       {0, nullptr}};
  static PyType_Spec operation_spec{"paddle._core.ir.Operation", sizeof(PyOperation), 0, flags, operation_slots};
  ir_operation_type = add_ir_type(operation_spec, module, "Operation");
  static PyType_Slot block_slots[] = {slot(Py_tp_dealloc, block_dealloc),
                                      slot(Py_tp_str, block_str),
                                      slot(Py_tp_repr, block_str),
                                      slot(Py_mp_length, block_length),
                                      slot(Py_tp_richcompare, block_compare),
                                      slot(Py_tp_hash, block_hash),
                                      {Py_tp_methods, block_methods},
                                      {Py_tp_getset, block_getset},
                                      {0, nullptr}};
  static PyType_Spec block_spec{"paddle._core.ir.Block", sizeof(PyBlock), 0, flags, block_slots};
  ir_block_type = add_ir_type(block_spec, module, "Block");
  static PyType_Slot value_slots[] = {slot(Py_tp_dealloc, value_dealloc), slot(Py_tp_str, value_str),
                                      slot(Py_tp_repr, value_str),        slot(Py_tp_richcompare, value_compare),
                                      slot(Py_tp_hash, value_hash),       {Py_tp_methods, value_methods},
                                      {Py_tp_getset, value_getset},       {0, nullptr}};
  static PyType_Spec value_spec{"paddle._core.ir.Value", sizeof(PyValue), 0, flags, value_slots};
  ir_value_type = add_ir_type(value_spec, module, "Value");
  static PyType_Slot type_slots[] = {slot(Py_tp_str, type_str),
                                     slot(Py_tp_repr, type_str),
                                     slot(Py_tp_richcompare, type_compare),
                                     slot(Py_tp_hash, type_hash),
                                     {Py_tp_getset, type_getset},
                                     {Py_tp_methods, type_methods},
                                     {0, nullptr}};
  static PyType_Spec type_spec{"paddle._core.ir.Type", sizeof(PyType), 0, flags, type_slots};
  ir_type_type = add_ir_type(type_spec, module, "Type");
  add_functions(module, functions);
  pir::destroy_hook = forget;
}

}  // namespace paddle::bindings
