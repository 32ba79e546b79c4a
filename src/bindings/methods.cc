// Methods of the Tensor class that are no operators: values, identity, memory. Those of gradients are in
// methods_grad.cc.
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
#include "tensor/shown_shape.h"

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
            "[item] expected a tensor of one element or an index, got shape {}", shown(t.shape()));
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

Tensor detached(const Tensor& t) {
  if (dispatch::Trace* trace = dispatch::Trace::active()) return trace->detached(t);
  Tensor alias(TensorImpl::make());
  alias.become(t);
  alias->grad_fn = nullptr;
  alias.set_stop_gradient(true);
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
  return guard([&] {
    const Tensor& t = self_tensor(o);
    const Tensor& lies = t.is_traced() ? static_cast<dispatch::TracedPayload*>(t->payload.get())->layout : t;
    return PyBool_FromLong(!lies.defined() || !lies.is_dense() || lies.is_contiguous());
  });
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
          shown(t.shape()), shown(v.shape()));
    check(v.dtype() == t.dtype(), ErrorKind::kValue, "[set_value] expected a value of dtype {}, got {}",
          name_of(t.dtype()), name_of(v.dtype()));
    if (dispatch::Trace* trace = dispatch::Trace::active())
      trace->write(t, v, false);
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
      trace->write(target, ops::assign(from), false);
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
      trace->replace(self_tensor(o), expect_tensor(value, "_become"));
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
      dispatch::Trace* trace = dispatch::Trace::active();
      bool leaf = !t.stop_gradient() && !t.is_traced() && dispatch::state().grad_enabled &&
                  (trace ? trace->is_leaf(t) : autograd::is_leaf(t));
      check(!leaf, ErrorKind::kValue, "Leaf Var ({}) that doesn't stop gradient can't use inplace strategy.",
            t->name ? *t->name : "");
      if (t.dtype() == v.dtype() && t.shape() == v.shape())
        ops::set_value_with_tensor_(t, v, Ints{}, Ints{}, Ints{}, {}, {}, {});
      else if (trace)
        trace->replace(t, v);
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

// The same bytes as elements of another dtype; the last axis grows or shrinks with their size.
// The tensor itself where it has the dtype, as official Paddle has it.
PyObject* astype(PyObject* self, PyObject* args, PyObject* keywords) {
  return guard([&] {
    static const char* names[] = {"dtype", nullptr};
    PyObject* dtype;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:astype", const_cast<char**>(names), &dtype))
      throw PythonError();
    Tensor& t = self_tensor(self);
    DType d = dtype_from(dtype, "astype");
    return d == t.dtype() ? Py_NewRef(self) : wrap(ops::cast(t, d));
  });
}

PyObject* view_dtype(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *tensor, *dtype;
    if (!PyArg_ParseTuple(args, "OO", &tensor, &dtype)) throw PythonError();
    Tensor& t = self_tensor(tensor);
    DType d = dtype_from(dtype, "view");
    if (d == t.dtype()) return wrap(ops::slice(t, {}, Ints{}, Ints{}, {}, {}));
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

PyMethodDef module_functions[] = {{"view_dtype", view_dtype, METH_VARARGS, "view_dtype(tensor, dtype)"}, {}};

}  // namespace

PyMethodDef* tensor_methods() {
  static std::vector<PyMethodDef> methods = {
      {"numpy", numpy, METH_NOARGS,
       "the elements as a NumPy array; shares memory where NumPy has the type (bfloat16 comes as uint16)"},
      with_keywords("__array__", array, nullptr),
      {"item", item, METH_VARARGS, "one element as a Python number"},
      {"tolist", tolist, METH_NOARGS, "the elements as nested lists"},
      with_keywords("astype", astype, "this tensor in another dtype; the tensor itself if it has that dtype"),
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
      dlpack_device()};
  if (methods.back().ml_name) {
    for (const PyMethodDef& m : grad_methods()) methods.push_back(m);
    methods.push_back({});
  }
  return methods.data();
}

void add_methods(PyObject* module) {
  add_functions(module, module_functions);
  add_grad_functions(module);
}

}  // namespace paddle::bindings
