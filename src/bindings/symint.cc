// A size that is symbolic under capture, as Python sees it.
//
// The class answers `int` as its __class__, so isinstance(n, int) holds; it is not a subclass, because CPython's C code
// reads a true int's digits without asking. Whatever needs the number (__index__, __bool__, __hash__, __format__)
// records a guard that it stays what it is; arithmetic stays symbolic. A size that no call has shown yet (an
// InputSpec's None) has no number: what integers can't express (division, floats) the program computes, as a tensor
// without axes.
#include "bindings/py.h"

#include <algorithm>

#include "api/ops.h"
#include "base/error.h"
#include "bindings/tensor_methods.h"
#include "dispatch/lasting.h"
#include "tensor/default_dtype.h"

namespace paddle::bindings {
namespace {

struct PySymInt {
  PyObject_HEAD Dim dim;
};
PyTypeObject* symint_type = nullptr;

Dim& dim_in(PyObject* o) { return reinterpret_cast<PySymInt*>(o)->dim; }

PyObject* number(PyObject* o) { return PyLong_FromLongLong(guard_int(dim_in(o))); }

// The operand `o` for arithmetic in floating point, or in integers that sizes have no expression for.
Object operand(PyObject* o, bool floating) {
  if (Py_TYPE(o) != symint_type) return Object::borrow(o);
  if (has_hint(dim_in(o))) return own(number(o));
  return own(wrap(ops::full({}, Scalar(dim_in(o)), floating ? default_dtype() : DType::kInt64)));
}

// One without a number is -1 to people, as in Paddle.
PyObject* sym_repr(PyObject* o) {
  return guard([&] { return must(PyUnicode_FromString(has_hint(dim_in(o)) ? dim_in(o).str().c_str() : "-1")); });
}
PyObject* sym_str(PyObject* o) {
  if (!has_hint(dim_in(o))) return sym_repr(o);
  return guard([&] { return must(PyObject_Str(own(number(o)).get())); });
}
Py_hash_t sym_hash(PyObject* o) {
  try {
    if (!has_hint(dim_in(o))) return std::max<Py_hash_t>(dim_in(o).bits(), 0);
    return PyObject_Hash(own(number(o)).get());
  } catch (...) {
    set_error();
    return -1;
  }
}
PyObject* sym_index(PyObject* o) {
  return guard([&] { return number(o); });
}
PyObject* sym_float(PyObject* o) {
  return guard([&] { return PyFloat_FromDouble(static_cast<double>(guard_int(dim_in(o)))); });
}
int sym_bool(PyObject* o) {
  return guard_int([&] { return holds(dim_in(o), DimRel::kNe, Dim(0)) ? 1 : 0; });
}

bool is_sym(PyObject* o) { return Py_TYPE(o) == symint_type; }
bool integer_like(PyObject* o) { return is_sym(o) || PyLong_Check(o); }

template <class F>
PyObject* arithmetic(PyObject* a, PyObject* b, F&& f) {
  if (!integer_like(a) || !integer_like(b)) Py_RETURN_NOTIMPLEMENTED;
  return guard([&] { return wrap_dim(f(dim_of(a), dim_of(b))); });
}
// With a float on the other side the number itself is needed.
template <class F>
PyObject* arithmetic_or(PyObject* a, PyObject* b, F&& f, binaryfunc otherwise) {
  if (integer_like(a) && integer_like(b)) return guard([&] { return wrap_dim(f(dim_of(a), dim_of(b))); });
  if (!PyFloat_Check(a) && !PyFloat_Check(b)) Py_RETURN_NOTIMPLEMENTED;
  return guard([&] { return must(otherwise(operand(a, true).get(), operand(b, true).get())); });
}

PyObject* sym_add(PyObject* a, PyObject* b) {
  return arithmetic_or(
      a, b, [](Dim x, Dim y) { return x + y; }, PyNumber_Add);
}
PyObject* sym_sub(PyObject* a, PyObject* b) {
  return arithmetic_or(
      a, b, [](Dim x, Dim y) { return x - y; }, PyNumber_Subtract);
}
PyObject* sym_mul(PyObject* a, PyObject* b) {
  return arithmetic_or(
      a, b, [](Dim x, Dim y) { return x * y; }, PyNumber_Multiply);
}
PyObject* sym_floor_div(PyObject* a, PyObject* b) {
  return arithmetic_or(
      a, b, [](Dim x, Dim y) { return floor_div(x, y); }, PyNumber_FloorDivide);
}
PyObject* sym_mod(PyObject* a, PyObject* b) {
  return arithmetic_or(
      a, b, [](Dim x, Dim y) { return mod(x, y); }, PyNumber_Remainder);
}
PyObject* sym_neg(PyObject* a) {
  return guard([&] { return wrap_dim(-dim_in(a)); });
}
PyObject* sym_pos(PyObject* a) {
  Py_INCREF(a);
  return a;
}
PyObject* sym_abs(PyObject* a) {
  return guard([&] { return wrap_dim(max(dim_in(a), -dim_in(a))); });
}
// Anything else (true division, powers, shifts) works on the guarded number.
template <binaryfunc f, bool floating = false>
PyObject* on_numbers(PyObject* a, PyObject* b) {
  return guard([&] { return must(f(operand(a, floating).get(), operand(b, floating).get())); });
}
PyObject* sym_pow(PyObject* a, PyObject* b, PyObject* m) {
  return guard([&] {
    const bool floating = PyFloat_Check(a) || PyFloat_Check(b);
    return must(PyNumber_Power(operand(a, floating).get(), operand(b, floating).get(), m));
  });
}

PyObject* sym_compare(PyObject* a, PyObject* b, int op) {
  if (!integer_like(b)) {
    if (!PyFloat_Check(b)) Py_RETURN_NOTIMPLEMENTED;
    return guard([&] { return must(PyObject_RichCompare(operand(a, true).get(), b, op)); });
  }
  return guard([&] {
    Dim x = dim_in(a), y = dim_of(b);
    // While a program is built in static mode, programs ask for an unknown size with `n == -1` and `n < 0`.
    const bool asks = y.is_const() && y.value() <= 0;
    if (asks && !has_hint(x) && dispatch::lasting_trace(dispatch::Trace::active())) x = Dim(-1);
    switch (op) {
      case Py_EQ:
        return PyBool_FromLong(holds(x, DimRel::kEq, y));
      case Py_NE:
        return PyBool_FromLong(holds(x, DimRel::kNe, y));
      case Py_LT:
        return PyBool_FromLong(holds(x, DimRel::kLt, y));
      case Py_LE:
        return PyBool_FromLong(holds(x, DimRel::kLe, y));
      case Py_GT:
        return PyBool_FromLong(holds(y, DimRel::kLt, x));
      default:
        return PyBool_FromLong(holds(y, DimRel::kLe, x));
    }
  });
}

PyObject* sym_class(PyObject*, void*) {
  Py_INCREF(&PyLong_Type);
  return reinterpret_cast<PyObject*>(&PyLong_Type);
}
PyObject* sym_format(PyObject* o, PyObject* spec) {
  if (!has_hint(dim_in(o))) return sym_repr(o);
  return guard([&] { return must(PyObject_Format(own(number(o)).get(), spec)); });
}
PyObject* sym_item(PyObject* o, PyObject*) { return sym_index(o); }

PyGetSetDef sym_getset[] = {{"__class__", sym_class, nullptr, nullptr, nullptr}, {}};
PyMethodDef sym_methods[] = {{"__format__", sym_format, METH_O, nullptr},
                             {"item", sym_item, METH_NOARGS, nullptr},
                             {"__trunc__", sym_item, METH_NOARGS, nullptr},
                             {}};
PyType_Slot sym_slots[] = {{Py_tp_repr, reinterpret_cast<void*>(sym_repr)},
                           {Py_tp_str, reinterpret_cast<void*>(sym_str)},
                           {Py_tp_hash, reinterpret_cast<void*>(sym_hash)},
                           {Py_tp_richcompare, reinterpret_cast<void*>(sym_compare)},
                           {Py_nb_index, reinterpret_cast<void*>(sym_index)},
                           {Py_nb_int, reinterpret_cast<void*>(sym_index)},
                           {Py_nb_float, reinterpret_cast<void*>(sym_float)},
                           {Py_nb_bool, reinterpret_cast<void*>(sym_bool)},
                           {Py_nb_add, reinterpret_cast<void*>(sym_add)},
                           {Py_nb_subtract, reinterpret_cast<void*>(sym_sub)},
                           {Py_nb_multiply, reinterpret_cast<void*>(sym_mul)},
                           {Py_nb_floor_divide, reinterpret_cast<void*>(sym_floor_div)},
                           {Py_nb_remainder, reinterpret_cast<void*>(sym_mod)},
                           {Py_nb_true_divide, reinterpret_cast<void*>(on_numbers<PyNumber_TrueDivide, true>)},
                           {Py_nb_power, reinterpret_cast<void*>(sym_pow)},
                           {Py_nb_lshift, reinterpret_cast<void*>(on_numbers<PyNumber_Lshift>)},
                           {Py_nb_rshift, reinterpret_cast<void*>(on_numbers<PyNumber_Rshift>)},
                           {Py_nb_and, reinterpret_cast<void*>(on_numbers<PyNumber_And>)},
                           {Py_nb_or, reinterpret_cast<void*>(on_numbers<PyNumber_Or>)},
                           {Py_nb_negative, reinterpret_cast<void*>(sym_neg)},
                           {Py_nb_positive, reinterpret_cast<void*>(sym_pos)},
                           {Py_nb_absolute, reinterpret_cast<void*>(sym_abs)},
                           {Py_tp_getset, sym_getset},
                           {Py_tp_methods, sym_methods},
                           {0, nullptr}};
PyType_Spec sym_spec{"paddle._core.SymInt", sizeof(PySymInt), 0, Py_TPFLAGS_DEFAULT, sym_slots};

}  // namespace

bool is_symint(PyObject* o) { return symint_type && is_sym(o); }

PyObject* wrap_dim(Dim d) {
  if (d.is_const()) return must(PyLong_FromLongLong(d.value()));
  auto* o = reinterpret_cast<PySymInt*>(must(symint_type->tp_alloc(symint_type, 0)));
  o->dim = d;
  return reinterpret_cast<PyObject*>(o);
}

Dim dim_of(PyObject* o) {
  if (is_symint(o)) return dim_in(o);
  Object index = own(PyNumber_Index(o));
  int64_t v = PyLong_AsLongLong(index.get());
  if (v == -1 && PyErr_Occurred()) throw PythonError();
  return Dim(v);
}

void add_symint(PyObject* module) {
  symint_type = reinterpret_cast<PyTypeObject*>(must(PyType_FromSpec(&sym_spec)));
  must_zero(PyModule_AddObjectRef(module, "SymInt", reinterpret_cast<PyObject*>(symint_type)));
}

}  // namespace paddle::bindings
