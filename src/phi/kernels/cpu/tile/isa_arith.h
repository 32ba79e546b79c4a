// Loops of the scalar functions over register tiles.
#pragma once
#include <math.h>

#include "phi/kernels/cpu/tile/isa_math.h"

namespace paddle::tile::detail::PD_ISA {
namespace {

using scalar::Fn;

template <class T>
inline constexpr Compute kComputeOf = Compute::kCount;
template <>
inline constexpr Compute kComputeOf<float> = Compute::kF32;
template <>
inline constexpr Compute kComputeOf<double> = Compute::kF64;
template <>
inline constexpr Compute kComputeOf<int32_t> = Compute::kI32;
template <>
inline constexpr Compute kComputeOf<int64_t> = Compute::kI64;
template <>
inline constexpr Compute kComputeOf<uint64_t> = Compute::kU64;

template <class T, class Op>
void unary(void* out, const void* a, const void*, const void*, unsigned, int64_t n) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) o[i] = Op{}(x[i]);
}

template <class T, class Op>
void binary(void* out, const void* a, const void* b, const void*, unsigned scalars, int64_t n) {
  T* o = static_cast<T*>(out);
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  if (scalars == 0) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) o[i] = Op{}(x[i], y[i]);
  } else if (scalars == 2) {
    const T s = *y;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) o[i] = Op{}(x[i], s);
  } else if (scalars == 1) {
    const T s = *x;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) o[i] = Op{}(s, y[i]);
  } else {
    const T value = Op{}(*x, *y);
    for (int64_t i = 0; i < n; ++i) o[i] = value;
  }
}

template <class T, bool A, bool B, bool C, class Op>
inline void ternary_loop(T* o, const T* x, const T* y, const T* z, int64_t n) {
  const T sx = *x, sy = *y, sz = *z;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) o[i] = Op{}(A ? sx : x[i], B ? sy : y[i], C ? sz : z[i]);
}

template <class T, class Op>
void ternary(void* out, const void* a, const void* b, const void* c, unsigned scalars, int64_t n) {
  T* o = static_cast<T*>(out);
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b), *z = static_cast<const T*>(c);
  if (n <= 0) return;
  switch (scalars) {
    case 0:
      return ternary_loop<T, false, false, false, Op>(o, x, y, z, n);
    case 1:
      return ternary_loop<T, true, false, false, Op>(o, x, y, z, n);
    case 2:
      return ternary_loop<T, false, true, false, Op>(o, x, y, z, n);
    case 3:
      return ternary_loop<T, true, true, false, Op>(o, x, y, z, n);
    case 4:
      return ternary_loop<T, false, false, true, Op>(o, x, y, z, n);
    case 5:
      return ternary_loop<T, true, false, true, Op>(o, x, y, z, n);
    case 6:
      return ternary_loop<T, false, true, true, Op>(o, x, y, z, n);
    default:
      return ternary_loop<T, true, true, true, Op>(o, x, y, z, n);
  }
}

template <class... Ts>
struct Types {};
using Floats = Types<float, double>;
using Ints = Types<int32_t, int64_t, uint64_t>;
using Reals = Types<float, double, int32_t, int64_t, uint64_t>;

inline FnKernel& slot(KernelTable& t, Compute c, Fn f) { return t.fn[static_cast<int>(c)][static_cast<int>(f)]; }

template <class... Ts, class Op>
void on_unary(KernelTable& t, Types<Ts...>, Fn f, Op) {
  ((slot(t, kComputeOf<Ts>, f) = &unary<Ts, Op>), ...);
}
template <class... Ts, class Op>
void on_binary(KernelTable& t, Types<Ts...>, Fn f, Op) {
  ((slot(t, kComputeOf<Ts>, f) = &binary<Ts, Op>), ...);
}
template <class... Ts, class Op>
void on_ternary(KernelTable& t, Types<Ts...>, Fn f, Op) {
  ((slot(t, kComputeOf<Ts>, f) = &ternary<Ts, Op>), ...);
}
template <auto F, auto D>
void on_vector_unary(KernelTable& t, Fn f) {
  slot(t, Compute::kF32, f) = &vector_unary<float, F>;
  slot(t, Compute::kF64, f) = &vector_unary<double, D>;
}
template <auto F, auto D>
void on_vector_binary(KernelTable& t, Fn f) {
  slot(t, Compute::kF32, f) = &vector_binary<float, F>;
  slot(t, Compute::kF64, f) = &vector_binary<double, D>;
}

inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }
inline float magnitude(float x) { return __builtin_fabsf(x); }
inline double magnitude(double x) { return __builtin_fabs(x); }
inline float with_sign(float x, float s) { return __builtin_copysignf(x, s); }
inline double with_sign(double x, double s) { return __builtin_copysign(x, s); }
inline float truncated(float x) { return __builtin_truncf(x); }
inline double truncated(double x) { return __builtin_trunc(x); }
// One rounding where the processor has it; elsewhere in double, which rounds a float32 product exactly.
inline float multiply_add(float a, float b, float c) {
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return static_cast<float>(static_cast<double>(a) * b + c);
#endif
}
inline double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }

// NaN wins on either side: a if it is NaN, and b if it is, since comparing with it fails.
template <class T>
inline T larger(T a, T b) {
  const T r = a > b ? a : b;
  return a != a ? a : r;
}
template <class T>
inline T smaller(T a, T b) {
  const T r = a < b ? a : b;
  return a != a ? a : r;
}

void fill_arithmetic(KernelTable& t) {
  on_binary(t, Reals{}, Fn::add, []<class T>(T a, T b) { return a + b; });
  on_binary(t, Reals{}, Fn::sub, []<class T>(T a, T b) { return a - b; });
  on_binary(t, Reals{}, Fn::mul, []<class T>(T a, T b) { return a * b; });
  on_binary(t, Floats{}, Fn::div, []<class T>(T a, T b) { return a / b; });
  on_unary(t, Reals{}, Fn::neg, []<class T>(T a) { return -a; });
  on_unary(t, Floats{}, Fn::abs, []<class T>(T a) { return magnitude(a); });
  on_unary(t, Types<int32_t, int64_t>{}, Fn::abs, []<class T>(T a) { return a < 0 ? -a : a; });
  on_unary(t, Types<uint64_t>{}, Fn::abs, []<class T>(T a) { return a; });
  on_unary(t, Floats{}, Fn::sign, []<class T>(T a) { return a > 0 ? T(1) : a < 0 ? T(-1) : a == 0 ? T(0) : a; });
  on_unary(t, Types<int32_t, int64_t>{}, Fn::sign, []<class T>(T a) { return T(a > 0) - T(a < 0); });
  on_unary(t, Types<uint64_t>{}, Fn::sign, []<class T>(T a) { return T(a != 0); });
  on_unary(t, Floats{}, Fn::reciprocal, []<class T>(T a) { return T(1) / a; });
  on_unary(t, Reals{}, Fn::square, []<class T>(T a) { return a * a; });
  on_ternary(t, Floats{}, Fn::fma, []<class T>(T a, T b, T c) { return multiply_add(a, b, c); });
  on_ternary(t, Ints{}, Fn::fma, []<class T>(T a, T b, T c) { return a * b + c; });
  on_unary(t, Floats{}, Fn::sqrt, []<class T>(T a) { return root(a); });
  on_unary(t, Floats{}, Fn::rsqrt, []<class T>(T a) { return T(1) / root(a); });
  on_unary(t, Types<float>{}, Fn::floor, [](float a) { return __builtin_floorf(a); });
  on_unary(t, Types<double>{}, Fn::floor, [](double a) { return __builtin_floor(a); });
  on_unary(t, Types<float>{}, Fn::ceil, [](float a) { return __builtin_ceilf(a); });
  on_unary(t, Types<double>{}, Fn::ceil, [](double a) { return __builtin_ceil(a); });
  on_unary(t, Types<float>{}, Fn::round, [](float a) { return __builtin_rintf(a); });
  on_unary(t, Types<double>{}, Fn::round, [](double a) { return __builtin_rint(a); });
  on_unary(t, Floats{}, Fn::trunc, []<class T>(T a) { return truncated(a); });
  on_unary(t, Floats{}, Fn::frac, []<class T>(T a) { return a - truncated(a); });
  for (Fn f : {Fn::floor, Fn::ceil, Fn::round, Fn::trunc}) on_unary(t, Ints{}, f, []<class T>(T a) { return a; });
  on_unary(t, Ints{}, Fn::frac, []<class T>(T) { return T(0); });
}

void fill_choice(KernelTable& t) {
  on_binary(t, Floats{}, Fn::min, []<class T>(T a, T b) { return smaller(a, b); });
  on_binary(t, Floats{}, Fn::max, []<class T>(T a, T b) { return larger(a, b); });
  on_binary(t, Floats{}, Fn::fmin, []<class T>(T a, T b) {
    const T r = b < a ? b : a;
    return a != a ? b : r;
  });
  on_binary(t, Floats{}, Fn::fmax, []<class T>(T a, T b) {
    const T r = b > a ? b : a;
    return a != a ? b : r;
  });
  for (Fn f : {Fn::min, Fn::fmin}) on_binary(t, Ints{}, f, []<class T>(T a, T b) { return a < b ? a : b; });
  for (Fn f : {Fn::max, Fn::fmax}) on_binary(t, Ints{}, f, []<class T>(T a, T b) { return a > b ? a : b; });
  on_ternary(t, Reals{}, Fn::where, []<class T>(T c, T a, T b) { return c != 0 ? a : b; });
  on_binary(t, Floats{}, Fn::copysign, []<class T>(T a, T b) { return with_sign(a, b); });
  on_binary(t, Reals{}, Fn::eq, []<class T>(T a, T b) { return T(a == b ? 1 : 0); });
  on_binary(t, Reals{}, Fn::ne, []<class T>(T a, T b) { return T(a != b ? 1 : 0); });
  on_binary(t, Reals{}, Fn::lt, []<class T>(T a, T b) { return T(a < b ? 1 : 0); });
  on_binary(t, Reals{}, Fn::le, []<class T>(T a, T b) { return T(a <= b ? 1 : 0); });
  on_binary(t, Reals{}, Fn::gt, []<class T>(T a, T b) { return T(a > b ? 1 : 0); });
  on_binary(t, Reals{}, Fn::ge, []<class T>(T a, T b) { return T(a >= b ? 1 : 0); });
  on_binary(t, Reals{}, Fn::logical_and, []<class T>(T a, T b) { return T((a != 0) & (b != 0) ? 1 : 0); });
  on_binary(t, Reals{}, Fn::logical_or, []<class T>(T a, T b) { return T((a != 0) | (b != 0) ? 1 : 0); });
  on_binary(t, Reals{}, Fn::logical_xor, []<class T>(T a, T b) { return T((a != 0) ^ (b != 0) ? 1 : 0); });
  on_unary(t, Reals{}, Fn::logical_not, []<class T>(T a) { return T(a == 0 ? 1 : 0); });
  on_unary(t, Reals{}, Fn::isnan, []<class T>(T a) { return T(a != a ? 1 : 0); });
  on_unary(t, Floats{}, Fn::isinf, []<class T>(T a) { return T(magnitude(a) == T(__builtin_inf()) ? 1 : 0); });
  on_unary(t, Floats{}, Fn::isfinite, []<class T>(T a) { return T(magnitude(a) < T(__builtin_inf()) ? 1 : 0); });
  on_unary(t, Ints{}, Fn::isinf, []<class T>(T) { return T(0); });
  on_unary(t, Ints{}, Fn::isfinite, []<class T>(T) { return T(1); });
  on_unary(t, Floats{}, Fn::signbit, []<class T>(T a) { return T(with_sign(T(1), a) < 0 ? 1 : 0); });
  on_unary(t, Ints{}, Fn::signbit, []<class T>(T a) { return T(a < 0 ? 1 : 0); });
  on_binary(t, Ints{}, Fn::bitwise_and, []<class T>(T a, T b) { return a & b; });
  on_binary(t, Ints{}, Fn::bitwise_or, []<class T>(T a, T b) { return a | b; });
  on_binary(t, Ints{}, Fn::bitwise_xor, []<class T>(T a, T b) { return a ^ b; });
  on_unary(t, Ints{}, Fn::bitwise_not, []<class T>(T a) { return ~a; });
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"

// pow with the exponents that people write most.
template <class T, auto F>
void power(void* out, const void* a, const void* b, const void* c, unsigned scalars, int64_t n) {
  if ((scalars & 3) == 2) {
    const T exponent = *static_cast<const T*>(b);
    if (exponent == T(2)) return unary<T, decltype([](T x) { return x * x; })>(out, a, b, c, 0, n);
    if (exponent == T(3)) return unary<T, decltype([](T x) { return x * x * x; })>(out, a, b, c, 0, n);
    if (exponent == T(-1)) return unary<T, decltype([](T x) { return T(1) / x; })>(out, a, b, c, 0, n);
  }
  vector_binary<T, F>(out, a, b, c, scalars, n);
}

// 1 / (1 + exp(-x)) from exp(-|x|), which does not overflow.
void sigmoid_f64(void* out, const void* a, const void* b, const void* c, unsigned, int64_t n) {
  constexpr int64_t kChunk = 256;
  for (int64_t at = 0; at < n; at += kChunk) {
    const int64_t count = n - at < kChunk ? n - at : kChunk;
    double* o = static_cast<double*>(out) + at;
    const double* x = static_cast<const double*>(a) + at;
    double e[kChunk];
    for (int64_t i = 0; i < count; ++i) e[i] = -magnitude(x[i]);
    vector_unary<double, PD_SLEEF_D(exp, u10)>(e, e, b, c, 0, count);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) o[i] = (x[i] < 0 ? e[i] : 1.0) / (1.0 + e[i]);
  }
}

// F, but Exact (libm's) where |x| > kLimit: SLEEF gives infinity a little before the result overflows.
template <class T, auto F, auto Exact, double kLimit>
void vector_unary_limited(void* out, const void* a, const void* b, const void* c, unsigned, int64_t n) {
  constexpr int64_t kChunk = 256;
  for (int64_t at = 0; at < n; at += kChunk) {
    const int64_t count = n - at < kChunk ? n - at : kChunk;
    T* o = static_cast<T*>(out) + at;
    T x[kChunk];  // kept, since `out` may be the operand
    std::memcpy(x, static_cast<const T*>(a) + at, count * sizeof(T));
    vector_unary<T, F>(o, x, b, c, 0, count);
    int beyond = 0;
#pragma omp simd reduction(| : beyond)
    for (int64_t i = 0; i < count; ++i) beyond |= magnitude(x[i]) > T(kLimit) ? 1 : 0;
    for (int64_t i = 0; beyond && i < count; ++i) {
      if (magnitude(x[i]) > T(kLimit)) o[i] = Exact(x[i]);
    }
  }
}

template <auto F, auto D, auto ExactF, auto ExactD, double kLimitF, double kLimitD>
void on_vector_unary_limited(KernelTable& t, Fn f) {
  slot(t, Compute::kF32, f) = &vector_unary_limited<float, F, ExactF, kLimitF>;
  slot(t, Compute::kF64, f) = &vector_unary_limited<double, D, ExactD, kLimitD>;
}

void fill_transcendental(KernelTable& t) {
  on_unary(t, Types<float>{}, Fn::exp, [](float a) { return exp_f32(a); });
  on_unary(t, Types<float>{}, Fn::log, [](float a) { return log_f32(a); });
  on_unary(t, Types<float>{}, Fn::tanh, [](float a) { return tanh_f32(a); });
  on_unary(t, Types<float>{}, Fn::sigmoid, [](float a) { return sigmoid_f32(a); });
  slot(t, Compute::kF64, Fn::exp) = &vector_unary<double, PD_SLEEF_D(exp, u10)>;
  slot(t, Compute::kF64, Fn::log) = &vector_unary<double, PD_SLEEF_D(log, u10)>;
  slot(t, Compute::kF64, Fn::tanh) = &vector_unary<double, PD_SLEEF_D(tanh, u10)>;
  slot(t, Compute::kF64, Fn::sigmoid) = &sigmoid_f64;
  on_vector_unary<PD_SLEEF_F(exp2, u10), PD_SLEEF_D(exp2, u10)>(t, Fn::exp2);
  on_vector_unary<PD_SLEEF_F(expm1, u10), PD_SLEEF_D(expm1, u10)>(t, Fn::expm1);
  on_vector_unary<PD_SLEEF_F(log2, u10), PD_SLEEF_D(log2, u10)>(t, Fn::log2);
  on_vector_unary<PD_SLEEF_F(log10, u10), PD_SLEEF_D(log10, u10)>(t, Fn::log10);
  on_vector_unary_limited<PD_SLEEF_F(log1p, u10), PD_SLEEF_D(log1p, u10), ::log1pf,
                          static_cast<double (*)(double)>(::log1p), 1e37, 1e300>(t, Fn::log1p);
  on_vector_unary<PD_SLEEF_F(cbrt, u10), PD_SLEEF_D(cbrt, u10)>(t, Fn::cbrt);
  on_vector_unary<PD_SLEEF_F(sin, u10), PD_SLEEF_D(sin, u10)>(t, Fn::sin);
  on_vector_unary<PD_SLEEF_F(cos, u10), PD_SLEEF_D(cos, u10)>(t, Fn::cos);
  on_vector_unary<PD_SLEEF_F(tan, u10), PD_SLEEF_D(tan, u10)>(t, Fn::tan);
  on_vector_unary<PD_SLEEF_F(asin, u10), PD_SLEEF_D(asin, u10)>(t, Fn::asin);
  on_vector_unary<PD_SLEEF_F(acos, u10), PD_SLEEF_D(acos, u10)>(t, Fn::acos);
  on_vector_unary<PD_SLEEF_F(atan, u10), PD_SLEEF_D(atan, u10)>(t, Fn::atan);
  on_vector_unary_limited<PD_SLEEF_F(sinh, u10), PD_SLEEF_D(sinh, u10), ::sinhf,
                          static_cast<double (*)(double)>(::sinh), 88.0, 709.0>(t, Fn::sinh);
  on_vector_unary_limited<PD_SLEEF_F(cosh, u10), PD_SLEEF_D(cosh, u10), ::coshf,
                          static_cast<double (*)(double)>(::cosh), 88.0, 709.0>(t, Fn::cosh);
  on_vector_unary_limited<PD_SLEEF_F(asinh, u10), PD_SLEEF_D(asinh, u10), ::asinhf,
                          static_cast<double (*)(double)>(::asinh), 1e18, 1e150>(t, Fn::asinh);
  on_vector_unary_limited<PD_SLEEF_F(acosh, u10), PD_SLEEF_D(acosh, u10), ::acoshf,
                          static_cast<double (*)(double)>(::acosh), 1e18, 1e150>(t, Fn::acosh);
  on_vector_unary<PD_SLEEF_F(atanh, u10), PD_SLEEF_D(atanh, u10)>(t, Fn::atanh);
  on_unary(t, Types<float>{}, Fn::erf, [](float a) { return erf_f32(a); });
  slot(t, Compute::kF64, Fn::erf) = &vector_unary<double, PD_SLEEF_D(erf, u10)>;
  on_vector_unary<PD_SLEEF_F(erfc, u15), PD_SLEEF_D(erfc, u15)>(t, Fn::erfc);
  on_vector_binary<PD_SLEEF_F(atan2, u10), PD_SLEEF_D(atan2, u10)>(t, Fn::atan2);
  on_vector_binary<PD_SLEEF_F(hypot, u05), PD_SLEEF_D(hypot, u05)>(t, Fn::hypot);
  slot(t, Compute::kF32, Fn::pow) = &power<float, PD_SLEEF_F(pow, u10)>;
  slot(t, Compute::kF64, Fn::pow) = &power<double, PD_SLEEF_D(pow, u10)>;
}

#pragma GCC diagnostic pop

}  // namespace
}  // namespace paddle::tile::detail::PD_ISA
