// Table-driven entry points: one Python callable per operator, argument parsing driven by the operator's record.
//
// The callables are of one type with the vectorcall protocol and the method-descriptor flag, so that the same object
// serves as paddle.tanh and as Tensor.tanh without a bound-method object per call.
#include "bindings/op_entry.h"

#include <structmember.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>

#include "api/call.h"
#include "api/ops.h"
#include "bindings/op_arguments.h"
#include "bindings/py.h"
#include "bindings/py_op.h"
#include "dispatch/trace.h"

namespace paddle::bindings {
namespace {

#include "bindings/py_ops.inc"

struct OpFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  Entry* entry;
  PyObject* name;
  PyObject* dict;
  PyObject* fallback;  // owned: called with the same arguments where they don't fit the record; null if there is none
};
PyTypeObject* op_function_type = nullptr;

constexpr size_t kMaxArgs = 32;

// Whether result i is the list of tensors that was given, written in place.
bool is_given_list(const OpCall& c, size_t i, const Tensors& list) {
  const OutInfo& o = c.op.outs[i];
  if (o.kind != ArgKind::kTensors || o.inplace_of < 0 || !c.op.has(kInplaceOnly)) return false;
  const std::span<const Tensor> given = c.args[static_cast<size_t>(o.inplace_of)].tensors_or_empty();
  return !given.empty() && std::equal(given.begin(), given.end(), list.begin(), list.end(),
                                      [](const Tensor& a, const Tensor& b) { return a.same(b); });
}

// What a call returns. `values`: its arguments, of which lists come back as they are.
PyObject* pack(const OpCall& c, OpCall& call, PyObject* const* values) {
  PyObject* single = nullptr;
  std::vector<Object> many;
  size_t visible = 0;
  for (const OutInfo& o : c.op.outs) visible += !o.intermediate;
  for (size_t i = 0; i < c.num_outs(); ++i) {
    const OutInfo& o = c.op.outs[i];
    if (o.intermediate) continue;
    OutSlot& slot = call.out_slot(i);
    PyObject* value = is_given_list(c, i, slot.list) ? Py_NewRef(values[o.inplace_of])
                      : o.kind == ArgKind::kTensors  ? wrap_list(slot.list)
                                                     : wrap(std::move(slot.tensor));
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

// A captured result that says how it follows from an argument no longer does: writing into it is its own matter.
void own_traced(const OpCall& c, Tensor& t) {
  bool argument = false;
  c.for_each_tensor([&](const Tensor& from) { argument |= from.same(t); });
  if (argument) {
    t = dispatch::Trace::active()->alias(t);
    return;
  }
  static_cast<dispatch::TracedPayload*>(t->payload.get())->forget_base();
}

// Writing into a result must not reach an argument, unless the record says that it is a view.
void own_results(OpCall& c) {
  auto own = [&](Tensor& t) {
    if (!t.defined()) return;
    if (t.is_traced()) return own_traced(c, t);
    bool shared = false;
    if (t->storage) c.for_each_tensor([&](const Tensor& from) { shared |= from->storage.get() == t->storage.get(); });
    if (shared) t = ops::assign(t);
  };
  for (size_t i = 0; i < c.num_outs(); ++i) {
    own(c.out(i));
    for (Tensor& t : c.out_list(i)) own(t);
  }
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
    if (e.owns && !e.inplace) own_results(c);
  }
  if (out && out != Py_None) {
    Tensor& target = expect_tensor(out, "out");
    assign_out(target, c.out(0));
    Py_INCREF(out);
    return out;
  }
  return pack(c, c, values);
}

PyObject* op_vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  size_t given = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
  // More positional arguments than the record has, as in x.reshape(2, 3): known without trying.
  size_t takes = f->entry->names.size();
  if (given > takes && f->fallback && !(given == takes + 1 && (args[takes] == Py_None || PyUnicode_Check(args[takes]))))
    return PyObject_Vectorcall(f->fallback, args, nargsf, kwnames);
  // A fallback that comes back with what it was given would go on for ever.
  static thread_local std::vector<OpFunction*> falling_back;
  const bool again = std::find(falling_back.begin(), falling_back.end(), f) != falling_back.end();
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
    if (parsed || !f->fallback || again) {
      set_error();
      return nullptr;
    }
    PyErr_Clear();
  }
  // The rarer forms of a function, such as x.reshape(2, 3), are said in Python.
  falling_back.push_back(f);
  PyObject* result = PyObject_Vectorcall(f->fallback, args, nargsf, kwnames);
  falling_back.pop_back();
  return result;
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

bool has_argument(const OpInfo& op, std::string_view name) {
  return std::any_of(op.args.begin(), op.args.end(), [&](const ArgInfo& a) { return a.name == name; });
}

// A literal: a dtype's name is a string, and there is none for infinity.
std::string shown_default(const ArgInfo& a) {
  std::string text(a.default_text);
  if (text.empty() || text == "None" || text == "inf" || text == "-inf") return "None";
  return a.kind == ArgKind::kDType || a.kind == ArgKind::kOptDType ? "\"" + text + "\"" : text;
}

// ", *, alpha=1, out=None": what the record's arguments don't say, the Python form's keywords and `out`.
std::string keyword_only(const OpFunction& f) {
  std::string text;
  Object form = f.fallback ? Object::borrow(f.fallback) : Object();
  if (form && PyObject_HasAttrString(form.get(), "__wrapped__"))
    form = own(PyObject_GetAttrString(form.get(), "__wrapped__"));
  PyObject* defaults = form && PyFunction_Check(form.get()) ? PyFunction_GetKwDefaults(form.get()) : nullptr;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; defaults && PyDict_Next(defaults, &at, &key, &value);) {
    std::string name = PyUnicode_AsUTF8(key);
    Object shown = own(PyObject_Repr(value));
    if (name != "out" && name != "name" && !has_argument(*f.entry->op, name))
      text += ", " + name + "=" + PyUnicode_AsUTF8(shown.get());
  }
  if (!f.entry->inplace && !has_argument(*f.entry->op, "out")) text += ", out=None";
  return text.empty() ? text : ", *" + text;
}

// inspect.signature() reads it.
PyObject* op_signature(PyObject* self, void*) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  std::string text = "(";
  const OpInfo& op = *f->entry->op;
  size_t required = op.args.size();  // Python has no default before an argument without one
  while (required > 0 && f->entry->optional[required - 1]) --required;
  for (size_t i = 0; i < op.args.size(); ++i) {
    text += (i ? ", " : "") + std::string(op.args[i].name);
    if (i >= required) text += "=" + shown_default(op.args[i]);
  }
  if (!has_argument(op, "name")) text += op.args.empty() ? "name=None" : ", name=None";
  text += keyword_only(*f) + ")";
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
  auto* e = new Entry{&all_ops()[row.op], inplace, row.owns, {}, {}, {}, {}, {}};
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

void assign_out(Tensor& target, const Tensor& value) {
  // `out=` takes the value over, shape included, and keeps the handle.
  target.become(value);
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
