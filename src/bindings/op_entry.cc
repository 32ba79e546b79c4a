// Table-driven entry points: one Python callable per operator, argument parsing driven by the operator's record.
//
// The callables are of one type with the vectorcall protocol and the method-descriptor flag, so that the same object
// serves as paddle.tanh and as Tensor.tanh without a bound-method object per call.
#include "bindings/op_entry.h"

#include <structmember.h>

#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>

#include "api/call.h"
#include "api/ops.h"
#include "bindings/py.h"
#include "bindings/py_op.h"

namespace paddle::bindings {
namespace {

#include "bindings/py_ops.inc"

// Owners of converted arguments, for the time of one call.
struct Arena {
  std::forward_list<Tensor> tensors;
  std::forward_list<Tensors> lists;
  std::forward_list<Scalar> scalars;
  std::forward_list<Ints> ints;
  std::forward_list<std::string> strings;
  std::forward_list<std::vector<int64_t>> int_lists;
  std::forward_list<std::vector<double>> float_lists;
  std::forward_list<std::unique_ptr<bool[]>> bool_lists;
  std::forward_list<std::vector<std::string>> string_lists;
  std::forward_list<std::vector<Scalar>> scalar_lists;
};

struct Entry {
  const OpInfo* op;
  bool inplace;
  std::vector<PyObject*> names;                        // interned, per argument
  std::vector<Arg> defaults;                           // tag kNone where there is none
  std::vector<bool> optional;                          // may be omitted
  std::vector<std::pair<PyObject*, uint8_t>> aliases;  // interned
  Arena kept;                                          // owns the defaults
};

struct OpFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  Entry* entry;
  PyObject* name;
  PyObject* dict;
  PyObject* fallback;  // owned: called with the same arguments where they don't fit the record; null if there is none
};
PyTypeObject* op_function_type = nullptr;

constexpr size_t kMaxArgs = 32;

std::string describe(const Entry& e, size_t i) {
  return std::string(e.op->name) + (e.inplace ? "_" : "") + "] expected " + std::string(e.op->args[i].name);
}

[[noreturn]] void wrong_kind(const Entry& e, size_t i, const char* expected, PyObject* got) {
  fail(ErrorKind::kType, "[{} to be {}, got {}", describe(e, i), expected, Py_TYPE(got)->tp_name);
}

bool is_number(PyObject* o) {
  return PyLong_Check(o) || PyFloat_Check(o) || PyBool_Check(o) || PyComplex_Check(o) || is_symint(o);
}

std::vector<double> float_list(const Entry& e, size_t i, PyObject* o) {
  std::vector<double> out;
  if (PyFloat_Check(o) || PyLong_Check(o)) {
    out.push_back(PyFloat_AsDouble(o));
    return out;
  }
  if (!PySequence_Check(o)) wrong_kind(e, i, "a list of floats", o);
  Object seq = own(PySequence_Fast(o, "expected a list"));
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(seq.get()); ++k) {
    double v = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(seq.get(), k));
    if (v == -1 && PyErr_Occurred()) throw PythonError();
    out.push_back(v);
  }
  return out;
}

// A number where a tensor stands: takes the dtype that arithmetic with the other operand gives it.
const Tensor& number_as_tensor(Arena& arena, PyObject* o, PyObject* const* all, size_t n) {
  DType other = DType::kUndefined;
  Place place = Place::cpu();
  for (size_t k = 0; k < n; ++k)
    if (all[k] && is_tensor(all[k])) {
      other = tensor_of(all[k]).dtype();
      place = tensor_of(all[k]).place();
    }
  Scalar s = scalar_from(o, "operand");
  return arena.tensors.emplace_front(ops::full({}, s, number_dtype(s, other), place));
}

bool as_bool(const Entry& e, size_t i, PyObject* o) {
  if (PyBool_Check(o)) return o == Py_True;
  if (!PyLong_Check(o) && !PyObject_HasAttrString(o, "__bool__")) wrong_kind(e, i, "a bool", o);
  int v = PyObject_IsTrue(o);
  if (v < 0) throw PythonError();
  return v;
}

int64_t as_int(const Entry& e, size_t i, PyObject* o) {
  if (PyLong_Check(o)) {
    int64_t v = PyLong_AsLongLong(o);
    if (v == -1 && PyErr_Occurred()) throw PythonError();
    return v;
  }
  if (is_tensor(o)) {
    Tensor& t = tensor_of(o);
    if (t.numel() == 1 && (is_integer(t.dtype()) || t.dtype() == DType::kBool)) return Scalar(t).to_int();
  }
  if (!PyIndex_Check(o)) wrong_kind(e, i, "an int", o);
  return dim_as_int(o);
}

double as_float(const Entry& e, size_t i, PyObject* o) {
  if (PyFloat_Check(o)) return PyFloat_AS_DOUBLE(o);
  if (is_tensor(o)) return Scalar(tensor_of(o)).to_double();
  double v = PyNumber_Check(o) ? PyFloat_AsDouble(o) : -1;
  if (!PyNumber_Check(o)) wrong_kind(e, i, "a float", o);
  if (v == -1 && PyErr_Occurred()) throw PythonError();
  return v;
}

Arg convert(const Entry& e, size_t i, PyObject* o, Arena& arena, PyObject* const* all, size_t n) {
  const ArgInfo& info = e.op->args[i];
  switch (info.kind) {
    case ArgKind::kTensor:
    case ArgKind::kOptTensor:
      if (is_tensor(o)) return Arg(tensor_of(o));
      if (info.kind == ArgKind::kOptTensor && o == Py_None) return Arg();
      if (info.promotes && is_number(o)) return Arg(number_as_tensor(arena, o, all, n));
      if (info.promotes && PyObject_HasAttrString(o, "__array__"))
        return Arg(arena.tensors.emplace_front(to_tensor(o, DType::kUndefined, Place::cpu())));
      wrong_kind(e, i, "a Tensor", o);
    case ArgKind::kTensors:
    case ArgKind::kOptTensors:
      if (o == Py_None) return Arg();
      return Arg(arena.lists.emplace_front(
          tensors_from(o, std::string(info.name).c_str(), info.kind == ArgKind::kOptTensors)));
    case ArgKind::kScalar:
      return Arg(arena.scalars.emplace_front(scalar_from(o, std::string(e.op->name).c_str())));
    case ArgKind::kInts:
      return Arg(arena.ints.emplace_front(ints_from(o, std::string(e.op->name).c_str())));
    case ArgKind::kInt:
      return Arg(as_int(e, i, o));
    case ArgKind::kFloat:
      return Arg(as_float(e, i, o));
    case ArgKind::kBool:
      return Arg(as_bool(e, i, o));
    case ArgKind::kOptInt:
      return o == Py_None ? Arg() : Arg(as_int(e, i, o));
    case ArgKind::kOptFloat:
      return o == Py_None ? Arg() : Arg(as_float(e, i, o));
    case ArgKind::kOptBool:
      return o == Py_None ? Arg() : Arg(as_bool(e, i, o));
    case ArgKind::kString:
      if (!PyUnicode_Check(o)) wrong_kind(e, i, "a string", o);
      return Arg(std::string_view(arena.strings.emplace_front(PyUnicode_AsUTF8(o))));
    case ArgKind::kDType:
      if (o == Py_None && !e.op->args[i].has_default) wrong_kind(e, i, "a dtype", o);
      [[fallthrough]];
    case ArgKind::kOptDType:
      return o == Py_None ? Arg() : Arg(dtype_from(o, std::string(e.op->name).c_str()));
    case ArgKind::kPlace:
      return o == Py_None ? Arg() : Arg(place_from(o, std::string(e.op->name).c_str()));
    case ArgKind::kIntList:
      return Arg(
          std::span<const int64_t>(arena.int_lists.emplace_front(int_list_from(o, std::string(e.op->name).c_str()))));
    case ArgKind::kFloatList:
      return Arg(std::span<const double>(arena.float_lists.emplace_front(float_list(e, i, o))));
    case ArgKind::kBoolList: {
      Object seq = own(PySequence_Fast(o, "expected a list of bools"));
      size_t size = static_cast<size_t>(PySequence_Fast_GET_SIZE(seq.get()));
      auto& kept = arena.bool_lists.emplace_front(new bool[size]);
      for (size_t k = 0; k < size; ++k)
        kept[k] = as_bool(e, i, PySequence_Fast_GET_ITEM(seq.get(), static_cast<Py_ssize_t>(k)));
      return Arg(std::span<const bool>(kept.get(), size));
    }
    case ArgKind::kStringList: {
      Object seq = own(PySequence_Fast(o, "expected a list of strings"));
      auto& kept = arena.string_lists.emplace_front();
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(seq.get()); ++k)
        kept.push_back(string_from(PySequence_Fast_GET_ITEM(seq.get(), k), "list of strings"));
      return Arg(std::span<const std::string>(kept));
    }
    case ArgKind::kScalarList: {
      Object seq = own(PySequence_Fast(o, "expected a list of numbers"));
      auto& kept = arena.scalar_lists.emplace_front();
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(seq.get()); ++k)
        kept.push_back(scalar_from(PySequence_Fast_GET_ITEM(seq.get(), k), "list of numbers"));
      return Arg(std::span<const Scalar>(kept));
    }
  }
  return Arg();
}

PyObject* pack(const OpCall& c, OpCall& call) {
  PyObject* single = nullptr;
  std::vector<Object> many;
  size_t visible = 0;
  for (const OutInfo& o : c.op.outs) visible += !o.intermediate;
  for (size_t i = 0; i < c.num_outs(); ++i) {
    const OutInfo& o = c.op.outs[i];
    if (o.intermediate) continue;
    OutSlot& slot = call.out_slot(i);
    PyObject* value = o.kind == ArgKind::kTensors ? wrap_list(slot.list) : wrap(std::move(slot.tensor));
    if (visible == 1) {
      single = value;
      break;
    }
    many.emplace_back(must(value));
  }
  if (single) return single;
  if (many.empty()) Py_RETURN_NONE;
  Object tuple = own(PyTuple_New(static_cast<Py_ssize_t>(many.size())));
  for (size_t i = 0; i < many.size(); ++i) PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), many[i].release());
  return tuple.release();
}

// The argument that a keyword names; -1: `name`, accepted and ignored; -2: `out`.
int keyword_index(const Entry& e, PyObject* key) {
  size_t n = e.names.size();
  for (size_t i = 0; i < n; ++i)
    if (e.names[i] == key) return static_cast<int>(i);
  for (auto& [alias, i] : e.aliases)
    if (alias == key) return i;
  const char* text = PyUnicode_AsUTF8(key);
  for (size_t i = 0; i < n; ++i)
    if (e.op->args[i].name == text) return static_cast<int>(i);
  for (auto& [alias, i] : e.aliases)
    if (PyUnicode_Compare(alias, key) == 0) return i;
  if (std::strcmp(text, "name") == 0) return -1;
  if (std::strcmp(text, "out") == 0) return -2;
  std::string have;
  for (const ArgInfo& a : e.op->args) have += (have.empty() ? "" : ", ") + std::string(a.name);
  fail(ErrorKind::kType, "[{}] got an unexpected keyword argument '{}'; arguments are: {}", e.op->name, text, have);
}

// How much work a call is: decides whether other threads may run meanwhile.
bool is_long(const Tensor* first) {
  constexpr int64_t kLong = 1 << 15;
  if (!first || !first->is_dense()) return false;
  int64_t n = 1;
  for (Dim d : first->shape()) n *= d.bits();
  return n >= kLong;
}

PyObject* call_entry(const Entry& e, PyObject* const* args, size_t given, PyObject* kwnames, bool& parsed) {
  size_t n = e.names.size();
  PyObject* values[kMaxArgs] = {};
  PyObject* out = nullptr;
  if (given > n) {
    // One more positional argument may be `name`.
    check(given == n + 1 && (args[n] == Py_None || PyUnicode_Check(args[n])), ErrorKind::kType,
          "[{}] expected at most {} arguments, got {}", e.op->name, n, given);
    --given;
  }
  for (size_t i = 0; i < given; ++i) values[i] = args[i];
  if (kwnames) {
    size_t count = static_cast<size_t>(PyTuple_GET_SIZE(kwnames));
    PyObject* const* keyword_values = args + given;
    for (size_t k = 0; k < count; ++k) {
      PyObject* key = PyTuple_GET_ITEM(kwnames, static_cast<Py_ssize_t>(k));
      int i = keyword_index(e, key);
      if (i == -1) continue;
      if (i == -2) {
        out = keyword_values[k];
        continue;
      }
      check(!values[i], ErrorKind::kType, "[{}] got several values for argument '{}'", e.op->name, e.op->args[i].name);
      values[i] = keyword_values[k];
    }
  }
  Arena arena;
  Arg boxed[kMaxArgs];
  const Tensor* first = nullptr;
  for (size_t i = 0; i < n; ++i) {
    PyObject* v = values[i];
    const ArgInfo& info = e.op->args[i];
    if (v && info.kind == ArgKind::kTensor && is_tensor(v)) [[likely]] {
      Tensor& t = tensor_of(v);
      check(t.defined(), ErrorKind::kRuntime, "[{}] got a Tensor that was not initialised", e.op->name);
      if (!first) first = &t;
      boxed[i] = Arg(t);
    } else if (!v || (v == Py_None && e.optional[i])) {
      check(e.optional[i], ErrorKind::kType, "[{}] missing the required argument '{}'", e.op->name, info.name);
      boxed[i] = e.defaults[i];
    } else {
      boxed[i] = convert(e, i, v, arena, values, n);
      if (boxed[i].tag() == Arg::Tag::kTensor && !first) first = &boxed[i].tensor();
    }
  }
  OpCall c(*e.op, std::span<Arg>(boxed, n));
  c.inplace = e.inplace;
  parsed = true;
  {
    ReleaseGil release(is_long(first));
    dispatch::call(c);
  }
  if (out && out != Py_None) {
    Tensor& target = expect_tensor(out, "out");
    assign_out(target, c.out(0));
    Py_INCREF(out);
    return out;
  }
  return pack(c, c);
}

PyObject* op_vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  size_t given = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
  // More positional arguments than the record has, as in x.reshape(2, 3): known without trying.
  size_t takes = f->entry->names.size();
  if (given > takes && f->fallback && !(given == takes + 1 && (args[takes] == Py_None || PyUnicode_Check(args[takes]))))
    return PyObject_Vectorcall(f->fallback, args, nargsf, kwnames);
  bool parsed = false;
  try {
    // Keyword values follow the positional ones; an ignored positional `name` must not shift them.
    size_t n = f->entry->names.size();
    if (kwnames && given > n) {
      std::vector<PyObject*> shifted(args, args + n);
      shifted.insert(shifted.end(), args + given, args + given + PyTuple_GET_SIZE(kwnames));
      return call_entry(*f->entry, shifted.data(), n, kwnames, parsed);
    }
    return call_entry(*f->entry, args, given, kwnames, parsed);
  } catch (...) {
    if (parsed || !f->fallback) {
      set_error();
      return nullptr;
    }
    PyErr_Clear();
  }
  // The rarer forms of a function, such as x.reshape(2, 3), are said in Python.
  return PyObject_Vectorcall(f->fallback, args, nargsf, kwnames);
}

PyObject* op_descr_get(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || instance == Py_None) {
    Py_INCREF(self);
    return self;
  }
  return PyMethod_New(self, instance);
}

PyObject* op_repr(PyObject* self) {
  return PyUnicode_FromFormat("<operator %U>", reinterpret_cast<OpFunction*>(self)->name);
}

// inspect.signature() reads it.
PyObject* op_signature(PyObject* self, void*) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  std::string text = "(";
  const OpInfo& op = *f->entry->op;
  for (size_t i = 0; i < op.args.size(); ++i) {
    text += (i ? ", " : "") + std::string(op.args[i].name);
    if (f->entry->optional[i]) {
      std::string d(op.args[i].default_text);
      text += "=" + (d.empty() ? "None" : d == "inf" || d == "-inf" ? "None" : d);
    }
  }
  text += std::string(op.args.empty() ? "" : ", ") + "name=None)";
  return PyUnicode_FromString(text.c_str());
}

// What help() shows: the generated module of docstrings is loaded when somebody asks for one.
PyObject* op_doc(PyObject* self, void*) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  PyObject* module = PyImport_ImportModule("paddle._op_docs");
  if (!module) {
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  Object held = own(module);
  Object docs = own(PyObject_GetAttrString(module, "DOCS"));
  PyObject* text = PyDict_GetItemString(docs.get(), std::string(f->entry->op->name).c_str());
  return Py_NewRef(text ? text : Py_None);
}

PyMemberDef op_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(OpFunction, vectorcall), READONLY, nullptr},
                            {"__name__", T_OBJECT, offsetof(OpFunction, name), READONLY, nullptr},
                            {"__qualname__", T_OBJECT, offsetof(OpFunction, name), READONLY, nullptr},
                            {"__dictoffset__", T_PYSSIZET, offsetof(OpFunction, dict), READONLY, nullptr},
                            {"fallback", T_OBJECT, offsetof(OpFunction, fallback), 0, nullptr},
                            {}};
PyGetSetDef op_getset[] = {{"__text_signature__", op_signature, nullptr, nullptr, nullptr},
                           {"__doc__", op_doc, nullptr, nullptr, nullptr},
                           {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                           {}};
PyType_Slot op_slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                          {Py_tp_descr_get, reinterpret_cast<void*>(op_descr_get)},
                          {Py_tp_repr, reinterpret_cast<void*>(op_repr)},
                          {Py_tp_members, op_members},
                          {Py_tp_getset, op_getset},
                          {0, nullptr}};
PyType_Spec op_spec{"paddle._core.Operator", sizeof(OpFunction), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, op_slots};

Object eval_default(std::string_view text) {
  static PyObject* scope = Py_BuildValue("{s:d,s:O}", "inf", Py_HUGE_VAL, "__builtins__", PyEval_GetBuiltins());
  return own(PyRun_String(std::string(text).c_str(), Py_eval_input, scope, scope));
}

bool optional_kind(ArgKind k) {
  return k == ArgKind::kOptTensor || k == ArgKind::kOptTensors || k == ArgKind::kOptInt || k == ArgKind::kOptFloat ||
         k == ArgKind::kOptBool || k == ArgKind::kOptDType || k == ArgKind::kPlace;
}

Entry* make_entry(const PyOp& row, bool inplace) {
  auto* e = new Entry{&all_ops()[row.op], inplace, {}, {}, {}, {}, {}};
  const OpInfo& op = *e->op;
  PD_INVARIANT(op.args.size() <= kMaxArgs);
  for (size_t i = 0; i < op.args.size(); ++i) {
    const ArgInfo& a = op.args[i];
    e->names.push_back(PyUnicode_InternFromString(std::string(a.name).c_str()));
    e->optional.push_back(a.has_default || optional_kind(a.kind));
    e->defaults.emplace_back();
    if (!a.has_default || a.default_text == "None") continue;
    Object value = a.kind == ArgKind::kDType || a.kind == ArgKind::kOptDType
                       ? own(PyUnicode_FromString(std::string(a.default_text).c_str()))
                       : eval_default(a.default_text);
    e->defaults[i] = convert(*e, i, value.get(), e->kept, nullptr, 0);
  }
  for (const PyAlias& a : row.aliases) e->aliases.emplace_back(PyUnicode_InternFromString(a.name), a.arg);
  return e;
}

Object make_function(Entry* e, const std::string& name) {
  auto* f = reinterpret_cast<OpFunction*>(must(op_function_type->tp_alloc(op_function_type, 0)));
  f->vectorcall = op_vectorcall;
  f->entry = e;
  f->name = must(PyUnicode_FromString(name.c_str()));
  return Object(reinterpret_cast<PyObject*>(f));
}

// "paddle.nn.functional.relu" -> public["paddle.nn.functional"]["relu"]; Tensor methods go onto the class at once.
void publish(PyObject* table, PyObject* function, std::string_view full_name) {
  size_t dot = full_name.rfind('.');
  std::string owner(full_name.substr(0, dot)), name(full_name.substr(dot + 1));
  if (owner == "paddle.Tensor") {
    must_zero(PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_type), name.c_str(), function));
    return;
  }
  PyObject* members = PyDict_GetItemString(table, owner.c_str());
  if (!members) {
    Object fresh = own(PyDict_New());
    must_zero(PyDict_SetItemString(table, owner.c_str(), fresh.get()));
    members = fresh.get();
  }
  must_zero(PyDict_SetItemString(members, name.c_str(), function));
}

}  // namespace

DType number_dtype(const Scalar& s, DType other) {
  DType natural = s.natural_dtype();
  if (other == DType::kUndefined) return natural == DType::kFloat64 ? default_dtype() : natural;
  if (natural == DType::kComplex128)
    return is_complex(other) ? other : complex_of(is_float(other) ? other : default_dtype());
  if (natural == DType::kFloat64) return is_inexact(other) ? other : default_dtype();
  if (natural == DType::kInt64) return other == DType::kBool ? DType::kInt64 : other;
  return other;
}

void assign_out(Tensor& target, const Tensor& value) {
  // `out=` takes the value over, shape included, and keeps the handle.
  target.become(value);
}

int64_t dim_as_int(PyObject* o) {
  Dim d = dim_of(o);
  return d.is_const() ? d.value() : guard_int(d);
}

void add_operators(PyObject* module) {
  op_function_type = reinterpret_cast<PyTypeObject*>(must(PyType_FromSpec(&op_spec)));
  Object c_ops = own(PyDict_New());
  Object published = own(PyDict_New());
  for (const PyOp& row : py_ops) {
    const OpInfo& op = all_ops()[row.op];
    std::string name(op.name);
    Object f = make_function(make_entry(row, false), name);
    must_zero(PyDict_SetItemString(c_ops.get(), name.c_str(), f.get()));
    for (const char* p : row.names) publish(published.get(), f.get(), p);
    if (!op.has(kInplaceVariant)) continue;
    Object g = make_function(make_entry(row, true), name + "_");
    must_zero(PyDict_SetItemString(c_ops.get(), (name + "_").c_str(), g.get()));
    for (const char* p : row.inplace_names) publish(published.get(), g.get(), p);
  }
  must_zero(PyModule_AddObjectRef(module, "_ops", c_ops.get()));
  must_zero(PyModule_AddObjectRef(module, "_public", published.get()));
}

}  // namespace paddle::bindings
