// Methods of the Tensor class that are no operators: values, identity, gradients, memory.
#include "bindings/in_program.h"
#include "bindings/tensor_methods.h"

#include "api/ops.h"
#include "autograd/accumulate.h"
#include "autograd/differentiate.h"
#include "autograd/engine.h"
#include "base/error.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"
#include "distributed/reshard.h"
#include "tensor/element.h"

namespace paddle::bindings {
namespace {

Tensor& self_tensor(PyObject* o) { return expect_tensor(o, "Tensor"); }

PyObject* numpy(PyObject* o, PyObject*) {
  return guard([&] { return to_numpy(self_tensor(o)); });
}

PyObject* array(PyObject* o, PyObject* args, PyObject* kwargs) {
  return guard([&]() -> PyObject* {
    static const char* names[] = {"dtype", "copy", nullptr};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", const_cast<char**>(names), &dtype, &copy))
      throw PythonError();
    Object a = own(to_numpy(self_tensor(o)));
    if (dtype != Py_None) a = own(PyObject_CallMethod(a.get(), "astype", "O", dtype));
    return a.release();
  });
}

PyObject* python_number(const Tensor& t, int64_t i) {
  DType d = t.dtype();
  if (d == DType::kBool) return PyBool_FromLong(read_int(t, i) != 0);
  if (d == DType::kUInt64) return PyLong_FromUnsignedLongLong(static_cast<uint64_t>(read_int(t, i)));
  if (is_integer(d)) return PyLong_FromLongLong(read_int(t, i));
  std::complex<double> v = read_element(t, i);
  return is_complex(d) ? PyComplex_FromDoubles(v.real(), v.imag()) : PyFloat_FromDouble(v.real());
}

PyObject* item(PyObject* o, PyObject* args) {
  return guard([&] {
    Tensor& t = self_tensor(o);
    dispatch::check_value_readable(t, "item");
    Py_ssize_t given = PyTuple_GET_SIZE(args);
    if (given == 0) {
      check(numel(t.shape()).hint() == 1, ErrorKind::kValue,
            "[item] expected a tensor of one element or an index, got shape {}", to_string(t.shape()));
      return must(python_number(t, 0));
    }
    Object index = given == 1 && PyTuple_Check(PyTuple_GET_ITEM(args, 0)) ? Object::borrow(PyTuple_GET_ITEM(args, 0))
                                                                          : Object::borrow(args);
    int64_t n = t.numel(), flat = 0;
    Py_ssize_t axes = PyTuple_GET_SIZE(index.get());
    if (axes == 1) {
      flat = dim_of(PyTuple_GET_ITEM(index.get(), 0)).value();
      if (flat < 0) flat += n;
    } else {
      check(axes == t.rank(), ErrorKind::kValue, "[item] expected {} indices, got {}", t.rank(), axes);
      for (Py_ssize_t i = 0; i < axes; ++i) {
        int64_t k = dim_of(PyTuple_GET_ITEM(index.get(), i)).value();
        if (k < 0) k += t.size(i);
        check(k >= 0 && k < t.size(i), ErrorKind::kIndex, "[item] index {} is out of range for axis {} of size {}", k,
              i, t.size(i));
        flat = flat * t.size(i) + k;
      }
    }
    check(flat >= 0 && flat < n, ErrorKind::kIndex, "[item] index {} is out of range for {} elements", flat, n);
    return must(python_number(t, flat));
  });
}

PyObject* tolist(PyObject* o, PyObject*) {
  return guard([&] {
    Object a = own(to_numpy(self_tensor(o)));
    if (self_tensor(o).dtype() == DType::kBFloat16) a = own(to_numpy(ops::cast(self_tensor(o), DType::kFloat32)));
    return must(PyObject_CallMethod(a.get(), "tolist", nullptr));
  });
}

PyObject* backward(PyObject* o, PyObject* args, PyObject* kwargs) {
  return guard([&]() -> PyObject* {
    static const char* names[] = {"grad_tensor", "retain_graph", "dump_backward_graph_path", nullptr};
    PyObject *grad = Py_None, *path = Py_None;
    int retain = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OpO", const_cast<char**>(names), &grad, &retain, &path))
      throw PythonError();
    Tensors grads;
    if (grad != Py_None) grads.push_back(expect_tensor(grad, "backward"));
    Tensor t = self_tensor(o);
    if (!in_program([&](dispatch::Trace& trace) { autograd::traced_backward(trace, {t}, grads); }, "backward")) {
      std::optional<Outside> outside;
      if (dispatch::tracing()) outside.emplace();
      ReleaseGil release(true);
      autograd::backward({t}, grads, retain);
    }
    Py_RETURN_NONE;
  });
}

// A tensor hook in Python. Runs with the GIL; what it returns replaces the gradient.
autograd::GradHook python_hook(PyObject* fn) {
  auto* held = new Object(Object::borrow(fn));
  std::shared_ptr<Object> shared(held, [](Object* p) {
    if (!Py_IsInitialized()) return;
    AcquireGil gil;
    delete p;
  });
  return [shared](const Tensor& g) -> Tensor {
    AcquireGil gil;
    Object arg = own(wrap(g));
    Object result = own(PyObject_CallOneArg(shared->get(), arg.get()));
    return result.get() == Py_None ? Tensor() : expect_tensor(result.get(), "hook's result");
  };
}

PyObject* register_hook(PyObject* o, PyObject* fn) {
  return guard([&]() -> PyObject* {
    check(PyCallable_Check(fn), ErrorKind::kType, "[register_hook] expected a callable, got {}", Py_TYPE(fn)->tp_name);
    uint64_t id = autograd::add_hook(self_tensor(o), python_hook(fn));
    return must(PyLong_FromUnsignedLongLong(id));
  });
}
PyObject* remove_hook(PyObject* o, PyObject* id) {
  return guard([&]() -> PyObject* {
    uint64_t v = PyLong_AsUnsignedLongLong(id);
    if (PyErr_Occurred()) throw PythonError();
    autograd::remove_hook(self_tensor(o), v);
    Py_RETURN_NONE;
  });
}
PyObject* register_backward_hook(PyObject* o, PyObject* fn) {
  return guard([&]() -> PyObject* {
    Tensor& t = self_tensor(o);
    check(!t.stop_gradient() && autograd::is_leaf(t), ErrorKind::kRuntime,
          "[_register_backward_hook] expected a leaf tensor that needs a gradient");
    auto shared = std::make_shared<Object>(Object::borrow(fn));
    autograd::meta_of(t).after_accumulate.push_back([shared] {
      AcquireGil gil;
      own(PyObject_CallNoArgs(shared->get()));
    });
    Py_RETURN_NONE;
  });
}
// The gradient of a tensor that is no leaf is dropped unless asked for.
PyObject* retain_grads(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    Tensor& t = self_tensor(o);
    if (t.stop_gradient() || autograd::is_leaf(t)) Py_RETURN_NONE;
    TensorImpl* impl = t.impl();  // no owning reference: the node would keep the tensor, the tensor the node
    autograd::add_hook(t, [impl](const Tensor& g) {
      Tensor self{Ref<TensorImpl>(impl)};
      Tensor copy = ops::assign(g);
      autograd::meta_of(self).grad = copy;
      return Tensor();
    });
    Py_RETURN_NONE;
  });
}

void clear_grad_of(const Tensor& t, bool set_to_zero) {
  autograd::Meta* m = autograd::find_meta(t);
  if (!m || !m->grad.defined()) return;
  if (dispatch::Trace* trace = dispatch::Trace::active()) return trace->set_grad(t, Tensor(), set_to_zero);
  if (set_to_zero && m->grad.is_dense()) {
    autograd::clear_to_zeros(t);
  } else {
    m->grad = Tensor();
    m->zeros = nullptr;
  }
}

PyObject* clear_gradient(PyObject* o, PyObject* args, PyObject* kwargs) {
  return guard([&]() -> PyObject* {
    static const char* names[] = {"set_to_zero", nullptr};
    int zero = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p", const_cast<char**>(names), &zero)) throw PythonError();
    clear_grad_of(self_tensor(o), zero);
    Py_RETURN_NONE;
  });
}
PyObject* clear_grad(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    clear_grad_of(self_tensor(o), true);
    Py_RETURN_NONE;
  });
}
PyObject* gradient(PyObject* o, PyObject*) {
  return guard([&]() -> PyObject* {
    autograd::Meta* m = autograd::find_meta(self_tensor(o));
    if (!m || !m->grad.defined()) Py_RETURN_NONE;
    return to_numpy(m->grad);
  });
}

Tensor detached(const Tensor& t) {
  if (dispatch::Trace* trace = dispatch::Trace::active()) {
    Tensor same = trace->alias(t);
    same.set_stop_gradient(true);
    return same;
  }
  Tensor alias(TensorImpl::make());
  alias.become(t);
  alias->grad_fn = nullptr;
  alias.set_stop_gradient(true);
  alias->base = t->base;
  return alias;
}
PyObject* detach(PyObject* o, PyObject*) {
  return guard([&] { return wrap(detached(self_tensor(o))); });
}
PyObject* detach_(PyObject* o, PyObject*) {
  return guard([&] {
    Tensor& t = self_tensor(o);
    t->grad_fn = nullptr;
    t->base = nullptr;
    t.set_stop_gradient(true);
    Py_INCREF(o);
    return o;
  });
}

PyObject* is_contiguous(PyObject* o, PyObject*) {
  return guard([&] { return PyBool_FromLong(!self_tensor(o).is_dense() || self_tensor(o).is_contiguous()); });
}
PyObject* data_ptr(PyObject* o, PyObject*) {
  return guard([&] { return must(PyLong_FromVoidPtr(self_tensor(o).data())); });
}
PyObject* is_dense(PyObject*, PyObject*) { Py_RETURN_TRUE; }
PyObject* is_dist(PyObject* o, PyObject*) {
  return guard([&] { return PyBool_FromLong(self_tensor(o).is_dist()); });
}
PyObject* is_initialized(PyObject* o, PyObject*) {
  return PyBool_FromLong(tensor_of(o).defined() && tensor_of(o).is_dense() && tensor_of(o).numel() > 0);
}
PyObject* element_size(PyObject* o, PyObject*) {
  return guard([&] { return must(PyLong_FromSize_t(size_of(self_tensor(o).dtype()))); });
}
PyObject* same_storage(PyObject* o, PyObject* other) {
  return guard([&] {
    Tensor &a = self_tensor(o), &b = expect_tensor(other, "_is_shared_buffer_with");
    return PyBool_FromLong(a.is_dense() && a->storage == b->storage);
  });
}
// The handle takes over another tensor's storage; gradients and attributes stay.
PyObject* share_buffer_to(PyObject* o, PyObject* other) {
  return guard([&]() -> PyObject* {
    Tensor &a = self_tensor(o), &b = expect_tensor(other, "_share_buffer_to");
    bool stop = b.stop_gradient();
    b.become(a);
    b->grad_fn = nullptr;
    b.set_stop_gradient(stop);
    Py_RETURN_NONE;
  });
}

// Writes the value's elements into this tensor's storage, so that everything that shares it sees them.
PyObject* set_value(PyObject* o, PyObject* value) {
  return guard([&]() -> PyObject* {
    Tensor& t = self_tensor(o);
    Tensor v = is_tensor(value) ? tensor_of(value) : to_tensor(value, DType::kUndefined, t.place());
    check(v.shape() == t.shape(), ErrorKind::kValue, "[set_value] expected a value of shape {}, got {}",
          to_string(t.shape()), to_string(v.shape()));
    check(v.dtype() == t.dtype(), ErrorKind::kValue, "[set_value] expected a value of dtype {}, got {}",
          name_of(t.dtype()), name_of(v.dtype()));
    if (dispatch::Trace* trace = dispatch::Trace::active())
      trace->write(t, v);
    else if (t.is_dist())
      distributed::assign_value(t, v);
    else
      dispatch::copy_into(t, v);
    Py_RETURN_NONE;
  });
}
PyObject* copy_(PyObject* o, PyObject* args) {
  return guard([&] {
    PyObject *source, *blocking = Py_True;
    if (!PyArg_ParseTuple(args, "O|O", &source, &blocking)) throw PythonError();
    Tensor &target = self_tensor(o), &from = expect_tensor(source, "copy_");
    if (dispatch::Trace* trace = dispatch::Trace::active())
      trace->write(target, ops::assign(from));
    else if (target.is_dist())
      distributed::assign_value(target, from);
    else
      dispatch::copy_into(target, to_place(dense_value(from), target.place()));
    Py_INCREF(o);
    return o;
  });
}
// The handle means the value from here on: elements, shape, dtype and history. Its storage is left to those who share
// it.
PyObject* become(PyObject* o, PyObject* value) {
  return guard([&]() -> PyObject* {
    if (dispatch::Trace* trace = dispatch::Trace::active())
      trace->rebind(self_tensor(o), expect_tensor(value, "_become"));
    else
      self_tensor(o).become(expect_tensor(value, "_become"));
    Py_INCREF(o);
    return o;
  });
}

// An in-place operator that is a composition: the result's elements go into this tensor's storage, so that views see
// them; where shape or dtype differ, the handle takes the result over.
PyObject* write_back(PyObject* o, PyObject* value) {
  return guard([&]() -> PyObject* {
    Tensor &t = self_tensor(o), &v = expect_tensor(value, "in-place operator");
    if (!t.same(v)) {
      bool leaf = !t.stop_gradient() && autograd::is_leaf(t) && dispatch::state().grad_enabled;
      check(!leaf, ErrorKind::kValue, "Leaf Var ({}) that doesn't stop gradient can't use inplace strategy.",
            t->name ? *t->name : "");
      if (t.dtype() == v.dtype() && t.shape() == v.shape())
        ops::set_value_with_tensor_(t, v, Ints{}, Ints{}, Ints{}, {}, {}, {});
      else if (dispatch::Trace* trace = dispatch::Trace::active())
        trace->rebind(t, v);
      else
        t.become(v);
    }
    Py_INCREF(o);
    return o;
  });
}

PyObject* copy_to_place(PyObject* o, PyObject* args) {
  return guard([&] {
    PyObject *place, *blocking = Py_True;
    if (!PyArg_ParseTuple(args, "O|O", &place, &blocking)) throw PythonError();
    Tensor& t = self_tensor(o);
    Place p = place_from(place, "_copy_to");
    return wrap(p == t.place() ? ops::assign(t) : to_place(t, p));
  });
}

// The gradients of parameters, None where there is none: one call for a whole optimiser step.
PyObject* collect_grads(PyObject*, PyObject* params) {
  return guard([&] {
    Object seq = own(PySequence_Fast(params, "expected a list of parameters"));
    Py_ssize_t n = PySequence_Fast_GET_SIZE(seq.get());
    Object out = own(PyList_New(n));
    for (Py_ssize_t i = 0; i < n; ++i) {
      Tensor& t = self_tensor(PySequence_Fast_GET_ITEM(seq.get(), i));
      PyList_SET_ITEM(out.get(), i, must(wrap(t.stop_gradient() ? Tensor() : grad_now(t))));
    }
    return out.release();
  });
}

PyObject* clear_gradients(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* params;
    int zero = 0;
    if (!PyArg_ParseTuple(args, "O|p", &params, &zero)) throw PythonError();
    Object seq = own(PySequence_Fast(params, "expected a list of parameters"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i) {
      Tensor& t = self_tensor(PySequence_Fast_GET_ITEM(seq.get(), i));
      if (!t.stop_gradient()) clear_grad_of(t, zero);
    }
    Py_RETURN_NONE;
  });
}

// The same bytes as elements of another dtype; the last axis grows or shrinks with their size.
PyObject* view_dtype(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *tensor, *dtype;
    if (!PyArg_ParseTuple(args, "OO", &tensor, &dtype)) throw PythonError();
    Tensor& t = self_tensor(tensor);
    DType d = dtype_from(dtype, "view");
    if (d == t.dtype()) return wrap(ops::assign(t));
    check(t.is_dense(), ErrorKind::kRuntime, "[view] a tensor's bytes are not known while a program is captured");
    auto from = static_cast<int64_t>(size_of(t.dtype())), to = static_cast<int64_t>(size_of(d));
    Tensor out = t.as_view(t.shape(), t.strides(), t->offset);
    if (from != to) {
      check(t.rank() > 0 && t.is_contiguous(), ErrorKind::kValue,
            "[view] expected a contiguous tensor with at least one axis");
      int64_t bytes = t.size(-1) * from;
      check(bytes % to == 0 && (t->offset * from) % to == 0, ErrorKind::kValue,
            "[view] the last axis of {} bytes is no whole number of {}", bytes, name_of(d));
      Shape shape = t.shape();
      shape[shape.size() - 1] = Dim(bytes / to);
      out = t.as_view(shape, contiguous_strides(shape), t->offset * from / to);
    }
    out->dtype = d;
    out->grad_fn = nullptr;
    out.set_stop_gradient(true);
    return wrap(out);
  });
}

PyMethodDef module_functions[] = {
    {"collect_grads", collect_grads, METH_O, "the gradients of a list of parameters"},
    {"clear_gradients", clear_gradients, METH_VARARGS, "zeroes or drops the gradients of a list of parameters"},
    {"view_dtype", view_dtype, METH_VARARGS, "view_dtype(tensor, dtype)"},
    {}};

PyMethodDef with_keywords(const char* name, PyCFunctionWithKeywords f, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f)), METH_VARARGS | METH_KEYWORDS, doc};
}

}  // namespace

PyMethodDef* tensor_methods() {
  static PyMethodDef methods[] = {
      {"numpy", numpy, METH_NOARGS,
       "the elements as a NumPy array; shares memory where NumPy has the type (bfloat16 comes as uint16)"},
      with_keywords("__array__", array, nullptr),
      {"item", item, METH_VARARGS, "one element as a Python number"},
      {"tolist", tolist, METH_NOARGS, "the elements as nested lists"},
      with_keywords("backward", backward, "accumulates the gradient of this tensor into every leaf it depends on"),
      {"_register_hook", register_hook, METH_O, nullptr},
      {"_remove_hook", remove_hook, METH_O, nullptr},
      {"_register_backward_hook", register_backward_hook, METH_O, nullptr},
      {"retain_grads", retain_grads, METH_NOARGS, "keep .grad of this tensor although it is no leaf"},
      with_keywords("clear_gradient", clear_gradient, "zeroes or drops .grad"),
      {"clear_grad", clear_grad, METH_NOARGS, "zeroes .grad"},
      {"gradient", gradient, METH_NOARGS, ".grad as a NumPy array, or None"},
      {"detach", detach, METH_NOARGS, "the same storage without history"},
      {"detach_", detach_, METH_NOARGS, "forgets the history in place"},
      {"is_contiguous", is_contiguous, METH_NOARGS, "whether elements lie in the order of the axes without gaps"},
      {"data_ptr", data_ptr, METH_NOARGS, "address of the first element"},
      {"is_dense", is_dense, METH_NOARGS, "whether all elements are stored"},
      {"is_dist", is_dist, METH_NOARGS, "whether the tensor lies on a mesh of processes"},
      {"_is_initialized", is_initialized, METH_NOARGS, nullptr},
      {"element_size", element_size, METH_NOARGS, "bytes of one element"},
      {"_is_shared_buffer_with", same_storage, METH_O, nullptr},
      {"_share_buffer_to", share_buffer_to, METH_O, nullptr},
      {"_set_value", set_value, METH_O, nullptr},
      {"copy_", copy_, METH_VARARGS, "copies another tensor's elements into this one"},
      {"_become", become, METH_O, nullptr},
      {"_write_back", write_back, METH_O, nullptr},
      {"_copy_to", copy_to_place, METH_VARARGS, nullptr},
      dlpack_export(),
      dlpack_device(),
      {}};
  return methods;
}

void add_methods(PyObject* module) { add_functions(module, module_functions); }

}  // namespace paddle::bindings
