// float32 functions written so that the compiler vectorises a loop over them: no branches, no calls.
// Coefficients are those of the Cephes library (S. Moshier); errors measured by tests/tile.
#pragma once
#include <bit>

#include "phi/kernels/cpu/tile/isa_simd.h"

namespace paddle::tile::detail::PD_ISA {
namespace {

// Adding and subtracting this rounds a small float to a whole number; the sum's low bits are that number.
inline constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23

// exp(t) as y * 2^n, for t in [-104, 89].
struct Exponential {
  float y;
  int32_t n;
};
inline Exponential exponential(float t) {
  const float shifted = t * 1.44269504f + kRounder;
  const int32_t n = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRounder);
  const float whole = shifted - kRounder;
  float r = t - whole * 0.693359375f;
  r = r + whole * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return {(p * r) * r + r + 1.0f, n};
}

inline float exp_f32(float x) {  // < 1.1 ulp
  float t = x < -104.0f ? -104.0f : x;
  t = t > 89.0f ? 89.0f : t;
  const auto [y, n] = exponential(t);
  const int32_t half = n >> 1;  // in two steps, since 2^n alone may be no normal number
  const float first = std::bit_cast<float>((half + 127) << 23), second = std::bit_cast<float>((n - half + 127) << 23);
  return y * first * second;
}

inline float log_f32(float x) {  // < 1 ulp
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 8388608.0f : x;
  const int32_t bits = std::bit_cast<int32_t>(scaled);
  float e = static_cast<float>((bits >> 23) - (tiny ? 126 + 23 : 126));
  float m = std::bit_cast<float>((bits & 0x007fffff) | 0x3f000000);
  const bool low = m < 0.707106781186547524f;
  e = low ? e - 1.0f : e;
  m = (low ? m + m : m) - 1.0f;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const float square = m * m;
  float y = p * m * square;
  y = y - 2.12194440e-4f * e;
  y = y - 0.5f * square;
  float result = m + y + 0.693359375f * e;
  result = x > 3.4028234e38f ? x : result;
  result = x == 0.0f ? -__builtin_inff() : result;
  return x >= 0.0f ? result : __builtin_nanf("");
}

inline float tanh_f32(float x) {  // < 2 ulp
  const float magnitude = __builtin_fabsf(x), z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = (p * z) * x + x;
  const float far = __builtin_copysignf(1.0f - 2.0f / (exp_f32(magnitude + magnitude) + 1.0f), x);
  return magnitude < 0.625f ? near : far;
}

inline float sigmoid_f32(float x) {  // < 2.5 ulp, also where the result is denormal
  const float e = exp_f32(-__builtin_fabsf(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

// Two minimax polynomials, the second in the exponent of 1 - exp (after N. Juffa).
inline float erf_f32(float x) {  // < 1.1 ulp with fused multiply-add
  const float t = __builtin_fabsf(x), s = x * x;
  float p = -1.72853470e-5f * t + 3.83197126e-4f;
  p = p * s + (-3.88396438e-3f * t + 2.42546219e-2f);
  p = p * t - 1.06777877e-1f;
  p = p * t - 6.34846687e-1f;
  p = p * t - 1.28717512e-1f;
  p = p * t - t;
  const float far = __builtin_copysignf(1.0f - exp_f32(p), x);
  float q = -5.96761703e-4f;
  q = q * s + 4.99119423e-3f;
  q = q * s - 2.67681349e-2f;
  q = q * s + 1.12819925e-1f;
  q = q * s - 3.76125336e-1f;
  q = q * s + 1.28379166e-1f;
  const float near = q * x + x;
  return t > 0.927734375f ? (t > 4.0f ? __builtin_copysignf(1.0f, x) : far) : (x != x ? x : near);
}

}  // namespace
}  // namespace paddle::tile::detail::PD_ISA
