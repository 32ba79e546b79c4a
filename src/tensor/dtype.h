// Element types. The numeric values are our own; the PIR and file formats map names, not numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace paddle {

enum class DType : uint8_t {
  kUndefined = 0,
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt16,  // storage only; `paddle.uint16` is bfloat16's old name and means kBFloat16
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
  kFloat8E4M3FN,  // storage only: cast to compute
  kFloat8E5M2,    // storage only: cast to compute
  kCount
};

size_t size_of(DType t);                       // bytes of one element; 0 for kUndefined
std::string_view name_of(DType t);             // "float32", "bfloat16", ...
DType dtype_from_name(std::string_view name);  // also "fp32", "half", "uint16" (= bfloat16), ...; kUndefined if unknown

constexpr bool is_complex(DType t) { return t == DType::kComplex64 || t == DType::kComplex128; }
constexpr bool is_float8(DType t) { return t == DType::kFloat8E4M3FN || t == DType::kFloat8E5M2; }
constexpr bool is_float(DType t) {  // real floating point
  return t == DType::kFloat16 || t == DType::kBFloat16 || t == DType::kFloat32 || t == DType::kFloat64 || is_float8(t);
}
constexpr bool is_inexact(DType t) { return is_float(t) || is_complex(t); }
constexpr bool is_signed_int(DType t) { return t >= DType::kInt8 && t <= DType::kInt64; }
constexpr bool is_unsigned_int(DType t) {
  return t == DType::kUInt8 || t == DType::kUInt16 || t == DType::kUInt32 || t == DType::kUInt64;
}
constexpr bool is_integer(DType t) { return is_signed_int(t) || is_unsigned_int(t); }
DType real_of(DType t);           // complex64 -> float32, complex128 -> float64, others themselves
DType complex_of(DType t);        // float32 -> complex64, float64 -> complex128
DType promote(DType a, DType b);  // the promotion table for two tensors (Paddle 3.x), commutative

}  // namespace paddle
