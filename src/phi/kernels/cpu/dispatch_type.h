// From a dtype to a C++ type: f is called with a value of the type. 16-bit floats are computed in f32.
#pragma once
#include <complex>
#include <cstring>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/float16.h"

namespace paddle::kernels {

template <class T>
struct ComputeOf {
  using type = T;
};
template <>
struct ComputeOf<float16> {
  using type = float;
};
template <>
struct ComputeOf<bfloat16> {
  using type = float;
};
template <class T>
using Accumulator = typename ComputeOf<T>::type;

template <class T>
inline T to_compute(T v) {
  return v;
}
inline float to_compute(float16 v) { return f16_to_f32(v.bits); }
inline float to_compute(bfloat16 v) { return bf16_to_f32(v.bits); }

template <class T>
inline T from_compute(Accumulator<T> v) {
  if constexpr (std::is_same_v<T, float16>)
    return {f32_to_f16(v)};
  else if constexpr (std::is_same_v<T, bfloat16>)
    return {f32_to_bf16(v)};
  else
    return v;
}

template <class F>
void dispatch_float(std::string_view op, DType t, F&& f) {
  switch (t) {
    case DType::kFloat32:
      return f(float{});
    case DType::kFloat64:
      return f(double{});
    case DType::kFloat16:
      return f(float16{});
    case DType::kBFloat16:
      return f(bfloat16{});
    default:
      fail(ErrorKind::kType, "[{}] expected a floating-point dtype, got {}", op, name_of(t));
  }
}

template <class F>
void dispatch_index(std::string_view op, DType t, F&& f) {
  switch (t) {
    case DType::kInt32:
      return f(int32_t{});
    case DType::kInt64:
      return f(int64_t{});
    default:
      fail(ErrorKind::kType, "[{}] expected indices of int32 or int64, got {}", op, name_of(t));
  }
}

// Every type with order and arithmetic; bool is uint8_t.
template <class F>
void dispatch_real(std::string_view op, DType t, F&& f) {
  switch (t) {
    case DType::kBool:
    case DType::kUInt8:
      return f(uint8_t{});
    case DType::kInt8:
      return f(int8_t{});
    case DType::kInt16:
      return f(int16_t{});
    case DType::kInt32:
      return f(int32_t{});
    case DType::kInt64:
      return f(int64_t{});
    case DType::kUInt32:
      return f(uint32_t{});
    case DType::kUInt64:
      return f(uint64_t{});
    default:
      return dispatch_float(op, t, f);
  }
}

template <class F>
void dispatch_number(std::string_view op, DType t, F&& f) {
  switch (t) {
    case DType::kComplex64:
      return f(std::complex<float>{});
    case DType::kComplex128:
      return f(std::complex<double>{});
    default:
      return dispatch_real(op, t, f);
  }
}

// For code that only moves elements: an unsigned type (or pair) of the element's size.
template <class F>
void dispatch_size(size_t bytes, F&& f) {
  struct Pair {
    uint64_t a, b;
  };
  switch (bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Pair{});
  }
}

}  // namespace paddle::kernels
