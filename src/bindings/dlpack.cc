// DLPack in both directions, without copies. The structures are those of the published ABI (dlpack.h, versions 0.8
// and 1.1).
#include "bindings/py.h"

#include "base/error.h"
#include "bindings/tensor_methods.h"
#include "dispatch/eager.h"

namespace paddle::bindings {
namespace {

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // elements; null: contiguous
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* manager;
  void (*deleter)(DLManagedTensor*);
};
struct DLVersioned {
  uint32_t major, minor;
  void* manager;
  void (*deleter)(DLVersioned*);
  uint64_t flags;
  DLTensor tensor;
};

enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6, kE4M3FN = 10, kE5M2 = 12 };
constexpr int32_t kCpu = 1, kCuda = 2;
constexpr uint64_t kReadOnly = 1;

DLDataType to_dl(DType t) {
  auto bits = static_cast<uint8_t>(8 * size_of(t));
  switch (t) {
    case DType::kBool:
      return {kBool, 8, 1};
    case DType::kBFloat16:
      return {kBfloat, 16, 1};
    case DType::kFloat8E4M3FN:
      return {kE4M3FN, 8, 1};
    case DType::kFloat8E5M2:
      return {kE5M2, 8, 1};
    default:
      break;
  }
  if (is_complex(t)) return {kComplex, bits, 1};
  if (is_float(t)) return {kFloat, bits, 1};
  bool is_unsigned = t == DType::kUInt8 || t == DType::kUInt16 || t == DType::kUInt32 || t == DType::kUInt64;
  return {is_unsigned ? kUInt : kInt, bits, 1};
}

DType from_dl(DLDataType d) {
  check(d.lanes == 1, ErrorKind::kType, "[from_dlpack] expected elements of one lane, got {}", d.lanes);
  for (DType t : {DType::kBool, DType::kUInt8, DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64,
                  DType::kUInt16, DType::kUInt32, DType::kUInt64, DType::kFloat16, DType::kBFloat16, DType::kFloat32,
                  DType::kFloat64, DType::kComplex64, DType::kComplex128, DType::kFloat8E4M3FN, DType::kFloat8E5M2}) {
    DLDataType k = to_dl(t);
    if (k.code == d.code && k.bits == d.bits) return t;
  }
  fail(ErrorKind::kType, "[from_dlpack] elements of type code {} with {} bits are not supported", d.code, d.bits);
}

DLDevice device_of(const Tensor& t) {
  check(t.place() == Place::cpu(), ErrorKind::kRuntime, "[__dlpack__] expected a tensor on a CPU, got one on {}",
        to_string(t.place()));
  return {kCpu, 0};
}

// What an exported capsule owns: a reference to the storage, and the sizes it points to.
template <class Managed>
struct Exported {
  Managed managed;
  Ref<Storage> storage;
  std::vector<int64_t> shape, strides;
};

template <class Managed>
Managed* export_tensor(const Tensor& t) {
  check(t.is_dense(), ErrorKind::kRuntime,
        "[__dlpack__] a tensor's value is needed here, but it is not known while a program is captured");
  auto* e = new Exported<Managed>{};
  e->storage = t->storage;
  for (Dim d : t.shape()) e->shape.push_back(d.value());
  for (int64_t s : t.strides()) e->strides.push_back(s);
  e->managed.tensor = {
      t.data(), device_of(t), static_cast<int32_t>(t.rank()), to_dl(t.dtype()), e->shape.data(), e->strides.data(), 0};
  e->managed.manager = e;
  e->managed.deleter = [](Managed* m) { delete static_cast<Exported<Managed>*>(m->manager); };
  return &e->managed;
}

constexpr const char *kName = "dltensor", *kUsed = "used_dltensor";
constexpr const char *kVersionedName = "dltensor_versioned", *kVersionedUsed = "used_dltensor_versioned";

template <class Managed>
PyObject* capsule_of(const Tensor& t, const char* name) {
  Managed* m = export_tensor<Managed>(t);
  PyObject* capsule = PyCapsule_New(m, name, [](PyObject* c) {
    const char* own = PyCapsule_GetName(c);  // a consumer renames what it takes over
    if (own && (std::string_view(own) == kName || std::string_view(own) == kVersionedName)) {
      auto* held = static_cast<Managed*>(PyCapsule_GetPointer(c, own));
      if (held->deleter) held->deleter(held);
    }
  });
  if (!capsule) {
    m->deleter(m);
    throw PythonError();
  }
  return capsule;
}

PyObject* export_method(PyObject* o, PyObject* args, PyObject* kwargs) {
  return guard([&]() -> PyObject* {
    static const char* names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO", const_cast<char**>(names), &stream, &version, &device,
                                     &copy))
      throw PythonError();
    Tensor t = expect_tensor(o, "__dlpack__");
    if (!t.stop_gradient() && copy != Py_True) {
      Tensor plain(TensorImpl::make());
      plain.become(t);
      t = plain;
    }
    if (copy == Py_True) {
      Tensor fresh = Tensor::empty(t.shape(), t.dtype(), t.place());
      dispatch::copy_into(fresh, t);
      t = fresh;
    }
    long major = 0;
    if (version != Py_None) {
      Object first = own(PySequence_GetItem(version, 0));
      major = PyLong_AsLong(first.get());
      if (PyErr_Occurred()) throw PythonError();
    }
    if (major < 1) return capsule_of<DLManagedTensor>(t, kName);
    PyObject* capsule = capsule_of<DLVersioned>(t, kVersionedName);
    auto* m = static_cast<DLVersioned*>(PyCapsule_GetPointer(capsule, kVersionedName));
    m->major = 1;
    m->minor = 1;
    m->flags = copy == Py_True ? 2 : 0;
    return capsule;
  });
}

PyObject* device_method(PyObject* o, PyObject*) {
  return guard([&] {
    DLDevice d = device_of(expect_tensor(o, "__dlpack_device__"));
    return must(Py_BuildValue("(ii)", d.device_type, d.device_id));
  });
}

template <class Managed>
Tensor import_tensor(Managed* m) {
  const DLTensor& d = m->tensor;
  auto release = [m] {
    if (m->deleter) m->deleter(m);
  };
  try {
    check(d.device.device_type == kCpu || d.device.device_type == 3, ErrorKind::kRuntime,
          "[from_dlpack] expected memory of a CPU, got device type {}", d.device.device_type);
    DType dtype = from_dl(d.dtype);
    Shape shape;
    Strides strides;
    for (int32_t i = 0; i < d.ndim; ++i) shape.push_back(Dim(d.shape[i]));
    if (d.strides)
      for (int32_t i = 0; i < d.ndim; ++i) strides.push_back(d.strides[i]);
    else
      strides = contiguous_strides(shape);
    return Tensor::from_blob(static_cast<char*>(d.data) + d.byte_offset, shape, strides, dtype, Place::cpu(),
                             [release] {
                               AcquireGil gil;  // the owner is often a Python object
                               release();
                             });
  } catch (...) {
    release();
    throw;
  }
}

// A capsule, or what an object with __dlpack__ gives: with a version where the producer knows of them.
Object capsule_from(PyObject* source) {
  if (PyCapsule_CheckExact(source)) return Object::borrow(source);
  Object method = own(PyObject_GetAttrString(source, "__dlpack__"));
  Object none = own(PyTuple_New(0)), version = own(Py_BuildValue("{s:(ii)}", "max_version", 1, 1));
  PyObject* capsule = PyObject_Call(method.get(), none.get(), version.get());
  if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError)) return own(capsule);
  PyErr_Clear();
  return own(PyObject_CallNoArgs(method.get()));
}

PyObject* import_function(PyObject*, PyObject* source) {
  return guard([&] {
    Object held = capsule_from(source);
    PyObject* capsule = held.get();
    check(PyCapsule_CheckExact(capsule), ErrorKind::kType, "[from_dlpack] expected a DLPack capsule, got {}",
          Py_TYPE(capsule)->tp_name);
    if (PyCapsule_IsValid(capsule, kVersionedName)) {
      auto* m = static_cast<DLVersioned*>(PyCapsule_GetPointer(capsule, kVersionedName));
      check(m->major <= 1, ErrorKind::kRuntime, "[from_dlpack] version {} of DLPack is not known", m->major);
      must_zero(PyCapsule_SetName(capsule, kVersionedUsed));
      Tensor t = import_tensor(m);
      if (m->flags & kReadOnly) {
        Tensor fresh = Tensor::empty(t.shape(), t.dtype(), t.place());
        dispatch::copy_into(fresh, t);
        return wrap(fresh);
      }
      return wrap(t);
    }
    check(PyCapsule_IsValid(capsule, kName), ErrorKind::kValue, "[from_dlpack] a DLPack capsule can be used only once");
    auto* m = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kName));
    must_zero(PyCapsule_SetName(capsule, kUsed));
    return wrap(import_tensor(m));
  });
}

PyMethodDef functions[] = {{"from_dlpack", import_function, METH_O, "a tensor over the memory of a DLPack capsule"},
                           {}};

}  // namespace

void add_dlpack(PyObject* module) { add_functions(module, functions); }

PyMethodDef dlpack_export() {
  return {"__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(export_method)),
          METH_VARARGS | METH_KEYWORDS, "a DLPack capsule over this tensor's memory"};
}
PyMethodDef dlpack_device() { return {"__dlpack_device__", device_method, METH_NOARGS, "(kind, index) of the device"}; }

}  // namespace paddle::bindings
