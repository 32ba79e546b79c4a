// Scalar functions and roundings in double, by definition.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/scalar.h"
#include "tensor/dtype.h"

namespace paddle::cinn::testing {

using Sizes = std::vector<int64_t>;
using Tensor = std::vector<double>;

inline int64_t count(const Sizes& s) {
  int64_t n = 1;
  for (int64_t d : s) n *= d;
  return n;
}

inline float as_f32(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
inline uint32_t bits_of(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}

inline double round_to(double x, DType t) {
  switch (t) {
    case DType::kFloat32:
      return static_cast<float>(x);
    case DType::kBFloat16: {
      if (std::isnan(x)) return x;
      uint32_t u = bits_of(static_cast<float>(x));
      return as_f32((u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000u);
    }
    case DType::kFloat16: {
      if (!std::isfinite(x) || x == 0) return x;
      int e;
      std::frexp(x, &e);
      double step = std::ldexp(1.0, std::max(e - 11, -24)), r = std::nearbyint(x / step) * step;
      return std::fabs(r) >= 65520 ? std::copysign(INFINITY, r) : r;
    }
    case DType::kBool:
      return x != 0;
    case DType::kInt32:
      return static_cast<int32_t>(static_cast<int64_t>(x));
    case DType::kUInt8:
      return static_cast<uint8_t>(static_cast<int64_t>(x));
    case DType::kInt8:
      return static_cast<int8_t>(static_cast<int64_t>(x));
    case DType::kInt64:
      return std::trunc(x);
    default:
      return x;
  }
}

inline double apply(scalar::Fn fn, double a, double b, double c, bool integer) {
  using enum scalar::Fn;
  switch (fn) {
    case add:
      return a + b;
    case sub:
      return a - b;
    case mul:
      return a * b;
    case div:
      return integer ? (b == 0 ? 0 : std::trunc(a / b)) : a / b;
    case fma:
      return a * b + c;
    case pow:
      return std::pow(a, b);
    case neg:
      return -a;
    case abs:
      return std::fabs(a);
    case sqrt:
      return std::sqrt(a);
    case rsqrt:
      return 1 / std::sqrt(a);
    case square:
      return a * a;
    case reciprocal:
      return 1 / a;
    case exp:
      return std::exp(a);
    case exp2:
      return std::exp2(a);
    case expm1:
      return std::expm1(a);
    case log:
      return std::log(a);
    case log2:
      return std::log2(a);
    case log10:
      return std::log10(a);
    case log1p:
      return std::log1p(a);
    case sin:
      return std::sin(a);
    case cos:
      return std::cos(a);
    case tan:
      return std::tan(a);
    case tanh:
      return std::tanh(a);
    case sigmoid:
      return 1 / (1 + std::exp(-a));
    case erf:
      return std::erf(a);
    case floor:
      return std::floor(a);
    case round:
      return std::nearbyint(a);
    case max:
      return std::isnan(a) ? a : std::isnan(b) ? b : std::max(a, b);
    case min:
      return std::isnan(a) ? a : std::isnan(b) ? b : std::min(a, b);
    case where:
      return a != 0 ? b : c;
    case lt:
      return a < b;
    case gt:
      return a > b;
    case ge:
      return a >= b;
    case le:
      return a <= b;
    case eq:
      return a == b;
    case ne:
      return a != b;
    case logical_and:
      return a != 0 && b != 0;
    case logical_or:
      return a != 0 || b != 0;
    case logical_not:
      return a == 0;
    default:
      ADD_FAILURE() << "the oracle lacks " << scalar::info(fn).name;
      return NAN;
  }
}

}  // namespace paddle::cinn::testing
