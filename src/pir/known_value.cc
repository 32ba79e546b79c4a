// What is known of a value before the program runs.
#include <cstring>

#include "pir/op_args.h"

namespace paddle::pir {
namespace {

// The number that `full` makes, in its dtype. Null where it makes a tensor of more than one element.
Attribute value_of_full(const Operation& op) {
  Attribute value = op.attr("value");
  if (!value) return {};
  if (value.kind() == AttrKind::kScalar) value = value.inner();
  Type t = op.result().type();
  if (!t.has_shape() || numel(view(t.shape())) != Dim(1)) return {};
  if (value.kind() == AttrKind::kDim) return Attribute::scalar(value);
  bool number = value.kind() >= AttrKind::kBool && value.kind() <= AttrKind::kComplex128;
  if (!number) return {};
  if (is_complex(t.dtype())) return Attribute::scalar(Attribute::c128(value.as_complex()));
  if (value.kind() >= AttrKind::kComplex64) return {};
  if (t.dtype() == DType::kBool) return Attribute::scalar(Attribute::boolean(value.as_double() != 0));
  if (!is_integer(t.dtype())) return Attribute::scalar(Attribute::f64(value.as_double()));
  bool exact = value.kind() != AttrKind::kFloat && value.kind() != AttrKind::kDouble;
  if (exact) return Attribute::scalar(Attribute::i64(value.as_int()));
  double v = value.as_double();
  if (!(v >= -9223372036854775808.0 && v < 9223372036854775808.0)) return {};
  return Attribute::scalar(Attribute::i64(static_cast<int64_t>(v)));
}

Attribute value_of_combine(const Operation& op) {
  Shape items;
  for (Value v : op.operands()) {
    Attribute a = v ? known_value(v) : Attribute();
    if (a.kind() != AttrKind::kScalar) return {};
    a = a.inner();
    if (a.kind() == AttrKind::kInt64)
      items.push_back(a.as_int());
    else if (a.kind() == AttrKind::kDim)
      items.push_back(a.as_dim());
    else
      return {};
  }
  return Attribute::ints(view(items));
}

// Integers of a small constant: shapes, axes, indices.
Attribute value_of_constant(const Attribute& value) {
  if (value.kind() != AttrKind::kDense) return {};
  const DenseData& d = value.as_dense();
  if (d.shape.size() > 1 || d.bytes.size() > 256 || (d.dtype != DType::kInt32 && d.dtype != DType::kInt64)) return {};
  Shape items;
  for (size_t at = 0; at < d.bytes.size(); at += size_of(d.dtype)) {
    int32_t narrow = 0;
    int64_t wide = 0;
    if (d.dtype == DType::kInt32)
      std::memcpy(&narrow, d.bytes.data() + at, sizeof narrow), wide = narrow;
    else
      std::memcpy(&wide, d.bytes.data() + at, sizeof wide);
    items.push_back(wide);
  }
  if (d.shape.empty()) return Attribute::scalar(Attribute::i64(items[0].value()));
  return Attribute::ints(view(items));
}

}  // namespace

Attribute known_value(Value v) {
  if (!v || !v.is_result()) return {};
  const Operation& op = *v.defining_op();
  if (op.is("pd_op.full")) return value_of_full(op);
  if (op.is("builtin.combine")) return value_of_combine(op);
  if (op.is("builtin.constant")) return value_of_constant(op.attr("value"));
  if (op.is("pd_op.full_int_array")) {
    Attribute a = op.attr("value");
    if (a.kind() != AttrKind::kArray && a.kind() != AttrKind::kIntArray) return {};
    return Attribute::ints(view(a.as_ints()));
  }
  return {};
}

}  // namespace paddle::pir
