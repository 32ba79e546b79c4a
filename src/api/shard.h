// Which part of a whole tensor an operator's output is, for random operators: element i of a shard must get the number
// that it has in the whole.
#pragma once
#include <cstdint>

#include "tensor/dim.h"

namespace paddle {

struct ShardGeometry {
  Sizes whole;   // of the output, over all ranks
  Sizes offset;  // of this part's first element
};

// The attributes by which a random operator of a program carries its geometry.
inline constexpr const char* kShardWhole = "shard_whole";
inline constexpr const char* kShardOffset = "shard_offset";

// Set around the call of a random operator's local form; null: the output is the whole.
inline const ShardGeometry*& current_shard() {
  static thread_local const ShardGeometry* g = nullptr;
  return g;
}

class ShardScope {
 public:
  explicit ShardScope(const ShardGeometry* g) : previous_(current_shard()) { current_shard() = g; }
  ~ShardScope() { current_shard() = previous_; }
  ShardScope(const ShardScope&) = delete;

 private:
  const ShardGeometry* previous_;
};

// From the row-major index within a part to that within the whole.
class LogicalIndex {
 public:
  explicit LogicalIndex(const Shape& local) : LogicalIndex(local, current_shard()) {}
  LogicalIndex(const Shape& local, const ShardGeometry* g) : whole_(!g || g->whole.size() != local.size()) {
    if (whole_) return;
    int64_t stride = 1;
    strides_.resize(local.size());
    for (size_t d = local.size(); d-- > 0;) {
      sizes_.insert(0, local[d].value());
      strides_[d] = stride;
      base_ += static_cast<uint64_t>(g->offset[d] * stride);
      stride *= g->whole[d];
    }
  }
  uint64_t operator()(uint64_t i) const {
    if (whole_) return i;
    uint64_t at = base_;
    for (size_t d = sizes_.size(); d-- > 0;) {
      uint64_t n = static_cast<uint64_t>(sizes_[d]);
      at += i % n * static_cast<uint64_t>(strides_[d]);
      i /= n;
    }
    return at;
  }

 private:
  bool whole_;
  uint64_t base_ = 0;
  Sizes sizes_, strides_;
};

}  // namespace paddle
