// What all files of the extension module share: owned references, errors, wrapping of tensors, dtypes and places.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <exception>
#include <string>
#include <utility>

#include "tensor/scalar_value.h"

namespace paddle::bindings {

// An owned reference.
class Object {
 public:
  Object() = default;
  explicit Object(PyObject* owned) : p_(owned) {}
  static Object borrow(PyObject* p) {
    Py_XINCREF(p);
    return Object(p);
  }
  Object(const Object& o) : p_(o.p_) { Py_XINCREF(p_); }
  Object(Object&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Object& operator=(Object o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Object() { Py_XDECREF(p_); }
  PyObject* get() const { return p_; }
  PyObject* release() { return std::exchange(p_, nullptr); }
  explicit operator bool() const { return p_; }

 private:
  PyObject* p_ = nullptr;
};

// A Python exception is set; unwinds C++ to the entry point.
struct PythonError : std::exception {
  const char* what() const noexcept override { return "a Python exception is set"; }
};
inline PyObject* must(PyObject* p) {
  if (!p) throw PythonError();
  return p;
}
inline Object own(PyObject* p) { return Object(must(p)); }
inline void must_zero(int status) {
  if (status < 0) throw PythonError();
}

// Sets the Python exception for the C++ exception in flight. Call inside a catch (...) block.
void set_error() noexcept;

// Runs f, which returns an owned PyObject*; C++ exceptions become Python ones.
template <class F>
PyObject* guard(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_error();
    return nullptr;
  }
}
template <class F>
int guard_int(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_error();
    return -1;
  }
}

// Lets other Python threads run, where the work is long enough to pay for it.
class ReleaseGil {
 public:
  explicit ReleaseGil(bool wanted) : state_(wanted ? release() : nullptr) {}
  ~ReleaseGil() {
    if (state_) acquire(state_);
  }
  ReleaseGil(const ReleaseGil&) = delete;

  static PyThreadState* release() {
    ++threads_;
    return PyEval_SaveThread();
  }
  static void acquire(PyThreadState* state) {
    PyEval_RestoreThread(state);
    --threads_;
  }
  static int threads() { return threads_; }  // that are between the two; to be asked under the lock

 private:
  static inline int threads_ = 0;
  PyThreadState* state_;
};
class AcquireGil {
 public:
  AcquireGil() : state_(PyGILState_Ensure()) {}
  ~AcquireGil() { PyGILState_Release(state_); }
  AcquireGil(const AcquireGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// ---- tensors
struct PyTensor {
  PyObject_HEAD Tensor tensor;
  PyObject* dict;
  PyObject* weak;
};
extern PyTypeObject* tensor_type;
inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == tensor_type || PyType_IsSubtype(Py_TYPE(o), tensor_type); }
inline Tensor& tensor_of(PyObject* o) { return reinterpret_cast<PyTensor*>(o)->tensor; }
Tensor& expect_tensor(PyObject* o, const char* what);  // TypeError if it is none
PyObject* wrap(Tensor t);  // the tensor's own object if it lives; None for an undefined tensor
PyObject* wrap_list(const Tensors& list);
Tensors tensors_from(PyObject* list_or_tensor, const char* what, bool none_as_undefined = false);

// ---- dtypes and places
PyObject* wrap_dtype(DType t);                    // paddle.float32, ...
DType dtype_from(PyObject* o, const char* what);  // a dtype, a name, a NumPy dtype or type, a Python type
bool is_dtype_like(PyObject* o);
PyObject* wrap_place(Place p);
Place place_from(PyObject* o, const char* what);  // a Place, "cpu", "gpu:0"
DType default_dtype();
void set_default_dtype(DType t);

// ---- values
PyObject* wrap_shape(std::span<const Dim> shape);  // list of ints; symbolic sizes under capture
PyObject* wrap_dim(Dim d);
bool is_symint(PyObject* o);
Dim dim_of(PyObject* o);  // an int, a symbolic size, or what has __index__
Scalar scalar_from(PyObject* o, const char* what);
Ints ints_from(PyObject* o, const char* what);
std::vector<int64_t> int_list_from(PyObject* o, const char* what);
std::string string_from(PyObject* o, const char* what);

// ---- NumPy and sequences
Tensor from_array(PyObject* array, bool copy);  // anything with a buffer
Tensor to_tensor(PyObject* value, DType dtype,
                 Place place);                  // numbers, nested lists, arrays, tensors; always a new tensor
Tensor to_place(const Tensor& t, Place place);  // the tensor itself if it is there
PyObject* to_numpy(const Tensor& t);            // a copy, as official `Tensor.numpy()` makes one

// ---- registration, each adds its types and functions to the module
void add_dtypes(PyObject* module);
void add_symint(PyObject* module);
void add_tensor(PyObject* module);
void add_operators(PyObject* module);
void add_autograd(PyObject* module);
void add_runtime(PyObject* module);
void add_distributed(PyObject* module);
void add_dlpack(PyObject* module);
void add_values(PyObject* module);
void add_methods(PyObject* module);
void add_functions(PyObject* module, PyMethodDef* methods);

}  // namespace paddle::bindings
