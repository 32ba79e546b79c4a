// Operators of the Tensor class: + - * / // % ** @, comparisons, bit operations.
//
// A Python number meets a tensor as `scale` where it can (one kernel, no second operand), as official Paddle does.
#include "bindings/tensor_methods.h"

#include "api/ops.h"
#include "base/error.h"
#include "bindings/op_entry.h"
#include "dispatch/trace.h"
#include "tensor/element.h"

namespace paddle::bindings {
namespace {

bool is_plain_number(PyObject* o) { return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || is_symint(o); }

// NumPy arrays and scalars take part as tensors.
bool is_array(PyObject* o) {
  return PyObject_HasAttrString(o, "__array__") || PyObject_HasAttrString(o, "__array_interface__");
}

// The other operand as a tensor; undefined if its type is none of ours.
Tensor operand(PyObject* o, const Tensor& other) {
  if (is_tensor(o)) return expect_tensor(o, "operand");
  if (is_plain_number(o)) {
    Scalar s = scalar_from(o, "operand");
    return ops::full({}, s, number_dtype(s, other.dtype()), other.place());
  }
  if (is_array(o)) return to_tensor(o, DType::kUndefined, other.place());
  return {};
}

using Binary = Tensor (*)(const Tensor&, const Tensor&);

template <Binary f>
PyObject* binary(PyObject* a, PyObject* b) {
  if (is_tensor(a) && is_tensor(b)) [[likely]]
    return guard([&] { return wrap(f(expect_tensor(a, "operand"), expect_tensor(b, "operand"))); });
  return guard([&]() -> PyObject* {
    const Tensor& known = is_tensor(a) ? expect_tensor(a, "operand") : expect_tensor(b, "operand");
    Tensor x = operand(a, known), y = operand(b, known);
    if (!x.defined() || !y.defined()) Py_RETURN_NOTIMPLEMENTED;
    return wrap(f(x, y));
  });
}

// x * factor + term, where a Python number allows it: not for bools, and integers stay integers only with integers.
bool scalable(const Tensor& x, PyObject* number) {
  if (x.dtype() == DType::kBool) return false;
  return PyFloat_Check(number) || (PyLong_Check(number) && !PyBool_Check(number));
}
// x, or what it becomes before it meets a float; `room` owns that.
const Tensor& widened(const Tensor& x, PyObject* number, Tensor&& room = {}) {
  if (!PyFloat_Check(number) || !is_integer(x.dtype())) [[likely]]
    return x;
  room = ops::cast(x, default_dtype());
  return room;
}

PyObject* add(PyObject* a, PyObject* b) {
  if (is_tensor(a) && is_tensor(b)) [[likely]]
    return guard([&] { return wrap(ops::add(expect_tensor(a, "add"), expect_tensor(b, "add"))); });
  PyObject* t = is_tensor(a) ? a : b;
  PyObject* n = is_tensor(a) ? b : a;
  return guard([&]() -> PyObject* {
    Tensor& x = expect_tensor(t, "add");
    if (scalable(x, n)) return wrap(ops::scale(widened(x, n), Scalar(1.0), scalar_from(n, "add"), true));
    return binary<static_cast<Binary>(ops::add)>(a, b);
  });
}
PyObject* subtract(PyObject* a, PyObject* b) {
  return guard([&]() -> PyObject* {
    bool left = is_tensor(a), right = is_tensor(b);
    if (left && !right && scalable(tensor_of(a), b)) {
      Scalar s = scalar_from(b, "subtract");
      Scalar minus = PyFloat_Check(b) ? Scalar(-s.to_double()) : Scalar(-s.to_int());
      return wrap(ops::scale(widened(tensor_of(a), b), Scalar(1.0), minus, true));
    }
    if (right && !left && scalable(tensor_of(b), a))
      return wrap(ops::scale(widened(tensor_of(b), a), Scalar(-1.0), scalar_from(a, "subtract"), true));
    return binary<static_cast<Binary>(ops::subtract)>(a, b);
  });
}
PyObject* multiply(PyObject* a, PyObject* b) {
  return guard([&]() -> PyObject* {
    bool left = is_tensor(a), right = is_tensor(b);
    if (left != right) {
      PyObject* t = left ? a : b;
      PyObject* n = left ? b : a;
      if (scalable(tensor_of(t), n))
        return wrap(ops::scale(widened(tensor_of(t), n), scalar_from(n, "multiply"), Scalar(0.0), true));
    }
    return binary<static_cast<Binary>(ops::multiply)>(a, b);
  });
}
PyObject* divide(PyObject* a, PyObject* b) {
  return guard([&]() -> PyObject* {
    if (is_tensor(a) && (PyFloat_Check(b) || (PyLong_Check(b) && !PyBool_Check(b)))) {
      Tensor& x = expect_tensor(a, "divide");
      double d = PyFloat_AsDouble(b);
      if (is_inexact(x.dtype()) && d != 0) return wrap(ops::scale(x, Scalar(1.0 / d), Scalar(0.0), true));
    }
    return binary<static_cast<Binary>(ops::divide)>(a, b);
  });
}
PyObject* power(PyObject* a, PyObject* b, PyObject*) {
  return guard([&]() -> PyObject* {
    if (is_tensor(a) && is_plain_number(b) && !PyComplex_Check(b)) {
      const Tensor& given = expect_tensor(a, "pow");
      const bool truth = given.dtype() == DType::kBool;
      const Tensor x = truth ? ops::cast(given, PyFloat_Check(b) ? default_dtype() : DType::kInt64) : given;
      return wrap(ops::pow(widened(x, b), scalar_from(b, "pow")));
    }
    return binary<static_cast<Binary>(ops::elementwise_pow)>(a, b);
  });
}
Tensor matmul_plain(const Tensor& x, const Tensor& y) { return ops::matmul(x, y, false, false); }

PyObject* negative(PyObject* a) {
  return guard([&] { return wrap(ops::scale(expect_tensor(a, "neg"), Scalar(-1.0), Scalar(0.0), true)); });
}
PyObject* positive(PyObject* a) {
  Py_INCREF(a);
  return a;
}
PyObject* absolute(PyObject* a) {
  return guard([&] { return wrap(ops::abs(expect_tensor(a, "abs"))); });
}
PyObject* invert(PyObject* a) {
  return guard([&] { return wrap(ops::bitwise_not(expect_tensor(a, "invert"))); });
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  if (!is_tensor(b) && !is_plain_number(b) && !PyBool_Check(b) && !is_array(b)) {
    if (op == Py_EQ) Py_RETURN_FALSE;
    if (op == Py_NE) Py_RETURN_TRUE;
    Py_RETURN_NOTIMPLEMENTED;
  }
  switch (op) {
    case Py_EQ:
      return binary<static_cast<Binary>(ops::equal)>(a, b);
    case Py_NE:
      return binary<static_cast<Binary>(ops::not_equal)>(a, b);
    case Py_LT:
      return binary<static_cast<Binary>(ops::less_than)>(a, b);
    case Py_LE:
      return binary<static_cast<Binary>(ops::less_equal)>(a, b);
    case Py_GT:
      return binary<static_cast<Binary>(ops::greater_than)>(a, b);
    default:
      return binary<static_cast<Binary>(ops::greater_equal)>(a, b);
  }
}

// ---- a tensor of one element as a Python number
const Tensor& single(PyObject* o, const char* what) {
  Tensor& t = expect_tensor(o, what);
  dispatch::check_value_readable(t, what);
  check(t.numel() == 1, ErrorKind::kType, "[{}] expected a tensor of one element, got shape {}", what,
        to_string(t.shape()));
  return t;
}
int truth(PyObject* o) {
  return guard_int([&] { return Scalar(single(o, "bool")).to_bool() ? 1 : 0; });
}
PyObject* as_int(PyObject* o) {
  return guard([&] {
    const Tensor& t = single(o, "int");
    if (t.dtype() == DType::kUInt64) return must(PyLong_FromUnsignedLongLong(static_cast<uint64_t>(read_int(t, 0))));
    if (is_float(t.dtype())) return must(PyLong_FromDouble(read_element(t, 0).real()));
    return must(PyLong_FromLongLong(read_int(t, 0)));
  });
}
PyObject* as_index(PyObject* o) {
  return guard([&] {
    const Tensor& t = single(o, "index");
    check(is_integer(t.dtype()) || t.dtype() == DType::kBool, ErrorKind::kType,
          "[index] expected an integer tensor, got {}", name_of(t.dtype()));
    return must(PyLong_FromLongLong(read_int(t, 0)));
  });
}
PyObject* as_float(PyObject* o) {
  return guard([&] { return must(PyFloat_FromDouble(read_element(single(o, "float"), 0).real())); });
}

template <class F>
PyType_Slot slot(int id, F* f) {
  return {id, reinterpret_cast<void*>(f)};
}

}  // namespace

std::vector<PyType_Slot> number_slots() {
  return {slot(Py_nb_add, add),
          slot(Py_nb_subtract, subtract),
          slot(Py_nb_multiply, multiply),
          slot(Py_nb_true_divide, divide),
          slot(Py_nb_floor_divide, binary<static_cast<Binary>(ops::floor_divide)>),
          slot(Py_nb_remainder, binary<static_cast<Binary>(ops::remainder)>),
          slot(Py_nb_power, power),
          slot(Py_nb_matrix_multiply, binary<matmul_plain>),
          slot(Py_nb_and, binary<static_cast<Binary>(ops::bitwise_and)>),
          slot(Py_nb_or, binary<static_cast<Binary>(ops::bitwise_or)>),
          slot(Py_nb_xor, binary<static_cast<Binary>(ops::bitwise_xor)>),
          slot(Py_nb_negative, negative),
          slot(Py_nb_positive, positive),
          slot(Py_nb_absolute, absolute),
          slot(Py_nb_invert, invert),
          slot(Py_nb_bool, truth),
          slot(Py_nb_int, as_int),
          slot(Py_nb_float, as_float),
          slot(Py_nb_index, as_index),
          slot(Py_tp_richcompare, compare)};
}

}  // namespace paddle::bindings
