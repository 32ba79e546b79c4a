// Python objects that C++ holds: hooks, contexts of PyLayers, what saved tensors were packed into.
//
// Such an object may refer back to a tensor that leads to it. Python's collector finds these circles because a tensor's
// traverse goes on through the C++ objects that the tensor alone keeps alive.
#pragma once
#include "autograd/node.h"
#include "bindings/py.h"

namespace paddle::bindings {

class HeldObject final : public RefCounted {
 public:
  explicit HeldObject(Object o);
  ~HeldObject() override;
  PyObject* get() const { return object_.get(); }

 private:
  Object object_;
};

// A gradient's hook in Python. What it returns, if anything, replaces the gradient.
struct PythonHook {
  Ref<HeldObject> function;
  Tensor operator()(const Tensor& gradient) const;
};
// A function of no arguments.
struct PythonCall {
  Ref<HeldObject> function;
  void operator()() const;
};

// What of a Python tensor outlives it: kept with the C++ tensor, for the next object that stands for that.
struct PyState {
  PyState(PyTypeObject* type, PyObject* dict);  // takes both over
  ~PyState();
  PyTypeObject* type;
  PyObject* dict;
};

// tp_traverse and tp_clear of what the Python object of `t` owns through C++.
int traverse_history(const Tensor& t, visitproc visit, void* arg);
void clear_history(const Tensor& t);

}  // namespace paddle::bindings
