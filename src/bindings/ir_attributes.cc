// Attributes of operations as Python values, and back.
#include <cstring>

#include "base/error.h"
#include "bindings/ir_classes.h"

namespace paddle::bindings {
namespace {

using pir::Attribute;
using pir::AttrKind;

// A symbolic size is its expression: numbers would need a guard.
PyObject* wrap_extent(Dim d) { return d.is_const() ? must(PyLong_FromLongLong(d.value())) : text(d.str()); }

Dim extent_from(PyObject* o) {
  if (PyUnicode_Check(o)) return parse_dim(string_from(o, "attribute"));
  return dim_of(o);
}

PyObject* wrap_dense(const pir::DenseData& data) {
  Shape shape;
  for (int64_t n : data.shape) shape.push_back(Dim(n));
  Tensor t = Tensor::empty(view(shape), data.dtype, Place::cpu());
  std::memcpy(t.data(), data.bytes.data(), data.bytes.size());
  return wrap(t);
}

Attribute list_from(PyObject* o, AttrKind kind, const Attribute& old) {
  check(PySequence_Check(o) && !PyUnicode_Check(o), ErrorKind::kType, "[attribute] expected a list, got {}",
        Py_TYPE(o)->tp_name);
  Object seq = own(PySequence_Fast(o, "attribute"));
  Py_ssize_t n = PySequence_Fast_GET_SIZE(seq.get());
  if (kind == AttrKind::kIntArray) {
    Shape dims;
    for (Py_ssize_t i = 0; i < n; ++i) dims.push_back(extent_from(PySequence_Fast_GET_ITEM(seq.get(), i)));
    return Attribute::ints(view(dims));
  }
  Attribute like = old.kind() == AttrKind::kArray && !old.items().empty() ? old.items().front() : Attribute();
  std::vector<Attribute> items;
  for (Py_ssize_t i = 0; i < n; ++i)
    items.push_back(attribute_from(PySequence_Fast_GET_ITEM(seq.get(), i), nullptr, like));
  return Attribute::array(items);
}

bool accepts(const pir::AttrDef* def, AttrKind kind) {
  if (!def) return false;
  for (AttrKind k : def->kinds)
    if (k == kind) return true;
  return false;
}

AttrKind natural_kind(PyObject* o) {
  if (o == Py_None) return AttrKind::kNone;
  if (PyBool_Check(o)) return AttrKind::kBool;
  if (PyLong_Check(o)) return AttrKind::kInt64;
  if (PyFloat_Check(o)) return AttrKind::kFloat;
  if (PyComplex_Check(o)) return AttrKind::kComplex128;
  if (PyUnicode_Check(o)) return AttrKind::kString;
  if (Py_TYPE(o) == ir_type_type) return AttrKind::kType;
  if (PyDict_Check(o)) return AttrKind::kDict;
  if (PyList_Check(o) || PyTuple_Check(o)) return AttrKind::kArray;
  if (is_dtype_like(o)) return AttrKind::kDType;
  return AttrKind::kPlace;
}

AttrKind wanted_kind(PyObject* o, const pir::AttrDef* def, const Attribute& old) {
  AttrKind natural = natural_kind(o);
  if (natural == AttrKind::kNone) return natural;
  if (old && old.kind() != AttrKind::kDense) return old.kind();
  if (!def || def->kinds.empty() || accepts(def, natural)) return natural;
  return def->kinds.front();
}

int64_t integer(PyObject* o) {
  int64_t v = PyLong_AsLongLong(o);
  if (v == -1 && PyErr_Occurred()) throw PythonError();
  return v;
}
double real(PyObject* o) {
  double v = PyFloat_AsDouble(o);
  if (v == -1 && PyErr_Occurred()) throw PythonError();
  return v;
}
std::complex<double> complex(PyObject* o) {
  Py_complex v = PyComplex_AsCComplex(o);
  if (PyErr_Occurred()) throw PythonError();
  return {v.real, v.imag};
}

}  // namespace

PyObject* wrap_attribute(const Attribute& a) {
  switch (a.kind()) {
    case AttrKind::kNone:
      Py_RETURN_NONE;
    case AttrKind::kBool:
      return PyBool_FromLong(a.as_bool());
    case AttrKind::kInt32:
    case AttrKind::kInt64:
      return must(PyLong_FromLongLong(a.as_int()));
    case AttrKind::kFloat:
    case AttrKind::kDouble:
      return must(PyFloat_FromDouble(a.as_double()));
    case AttrKind::kComplex64:
    case AttrKind::kComplex128:
      return must(PyComplex_FromDoubles(a.as_complex().real(), a.as_complex().imag()));
    case AttrKind::kString:
    case AttrKind::kSymbol:
      return text(a.as_string());
    case AttrKind::kDType:
      return wrap_dtype(a.as_dtype());
    case AttrKind::kPlace:
      return wrap_place(a.as_place());
    case AttrKind::kLayout:
      return text(pir::name_of(a.as_layout()));
    case AttrKind::kType:
      return wrap_ir_type(a.as_type());
    case AttrKind::kDim:
      return wrap_extent(a.as_dim());
    case AttrKind::kScalar:
      return wrap_attribute(a.inner());
    case AttrKind::kIntArray: {
      Object list = own(PyList_New(0));
      for (Dim d : a.as_ints()) must_zero(PyList_Append(list.get(), own(wrap_extent(d)).get()));
      return list.release();
    }
    case AttrKind::kArray: {
      Object list = own(PyList_New(0));
      for (const Attribute& item : a.items()) must_zero(PyList_Append(list.get(), own(wrap_attribute(item)).get()));
      return list.release();
    }
    case AttrKind::kDict: {
      Object dict = own(PyDict_New());
      for (size_t i = 0; i < a.keys().size(); ++i)
        must_zero(PyDict_SetItemString(dict.get(), a.keys()[i].c_str(), own(wrap_attribute(a.values()[i])).get()));
      return dict.release();
    }
    case AttrKind::kDense:
      return wrap_dense(a.as_dense());
    case AttrKind::kDist:
      return text(a.str());
  }
  Py_RETURN_NONE;
}

Attribute attribute_from(PyObject* o, const pir::AttrDef* def, const Attribute& old) {
  switch (AttrKind kind = wanted_kind(o, def, old); kind) {
    case AttrKind::kNone:
      return {};
    case AttrKind::kBool:
      return Attribute::boolean(PyObject_IsTrue(o) == 1);
    case AttrKind::kInt32: {
      int64_t v = integer(o);
      check(v >= INT32_MIN && v <= INT32_MAX, ErrorKind::kValue, "[attribute] {} doesn't fit 32 bits", v);
      return Attribute::i32(static_cast<int32_t>(v));
    }
    case AttrKind::kInt64:
      return Attribute::i64(integer(o));
    case AttrKind::kFloat:
      return Attribute::f32(static_cast<float>(real(o)));
    case AttrKind::kDouble:
      return Attribute::f64(real(o));
    case AttrKind::kComplex64:
      return Attribute::c64(std::complex<float>(complex(o)));
    case AttrKind::kComplex128:
      return Attribute::c128(complex(o));
    case AttrKind::kString:
      return Attribute::string(string_from(o, "attribute"));
    case AttrKind::kSymbol:
      return Attribute::symbol(string_from(o, "attribute"));
    case AttrKind::kDType:
      return Attribute::dtype(dtype_from(o, "attribute"));
    case AttrKind::kPlace:
      return Attribute::place(place_from(o, "attribute"));
    case AttrKind::kLayout: {
      pir::Layout layout{};
      std::string name = string_from(o, "attribute");
      check(pir::layout_from_name(name, &layout), ErrorKind::kValue, "[attribute] expected a layout's name, got '{}'",
            name);
      return Attribute::layout(layout);
    }
    case AttrKind::kType:
      return Attribute::type(ir_type_of(o));
    case AttrKind::kDim:
      return Attribute::dim(extent_from(o));
    case AttrKind::kScalar:
      return Attribute::scalar(attribute_from(o, nullptr, old.kind() == AttrKind::kScalar ? old.inner() : Attribute()));
    case AttrKind::kIntArray:
    case AttrKind::kArray:
      return list_from(o, kind, old);
    case AttrKind::kDict: {
      pir::NamedAttrs items;
      PyObject *key, *value;
      Py_ssize_t at = 0;
      while (PyDict_Next(o, &at, &key, &value))
        items.push_back({pir::Name(string_from(key, "attribute")), attribute_from(value, nullptr)});
      return Attribute::dict(items);
    }
    case AttrKind::kDense:
    case AttrKind::kDist:
      break;
  }
  fail(ErrorKind::kType, "[attribute] a {} can't be an attribute of this kind", Py_TYPE(o)->tp_name);
}

pir::AttrMap attributes_from(PyObject* dict, const pir::OpDef& def) {
  pir::AttrMap map;
  if (!dict || dict == Py_None) return map;
  check(PyDict_Check(dict), ErrorKind::kType, "[{}] expected attributes in a dict, got {}", def.name,
        Py_TYPE(dict)->tp_name);
  PyObject *key, *value;
  Py_ssize_t at = 0;
  while (PyDict_Next(dict, &at, &key, &value)) {
    std::string name = string_from(key, "attribute");
    Attribute a = attribute_from(value, def.attr(name));
    if (a) map.set(name, a);
  }
  return map;
}

}  // namespace paddle::bindings
