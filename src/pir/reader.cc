#include "pir/reader.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <limits>

#include "pir/text.h"

namespace paddle::pir {
namespace {
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }
}  // namespace

void Reader::error_at(size_t position, ErrorKind kind, std::string_view what) const {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < position && i < text_.size(); ++i) {
    if (text_[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  fail(kind, "[parse_program] line {}, column {}: {}", line, column, what);
}

void Reader::bad(std::string_view expected) const {
  std::string got = "the end of the text";
  if (at_ < text_.size()) {
    std::string_view rest = text_.substr(at_, 24);
    got = quote(rest.substr(0, rest.find('\n')));
  }
  error_at(at_, ErrorKind::kValue, fmt::format("expected {}, got {}", expected, got));
}

void Reader::skip() {
  for (;;) {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    if (!text_.substr(at_).starts_with("//")) return;
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
}

bool Reader::take(std::string_view token) {
  skip();
  if (!text_.substr(at_).starts_with(token)) return false;
  at_ += token.size();
  return true;
}

void Reader::expect(std::string_view token) {
  if (!take(token)) bad(quote(token));
}

bool Reader::at_word() {
  char c = peek();
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}

std::string_view Reader::peek_word() {
  if (!at_word()) return {};
  size_t end = at_;
  while (end < text_.size() && is_word(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

std::string_view Reader::word() {
  std::string_view w = peek_word();
  if (w.empty()) bad("a name");
  at_ += w.size();
  return w;
}

std::string Reader::string() {
  if (peek() != '"') bad("a string in quotes");
  std::string s;
  size_t i = at_ + 1;
  for (;; ++i) {
    if (i >= text_.size()) bad("a closing quote");
    char c = text_[i];
    if (c == '"') break;
    if (c != '\\') {
      s += c;
      continue;
    }
    char e = i + 1 < text_.size() ? text_[++i] : '\0';
    switch (e) {
      case 'n':
        s += '\n';
        break;
      case 't':
        s += '\t';
        break;
      case '"':
      case '\\':
        s += e;
        break;
      case 'x': {
        unsigned v = 0;
        if (i + 2 >= text_.size()) bad("two hexadecimal digits after \\x");
        auto r = std::from_chars(text_.data() + i + 1, text_.data() + i + 3, v, 16);
        if (r.ec != std::errc() || r.ptr != text_.data() + i + 3) bad("two hexadecimal digits after \\x");
        s += static_cast<char>(v);
        i += 2;
        break;
      }
      default:
        at_ = i;
        bad("one of n t x \" \\ after a backslash");
    }
  }
  at_ = i + 1;
  return s;
}

bool Reader::at_integer() {
  char c = peek();
  return std::isdigit(static_cast<unsigned char>(c)) ||
         (c == '-' && std::isdigit(static_cast<unsigned char>(peek_raw(1))));
}

int64_t Reader::integer() {
  skip();
  int64_t v = 0;
  auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
  if (r.ec == std::errc::result_out_of_range) bad("an integer that fits 64 bits");
  if (r.ec != std::errc()) bad("an integer");
  at_ = static_cast<size_t>(r.ptr - text_.data());
  return v;
}

template <class T, class Bits>
T Reader::real_of() {
  if (take("nan(0x")) {
    Bits bits = 0;
    auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), bits, 16);
    if (r.ec != std::errc()) bad("hexadecimal digits of a NaN");
    at_ = static_cast<size_t>(r.ptr - text_.data());
    expect(")");
    return std::bit_cast<T>(bits);
  }
  if (take("nan")) return std::numeric_limits<T>::quiet_NaN();
  if (take("inf")) return std::numeric_limits<T>::infinity();
  if (take("-inf")) return -std::numeric_limits<T>::infinity();
  T v = 0;
  auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
  if (r.ec != std::errc()) bad("a number");
  at_ = static_cast<size_t>(r.ptr - text_.data());
  return v;
}

double Reader::real() { return real_of<double, uint64_t>(); }
float Reader::real32() { return real_of<float, uint32_t>(); }

std::string_view Reader::until(std::string_view stops) {
  skip();
  size_t start = at_;
  int open = 0;
  for (; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '(') ++open;
    if (c == ')' && open-- == 0) break;
    if (c == '\n' || (open == 0 && stops.find(c) != std::string_view::npos)) break;
  }
  return text_.substr(start, at_ - start);
}

}  // namespace paddle::pir
