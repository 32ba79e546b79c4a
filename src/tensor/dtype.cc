#include "tensor/dtype.h"

#include <algorithm>
#include <array>
#include <utility>

namespace paddle {
namespace {

struct Row {
  std::string_view name;
  uint8_t size;
};

constexpr std::array<Row, static_cast<size_t>(DType::kCount)> kRows = {{
    {"undefined", 0},
    {"bool", 1},
    {"uint8", 1},
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"float16", 2},
    {"bfloat16", 2},
    {"float32", 4},
    {"float64", 8},
    {"complex64", 8},
    {"complex128", 16},
    {"float8_e4m3fn", 1},
    {"float8_e5m2", 1},
}};

constexpr std::pair<std::string_view, DType> kAliases[] = {
    {"uint16", DType::kBFloat16},     {"fp16", DType::kFloat16},       {"half", DType::kFloat16},
    {"bf16", DType::kBFloat16},       {"fp32", DType::kFloat32},       {"float", DType::kFloat32},
    {"fp64", DType::kFloat64},        {"double", DType::kFloat64},     {"int", DType::kInt32},
    {"long", DType::kInt64},          {"short", DType::kInt16},        {"bool_", DType::kBool},
    {"cfloat", DType::kComplex64},    {"cdouble", DType::kComplex128}, {"fp8_e4m3fn", DType::kFloat8E4M3FN},
    {"fp8_e5m2", DType::kFloat8E5M2},
};

// Integers by what they can hold: (bits of magnitude, signed).
DType promote_integers(DType a, DType b) {
  if (a == DType::kBool) return b;
  if (b == DType::kBool) return a;
  if (is_signed_int(a) == is_signed_int(b)) return size_of(a) >= size_of(b) ? a : b;
  const DType wide_signed = is_signed_int(a) ? a : b, unsigned_one = is_signed_int(a) ? b : a;
  switch (std::max(size_of(wide_signed), 2 * size_of(unsigned_one))) {
    case 2:
      return DType::kInt16;
    case 4:
      return DType::kInt32;
    default:
      return DType::kInt64;  // uint64 with a signed type too: no wider integer exists
  }
}

DType promote_floats(DType a, DType b) {
  if (is_float8(a) && !is_float8(b)) return b;
  if (is_float8(b) && !is_float8(a)) return a;
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return DType::kFloat32;  // two different 16-bit or 8-bit formats
}

}  // namespace

size_t size_of(DType t) { return kRows[static_cast<size_t>(t)].size; }

std::string_view name_of(DType t) { return kRows[static_cast<size_t>(t)].name; }

DType dtype_from_name(std::string_view name) {
  for (const auto& [alias, type] : kAliases) {
    if (alias == name) return type;
  }
  for (size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return DType::kUndefined;
}

DType real_of(DType t) {
  if (t == DType::kComplex64) return DType::kFloat32;
  if (t == DType::kComplex128) return DType::kFloat64;
  return t;
}

DType complex_of(DType t) {
  if (t == DType::kFloat32 || t == DType::kFloat16 || t == DType::kBFloat16) return DType::kComplex64;  // the narrowest
  if (t == DType::kFloat64) return DType::kComplex128;
  return t;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::kUndefined || b == DType::kUndefined) return DType::kUndefined;
  if (is_complex(a) || is_complex(b)) {
    const bool wide =
        a == DType::kComplex128 || b == DType::kComplex128 || a == DType::kFloat64 || b == DType::kFloat64;
    return wide ? DType::kComplex128 : DType::kComplex64;
  }
  if (is_float(a) && is_float(b)) return promote_floats(a, b);
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  return promote_integers(a, b);
}

}  // namespace paddle
