#include "pir/text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/error.h"
#include "tensor/dtype.h"

namespace paddle::pir {

std::string quote(std::string_view s) {
  std::string r = "\"";
  for (unsigned char c : s) {
    switch (c) {
      case '"':
        r += "\\\"";
        break;
      case '\\':
        r += "\\\\";
        break;
      case '\n':
        r += "\\n";
        break;
      case '\t':
        r += "\\t";
        break;
      default:
        if (c < 0x20 || c == 0x7f)
          r += fmt::format("\\x{:02x}", c);
        else
          r += static_cast<char>(c);
    }
  }
  return r + "\"";
}

namespace {
template <class T, class Bits>
std::string text_of(T v, Bits plain_nan) {
  if (std::isnan(v)) {
    Bits bits = std::bit_cast<Bits>(v);
    return bits == plain_nan ? "nan" : fmt::format("nan(0x{:x})", bits);
  }
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buffer[40];
  auto r = std::to_chars(buffer, buffer + sizeof buffer, v);
  return std::string(buffer, r.ptr);
}
}  // namespace

bool is_reserved(std::string_view word) {
  static constexpr std::string_view words[] = {
      "true",       "false", "None",  "none",   "Undefined",     "Place",       "Layout",      "dist",
      "dense",      "inf",   "nan",   "tensor", "vec",           "scalar",      "dist_tensor", "coo_tensor",
      "csr_tensor", "stack", "inlet", "outlet", "selected_rows", "tensor_array"};
  for (std::string_view w : words)
    if (w == word) return true;
  return dtype_from_name(word) != DType::kUndefined;
}

std::string float_text(float v) { return text_of<float, uint32_t>(v, 0x7fc00000u); }
std::string float_text(double v) { return text_of<double, uint64_t>(v, 0x7ff8000000000000ull); }

}  // namespace paddle::pir
