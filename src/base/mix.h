// The finaliser of splitmix64: every bit of the result hangs on every bit of x.
#pragma once

#include <cstdint>

namespace paddle {

constexpr uint64_t mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace paddle
