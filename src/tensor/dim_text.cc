// Text form of symbolic sizes: 2*S0*S1 + S0 - 4, floordiv(S0, 3), mod(S0, 4), min(S0, S1, 8).
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "tensor/dim.h"

namespace paddle {
namespace {

std::string product_text(const DimNode& n) {
  std::string s;
  for (size_t i = 0; i < n.operands.size(); ++i) {
    if (i == 0 && n.operands[0] == Dim(-1)) {
      s = "-";
      continue;
    }
    if (!s.empty() && s != "-") s += "*";
    s += n.operands[i].str();
  }
  return s;
}

std::string_view function_name(DimOp op) {
  switch (op) {
    case DimOp::kFloorDiv:
      return "floordiv";
    case DimOp::kMod:
      return "mod";
    case DimOp::kMin:
      return "min";
    default:
      return "max";
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  Dim whole() {
    Dim d = sum(0);
    if (skip(), at_ != text_.size()) bad("the end");
    return d;
  }

 private:
  [[noreturn]] void bad(std::string_view expected) {
    fail(ErrorKind::kValue, "size expression \"{}\": expected {} at column {}", text_, expected, at_ + 1);
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Dim sum(int depth) {
    Dim d = product(depth);
    for (;;) {
      if (take('+'))
        d = plus(d, product(depth));
      else if (take('-'))
        d = plus(d, times(Dim(-1), product(depth)));
      else
        return d;
    }
  }
  Dim product(int depth) {
    Dim d = factor(depth);
    while (take('*')) d = times(d, factor(depth));
    return d;
  }
  // Constants from text may be anything: their arithmetic is checked.
  static Dim plus(Dim a, Dim b) {
    int64_t r;
    if (a.is_symbolic() || b.is_symbolic()) return a + b;
    check(!__builtin_add_overflow(a.bits(), b.bits(), &r) && r >= Dim::kSymbolic, ErrorKind::kValue,
          "a size overflows 64 bits");
    return r;
  }
  static Dim times(Dim a, Dim b) {
    int64_t r;
    if (a.is_symbolic() || b.is_symbolic()) return a * b;
    check(!__builtin_mul_overflow(a.bits(), b.bits(), &r) && r >= Dim::kSymbolic, ErrorKind::kValue,
          "a size overflows 64 bits");
    return r;
  }
  Dim factor(int depth) {
    if (depth > 64) bad("less nesting");
    if (take('-')) return times(Dim(-1), factor(depth + 1));
    if (take('(')) {
      Dim d = sum(depth + 1);
      if (!take(')')) bad("\")\"");
      return d;
    }
    skip();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    return name(depth);
  }
  Dim number() {
    int64_t v = 0;
    auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
    if (r.ec != std::errc()) bad("a number that fits 64 bits");
    at_ = static_cast<size_t>(r.ptr - text_.data());
    return v;
  }
  Dim name(int depth) {
    size_t start = at_;
    auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (at_ == start) bad("a number or a name");
    std::string id(text_.substr(start, at_ - start));
    if (!take('(')) return symbol_by_name(id);
    Dim d = sum(depth + 1);
    do {
      if (!take(',')) bad("\",\"");
      Dim e = sum(depth + 1);
      if (id == "floordiv")
        d = floor_div(d, e);
      else if (id == "mod")
        d = mod(d, e);
      else if (id == "min")
        d = min(d, e);
      else if (id == "max")
        d = max(d, e);
      else
        bad("floordiv, mod, min or max");
    } while (!take(')'));
    return d;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string Dim::str() const {
  if (is_const()) return std::to_string(bits_);
  const DimNode& n = node_of(*this);
  switch (n.op) {
    case DimOp::kSymbol:
      return n.name;
    case DimOp::kMul:
      return product_text(n);
    case DimOp::kAdd: {
      std::string s;
      for (Dim t : n.operands) {
        std::string term = t.str();
        if (s.empty())
          s = term;
        else if (term[0] == '-')
          s += " - " + term.substr(1);
        else
          s += " + " + term;
      }
      return s;
    }
    default: {
      std::string s(function_name(n.op));
      for (size_t i = 0; i < n.operands.size(); ++i) s += (i ? ", " : "(") + n.operands[i].str();
      return s + ")";
    }
  }
}

Dim parse_dim(std::string_view text) { return Reader(text).whole(); }

std::string DimGuard::str() const {
  static constexpr std::string_view relations[] = {"==", "!=", "<", "<="};
  return fmt::format("{} {} {}", a.str(), relations[static_cast<size_t>(rel)], b.str());
}

std::string to_string(std::span<const Dim> shape) {
  std::string s = "[";
  for (size_t i = 0; i < shape.size(); ++i) s += (i ? ", " : "") + shape[i].str();
  return s + "]";
}

}  // namespace paddle
