// Arrays in and out. NumPy is reached through the buffer protocol and its Python interface only, so that one build
// serves every version of it.
#include "bindings/py.h"

#include <cstring>

#include "api/ops.h"
#include "base/error.h"
#include "device/registry.h"
#include "dispatch/eager.h"
#include "dispatch/trace.h"
#include "tensor/element.h"

namespace paddle::bindings {
namespace {

Object numpy() {
  static PyObject* module = nullptr;
  if (!module) module = must(PyImport_ImportModule("numpy"));
  return Object::borrow(module);
}

// The dtype of a buffer's format string; native byte order only.
DType dtype_of_format(const char* format, Py_ssize_t size) {
  std::string f(format ? format : "B");
  if (!f.empty() && (f[0] == '@' || f[0] == '=' || f[0] == '<')) f = f.substr(1);
  if (f.size() == 1) {
    switch (f[0]) {
      case '?':
        return DType::kBool;
      case 'b':
        return DType::kInt8;
      case 'B':
        return DType::kUInt8;
      case 'e':
        return DType::kFloat16;
      case 'f':
        return DType::kFloat32;
      case 'd':
        return DType::kFloat64;
      case 'h':
      case 'i':
      case 'l':
      case 'q':
      case 'n':
        return size == 2 ? DType::kInt16 : size == 4 ? DType::kInt32 : size == 8 ? DType::kInt64 : DType::kInt8;
      case 'H':
      case 'I':
      case 'L':
      case 'Q':
      case 'N':
        return size == 2 ? DType::kBFloat16 : size == 4 ? DType::kUInt32 : size == 8 ? DType::kUInt64 : DType::kUInt8;
      default:
        break;
    }
  }
  if (f == "Zf") return DType::kComplex64;
  if (f == "Zd") return DType::kComplex128;
  fail(ErrorKind::kType, "[to_tensor] expected an array of numbers or bools, got elements of format '{}'",
       format ? format : "");
}

const char* numpy_name(DType t) {
  switch (t) {
    case DType::kBool:
      return "bool";
    case DType::kBFloat16:
      return "uint16";  // official Paddle's form of it in NumPy
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2:
      return "uint8";
    default:
      return nullptr;
  }
}

// An ndarray of the value's natural NumPy type; nested lists become arrays here.
Object as_array(PyObject* value) {
  Object array = own(PyObject_CallMethod(numpy().get(), "asarray", "(O)", value));
  Object kind = own(PyObject_GetAttrString(own(PyObject_GetAttrString(array.get(), "dtype")).get(), "kind"));
  std::string k = PyUnicode_AsUTF8(kind.get());
  check(k == "b" || k == "i" || k == "u" || k == "f" || k == "c", ErrorKind::kType,
        "[to_tensor] expected numbers of a regular shape, got {} (NumPy kind '{}')", Py_TYPE(value)->tp_name, k);
  return array;
}

// Lists that hold tensors: each is read to the host.
bool holds_tensor(PyObject* o) {
  if (is_tensor(o)) return true;
  if (!PyList_Check(o) && !PyTuple_Check(o)) return false;
  Object seq = own(PySequence_Fast(o, "list"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
    if (holds_tensor(PySequence_Fast_GET_ITEM(seq.get(), i))) return true;
  return false;
}

Tensor stack_of(PyObject* o) {
  if (is_tensor(o)) return tensor_of(o);
  if (!PyList_Check(o) && !PyTuple_Check(o)) return to_tensor(o, DType::kUndefined, Place::cpu());
  Object seq = own(PySequence_Fast(o, "list"));
  Tensors items;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
    items.push_back(stack_of(PySequence_Fast_GET_ITEM(seq.get(), i)));
  return ops::stack(items, 0);
}

bool python_value(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || PyBool_Check(o) || PyComplex_Check(o) || PyList_Check(o) ||
         PyTuple_Check(o);
}

// Python floats have no width of their own: they take the default dtype. NumPy arrays keep theirs.
DType natural(PyObject* value, DType of_array) {
  if (!python_value(value)) return of_array;
  // A list that holds NumPy values keeps their type.
  PyObject* leaf = value;
  while ((PyList_Check(leaf) || PyTuple_Check(leaf)) && PySequence_Size(leaf) > 0)
    leaf = PyList_Check(leaf) ? PyList_GET_ITEM(leaf, 0) : PyTuple_GET_ITEM(leaf, 0);
  if (!python_value(leaf)) return of_array;
  if (of_array == DType::kFloat64) return default_dtype();
  if (of_array == DType::kComplex128)
    return default_dtype() == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
  return of_array;
}

Tensor read_number(PyObject* value, DType dtype) {
  Scalar s = scalar_from(value, "to_tensor");
  DType d = dtype != DType::kUndefined             ? dtype
            : s.natural_dtype() == DType::kFloat64 ? (PyFloat_CheckExact(value) ? default_dtype() : DType::kFloat64)
            : s.natural_dtype() == DType::kComplex128
                ? (default_dtype() == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64)
                : s.natural_dtype();
  Tensor t = Tensor::empty({}, d);
  if (is_integer(d) && s.kind() <= Scalar::Kind::kInt)
    write_int(t.data(), d, s.to_int());
  else
    write_element(t.data(), d, s.to_complex());
  return t;
}

}  // namespace

Tensor from_array(PyObject* value, bool copy) {
  Object array = as_array(value);
  Py_buffer* buffer = new Py_buffer();
  if (PyObject_GetBuffer(array.get(), buffer, PyBUF_RECORDS_RO)) {
    PyErr_Clear();
    // Swapped bytes, negative strides NumPy can't export, ...: an owned native copy serves.
    array = own(PyObject_CallMethod(numpy().get(), "ascontiguousarray", "O", array.get()));
    if (PyObject_GetBuffer(array.get(), buffer, PyBUF_RECORDS_RO)) {
      delete buffer;
      throw PythonError();
    }
  }
  auto done = [buffer] {
    AcquireGil gil;
    PyBuffer_Release(buffer);
    delete buffer;
  };
  DType dtype;
  Shape shape;
  Strides strides;
  try {
    dtype = dtype_of_format(buffer->format, buffer->itemsize);
    for (int i = 0; i < buffer->ndim; ++i) {
      shape.push_back(Dim(static_cast<int64_t>(buffer->shape[i])));
      check(buffer->strides[i] % buffer->itemsize == 0, ErrorKind::kValue,
            "[to_tensor] the array's strides are not whole elements");
      strides.push_back(buffer->strides[i] / buffer->itemsize);
    }
  } catch (...) {
    done();
    throw;
  }
  Tensor view = Tensor::from_blob(buffer->buf, shape, strides, dtype, Place::cpu(), done);
  if (!copy && !buffer->readonly) return view;
  Tensor out = Tensor::empty(shape, dtype, Place::cpu());
  if (view.is_contiguous())
    std::memcpy(out.data(), view.data(), static_cast<size_t>(out.numel()) * size_of(dtype));
  else
    dispatch::copy_into(out, view);
  return out;
}

Tensor to_tensor(PyObject* value, DType dtype, Place place) {
  Tensor t;
  if (is_tensor(value)) {
    Tensor& source = expect_tensor(value, "to_tensor");
    t = ops::assign(source);
    if (t->grad_fn) {
      Tensor plain(TensorImpl::make());
      plain.become(t);
      plain->grad_fn = nullptr;
      t = plain;
    }
  } else if (PyFloat_Check(value) || PyLong_Check(value) || PyComplex_Check(value) || is_symint(value)) {
    t = read_number(value, dtype);
  } else if (holds_tensor(value)) {
    t = stack_of(value);
  } else {
    t = from_array(value, true);
    DType wanted = dtype == DType::kUndefined ? natural(value, t.dtype()) : dtype;
    if (t.dtype() == DType::kBFloat16 && wanted == DType::kBFloat16) dtype = wanted;  // uint16 holds its bits
    if (wanted != t.dtype()) t = ops::cast(t, wanted);
    dtype = wanted;
  }
  if (dtype != DType::kUndefined && t.dtype() != dtype) t = ops::cast(t, dtype);
  if (t.place() != place) t = to_place(t, place);
  t.set_stop_gradient(true);
  return t;
}

Tensor to_place(const Tensor& t, Place place) {
  if (t.place() == place) return t;
  Tensor source = t;
  if (!t.is_contiguous()) {
    source = Tensor::empty(t.shape(), t.dtype(), t.place());
    dispatch::copy_into(source, t);
  }
  Tensor out = Tensor::empty(t.shape(), t.dtype(), place);
  device::copy(out.data(), place, source.data(), t.place(), static_cast<size_t>(t.numel()) * size_of(t.dtype()));
  return out;
}

PyObject* to_numpy(const Tensor& given) {
  dispatch::check_value_readable(given, "numpy");
  Tensor t = dense_value(given);
  Tensor host = to_place(t, Place::cpu());
  const char* special = numpy_name(host.dtype());
  std::string name = special ? special : std::string(name_of(host.dtype()));
  // The array that is copied from keeps this capsule, and the capsule the storage.
  auto* keep = new Ref<Storage>(host->storage);
  Object capsule = own(PyCapsule_New(
      keep, nullptr, [](PyObject* c) { delete static_cast<Ref<Storage>*>(PyCapsule_GetPointer(c, nullptr)); }));
  size_t item = size_of(host.dtype());
  int64_t n = host.numel();
  if (n == 0) {
    Object shape = own(wrap_shape(host.shape()));
    return must(
        PyObject_CallMethod(numpy().get(), "empty", "Os", own(PyList_AsTuple(shape.get())).get(), name.c_str()));
  }
  Object shape = own(PyTuple_New(host.rank())), strides = own(PyTuple_New(host.rank()));
  for (int64_t i = 0; i < host.rank(); ++i) {
    PyTuple_SET_ITEM(shape.get(), i, PyLong_FromLongLong(host.size(i)));
    PyTuple_SET_ITEM(strides.get(), i,
                     PyLong_FromLongLong(host.strides()[static_cast<size_t>(i)] * static_cast<int64_t>(item)));
  }
  Object types = own(PyObject_GetAttrString(numpy().get(), "dtype"));
  Object dtype = own(PyObject_CallFunction(types.get(), "s", name.c_str()));
  Object type_text = own(PyObject_GetAttrString(dtype.get(), "str"));
  Object interface = own(Py_BuildValue("{s:O,s:O,s:O,s:(K,O),s:i}", "shape", shape.get(), "typestr", type_text.get(),
                                       "strides", strides.get(), "data",
                                       reinterpret_cast<unsigned long long>(host.data()), Py_False, "version", 3));
  // A plain object that carries __array_interface__ and the capsule.
  static PyObject* holder_type = nullptr;
  if (!holder_type)
    holder_type = must(PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type), "s(){}", "_Memory"));
  Object holder = own(PyObject_CallNoArgs(holder_type));
  must_zero(PyObject_SetAttrString(holder.get(), "__array_interface__", interface.get()));
  must_zero(PyObject_SetAttrString(holder.get(), "storage", capsule.get()));
  // A copy: writes to the array are no writes to the tensor, and the tensor's later ones don't show in it.
  return must(PyObject_CallMethod(numpy().get(), "array", "O", holder.get()));
}

}  // namespace paddle::bindings
