#include "base/bytes.h"

#include <bit>
#include <cstring>

#include "base/error.h"

namespace paddle {

void ByteWriter::real(double v) {
  const auto bits = std::bit_cast<uint64_t>(v);
  for (int i = 0; i < 8; ++i) out_.push_back(static_cast<char>(bits >> (8 * i)));
}

void ByteReader::bad(std::string_view expected) const {
  fail(ErrorKind::kValue, "damaged bytes: expected {} near byte {} of {}", expected, at_, bytes_.size());
}

int64_t ByteReader::number() {
  uint64_t u = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ >= bytes_.size()) break;
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    u |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return static_cast<int64_t>(u >> 1) ^ -static_cast<int64_t>(u & 1);
  }
  bad("a number");
}

int64_t ByteReader::number(int64_t least, int64_t most) {
  const int64_t v = number();
  if (v < least || v > most) bad("a smaller number");
  return v;
}

size_t ByteReader::size() {
  const int64_t n = number();
  if (n < 0 || static_cast<uint64_t>(n) > bytes_.size() - at_) bad("a length");
  return static_cast<size_t>(n);
}

double ByteReader::real() {
  if (bytes_.size() - at_ < 8) bad("a real number");
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits |= uint64_t{static_cast<unsigned char>(bytes_[at_++])} << (8 * i);
  return std::bit_cast<double>(bits);
}

std::string_view ByteReader::text() {
  const size_t n = size();
  const std::string_view s = bytes_.substr(at_, n);
  at_ += n;
  return s;
}

}  // namespace paddle
