// Random numbers by counter: element i of draw d is Philox(key = seed, counter = (i, d)), wherever and in whatever
// order it is asked for.
#pragma once
#include <Random123/philox.h>

#include <cmath>

#include "base/generator.h"

namespace paddle::kernels {

struct RandomBits {
  uint32_t v[4];
};

inline RandomBits random_bits(RandomKey key, uint64_t index) {
  using Philox = r123::Philox4x32;
  Philox::ctr_type counter = {{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                               static_cast<uint32_t>(key.draw), static_cast<uint32_t>(key.draw >> 32)}};
  Philox::key_type k = {{static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)}};
  Philox::ctr_type r = Philox{}(counter, k);
  return {{r[0], r[1], r[2], r[3]}};
}

// In [0, 1), 53 bits.
inline double to_unit(uint32_t high, uint32_t low) {
  uint64_t bits = (uint64_t{high} << 32) | low;
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}
// In [0, 1), 24 bits: what a float can tell apart.
inline double uniform_at(RandomKey key, uint64_t index) {
  return static_cast<double>(random_bits(key, index).v[0] >> 8) * 0x1.0p-24;
}
inline double uniform64_at(RandomKey key, uint64_t index) {
  RandomBits b = random_bits(key, index);
  return to_unit(b.v[0], b.v[1]);
}
// Standard normal, by Box-Muller; 1 - u is never 0.
inline double normal_at(RandomKey key, uint64_t index) {
  RandomBits b = random_bits(key, index);
  double u = to_unit(b.v[0], b.v[1]), v = to_unit(b.v[2], b.v[3]);
  return std::sqrt(-2.0 * std::log(1.0 - u)) * std::cos(6.283185307179586 * v);
}

}  // namespace paddle::kernels
