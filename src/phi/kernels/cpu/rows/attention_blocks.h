// What the forward and the backward part of attention share: tensors [batch, length, heads, size] read in blocks of
// rows as f32, scores masked, and which blocks of scores can't matter.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "phi/kernels/cpu/rows/row_table.h"
#include "tensor/tensor.h"

namespace paddle::rows {

inline constexpr int64_t kQueryBlock = 48, kKeyBlock = 64;  // scores of a block: 12 KB, beside a panel of keys in L1

inline int64_t whole(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
inline int64_t blocks(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }

// Rows of a tensor [batch, length, heads, size], wherever they lie.
class HeadRows {
 public:
  explicit HeadRows(const Tensor& t);
  // Rows [first, first + n) of a head, to[i * ld ...]; n * size numbers.
  void read(float* to, int64_t ld, int64_t batch, int64_t head, int64_t first, int64_t n) const;
  void write(const float* from, int64_t ld, int64_t batch, int64_t head, int64_t first, int64_t n) const;
  // The rows as they lie, with their distance; null if they aren't dense f32.
  const float* direct(int64_t batch, int64_t head, int64_t first) const;
  int64_t distance() const { return row_; }
  int64_t size() const { return size_; }

 private:
  char* at(int64_t batch, int64_t head, int64_t row) const {
    return data_ + (batch * batch_ + row * row_ + head * head_) * bytes_;
  }
  char* data_;
  DType dtype_;
  int64_t bytes_, batch_, row_, head_, unit_, size_;
};

struct AttentionSizes {
  AttentionSizes(const Tensor& query, const Tensor& key, const Tensor& value);
  int64_t batch, queries, keys, heads, kv_heads, size, value_size;
  int64_t groups() const { return heads / kv_heads; }
  int64_t query_blocks() const { return blocks(queries, kQueryBlock); }
  int64_t key_blocks() const { return blocks(keys, kKeyBlock); }
  // Parts that threads may share: heads of keys; where these are too few, also every n-th block of queries.
  int64_t shares() const;
  int64_t grain() const;  // of loops over units of work by several threads
};

// The mask and the causal limit.
class ScoreMask {
 public:
  ScoreMask(const AttentionSizes& sizes, const Tensor& mask, bool causal, double fill);
  // What becomes of the scores of one query and keys [first, first + n). row: room for a block of keys.
  void apply(float* s, int64_t batch, int64_t head, int64_t query, int64_t first, int64_t n, float* row) const;
  // 0 where a bool mask chose `fill`: such scores are constants.
  void erase(float* g, int64_t batch, int64_t head, int64_t query, int64_t first, int64_t n) const;
  bool chooses() const { return dtype_ == DType::kBool; }
  // No score of this block is larger, where the products are at most `bound`.
  float limit(int64_t batch, int64_t head, int64_t query_block, int64_t key_block, float bound) const;

 private:
  struct Limit {
    float add = -std::numeric_limits<float>::infinity();    // what is added to a product at most
    float other = -std::numeric_limits<float>::infinity();  // what stands in its place
  };
  void choose(float* s, const char* keep, float otherwise, int64_t n) const;
  void note(Limit& l, int64_t batch, int64_t head, int64_t query, int64_t first, int64_t n) const;
  const char* at(int64_t batch, int64_t head, int64_t query, int64_t key) const {
    return data_ + (batch * stride_[0] + head * stride_[1] + query * stride_[2] + key * stride_[3]) * bytes_;
  }

  const AttentionSizes& sizes_;
  bool causal_;
  float fill_;
  const char* data_ = nullptr;
  DType dtype_ = DType::kUndefined;
  int64_t bytes_ = 0, stride_[4] = {};
  std::vector<Limit> limits_;  // per block, for each batch and head that has a mask of its own
};

// What is known of a block of keys and values.
struct KeyBlock {
  float norm = 0;     // of the longest key
  bool plain = true;  // values are finite: a weight of 0 leaves nothing of them
};

// Scratch memory for one thread, from the allocator's cache.
class Scratch {
 public:
  float* take(int64_t n) {
    kept_.push_back(Tensor::empty(Shape{Dim(std::max<int64_t>(n, 1))}, DType::kFloat32, Place::cpu()));
    return kept_.back().data<float>();
  }

 private:
  std::vector<Tensor> kept_;
};

// Panels for BlockProduct::b. Columns are rows of `from` (a transposed matrix), or its columns. `depth` rows are room
// for in a panel, the first of them at `offset`.
void pack_across(float* to, const float* from, int64_t ld, int64_t rows, int64_t size);
void pack_along(float* to, int64_t depth, int64_t offset, const float* from, int64_t ld, int64_t rows, int64_t size);
inline int64_t panel_floats(int64_t columns, int64_t depth) {
  return whole(columns, row_table().attention.width) * depth;
}

// The longest row; infinite or NaN where an element is (or too large to tell).
float longest(const float* rows, int64_t ld, int64_t n, int64_t size);

}  // namespace paddle::rows
