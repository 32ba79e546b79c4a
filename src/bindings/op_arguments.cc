#include "bindings/op_arguments.h"

#include "api/ops.h"
#include "bindings/op_entry.h"

namespace paddle::bindings {
namespace {

std::string describe(const Entry& e, size_t i) {
  return std::string(e.op->name) + (e.inplace ? "_" : "") + "] expected " + std::string(e.op->args[i].name);
}

[[noreturn]] void wrong_kind(const Entry& e, size_t i, const char* expected, PyObject* got) {
  fail(ErrorKind::kType, "[{} to be {}, got {}", describe(e, i), expected, Py_TYPE(got)->tp_name);
}

bool is_number(PyObject* o) {
  return PyLong_Check(o) || PyFloat_Check(o) || PyBool_Check(o) || PyComplex_Check(o) || is_symint(o);
}

std::vector<double> float_list(const Entry& e, size_t i, PyObject* o) {
  std::vector<double> out;
  if (PyFloat_Check(o) || PyLong_Check(o)) {
    out.push_back(PyFloat_AsDouble(o));
    return out;
  }
  if (!PySequence_Check(o)) wrong_kind(e, i, "a list of floats", o);
  Object seq = own(PySequence_Fast(o, "expected a list"));
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(seq.get()); ++k) {
    double v = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(seq.get(), k));
    if (v == -1 && PyErr_Occurred()) throw PythonError();
    out.push_back(v);
  }
  return out;
}

// A number where a tensor stands: takes the dtype that arithmetic with the other operand gives it.
const Tensor& number_as_tensor(Arena& arena, PyObject* o, PyObject* const* all, size_t n) {
  DType other = DType::kUndefined;
  Place place = Place::cpu();
  for (size_t k = 0; k < n; ++k)
    if (all[k] && is_tensor(all[k])) {
      other = tensor_of(all[k]).dtype();
      place = tensor_of(all[k]).place();
    }
  Scalar s = scalar_from(o, "operand");
  return arena.tensors.emplace_front(ops::full({}, s, number_dtype(s, other), place));
}

bool as_bool(const Entry& e, size_t i, PyObject* o) {
  if (PyBool_Check(o)) return o == Py_True;
  if (!PyLong_Check(o) && !PyObject_HasAttrString(o, "__bool__")) wrong_kind(e, i, "a bool", o);
  int v = PyObject_IsTrue(o);
  if (v < 0) throw PythonError();
  return v;
}

int64_t as_int(const Entry& e, size_t i, PyObject* o) {
  if (PyLong_Check(o)) {
    int64_t v = PyLong_AsLongLong(o);
    if (v == -1 && PyErr_Occurred()) throw PythonError();
    return v;
  }
  if (is_tensor(o)) {
    Tensor& t = tensor_of(o);
    if (t.numel() == 1 && (is_integer(t.dtype()) || t.dtype() == DType::kBool)) return Scalar(t).to_int();
  }
  if (!PyIndex_Check(o)) wrong_kind(e, i, "an int", o);
  return dim_as_int(o);
}

double as_float(const Entry& e, size_t i, PyObject* o) {
  if (PyFloat_Check(o)) return PyFloat_AS_DOUBLE(o);
  if (is_tensor(o)) return Scalar(tensor_of(o)).to_double();
  double v = PyNumber_Check(o) ? PyFloat_AsDouble(o) : -1;
  if (!PyNumber_Check(o)) wrong_kind(e, i, "a float", o);
  if (v == -1 && PyErr_Occurred()) throw PythonError();
  return v;
}

}  // namespace

Arg convert(const Entry& e, size_t i, PyObject* o, Arena& arena, PyObject* const* all, size_t n) {
  const ArgInfo& info = e.op->args[i];
  switch (info.kind) {
    case ArgKind::kTensor:
    case ArgKind::kOptTensor:
      if (is_tensor(o)) return Arg(tensor_of(o));
      if (info.kind == ArgKind::kOptTensor && o == Py_None) return Arg();
      if (info.promotes && is_number(o)) return Arg(number_as_tensor(arena, o, all, n));
      if (info.promotes && PyObject_HasAttrString(o, "__array__"))
        return Arg(arena.tensors.emplace_front(to_tensor(o, DType::kUndefined, Place::cpu())));
      wrong_kind(e, i, "a Tensor", o);
    case ArgKind::kTensors:
    case ArgKind::kOptTensors:
      if (o == Py_None) return Arg();
      return Arg(arena.lists.emplace_front(
          tensors_from(o, std::string(info.name).c_str(), info.kind == ArgKind::kOptTensors)));
    case ArgKind::kScalar:
      return Arg(arena.scalars.emplace_front(scalar_from(o, std::string(e.op->name).c_str())));
    case ArgKind::kInts:
      return Arg(arena.ints.emplace_front(ints_from(o, std::string(e.op->name).c_str())));
    case ArgKind::kInt:
      return Arg(as_int(e, i, o));
    case ArgKind::kFloat:
      return Arg(as_float(e, i, o));
    case ArgKind::kBool:
      return Arg(as_bool(e, i, o));
    case ArgKind::kOptInt:
      return o == Py_None ? Arg() : Arg(as_int(e, i, o));
    case ArgKind::kOptFloat:
      return o == Py_None ? Arg() : Arg(as_float(e, i, o));
    case ArgKind::kOptBool:
      return o == Py_None ? Arg() : Arg(as_bool(e, i, o));
    case ArgKind::kString:
      if (!PyUnicode_Check(o)) wrong_kind(e, i, "a string", o);
      return Arg(std::string_view(arena.strings.emplace_front(PyUnicode_AsUTF8(o))));
    case ArgKind::kDType:
      if (o == Py_None && !e.op->args[i].has_default) wrong_kind(e, i, "a dtype", o);
      [[fallthrough]];
    case ArgKind::kOptDType:
      return o == Py_None ? Arg() : Arg(dtype_from(o, std::string(e.op->name).c_str()));
    case ArgKind::kPlace:
      return o == Py_None ? Arg() : Arg(place_from(o, std::string(e.op->name).c_str()));
    case ArgKind::kIntList:
      return Arg(
          std::span<const int64_t>(arena.int_lists.emplace_front(int_list_from(o, std::string(e.op->name).c_str()))));
    case ArgKind::kFloatList:
      return Arg(std::span<const double>(arena.float_lists.emplace_front(float_list(e, i, o))));
    case ArgKind::kBoolList: {
      Object seq = own(PySequence_Fast(o, "expected a list of bools"));
      size_t size = static_cast<size_t>(PySequence_Fast_GET_SIZE(seq.get()));
      auto& kept = arena.bool_lists.emplace_front(new bool[size]);
      for (size_t k = 0; k < size; ++k)
        kept[k] = as_bool(e, i, PySequence_Fast_GET_ITEM(seq.get(), static_cast<Py_ssize_t>(k)));
      return Arg(std::span<const bool>(kept.get(), size));
    }
    case ArgKind::kStringList: {
      Object seq = own(PySequence_Fast(o, "expected a list of strings"));
      auto& kept = arena.string_lists.emplace_front();
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(seq.get()); ++k)
        kept.push_back(string_from(PySequence_Fast_GET_ITEM(seq.get(), k), "list of strings"));
      return Arg(std::span<const std::string>(kept));
    }
    case ArgKind::kScalarList: {
      Object seq = own(PySequence_Fast(o, "expected a list of numbers"));
      auto& kept = arena.scalar_lists.emplace_front();
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(seq.get()); ++k)
        kept.push_back(scalar_from(PySequence_Fast_GET_ITEM(seq.get(), k), "list of numbers"));
      return Arg(std::span<const Scalar>(kept));
    }
  }
  return Arg();
}

DType number_dtype(const Scalar& s, DType other) {
  DType natural = s.natural_dtype();
  if (other == DType::kUndefined) return natural == DType::kFloat64 ? default_dtype() : natural;
  if (natural == DType::kComplex128)
    return is_complex(other) ? other : complex_of(is_float(other) ? other : default_dtype());
  if (natural == DType::kFloat64) return is_inexact(other) ? other : default_dtype();
  if (natural == DType::kInt64) return other == DType::kBool ? DType::kInt64 : other;
  return other;
}

int64_t dim_as_int(PyObject* o) {
  Dim d = dim_of(o);
  return d.is_const() ? d.value() : guard_int(d);
}

}  // namespace paddle::bindings
