// The gradient of attention: weights made again, block by block, from scores and their saved log-sum-exp (Dao et al.,
// "FlashAttention", 2022). A thread has a head of keys to itself, so gradients of keys and values are added in one
// order.
#include <algorithm>

#include "base/parallel_pieces.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/rows/attention_blocks.h"
#include "phi/kernels/cpu/rows/row_span.h"
#include "phi/rules_attention.h"

namespace paddle::kernels {
namespace {

using namespace rows;

// A log-sum-exp larger than this is too coarse in f32 to make weights from: of a row whose scores all had -1e9 added,
// it doesn't even say how many they are.
constexpr float kCoarse = 1024;

class Backward {
 public:
  Backward(const rules::attention_grad::Args& a, OpCall& c)
      : sizes_(a.query, a.key, a.value),
        mask_(sizes_, a.mask, a.causal, a.fill),
        query_(a.query),
        key_(a.key),
        value_(a.value),
        out_(a.out),
        out_grad_(a.out_grad),
        query_grad_(c.out(0)),
        key_grad_(c.out(1)),
        value_grad_(c.out(2)),
        lse_owner_(dense(a.lse)),
        lse_(lse_owner_.data<float>()),
        scale_(static_cast<float>(a.scale)),
        key_ld_(whole(sizes_.size, row_table().attention.width)),
        value_ld_(whole(sizes_.value_size, row_table().attention.width)) {}

  void run() {
    const int64_t shares = sizes_.shares(), units = sizes_.batch * sizes_.kv_heads * shares;
    // Sums of one unit: gradients of keys, then of values.
    const int64_t sums = sizes_.keys * (key_ld_ + value_ld_);
    Scratch scratch;
    float* shared = shares > 1 ? scratch.take(units * sums) : nullptr;
    parallel_pieces(0, units, sizes_.grain(), [&](int64_t begin, int64_t end) {
      Room room(*this);
      float* own = shared ? nullptr : room.scratch.take(sums);
      for (int64_t unit = begin; unit < end; ++unit) {
        room.batch = unit / shares / sizes_.kv_heads;
        room.kv_head = unit / shares % sizes_.kv_heads;
        room.key_grad = shared ? shared + unit * sums : own;
        room.value_grad = room.key_grad + sizes_.keys * key_ld_;
        std::fill_n(room.key_grad, sums, 0.0f);
        head(room, unit % shares, shares);
        if (!shared) write(room.key_grad, room.batch, room.kv_head);
      }
    });
    if (shared) add_shares(shared, shares, sums);
  }

 private:
  struct Room {
    explicit Room(const Backward& b) {
      const AttentionSizes& s = b.sizes_;
      const int64_t rows = std::min(kQueryBlock, s.queries);
      keys_across = scratch.take(panel_floats(s.keys, s.size));
      keys_along = scratch.take(panel_floats(s.size, s.keys));
      values_across = scratch.take(panel_floats(s.keys, s.value_size));
      query = scratch.take(rows * s.size);
      query_along = scratch.take(panel_floats(s.size, rows));
      out_grad = scratch.take(rows * s.value_size);
      out_grad_along = scratch.take(panel_floats(s.value_size, rows));
      query_grad = scratch.take(rows * b.key_ld_);
      weights = scratch.take(rows * kKeyBlock);
      scores_grad = scratch.take(rows * kKeyBlock);
      delta = scratch.take(rows);
      factor = scratch.take(rows);
      this->rows = scratch.take(kKeyBlock * std::max(s.size, s.value_size));
      mask_row = scratch.take(kKeyBlock);
      known.resize(static_cast<size_t>(s.key_blocks()));
    }
    Scratch scratch;
    int64_t batch = 0, kv_head = 0;
    float *keys_across, *keys_along, *values_across, *query, *query_along, *out_grad, *out_grad_along, *query_grad,
        *weights, *scores_grad, *delta, *factor, *rows, *mask_row, *key_grad = nullptr, *value_grad = nullptr;
    bool coarse = false;  // this block of queries: weights are multiplied by `factor`
    std::vector<KeyBlock> known;
  };

  void head(Room& r, int64_t share, int64_t shares) const {
    for (int64_t k = 0; k < sizes_.key_blocks(); ++k) {
      const int64_t first = k * kKeyBlock, n = std::min(kKeyBlock, sizes_.keys - first);
      KeyBlock& known = r.known[static_cast<size_t>(k)];
      key_.read(r.rows, sizes_.size, r.batch, r.kv_head, first, n);
      known.norm = longest(r.rows, sizes_.size, n, sizes_.size);
      pack_across(r.keys_across + first * sizes_.size, r.rows, sizes_.size, n, sizes_.size);
      pack_along(r.keys_along, sizes_.keys, first, r.rows, sizes_.size, n, sizes_.size);
      value_.read(r.rows, sizes_.value_size, r.batch, r.kv_head, first, n);
      known.plain = std::isfinite(longest(r.rows, sizes_.value_size, n, sizes_.value_size));
      pack_across(r.values_across + first * sizes_.value_size, r.rows, sizes_.value_size, n, sizes_.value_size);
    }
    for (int64_t g = 0; g < sizes_.groups(); ++g)
      for (int64_t block = share; block < sizes_.query_blocks(); block += shares)
        queries(r, r.kv_head * sizes_.groups() + g, block);
  }

  // Reads a block of queries and what belongs to them. Returns whether all of it is finite.
  bool start(Room& r, int64_t head, int64_t first, int64_t rows) const {
    const AttentionFns& fns = row_table().attention;
    query_.read(r.query, sizes_.size, r.batch, head, first, rows);
    row_fns<float>().times(r.query, r.query, scale_, rows * sizes_.size);
    pack_along(r.query_along, rows, 0, r.query, sizes_.size, rows, sizes_.size);
    out_grad_.read(r.out_grad, sizes_.value_size, r.batch, head, first, rows);
    pack_along(r.out_grad_along, rows, 0, r.out_grad, sizes_.value_size, rows, sizes_.value_size);
    std::fill_n(r.query_grad, rows * key_ld_, 0.0f);
    float sum = 0;
    for (int64_t i = 0; i < rows; ++i) {
      out_.read(r.rows, sizes_.value_size, r.batch, head, first + i, 1);
      r.delta[i] = fns.dot(r.rows, r.out_grad + i * sizes_.value_size, sizes_.value_size);
      sum += r.delta[i];
    }
    return std::isfinite(sum + longest(r.out_grad, sizes_.value_size, rows, sizes_.value_size));
  }

  void queries(Room& r, int64_t head, int64_t block) const {
    const int64_t first_row = block * kQueryBlock, rows = std::min(kQueryBlock, sizes_.queries - first_row);
    const bool finite = start(r, head, first_row, rows);
    const float norm = longest(r.query, sizes_.size, rows, sizes_.size);
    const float* lse = lse_ + (r.batch * sizes_.heads + head) * sizes_.queries + first_row;
    const float least = *std::min_element(lse, lse + rows);
    r.coarse = std::any_of(lse, lse + rows, [](float x) { return std::abs(x) > kCoarse; });
    if (r.coarse) find_factors(r, head, first_row, rows, lse);
    for (int64_t k = 0; k < sizes_.key_blocks(); ++k) {
      const KeyBlock& known = r.known[static_cast<size_t>(k)];
      const float limit = mask_.limit(r.batch, head, block, k, norm * known.norm * 1.001f);
      if (finite && known.plain && limit < least + kLeastExponent) continue;
      scores(r, head, first_row, rows, k, lse);
      add(r, rows, k);
    }
    row_fns<float>().times(r.query_grad, r.query_grad, scale_, rows * key_ld_);
    query_grad_.write(r.query_grad, key_ld_, r.batch, head, first_row, rows);
  }

  // The scores of one block, masked, where the weights will be.
  void masked(Room& r, int64_t head, int64_t first_row, int64_t rows, int64_t first, int64_t n) const {
    const AttentionFns& fns = row_table().attention;
    fns.product({rows, n, sizes_.size, r.query, sizes_.size, false, r.keys_across + first * sizes_.size,
                 fns.width * sizes_.size, r.weights, kKeyBlock, false});
    for (int64_t i = 0; i < rows; ++i)
      mask_.apply(r.weights + i * kKeyBlock, r.batch, head, first_row + i, first, n, r.mask_row);
  }

  // What weights made from such a lse are multiplied by to add up to 1.
  void find_factors(Room& r, int64_t head, int64_t first_row, int64_t rows, const float* lse) const {
    std::fill_n(r.factor, rows, 0.0f);
    for (int64_t first = 0; first < sizes_.keys; first += kKeyBlock) {
      const int64_t n = std::min(kKeyBlock, sizes_.keys - first);
      masked(r, head, first_row, rows, first, n);
      for (int64_t i = 0; i < rows; ++i) {
        float* s = r.weights + i * kKeyBlock;
        std::fill_n(r.scores_grad, n, 0.0f);
        row_table().attention.score_gradient(s, r.scores_grad, lse[i], 0.0f, n);
        for (int64_t j = 0; j < n; ++j) r.factor[i] += s[j];
      }
    }
    for (int64_t i = 0; i < rows; ++i) r.factor[i] = 1 / r.factor[i];
  }

  // Weights and the gradient of the scores, of one block.
  void scores(Room& r, int64_t head, int64_t first_row, int64_t rows, int64_t k, const float* lse) const {
    const AttentionFns& fns = row_table().attention;
    const int64_t first = k * kKeyBlock, n = std::min(kKeyBlock, sizes_.keys - first);
    masked(r, head, first_row, rows, first, n);
    fns.product({rows, n, sizes_.value_size, r.out_grad, sizes_.value_size, false,
                 r.values_across + first * sizes_.value_size, fns.width * sizes_.value_size, r.scores_grad, kKeyBlock,
                 false});
    for (int64_t i = 0; i < rows; ++i) {
      float *s = r.weights + i * kKeyBlock, *g = r.scores_grad + i * kKeyBlock;
      fns.score_gradient(s, g, lse[i], r.delta[i], n);
      if (r.coarse) {
        row_fns<float>().times(s, s, r.factor[i], n);
        row_fns<float>().times(g, g, r.factor[i], n);
      }
      mask_.erase(g, r.batch, head, first_row + i, first, n);
    }
  }

  void add(Room& r, int64_t rows, int64_t k) const {
    const AttentionFns& fns = row_table().attention;
    const int64_t first = k * kKeyBlock, n = std::min(kKeyBlock, sizes_.keys - first);
    fns.product({n, sizes_.value_size, rows, r.weights, kKeyBlock, true, r.out_grad_along, fns.width * rows,
                 r.value_grad + first * value_ld_, value_ld_, true});
    fns.product({n, sizes_.size, rows, r.scores_grad, kKeyBlock, true, r.query_along, fns.width * rows,
                 r.key_grad + first * key_ld_, key_ld_, true});
    fns.product({rows, sizes_.size, n, r.scores_grad, kKeyBlock, false, r.keys_along + first * fns.width,
                 fns.width * sizes_.keys, r.query_grad, key_ld_, true});
  }

  void write(const float* sums, int64_t batch, int64_t kv_head) const {
    key_grad_.write(sums, key_ld_, batch, kv_head, 0, sizes_.keys);
    value_grad_.write(sums + sizes_.keys * key_ld_, value_ld_, batch, kv_head, 0, sizes_.keys);
  }

  void add_shares(float* shared, int64_t shares, int64_t sums) const {
    parallel_for(0, sizes_.batch * sizes_.kv_heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        float* first = shared + unit * shares * sums;
        for (int64_t s = 1; s < shares; ++s) row_table().attention.add_row(first, first + s * sums, sums);
        write(first, unit / sizes_.kv_heads, unit % sizes_.kv_heads);
      }
    });
  }

  AttentionSizes sizes_;
  ScoreMask mask_;
  HeadRows query_, key_, value_, out_, out_grad_, query_grad_, key_grad_, value_grad_;
  Tensor lse_owner_;
  const float* lse_;
  float scale_;
  int64_t key_ld_, value_ld_;  // distances of rows in sums: whole panels
};

void attention_grad(OpCall& c) {
  rules::attention_grad::Args a(c);
  if (a.query.dtype() == DType::kFloat64 || a.query.numel() == 0 || a.key.numel() == 0 || a.value.numel() == 0 ||
      a.lse.dtype() != DType::kFloat32)
    return by_composition(c);
  Backward(a, c).run();
}

const RegisterCpu registered{"attention_grad", attention_grad};

}  // namespace
}  // namespace paddle::kernels
