#include "cinn/codegen/c_like/spelling.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

#include "base/error.h"

namespace paddle::cinn {

using scalar::Fn;

namespace {

std::string type_of(DType t) {
  switch (t) {
    case DType::kBool:
      return "int";
    case DType::kUInt8:
      return "pd_u8";
    case DType::kInt8:
      return "pd_i8";
    case DType::kInt16:
      return "pd_i16";
    case DType::kInt32:
      return "pd_i32";
    case DType::kInt64:
      return "pd_i64";
    case DType::kUInt32:
      return "pd_u32";
    case DType::kUInt64:
      return "pd_u64";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    default:
      fail(ErrorKind::kNotImplemented, "[cinn] no C code for {}", name_of(t));
  }
}

std::string substitute(std::string spelling, const std::vector<std::string>& args) {
  for (size_t at = 0; (at = spelling.find('$', at)) != std::string::npos;) {
    const size_t k = static_cast<size_t>(spelling[at + 1] - '0');
    spelling.replace(at, 2, args.at(k));
    at += args[k].size();
  }
  return spelling;
}

// Names of functions that end in f by themselves: erf(.
bool ends_in_plain_f(const std::string& s, size_t i) {
  const bool erf = i >= 2 && s.compare(i - 2, 3, "erf") == 0;
  return erf && (i == 2 || !std::isalnum(static_cast<unsigned char>(s[i - 3])));  // nextafterf is none
}

// expf( -> exp(, 1.0f -> 1.0
std::string widened(const std::string& s) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    const bool literal = s[i] == 'f' && i > 0 && std::isdigit(static_cast<unsigned char>(s[i - 1]));
    const bool call = s[i] == 'f' && i + 1 < s.size() && s[i + 1] == '(' && i > 0 &&
                      std::isalnum(static_cast<unsigned char>(s[i - 1]));
    if (literal || (call && !ends_in_plain_f(s, i))) continue;
    out += s[i];
  }
  return out;
}

std::string overloaded(const std::string& s) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    const bool call = s[i] == 'f' && i + 1 < s.size() && s[i + 1] == '(' && i > 0 &&
                      std::isalnum(static_cast<unsigned char>(s[i - 1]));
    if (call && !ends_in_plain_f(s, i)) continue;
    out += s[i];
  }
  return out;
}

std::string integer_function(Fn fn, const std::vector<std::string>& a, DType t) {
  const bool is_unsigned = is_unsigned_int(t);
  const int width = 8 * static_cast<int>(size_of(t));
  const char* u = is_unsigned ? "u64" : "i64";
  switch (fn) {
    case Fn::div:
      return fmt::format("pd_div_{}({}, {})", u, a[0], a[1]);
    case Fn::fmod:
      return fmt::format("pd_rem_{}({}, {})", u, a[0], a[1]);
    case Fn::floor_div:
      return is_unsigned ? fmt::format("pd_div_u64({}, {})", a[0], a[1])
                         : fmt::format("pd_floor_div_i64({}, {})", a[0], a[1]);
    case Fn::mod:
      return is_unsigned ? fmt::format("pd_rem_u64({}, {})", a[0], a[1])
                         : fmt::format("pd_mod_i64({}, {})", a[0], a[1]);
    case Fn::pow:
      return fmt::format("pd_pow_i64({}, {})", a[0], a[1]);
    case Fn::abs:
      return fmt::format("({0} < 0 ? -{0} : {0})", a[0]);
    case Fn::sign:
      return fmt::format("(({0} > 0) - ({0} < 0))", a[0]);
    case Fn::floor:
    case Fn::ceil:
    case Fn::round:
    case Fn::trunc:
      return a[0];
    case Fn::frac:
      return "0";
    case Fn::fma:
      return fmt::format("({} * {} + {})", a[0], a[1], a[2]);
    case Fn::min:
    case Fn::fmin:
      return fmt::format("({0} < {1} ? {0} : {1})", a[0], a[1]);
    case Fn::max:
    case Fn::fmax:
      return fmt::format("({0} > {1} ? {0} : {1})", a[0], a[1]);
    case Fn::reciprocal:
      return fmt::format("pd_div_{}(1, {})", u, a[0]);
    case Fn::isnan:
    case Fn::isinf:
      return "0";
    case Fn::isfinite:
      return "1";
    case Fn::signbit:
      return fmt::format("({} < 0)", a[0]);
    case Fn::bitwise_not:
      return t == DType::kBool ? fmt::format("({} == 0)", a[0]) : fmt::format("(~{})", a[0]);
    case Fn::shift_left:
      return fmt::format("pd_shift_left({}, {}, {})", a[0], a[1], width);
    case Fn::shift_right:
      return is_unsigned ? fmt::format("pd_shift_right_logical({}, {}, {})", a[0], a[1], width)
                         : fmt::format("pd_shift_right_i64({}, {}, {})", a[0], a[1], width);
    case Fn::shift_right_logical:
      return fmt::format("pd_shift_right_logical({}, {}, {})", a[0], a[1], width);
    case Fn::real:
    case Fn::conj:
      return a[0];
    case Fn::imag:
    case Fn::angle:
      return "0";
    default:
      return substitute(scalar::info(fn).c, a);
  }
}

}  // namespace

std::string type_name(DType t, const Dialect& d) {
  check(t != DType::kFloat64 || d.has_f64, ErrorKind::kNotImplemented, "[cinn] the device has no float64");
  return type_of(t);
}

std::string number(double x, DType t) {
  const char* suffix = t == DType::kFloat32 ? "f" : "";
  if (std::isnan(x)) return fmt::format("(0.0{0} / 0.0{0})", suffix);
  if (std::isinf(x)) return x > 0 ? "INFINITY" : "(-INFINITY)";
  std::string s = t == DType::kFloat32 ? fmt::format("{}", static_cast<float>(x)) : fmt::format("{}", x);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return fmt::format("({}{})", s, suffix);
}

std::string integer(int64_t x, DType t) {
  if (t == DType::kUInt64) return fmt::format("((pd_u64){}ul)", static_cast<uint64_t>(x));
  if (x == INT64_MIN) return "((pd_i64)-9223372036854775807l - 1)";
  return size_of(t) == 8       ? fmt::format("((pd_i64){})", x)
         : t == DType::kUInt32 ? fmt::format("{}u", static_cast<uint32_t>(x))
         : x == INT32_MIN      ? "(-2147483647 - 1)"
                               : fmt::format("({})", x);
}

std::string spell(Fn fn, const std::vector<std::string>& args, DType t, const Dialect& d) {
  if (t == DType::kBool || (is_integer(t))) {
    std::string e = integer_function(fn, args, t);
    if (!e.empty())
      return scalar::info(fn).boolean || t == DType::kBool ? e : fmt::format("({}){}", type_name(t, d), e);
  }
  std::string s = scalar::info(fn).c;
  if (fn == Fn::mod) return fmt::format("pd_mod_{}({}, {})", t == DType::kFloat64 ? "f64" : "f32", args[0], args[1]);
  check(s.find("pd_") == std::string::npos || fn == Fn::sign, ErrorKind::kNotImplemented, "[cinn] {} has no C spelling",
        scalar::info(fn).name);
  if (fn == Fn::sign) s = "($0 > 0 ? 1 : $0 < 0 ? -1 : $0)";
  return substitute(t == DType::kFloat64 ? widened(s) : d.math_by_overload ? overloaded(s) : s, args);
}

}  // namespace paddle::cinn
