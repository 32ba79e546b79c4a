// Block, Value and Type of paddle._core.ir.
#include "base/error.h"
#include "bindings/ir_classes.h"
#include "pir/printer.h"

namespace paddle::bindings {

PyTypeObject *ir_block_type, *ir_value_type, *ir_type_type;

namespace {

using pir::Operation;
using pir::Value;

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

}  // namespace

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

void add_ir_values(PyObject* module) {
  constexpr unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
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
}

}  // namespace paddle::bindings
