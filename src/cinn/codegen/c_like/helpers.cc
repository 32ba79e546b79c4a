#include "cinn/codegen/c_like/helpers.h"

#include <string_view>
#include <vector>

namespace paddle::cinn {
namespace {

struct Helper {
  std::string_view name;
  std::string_view result;
  std::string_view rest;  // from the parameters on
};

// Types and the suffixes are written out: the dialects have no templates in common. Each stands after what it calls.
constexpr Helper kHelpers[] = {
    {"pd_bf16_load", "float", "(pd_u16 h) { union { pd_u32 u; float f; } v; v.u = (pd_u32)h << 16; return v.f; }"},
    {"pd_bf16_store", "pd_u16", R"((float x) {
  union { float f; pd_u32 u; } v; v.f = x;
  return x != x ? (pd_u16)((v.u >> 16) | 0x40) : (pd_u16)((v.u + 0x7fff + ((v.u >> 16) & 1)) >> 16);
})"},
    {"pd_f16_load", "float", R"((pd_u16 h) {
  union { pd_u32 u; float f; } v;
  pd_u32 sign = (pd_u32)(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
  if (exponent == 31) { v.u = sign | 0x7f800000 | mantissa << 13; return v.f; }
  if (exponent == 0) { v.f = (float)mantissa * 5.9604644775390625e-8f; v.u |= sign; return v.f; }
  v.u = sign | (exponent + 112) << 23 | mantissa << 13;
  return v.f;
})"},
    {"pd_f16_store", "pd_u16", R"((float x) {
  union { float f; pd_u32 u; } v, magic; v.f = x;
  pd_u32 sign = (v.u >> 16) & 0x8000; v.u &= 0x7fffffff;
  if (v.u > 0x7f800000) return (pd_u16)(sign | 0x7e00);
  if (v.u >= 0x477ff000) return (pd_u16)(sign | 0x7c00);
  if (v.u < 0x38800000) { magic.u = 0x3f000000; v.f += magic.f; return (pd_u16)(sign | (v.u - magic.u)); }
  v.u += 0xc8000fff + ((v.u >> 13) & 1);
  return (pd_u16)(sign | v.u >> 13);
})"},
    {"pd_div_i64", "pd_i64", "(pd_i64 a, pd_i64 b) { return b == 0 ? 0 : b == -1 ? (pd_i64)(0 - (pd_u64)a) : a / b; }"},
    {"pd_rem_i64", "pd_i64", "(pd_i64 a, pd_i64 b) { return b == 0 || b == -1 ? 0 : a % b; }"},
    {"pd_div_u64", "pd_u64", "(pd_u64 a, pd_u64 b) { return b == 0 ? 0 : a / b; }"},
    {"pd_rem_u64", "pd_u64", "(pd_u64 a, pd_u64 b) { return b == 0 ? 0 : a % b; }"},
    {"pd_floor_div_i64", "pd_i64",
     "(pd_i64 a, pd_i64 b) { pd_i64 q = pd_div_i64(a, b), r = pd_rem_i64(a, b); return r != 0 && (r ^ b) < 0 ? q - 1 "
     ": q; }"},
    {"pd_mod_i64", "pd_i64",
     "(pd_i64 a, pd_i64 b) { pd_i64 r = pd_rem_i64(a, b); return r != 0 && (r ^ b) < 0 ? r + b : r; }"},
    {"pd_min_i64", "pd_i64", "(pd_i64 a, pd_i64 b) { return a < b ? a : b; }"},
    {"pd_max_i64", "pd_i64", "(pd_i64 a, pd_i64 b) { return a > b ? a : b; }"},
    {"pd_pow_i64", "pd_i64", R"((pd_i64 a, pd_i64 n) {
  pd_u64 r = 1, b = (pd_u64)a;
  if (n < 0) return a == 1 ? 1 : a == -1 ? (n & 1 ? -1 : 1) : 0;
  for (; n; n >>= 1) { if (n & 1) r *= b; b *= b; }
  return (pd_i64)r;
})"},
    {"pd_shift_left", "pd_u64", "(pd_u64 a, pd_i64 n, int width) { return n < 0 || n >= width ? 0 : a << n; }"},
    {"pd_shift_right_i64", "pd_i64",
     "(pd_i64 a, pd_i64 n, int width) { return n < 0 || n >= width ? (a < 0 ? -1 : 0) : a >> n; }"},
    // Of the operand's own width: what sign extension put above it is cut off.
    {"pd_shift_right_logical", "pd_u64",
     "(pd_u64 a, pd_i64 n, int width) { return n < 0 || n >= width ? 0 : (a & (~(pd_u64)0 >> (64 - width))) >> n; }"},
    {"pd_mod_f32", "float",
     "(float a, float b) { float r = $fmodf(a, b); return r == 0 ? $copysignf(r, b) : (r < 0) != (b < 0) ? r + b : r; "
     "}"},
    {"pd_mod_f64", "double",
     "(double a, double b) { double r = fmod(a, b); return r == 0 ? copysign(r, b) : (r < 0) != (b < 0) ? r + b : r; "
     "}"},
};

// `$fmodf` is what the dialect calls fmodf.
std::string spelled(std::string_view text, const Dialect& d) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      out += text[i];
      continue;
    }
    size_t end = text.find('(', i);
    std::string name(text.substr(i + 1, end - i - 1));
    if (d.math_by_overload) name.pop_back();
    out += name;
    i = end - 1;
  }
  return out;
}

bool calls(const std::string& text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if (text.compare(at + name.size(), 1, "(") == 0) return true;
  return false;
}

}  // namespace

std::string helpers_for(const std::string& text, const Dialect& dialect) {
  std::string out;
  for (size_t i = std::size(kHelpers); i-- > 0;) {
    const Helper& h = kHelpers[i];
    if (!calls(text, h.name) && !calls(out, h.name)) continue;
    std::string function = dialect.function + " ";
    function.append(h.result).append(" ").append(h.name).append(spelled(h.rest, dialect)).append("\n");
    out.insert(0, function);
  }
  return out;
}

}  // namespace paddle::cinn
