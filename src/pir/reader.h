// The parser's characters, words and numbers, with positions for error messages. Inside of parser.cc.
#pragma once
#include <string>
#include <string_view>

#include "base/error.h"

namespace paddle::pir {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // "line 3, column 14: expected ..., got ..."
  [[noreturn]] void bad(std::string_view expected) const;
  [[noreturn]] void error_at(size_t position, ErrorKind kind, std::string_view what) const;
  size_t position() {
    skip();
    return at_;
  }

  void skip();  // white space and // comments
  bool at_end() {
    skip();
    return at_ == text_.size();
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  char peek_raw(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void advance(size_t n = 1) { at_ += n; }
  bool take(std::string_view token);  // after white space
  bool take_raw(char c) {
    if (peek_raw() != c) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view token);

  bool at_word();
  std::string_view peek_word();  // letters, digits, '_' and '.'; empty if there is none
  std::string_view word();       // error if there is none
  std::string string();          // quoted
  bool at_integer();
  int64_t integer();  // 64 bits, checked
  double real();      // also inf, nan, nan(0x...)
  float real32();
  // Text up to one of the stop characters outside of parentheses.
  std::string_view until(std::string_view stops);

  // Nesting is bounded: the text may be hostile, the stack is not endless.
  class Deeper {
   public:
    explicit Deeper(Reader& r) : r_(r) {
      if (++r_.depth_ > 200) r_.bad("less nesting");
    }
    ~Deeper() { --r_.depth_; }

   private:
    Reader& r_;
  };

 private:
  template <class T, class Bits>
  T real_of();
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace paddle::pir
