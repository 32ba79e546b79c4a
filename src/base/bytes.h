// Numbers and texts as bytes and back: what the caches on disk hold. The bytes are read by the build that wrote them,
// so there are no versions here; a reader still believes nothing: bytes that end early or hold what can't be raise a
// ValueError.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace paddle {

class ByteWriter {
 public:
  // Seven bits a byte, small numbers of either sign in one.
  void number(int64_t v) {
    uint64_t u = (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
    for (; u >= 0x80; u >>= 7) out_.push_back(static_cast<char>(u | 0x80));
    out_.push_back(static_cast<char>(u));
  }
  template <class E>
  requires std::is_enum_v<E>
  void number(E e) { number(static_cast<int64_t>(e)); }
  void size(size_t n) { number(static_cast<int64_t>(n)); }
  void real(double v);  // its bits
  void text(std::string_view s) {
    size(s.size());
    out_ += s;
  }
  const std::string& bytes() const { return out_; }
  std::string take() && { return std::move(out_); }

 private:
  std::string out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  int64_t number();
  // Between the two, both included.
  int64_t number(int64_t least, int64_t most);
  template <class E>
  requires std::is_enum_v<E> E number(E last) { return static_cast<E>(number(0, static_cast<int64_t>(last))); }
  // How many of something follow, each of which takes at least one byte.
  size_t size();
  double real();
  std::string_view text();
  bool done() const { return at_ == bytes_.size(); }
  [[noreturn]] void bad(std::string_view expected) const;

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

}  // namespace paddle
