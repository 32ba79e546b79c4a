// What reading and writing of `.json` programs share: the words of the format, and access to JSON where every error
// says what was expected.
#pragma once
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "pir/serialize/json.h"

namespace paddle::pir::wire {

using Json = nlohmann::json;

// ---- names ---------------------------------------------------------------------------------------------------------

inline constexpr std::string_view kDialects[] = {"builtin", "pd_op", "cf", "custom_op", "dist_op"};

struct DTypeCode {
  DType dtype;
  const char* code;
};
inline constexpr DTypeCode kDTypeCodes[] = {
    {DType::kBool, "0.t_bool"},
    {DType::kUInt8, "0.t_ui8"},
    {DType::kInt8, "0.t_i8"},
    {DType::kInt16, "0.t_i16"},
    {DType::kInt32, "0.t_i32"},
    {DType::kInt64, "0.t_i64"},
    {DType::kFloat16, "0.t_f16"},
    {DType::kBFloat16, "0.t_bf16"},
    {DType::kFloat32, "0.t_f32"},
    {DType::kFloat64, "0.t_f64"},
    {DType::kComplex64, "0.t_c64"},
    {DType::kComplex128, "0.t_c128"},
    {DType::kFloat8E4M3FN, "0.t_f8e4m3fn"},
    {DType::kFloat8E5M2, "0.t_f8e5m2"},
};

inline std::string dtype_word(DType t) {
  return t == DType::kUndefined ? "Undefined(ALL_DTYPE)" : std::string(name_of(t));
}

inline constexpr int kMaxDepth = 200;  // of regions, types and attributes

template <class... Args>
[[noreturn]] void malformed(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::kValue, "[program] " + fmt::format(format, std::forward<Args>(args)...));
}
[[noreturn]] inline void unsupported(const std::string& what) {
  throw Error(ErrorKind::kNotImplemented, "[program] " + what);
}

// ---- checked access: every error says what was expected
// -----------------------------------------------------------------

inline const Json& member(const Json& j, const char* key) {
  if (!j.is_object()) malformed("expected an object with \"{}\", got {}", key, j.type_name());
  auto it = j.find(key);
  if (it == j.end()) malformed("expected the key \"{}\"", key);
  return *it;
}
inline const Json& array(const Json& j, const char* what) {
  if (!j.is_array()) malformed("expected {} to be a list, got {}", what, j.type_name());
  return j;
}
inline const Json& item(const Json& j, size_t i, const char* what) {
  array(j, what);
  if (i >= j.size()) malformed("expected {} to have at least {} items, got {}", what, i + 1, j.size());
  return j[i];
}
inline int64_t integer(const Json& j, const char* what) {
  if (j.is_number_unsigned() && j.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    malformed("{} doesn't fit 64 bits", what);
  if (!j.is_number_integer()) malformed("expected {} to be an integer, got {}", what, j.type_name());
  return j.get<int64_t>();
}
inline int64_t integer_in(const Json& j, const char* what, int64_t lo, int64_t hi) {
  int64_t v = integer(j, what);
  if (v < lo || v > hi) malformed("expected {} in [{}, {}], got {}", what, lo, hi, v);
  return v;
}
inline std::string text(const Json& j, const char* what) {
  if (!j.is_string()) malformed("expected {} to be a string, got {}", what, j.type_name());
  return j.get<std::string>();
}
inline bool boolean(const Json& j, const char* what) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return integer_in(j, what, 0, 1) != 0;
  malformed("expected {} to be a truth value, got {}", what, j.type_name());
}
inline double real(const Json& j, const char* what) {
  if (!j.is_number()) malformed("expected {} to be a number, got {}", what, j.type_name());
  return j.get<double>();
}
inline std::vector<int64_t> integers(const Json& j, const char* what) {
  std::vector<int64_t> r;
  for (const Json& x : array(j, what)) r.push_back(integer(x, what));
  return r;
}

// NaN and infinities stand as words under "VD" in place of "D".
inline double float_of(const Json& j) {
  auto it = j.find("VD");
  if (it == j.end()) return real(member(j, "D"), "a float");
  std::string s = text(*it, "VD");
  if (s == "NAN") return NAN;
  if (s == "INF") return INFINITY;
  if (s == "-INF") return -INFINITY;
  malformed("expected NAN, INF or -INF, got \"{}\"", s);
}

Program read_program(const Json& root, JsonInfo* info);
Json write_program(const Program& program, const JsonInfo& info);

}  // namespace paddle::pir::wire
