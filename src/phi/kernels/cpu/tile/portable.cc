// Loops that gain nothing from wider instructions: complex numbers, special functions, integer division that must not
// trap, and conversions of rare types. Compiled once, for any x86-64.
#include <bit>
#include <cmath>
#include <complex>
#include <limits>

#include "phi/kernels/cpu/tile/convert_value.h"
#include "phi/kernels/cpu/tile/kernel_table.h"
#include "phi/kernels/cpu/tile/special.h"

namespace paddle::tile::detail {
namespace {

using scalar::Fn;
using c64 = std::complex<float>;
using c128 = std::complex<double>;

template <class T>
constexpr Compute compute_of() {
  if constexpr (std::is_same_v<T, float>) return Compute::kF32;
  if constexpr (std::is_same_v<T, double>) return Compute::kF64;
  if constexpr (std::is_same_v<T, int32_t>) return Compute::kI32;
  if constexpr (std::is_same_v<T, int64_t>) return Compute::kI64;
  if constexpr (std::is_same_v<T, uint64_t>) return Compute::kU64;
  if constexpr (std::is_same_v<T, c64>) return Compute::kC64;
  if constexpr (std::is_same_v<T, c128>) return Compute::kC128;
}

template <class T, class Op>
void loop(void* out, const void* a, const void* b, const void* c, unsigned scalars, int64_t n) {
  T* o = static_cast<T*>(out);
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b), *z = static_cast<const T*>(c);
  const int64_t sx = scalars & 1 ? 0 : 1, sy = scalars & 2 ? 0 : 1, sz = scalars & 4 ? 0 : 1;
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_invocable_v<Op, T>)
      o[i] = Op{}(x[i * sx]);
    else if constexpr (std::is_invocable_v<Op, T, T>)
      o[i] = Op{}(x[i * sx], y[i * sy]);
    else
      o[i] = Op{}(x[i * sx], y[i * sy], z[i * sz]);
  }
}

template <class... Ts>
struct Types {};
using Floats = Types<float, double>;
using Ints = Types<int32_t, int64_t, uint64_t>;
using Complexes = Types<c64, c128>;

template <class... Ts, class Op>
void on(KernelTable& t, Types<Ts...>, Fn f, Op) {
  ((t.fn[static_cast<int>(compute_of<Ts>())][static_cast<int>(f)] = &loop<Ts, Op>), ...);
}

// -- integers: division by zero gives 0, the least number over -1 wraps around

template <class T>
T divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return -a;
  }
  return a / b;
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return a % b;
}
template <class T>
T floor_divide(T a, T b) {
  const T q = divide(a, b), r = remainder(a, b);
  return r != 0 && ((r < 0) != (b < 0)) ? q - 1 : q;
}
template <class T>
T floor_modulo(T a, T b) {
  const T r = remainder(a, b);
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}
template <class T>
T power(T base, T exponent) {
  if (exponent < 0) {  // the truncated quotient 1 / base^-exponent
    if (base == 1) return 1;
    return base == T(-1) ? (exponent % 2 ? T(-1) : T(1)) : T(0);
  }
  T result = 1;
  for (std::make_unsigned_t<T> e = exponent; e; e >>= 1, base *= base) {
    if (e & 1) result *= base;
  }
  return result;
}
template <class T>
bool in_width(T count) {
  return count >= 0 && static_cast<uint64_t>(count) < sizeof(T) * 8;
}

void fill_integers(KernelTable& t) {
  on(t, Ints{}, Fn::div, []<class T>(T a, T b) { return divide(a, b); });
  on(t, Ints{}, Fn::floor_div, []<class T>(T a, T b) { return floor_divide(a, b); });
  on(t, Ints{}, Fn::mod, []<class T>(T a, T b) { return floor_modulo(a, b); });
  on(t, Ints{}, Fn::fmod, []<class T>(T a, T b) { return remainder(a, b); });
  on(t, Ints{}, Fn::pow, []<class T>(T a, T b) { return power(a, b); });
  on(t, Ints{}, Fn::reciprocal, []<class T>(T a) { return divide(T(1), a); });
  on(t, Ints{}, Fn::shift_left, []<class T>(T a, T b) { return in_width(b) ? a << b : T(0); });
  on(t, Ints{}, Fn::shift_right, []<class T>(T a, T b) { return in_width(b) ? a >> b : a < 0 ? T(-1) : T(0); });
  on(t, Ints{}, Fn::shift_right_logical, []<class T>(T a, T b) {
    return in_width(b) ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) >> b) : T(0);
  });
  for (Fn f : {Fn::conj, Fn::real}) on(t, Ints{}, f, []<class T>(T a) { return a; });
  for (Fn f : {Fn::imag, Fn::angle}) on(t, Ints{}, f, []<class T>(T) { return T(0); });
}

// -- real functions

template <class T>
T float_mod(T a, T b) {
  T m = std::fmod(a, b);
  if (m == 0) return std::copysign(T(0), b);
  return (m < 0) != (b < 0) ? m + b : m;
}
// NumPy's: exact where the quotient is a whole number.
template <class T>
T float_floor_divide(T a, T b) {
  if (b == 0) return a / b;
  T m = std::fmod(a, b), q = (a - m) / b;
  if (m != 0 && (m < 0) != (b < 0)) q -= 1;
  if (q == 0) return std::copysign(T(0), a / b);
  const T whole = std::floor(q);
  return q - whole > T(0.5) ? whole + 1 : whole;
}
template <class T>
T log_gamma(T x) {
  int sign;
  if constexpr (sizeof(T) == 4)
    return static_cast<T>(lgamma_r(static_cast<double>(x), &sign));
  else
    return lgamma_r(x, &sign);
}

// y exp(|x|), in two steps: exp alone overflows before the product does.
double unscaled(double y, double x) {
  const double half = std::exp(std::abs(x) / 2);
  return y * half * half;
}

void fill_special(KernelTable& t) {
  on(t, Floats{}, Fn::mod, []<class T>(T a, T b) { return float_mod(a, b); });
  on(t, Floats{}, Fn::fmod, []<class T>(T a, T b) { return std::fmod(a, b); });
  on(t, Floats{}, Fn::floor_div, []<class T>(T a, T b) { return float_floor_divide(a, b); });
  on(t, Floats{}, Fn::nextafter, []<class T>(T a, T b) { return std::nextafter(a, b); });
  on(t, Floats{}, Fn::lgamma, []<class T>(T a) { return log_gamma(a); });
  on(t, Floats{}, Fn::digamma, []<class T>(T a) { return T(digamma(a)); });
  on(t, Floats{}, Fn::polygamma, []<class T>(T n, T a) { return T(polygamma(n, a)); });
  on(t, Floats{}, Fn::gammainc, []<class T>(T a, T x) { return T(gammainc(a, x)); });
  on(t, Floats{}, Fn::gammaincc, []<class T>(T a, T x) { return T(gammaincc(a, x)); });
  on(t, Floats{}, Fn::erfinv, []<class T>(T a) { return T(erfinv(a)); });
  on(t, Floats{}, Fn::i0e, []<class T>(T a) { return T(bessel_i0e(a)); });
  on(t, Floats{}, Fn::i1e, []<class T>(T a) { return T(bessel_i1e(a)); });
  on(t, Floats{}, Fn::i0, []<class T>(T a) { return T(unscaled(bessel_i0e(a), a)); });
  on(t, Floats{}, Fn::i1, []<class T>(T a) { return T(unscaled(bessel_i1e(a), a)); });
  for (Fn f : {Fn::conj, Fn::real}) on(t, Floats{}, f, []<class T>(T a) { return a; });
  on(t, Floats{}, Fn::imag, []<class T>(T) { return T(0); });
  on(t, Floats{}, Fn::angle, []<class T>(T a) { return a < 0 ? T(3.14159265358979323846) : a != a ? a : T(0); });
}

// -- complex numbers

template <class T>
bool truth(T z) {
  return z.real() != 0 || z.imag() != 0;
}
template <class T>
T as_truth(bool b) {
  return T(b ? 1 : 0);
}
template <class T>
T complex_expm1(T z) {
  using R = typename T::value_type;
  const R half = std::sin(z.imag() / 2), e = std::exp(z.real());
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, e * std::sin(z.imag())};
}
template <class T>
T complex_log1p(T z) {
  using R = typename T::value_type;
  const R x = z.real(), y = z.imag();
  if (std::abs(x) > R(0.5) || std::abs(y) > R(0.5)) return std::log(T(1) + z);
  return {std::log1p(x * (2 + x) + y * y) / 2, std::atan2(y, 1 + x)};
}
template <class T>
T complex_pow(T a, T b) {
  if (b == T(0)) return T(1);
  if (b == T(2)) return a * a;
  if (a == T(0)) return b.real() > 0 ? T(0) : T(std::numeric_limits<typename T::value_type>::quiet_NaN());
  return std::pow(a, b);
}

void fill_complex(KernelTable& t) {
  const Complexes c;
  on(t, c, Fn::add, []<class T>(T a, T b) { return a + b; });
  on(t, c, Fn::sub, []<class T>(T a, T b) { return a - b; });
  on(t, c, Fn::mul, []<class T>(T a, T b) { return a * b; });
  on(t, c, Fn::div, []<class T>(T a, T b) { return a / b; });
  on(t, c, Fn::pow, []<class T>(T a, T b) { return complex_pow(a, b); });
  on(t, c, Fn::neg, []<class T>(T a) { return -a; });
  on(t, c, Fn::abs, []<class T>(T a) { return T(std::abs(a)); });
  on(t, c, Fn::sign, []<class T>(T a) { return truth(a) ? a / std::abs(a) : T(0); });
  on(t, c, Fn::reciprocal, []<class T>(T a) { return T(1) / a; });
  on(t, c, Fn::square, []<class T>(T a) { return a * a; });
  on(t, c, Fn::fma, []<class T>(T a, T b, T d) { return a * b + d; });
  on(t, c, Fn::sqrt, []<class T>(T a) { return std::sqrt(a); });
  on(t, c, Fn::rsqrt, []<class T>(T a) { return T(1) / std::sqrt(a); });
  on(t, c, Fn::exp, []<class T>(T a) { return std::exp(a); });
  on(t, c, Fn::expm1, []<class T>(T a) { return complex_expm1(a); });
  on(t, c, Fn::log, []<class T>(T a) { return std::log(a); });
  on(t, c, Fn::log2, []<class T>(T a) { return std::log(a) * typename T::value_type(1.4426950408889634); });
  on(t, c, Fn::log10, []<class T>(T a) { return std::log10(a); });
  on(t, c, Fn::log1p, []<class T>(T a) { return complex_log1p(a); });
  on(t, c, Fn::sin, []<class T>(T a) { return std::sin(a); });
  on(t, c, Fn::cos, []<class T>(T a) { return std::cos(a); });
  on(t, c, Fn::tan, []<class T>(T a) { return std::tan(a); });
  on(t, c, Fn::asin, []<class T>(T a) { return std::asin(a); });
  on(t, c, Fn::acos, []<class T>(T a) { return std::acos(a); });
  on(t, c, Fn::atan, []<class T>(T a) { return std::atan(a); });
  on(t, c, Fn::sinh, []<class T>(T a) { return std::sinh(a); });
  on(t, c, Fn::cosh, []<class T>(T a) { return std::cosh(a); });
  on(t, c, Fn::tanh, []<class T>(T a) { return std::tanh(a); });
  on(t, c, Fn::asinh, []<class T>(T a) { return std::asinh(a); });
  on(t, c, Fn::acosh, []<class T>(T a) { return std::acosh(a); });
  on(t, c, Fn::atanh, []<class T>(T a) { return std::atanh(a); });
  on(t, c, Fn::sigmoid, []<class T>(T a) { return T(1) / (T(1) + std::exp(-a)); });
  on(t, c, Fn::where, []<class T>(T q, T a, T b) { return truth(q) ? a : b; });
  on(t, c, Fn::eq, []<class T>(T a, T b) { return as_truth<T>(a == b); });
  on(t, c, Fn::ne, []<class T>(T a, T b) { return as_truth<T>(a != b); });
  on(t, c, Fn::logical_and, []<class T>(T a, T b) { return as_truth<T>(truth(a) && truth(b)); });
  on(t, c, Fn::logical_or, []<class T>(T a, T b) { return as_truth<T>(truth(a) || truth(b)); });
  on(t, c, Fn::logical_xor, []<class T>(T a, T b) { return as_truth<T>(truth(a) != truth(b)); });
  on(t, c, Fn::logical_not, []<class T>(T a) { return as_truth<T>(!truth(a)); });
  on(t, c, Fn::isnan, []<class T>(T a) { return as_truth<T>(std::isnan(a.real()) || std::isnan(a.imag())); });
  on(t, c, Fn::isinf, []<class T>(T a) { return as_truth<T>(std::isinf(a.real()) || std::isinf(a.imag())); });
  on(t, c, Fn::isfinite, []<class T>(T a) { return as_truth<T>(std::isfinite(a.real()) && std::isfinite(a.imag())); });
  on(t, c, Fn::conj, []<class T>(T a) { return std::conj(a); });
  on(t, c, Fn::real, []<class T>(T a) { return T(a.real()); });
  on(t, c, Fn::imag, []<class T>(T a) { return T(a.imag()); });
  on(t, c, Fn::angle, []<class T>(T a) { return T(std::arg(a)); });
  on(t, c, Fn::complex, []<class T>(T a, T b) { return T(a.real(), b.real()); });
}

// -- conversions

template <class D, class S>
D convert_any(S s) {
  if constexpr (std::is_same_v<D, S>)
    return s;
  else if constexpr (std::is_same_v<S, c64> || std::is_same_v<S, c128>) {
    if constexpr (std::is_same_v<D, c64> || std::is_same_v<D, c128>)
      return D(s);
    else if constexpr (std::is_same_v<D, boolean>)
      return boolean{truth(s)};
    else
      return convert_value<D>(s.real());
  } else if constexpr (std::is_same_v<D, c64> || std::is_same_v<D, c128>) {
    return D(convert_value<typename D::value_type>(s));
  } else {
    return convert_value<D>(s);
  }
}

template <class D, class S>
void convert(void* dst, int64_t ds, const void* src, int64_t ss, int64_t n) {
  D* d = static_cast<D*>(dst);
  const S* s = static_cast<const S*>(src);
  for (int64_t i = 0; i < n; ++i) d[i * ds] = convert_any<D>(s[i * ss]);
}

template <class T, class S>
void on_dtype(KernelTable& t, DType dtype) {
  t.load[static_cast<int>(compute_of<T>())][static_cast<int>(dtype)] = &convert<T, S>;
  t.store[static_cast<int>(compute_of<T>())][static_cast<int>(dtype)] = &convert<S, T>;
}

template <class T>
void fill_conversions(KernelTable& t) {
  on_dtype<T, boolean>(t, DType::kBool);
  on_dtype<T, uint8_t>(t, DType::kUInt8);
  on_dtype<T, int8_t>(t, DType::kInt8);
  on_dtype<T, int16_t>(t, DType::kInt16);
  on_dtype<T, int32_t>(t, DType::kInt32);
  on_dtype<T, int64_t>(t, DType::kInt64);
  on_dtype<T, uint16_t>(t, DType::kUInt16);
  on_dtype<T, uint32_t>(t, DType::kUInt32);
  on_dtype<T, uint64_t>(t, DType::kUInt64);
  on_dtype<T, float16>(t, DType::kFloat16);
  on_dtype<T, bfloat16>(t, DType::kBFloat16);
  on_dtype<T, float>(t, DType::kFloat32);
  on_dtype<T, double>(t, DType::kFloat64);
  on_dtype<T, c64>(t, DType::kComplex64);
  on_dtype<T, c128>(t, DType::kComplex128);
  on_dtype<T, float8_e4m3fn>(t, DType::kFloat8E4M3FN);
  on_dtype<T, float8_e5m2>(t, DType::kFloat8E5M2);
}

// -- reductions of complex numbers

template <class T, bool kProduct>
void reduce(void* out, const void* a, int64_t n) {
  const T* x = static_cast<const T*>(a);
  T parts[8];
  for (T& p : parts) p = T(kProduct ? 1 : 0);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kProduct)
      parts[i % 8] *= x[i];
    else
      parts[i % 8] += x[i];
  }
  T result = parts[0];
  for (int k = 1; k < 8; ++k) result = kProduct ? result * parts[k] : result + parts[k];
  *static_cast<T*>(out) = result;
}

template <class T, bool kProduct>
void fold_rows(void* accumulator, const void* a, int64_t stride, int64_t rows, int64_t cols) {
  T* acc = static_cast<T*>(accumulator);
  const T* x = static_cast<const T*>(a);
  for (int64_t r = 0; r < rows; ++r, x += stride) {
    for (int64_t j = 0; j < cols; ++j) {
      if constexpr (kProduct)
        acc[j] *= x[j];
      else
        acc[j] += x[j];
    }
  }
}

template <class T, bool kAny>
void reduce_truth(void* out, const void* a, int64_t n) {
  const T* x = static_cast<const T*>(a);
  bool found = false;
  for (int64_t i = 0; i < n && !found; ++i) found = truth(x[i]) == kAny;
  *static_cast<T*>(out) = as_truth<T>(found == kAny);
}

template <class T, bool kAny>
void fold_rows_truth(void* accumulator, const void* a, int64_t stride, int64_t rows, int64_t cols) {
  T* acc = static_cast<T*>(accumulator);
  const T* x = static_cast<const T*>(a);
  for (int64_t r = 0; r < rows; ++r, x += stride) {
    for (int64_t j = 0; j < cols; ++j) {
      acc[j] = as_truth<T>(kAny ? truth(acc[j]) || truth(x[j]) : truth(acc[j]) && truth(x[j]));
    }
  }
}

template <class T>
void fill_reductions(KernelTable& t) {
  auto& reduces = t.reduce[static_cast<int>(compute_of<T>())];
  auto& folds = t.fold_rows[static_cast<int>(compute_of<T>())];
  reduces[static_cast<int>(Combine::kSum)] = &reduce<T, false>;
  reduces[static_cast<int>(Combine::kProd)] = &reduce<T, true>;
  reduces[static_cast<int>(Combine::kAny)] = &reduce_truth<T, true>;
  reduces[static_cast<int>(Combine::kAll)] = &reduce_truth<T, false>;
  folds[static_cast<int>(Combine::kSum)] = &fold_rows<T, false>;
  folds[static_cast<int>(Combine::kProd)] = &fold_rows<T, true>;
  folds[static_cast<int>(Combine::kAny)] = &fold_rows_truth<T, true>;
  folds[static_cast<int>(Combine::kAll)] = &fold_rows_truth<T, false>;
}

}  // namespace

void fill_portable(KernelTable& t) {
  fill_integers(t);
  fill_special(t);
  fill_complex(t);
  fill_conversions<float>(t);
  fill_conversions<double>(t);
  fill_conversions<int32_t>(t);
  fill_conversions<int64_t>(t);
  fill_conversions<uint64_t>(t);
  fill_conversions<c64>(t);
  fill_conversions<c128>(t);
  fill_reductions<c64>(t);
  fill_reductions<c128>(t);
}

}  // namespace paddle::tile::detail
