// The random generator of a rank: a seed and a count of draws. A random operator takes one draw before it is
// dispatched; element i of its result is Philox(key = seed, counter = (i, draw)). So a replay with the same draw gives
// the same numbers, on any device, and a shard draws what the whole tensor would.
#pragma once
#include <atomic>
#include <cstdint>

namespace paddle {

struct RandomKey {
  uint64_t seed = 0;
  uint64_t draw = 0;
};

class Generator {
 public:
  RandomKey next() { return {seed_.load(std::memory_order_relaxed), draw_.fetch_add(1, std::memory_order_relaxed)}; }
  RandomKey state() const { return {seed_.load(), draw_.load()}; }
  void set_state(RandomKey k) {
    seed_ = k.seed;
    draw_ = k.draw;
  }
  void seed(uint64_t s) { set_state({s, 0}); }

 private:
  std::atomic<uint64_t> seed_{34342423252};  // official Paddle's initial seed
  std::atomic<uint64_t> draw_{0};
};

Generator& generator();  // of the current Context

}  // namespace paddle
