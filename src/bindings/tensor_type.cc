// The Python class Tensor: identity, life time, and the attributes that need no operator.
//
// A tensor and its Python object refer to each other: the object owns the tensor; the tensor knows its living object,
// so that the same tensor is the same object. When the object dies while C++ still holds the tensor (a saved input, a
// parameter's gradient), the object's class and attributes are kept with the tensor and come back with the next object.
#include "bindings/held.h"
#include "bindings/in_program.h"
#include "bindings/py.h"

#include <structmember.h>

#include "autograd/node.h"
#include "autograd/view.h"
#include "base/error.h"
#include "bindings/tensor_methods.h"
#include "device/registry.h"
#include "dispatch/leaf.h"
#include "tensor/shown_shape.h"

namespace paddle::bindings {

PyTypeObject* tensor_type = nullptr;

namespace {

PyTensor* self_of(PyObject* o) { return reinterpret_cast<PyTensor*>(o); }

void drop_state(void* p) {
  if (!Py_IsInitialized()) return;
  AcquireGil gil;
  delete static_cast<PyState*>(p);
}

PyObject* make_object(PyTypeObject* type, Tensor t, PyObject* dict) {
  auto* o = reinterpret_cast<PyTensor*>(must(type->tp_alloc(type, 0)));
  new (&o->tensor) Tensor(std::move(t));
  o->dict = dict;
  if (o->tensor.defined()) o->tensor->py_object = o;
  return reinterpret_cast<PyObject*>(o);
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(self_of(o)->dict);
  return traverse_history(self_of(o)->tensor, visit, arg);
}

int clear(PyObject* o) {
  Py_CLEAR(self_of(o)->dict);
  clear_history(self_of(o)->tensor);
  return 0;
}

void dealloc(PyObject* o) {
  PyTensor* self = self_of(o);
  PyTypeObject* type = Py_TYPE(o);
  PyObject_GC_UnTrack(o);
  if (self->weak) PyObject_ClearWeakRefs(o);
  Tensor t = std::move(self->tensor);
  self->tensor.~Tensor();
  PyObject* dict = std::exchange(self->dict, nullptr);
  if (t.defined() && t->py_object == o) {
    t->py_object = nullptr;
    bool worth_keeping = type != tensor_type || (dict && PyDict_GET_SIZE(dict) > 0);
    if (t.impl()->use_count() > 1 && worth_keeping) {
      Py_INCREF(type);
      t->py_state = new PyState{type, std::exchange(dict, nullptr)};
    }
  }
  Py_XDECREF(dict);
  {
    Tensor dying = std::move(t);  // may run long destructor chains: after the object is consistent
  }
  type->tp_free(o);
  Py_DECREF(type);
}

PyObject* tensor_new(PyTypeObject* type, PyObject*, PyObject*) {
  return guard([&] { return make_object(type, Tensor(), nullptr); });
}

// Tensor(2, 3): the sizes of a tensor of the default dtype.
bool are_sizes(PyObject* args, PyObject* kwargs) {
  if (kwargs && PyDict_GET_SIZE(kwargs) > 0) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
    if (!PyLong_CheckExact(PyTuple_GET_ITEM(args, i))) return false;
  return PyTuple_GET_SIZE(args) > 0;
}

// Tensor(): an empty one. Tensor(value, dtype=None, place=None, name=...): a new tensor of value; from a Tensor: shares
// its storage.
int tensor_init(PyObject* o, PyObject* args, PyObject* kwargs) {
  return guard_int([&] {
    static const char* names[] = {"value",         "dtype",       "place",     "name",
                                  "stop_gradient", "persistable", "zero_copy", nullptr};
    if (are_sizes(args, kwargs)) {
      std::vector<int64_t> given = int_list_from(args, "Tensor");
      std::vector<Dim> sizes(given.begin(), given.end());
      Tensor& sized = self_of(o)->tensor;
      sized = Tensor::empty(sizes, default_dtype(), Place::cpu());
      sized->py_object = o;
      sized.set_stop_gradient(true);
      return 0;
    }
    PyObject *value = nullptr, *dtype = nullptr, *place = nullptr, *name = nullptr;
    int stop_gradient = 1, persistable = 0, zero_copy = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOOppp", const_cast<char**>(names), &value, &dtype, &place, &name,
                                     &stop_gradient, &persistable, &zero_copy))
      throw PythonError();
    Tensor& t = self_of(o)->tensor;
    DType d = dtype && dtype != Py_None ? dtype_from(dtype, "Tensor") : DType::kUndefined;
    if (!value || value == Py_None) {
      t = Tensor::empty({0}, d == DType::kUndefined ? default_dtype() : d);
    } else if (is_tensor(value)) {
      Tensor alias(TensorImpl::make());
      alias.become(tensor_of(value));
      alias->grad_fn = nullptr;
      t = alias;
    } else {
      // Lists are of the default dtype, arrays keep theirs.
      if (d == DType::kUndefined && (PyList_Check(value) || PyTuple_Check(value))) d = default_dtype();
      t = to_tensor(value, d, place && place != Py_None ? place_from(place, "Tensor") : Place::cpu());
    }
    t->py_object = o;
    t.set_stop_gradient(stop_gradient);
    t->persistable = persistable;
    if (name && name != Py_None) t->name = std::make_unique<std::string>(string_from(name, "name"));
    return 0;
  });
}

Tensor& live(PyObject* o) {
  Tensor& t = self_of(o)->tensor;
  check(t.defined(), ErrorKind::kRuntime, "this Tensor was not initialised (a subclass did not call super().__init__)");
  return t;
}

// ---- attributes
PyObject* get_shape(PyObject* o, void*) {
  return guard([&] {
    const Tensor& t = live(o);
    dispatch::Trace* trace = dispatch::Trace::active();
    const Shape* sizes = trace ? trace->sizes_of(t) : nullptr;
    return wrap_shape(sizes ? *sizes : t.shape());
  });
}
PyObject* get_dtype(PyObject* o, void*) {
  return guard([&] { return wrap_dtype(live(o).dtype()); });
}
PyObject* get_place(PyObject* o, void*) {
  return guard([&] { return wrap_place(live(o).place()); });
}
PyObject* get_ndim(PyObject* o, void*) {
  return guard([&] { return must(PyLong_FromLongLong(live(o).rank())); });
}
PyObject* get_size(PyObject* o, void*) {
  return guard([&] { return wrap_dim(numel(live(o).shape())); });
}
PyObject* get_itemsize(PyObject* o, void*) {
  return guard([&] { return must(PyLong_FromSize_t(size_of(live(o).dtype()))); });
}
// A view of what was written needs a gradient where that does.
bool stops(const Tensor& t) {
  if (t->base) autograd::refresh_view(t);
  return t.stop_gradient();
}
PyObject* get_stop_gradient(PyObject* o, void*) {
  return guard([&] { return PyBool_FromLong(stops(live(o))); });
}
PyObject* get_requires_grad(PyObject* o, void*) {
  return guard([&] { return PyBool_FromLong(!stops(live(o))); });
}
PyObject* get_persistable(PyObject* o, void*) {
  return guard([&] { return PyBool_FromLong(live(o)->persistable); });
}
PyObject* get_is_leaf(PyObject* o, void*) {
  return guard([&] {
    dispatch::Trace* trace = dispatch::Trace::active();
    const Tensor& t = live(o);
    return PyBool_FromLong(t.stop_gradient() || (trace ? trace->is_leaf(t) : autograd::is_leaf(t)));
  });
}
PyObject* get_version(PyObject* o, void*) {
  return guard([&] {
    const Tensor& t = live(o);
    uint32_t version = 0;
    if (t.is_dense()) version = t->storage->version();
    if (t.is_traced()) version = static_cast<dispatch::TracedPayload*>(t->payload.get())->version;
    return must(PyLong_FromUnsignedLong(version));
  });
}
PyObject* get_grad(PyObject* o, void*) {
  return guard([&]() -> PyObject* { return wrap(grad_now(live(o))); });
}
int set_grad(PyObject* o, PyObject* value, void*) {
  return guard_int([&] {
    Tensor& t = live(o);
    dispatch::Trace* trace = dispatch::Trace::active();
    if (!value || value == Py_None) {
      if (trace) return trace->set_grad(t, Tensor()), 0;
      if (autograd::Meta* m = autograd::find_meta(t)) m->grad = Tensor();
      return 0;
    }
    Tensor& g = expect_tensor(value, "grad");
    check(g.shape() == t.shape(), ErrorKind::kValue, "[grad] expected a gradient of the tensor's shape {}, got {}",
          shown(t.shape()), shown(g.shape()));
    if (trace)
      trace->set_grad(t, g);
    else
      autograd::meta_of(t).grad = g;
    return 0;
  });
}
int set_bool(PyObject* value, const char* what) {
  int v = PyObject_IsTrue(value);
  if (v < 0) throw PythonError();
  return v;
}
void stop(Tensor& t, bool stops) {
  dispatch::Trace* trace = dispatch::Trace::active();
  if (trace && t.is_traced() && t.stop_gradient() && !stops)
    dispatch::make_leaf(*trace, t);
  else
    t.set_stop_gradient(stops);
}
int set_stop_gradient(PyObject* o, PyObject* value, void*) {
  return guard_int([&] {
    check(value, ErrorKind::kType, "stop_gradient can't be deleted");
    stop(live(o), set_bool(value, "stop_gradient"));
    return 0;
  });
}
int set_requires_grad(PyObject* o, PyObject* value, void*) {
  return guard_int([&] {
    check(value, ErrorKind::kType, "requires_grad can't be deleted");
    stop(live(o), !set_bool(value, "requires_grad"));
    return 0;
  });
}
int set_persistable(PyObject* o, PyObject* value, void*) {
  return guard_int([&] {
    check(value, ErrorKind::kType, "persistable can't be deleted");
    live(o)->persistable = set_bool(value, "persistable");
    return 0;
  });
}

// A program finds its variables by the names that they were given.
void note_name(const Tensor& t) {
  if (dispatch::Trace* trace = dispatch::Trace::owner(t)) trace->note_name(*t->name, t);
}

// Names are made when first asked for: generated_tensor_0, ...
PyObject* get_name(PyObject* o, void*) {
  return guard([&] {
    Tensor& t = live(o);
    if (!t->name) {
      static std::atomic<uint64_t> next{0};
      t->name = std::make_unique<std::string>("generated_tensor_" + std::to_string(next++));
      note_name(t);
    }
    return must(PyUnicode_FromString(t->name->c_str()));
  });
}
int set_name(PyObject* o, PyObject* value, void*) {
  return guard_int([&] {
    check(value, ErrorKind::kType, "name can't be deleted");
    live(o)->name = std::make_unique<std::string>(string_from(value, "name"));
    note_name(live(o));
    return 0;
  });
}
PyObject* get_strides(PyObject* o, void*) {
  return guard([&] {
    Tensor& t = live(o);
    Object list = own(PyList_New(0));
    Strides s = t.is_dense() ? t.strides() : contiguous_strides(t.shape());
    for (int64_t v : s) must_zero(PyList_Append(list.get(), own(PyLong_FromLongLong(v)).get()));
    return list.release();
  });
}
PyObject* get_offset(PyObject* o, void*) {
  return guard(
      [&] { return must(PyLong_FromLongLong(live(o)->offset * static_cast<int64_t>(size_of(live(o).dtype())))); });
}
PyObject* get_grad_fn(PyObject* o, void*) {
  return guard([&]() -> PyObject* {
    Ref<autograd::Node> node = autograd::grad_fn(live(o));
    if (!node) Py_RETURN_NONE;
    return must(PyUnicode_FromString(node->name().c_str()));
  });
}
PyObject* get_type(PyObject* o, void*) { return PyUnicode_FromString("VarType.DENSE_TENSOR"); }

// t.data is the elements without history; assigning takes over another tensor's elements, gradient settings stay.
PyObject* get_data(PyObject* o, void*) {
  return guard([&] {
    if (live(o).stop_gradient()) {
      Py_INCREF(o);
      return o;
    }
    return must(PyObject_CallMethod(o, "detach", nullptr));
  });
}
int set_data(PyObject* o, PyObject* value, void*) {
  return guard_int([&] {
    check(value, ErrorKind::kType, "data can't be deleted");
    Tensor &t = live(o), &v = expect_tensor(value, "data");
    bool stop = t.stop_gradient();
    t.become(v);
    t->grad_fn = nullptr;
    t.set_stop_gradient(stop);
    return 0;
  });
}

PyGetSetDef getset[] = {
    {"shape", get_shape, nullptr, "list of ints", nullptr},
    {"dtype", get_dtype, nullptr, "element type", nullptr},
    {"place", get_place, nullptr, "where the elements are", nullptr},
    {"ndim", get_ndim, nullptr, "number of axes", nullptr},
    {"size", get_size, nullptr, "number of elements", nullptr},
    {"itemsize", get_itemsize, nullptr, "bytes of one element", nullptr},
    {"stop_gradient", get_stop_gradient, set_stop_gradient, "True: no gradient is computed for this tensor", nullptr},
    {"requires_grad", get_requires_grad, set_requires_grad, "the opposite of stop_gradient", nullptr},
    {"persistable", get_persistable, set_persistable, "kept across iterations by static programs", nullptr},
    {"is_leaf", get_is_leaf, nullptr, "made by the user, not by a differentiable operator", nullptr},
    {"inplace_version", get_version, nullptr, "how often the storage was written in place", nullptr},
    {"_version", get_version, nullptr, nullptr, nullptr},
    {"grad", get_grad, set_grad, "gradient accumulated by backward(), or None", nullptr},
    {"_grad", get_grad, set_grad, nullptr, nullptr},
    {"name", get_name, set_name, "unique name", nullptr},
    {"strides", get_strides, nullptr, "distance in elements between neighbours along each axis", nullptr},
    {"offset", get_offset, nullptr, "bytes from the start of the storage", nullptr},
    {"grad_fn", get_grad_fn, nullptr, "name of the backward step that leads to this tensor, or None for leaves",
     nullptr},
    {"data", get_data, set_data, "the elements; assigning takes over those of another tensor", nullptr},
    {"type", get_type, nullptr, "kind of tensor", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {}};

PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(PyTensor, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weak), READONLY, nullptr},
                         {}};

Py_hash_t hash(PyObject* o) { return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(o) >> 4); }

Py_ssize_t length(PyObject* o) {
  try {
    Tensor& t = live(o);
    check(t.rank() > 0, ErrorKind::kType, "len() of a 0-D tensor");
    Dim d = t.dim(0);
    return d.is_const() ? d.value() : guard_int64(d);
  } catch (...) {
    set_error();
    return -1;
  }
}

}  // namespace

PyObject* wrap(Tensor t) {
  if (!t.defined()) Py_RETURN_NONE;
  if (t->py_object) {
    auto* o = static_cast<PyObject*>(t->py_object);
    Py_INCREF(o);
    return o;
  }
  if (!t->py_state) [[likely]]
    return make_object(tensor_type, std::move(t), nullptr);
  auto* s = static_cast<PyState*>(std::exchange(t->py_state, nullptr));
  PyObject* o = make_object(s->type, std::move(t), std::exchange(s->dict, nullptr));
  delete s;
  return o;
}

PyObject* wrap_list(const Tensors& list) {
  Object out = own(PyList_New(static_cast<Py_ssize_t>(list.size())));
  for (size_t i = 0; i < list.size(); ++i) PyList_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), wrap(list[i]));
  return out.release();
}

Tensor& expect_tensor(PyObject* o, const char* what) {
  check(is_tensor(o), ErrorKind::kType, "[{}] expected a Tensor, got {}", what, Py_TYPE(o)->tp_name);
  return live(o);
}

Tensors tensors_from(PyObject* o, const char* what, bool none_as_undefined) {
  if (is_tensor(o)) return {tensor_of(o)};
  Tensors out;
  if (o == Py_None) return out;
  check(PySequence_Check(o) && !PyUnicode_Check(o), ErrorKind::kType, "[{}] expected a list of Tensors, got {}", what,
        Py_TYPE(o)->tp_name);
  Object seq = own(PySequence_Fast(o, what));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(seq.get(), i);
    if (item == Py_None && none_as_undefined)
      out.emplace_back();
    else
      out.push_back(expect_tensor(item, what));
  }
  return out;
}

int64_t guard_int64(Dim d) { return guard_int(d); }

void add_tensor(PyObject* module) {
  static std::vector<PyType_Slot> slots = {
      {Py_tp_new, reinterpret_cast<void*>(tensor_new)},
      {Py_tp_init, reinterpret_cast<void*>(tensor_init)},
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_getset, getset},
      {Py_tp_members, members},
      {Py_tp_hash, reinterpret_cast<void*>(hash)},
      {Py_mp_length, reinterpret_cast<void*>(length)},
      {Py_sq_length, reinterpret_cast<void*>(length)},
      {Py_tp_methods, tensor_methods()},
      {Py_tp_doc, const_cast<char*>("An n-dimensional array with automatic differentiation.")}};
  for (const PyType_Slot& s : number_slots()) slots.push_back(s);
  for (const PyType_Slot& s : indexing_slots()) slots.push_back(s);
  slots.push_back({0, nullptr});
  static PyType_Spec spec{"paddle.Tensor", sizeof(PyTensor), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  tensor_type = reinterpret_cast<PyTypeObject*>(must(PyType_FromSpec(&spec)));
  release_py_state = drop_state;
  must_zero(PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject*>(tensor_type)));
}

}  // namespace paddle::bindings
