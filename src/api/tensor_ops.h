// + - * / between tensors and numbers, for rules: short names for add, subtract, multiply, divide and scale.
#pragma once
#include "api/ops_math.h"

namespace paddle {

inline Tensor operator+(const Tensor& a, const Tensor& b) { return ops::add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return ops::subtract(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return ops::multiply(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return ops::divide(a, b); }
inline Tensor operator-(const Tensor& a) { return ops::scale(a, -1.0); }
inline Tensor operator+(const Tensor& a, double b) { return ops::scale(a, 1.0, b); }
inline Tensor operator+(double a, const Tensor& b) { return ops::scale(b, 1.0, a); }
inline Tensor operator-(const Tensor& a, double b) { return ops::scale(a, 1.0, -b); }
inline Tensor operator-(double a, const Tensor& b) { return ops::scale(b, -1.0, a); }
inline Tensor operator*(const Tensor& a, double b) { return ops::scale(a, b); }
inline Tensor operator*(double a, const Tensor& b) { return ops::scale(b, a); }
inline Tensor operator/(const Tensor& a, double b) { return ops::scale(a, 1.0 / b); }
inline Tensor operator/(double a, const Tensor& b) { return ops::scale(ops::reciprocal(b), a); }

}  // namespace paddle
