// Attention, a block of scores at a time: running maximum and sum per row, so that memory is O(length * size) (Dao et
// al., "FlashAttention", 2022; Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018). A block
// whose weights are all exactly 0 in f32 is passed over: that is how causal and padding masks save their share of the
// work.
#include <algorithm>

#include "base/parallel_pieces.h"
#include "phi/kernels/cpu/rows/attention_blocks.h"
#include "phi/kernels/cpu/rows/row_span.h"
#include "phi/rules_attention.h"

namespace paddle::kernels {
namespace {

using namespace rows;

constexpr int64_t kFewQueries = 8;  // below, putting keys into panels costs more than it saves
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class Forward {
 public:
  Forward(const rules::attention::Args& a, const Tensor& out, const Tensor& lse)
      : sizes_(a.query, a.key, a.value),
        mask_(sizes_, a.mask, a.causal, a.fill),
        query_(a.query),
        key_(a.key),
        value_(a.value),
        out_(out),
        lse_(lse.data<float>()),
        scale_(static_cast<float>(a.scale)) {}

  void run() const {
    const int64_t shares = sizes_.queries < kFewQueries ? 1 : sizes_.shares();
    const int64_t units = sizes_.batch * sizes_.kv_heads * shares;
    parallel_pieces(0, units, sizes_.grain(), [&](int64_t begin, int64_t end) {
      Room room(*this);
      for (int64_t unit = begin; unit < end; ++unit) {
        room.batch = unit / shares / sizes_.kv_heads;
        room.kv_head = unit / shares % sizes_.kv_heads;
        if (sizes_.queries < kFewQueries)
          few_queries(room);
        else
          head(room, unit % shares, shares);
      }
    });
  }

 private:
  // One thread's memory, and where it is.
  struct Room {
    explicit Room(const Forward& f) {
      const AttentionSizes& s = f.sizes_;
      const bool few = s.queries < kFewQueries;
      const int64_t queries = few ? s.queries * s.groups() : std::min(kQueryBlock, s.queries);
      out_ld = whole(s.value_size, row_table().attention.width);
      query = scratch.take(queries * s.size);
      scores = scratch.take(queries * kKeyBlock);
      out = scratch.take(queries * out_ld);
      most = scratch.take(queries);
      total = scratch.take(queries);
      rows = scratch.take(kKeyBlock * std::max(s.size, s.value_size));
      mask_row = scratch.take(kKeyBlock);
      if (few) return;
      keys = scratch.take(panel_floats(s.keys, s.size));
      values = scratch.take(panel_floats(s.value_size, s.keys));
      known.resize(static_cast<size_t>(s.key_blocks()));
    }
    Scratch scratch;
    int64_t batch = 0, kv_head = 0, out_ld;
    float *query, *scores, *out, *most, *total, *rows, *mask_row;
    float *keys = nullptr, *values = nullptr;  // panels: keys across, values along
    std::vector<KeyBlock> known;
  };

  const float* rows_of(const HeadRows& t, Room& r, int64_t first, int64_t n, int64_t* ld) const {
    if (const float* there = t.direct(r.batch, r.kv_head, first)) {
      *ld = t.distance();
      return there;
    }
    *ld = t.size();
    t.read(r.rows, *ld, r.batch, r.kv_head, first, n);
    return r.rows;
  }

  void head(Room& r, int64_t share, int64_t shares) const {
    for (int64_t k = 0; k < sizes_.key_blocks(); ++k) {
      const int64_t first = k * kKeyBlock, n = std::min(kKeyBlock, sizes_.keys - first);
      int64_t ld;
      const float* keys = rows_of(key_, r, first, n, &ld);
      KeyBlock& known = r.known[static_cast<size_t>(k)];
      known.norm = longest(keys, ld, n, sizes_.size);
      pack_across(r.keys + first * sizes_.size, keys, ld, n, sizes_.size);
      const float* values = rows_of(value_, r, first, n, &ld);
      known.plain = std::isfinite(longest(values, ld, n, sizes_.value_size));
      pack_along(r.values, sizes_.keys, first, values, ld, n, sizes_.value_size);
    }
    for (int64_t g = 0; g < sizes_.groups(); ++g)
      for (int64_t block = share; block < sizes_.query_blocks(); block += shares)
        queries(r, r.kv_head * sizes_.groups() + g, block);
  }

  void start(Room& r, int64_t rows) const {
    std::fill_n(r.most, rows, -kInfinity);
    std::fill_n(r.total, rows, 0.0f);
    std::fill_n(r.out, rows * r.out_ld, 0.0f);
  }

  void read_queries(Room& r, float* to, int64_t head, int64_t first, int64_t n) const {
    query_.read(to, sizes_.size, r.batch, head, first, n);
    row_fns<float>().times(to, to, scale_, n * sizes_.size);
  }

  // A row of scores becomes weights.
  void weigh(Room& r, int64_t row, int64_t head, int64_t query, int64_t first, int64_t n) const {
    float* s = r.scores + row * kKeyBlock;
    mask_.apply(s, r.batch, head, query, first, n, r.mask_row);
    const float factor = row_table().attention.join_scores(s, n, &r.most[row], &r.total[row]);
    if (factor != 1.0f) {
      float* out = r.out + row * r.out_ld;
      row_fns<float>().times(out, out, factor, r.out_ld);
    }
  }

  void queries(Room& r, int64_t head, int64_t block) const {
    const AttentionFns& fns = row_table().attention;
    const int64_t first_row = block * kQueryBlock, rows = std::min(kQueryBlock, sizes_.queries - first_row);
    read_queries(r, r.query, head, first_row, rows);
    const float norm = longest(r.query, sizes_.size, rows, sizes_.size);
    start(r, rows);
    for (int64_t k = 0; k < sizes_.key_blocks(); ++k) {
      const KeyBlock& known = r.known[static_cast<size_t>(k)];
      const float limit = mask_.limit(r.batch, head, block, k, norm * known.norm * 1.001f);
      if (known.plain && limit < *std::min_element(r.most, r.most + rows) + kLeastExponent) continue;
      const int64_t first = k * kKeyBlock, n = std::min(kKeyBlock, sizes_.keys - first);
      fns.product({rows, n, sizes_.size, r.query, sizes_.size, false, r.keys + first * sizes_.size,
                   fns.width * sizes_.size, r.scores, kKeyBlock, false});
      for (int64_t i = 0; i < rows; ++i) weigh(r, i, head, first_row + i, first, n);
      fns.product({rows, sizes_.value_size, n, r.scores, kKeyBlock, false, r.values + first * fns.width,
                   fns.width * sizes_.keys, r.out, r.out_ld, true});
    }
    finish(r, 0, head, first_row, rows);
  }

  // All queries of a key head against keys and values as they lie.
  void few_queries(Room& r) const {
    const AttentionFns& fns = row_table().attention;
    const int64_t groups = sizes_.groups(), rows = groups * sizes_.queries;
    for (int64_t g = 0; g < groups; ++g)
      read_queries(r, r.query + g * sizes_.queries * sizes_.size, r.kv_head * groups + g, 0, sizes_.queries);
    start(r, rows);
    for (int64_t first = 0; first < sizes_.keys; first += kKeyBlock) {
      const int64_t n = std::min(kKeyBlock, sizes_.keys - first);
      int64_t ld;
      const float* keys = rows_of(key_, r, first, n, &ld);
      for (int64_t i = 0; i < rows; ++i) {
        fns.dots(r.scores + i * kKeyBlock, r.query + i * sizes_.size, keys, ld, n, sizes_.size);
        weigh(r, i, r.kv_head * groups + i / sizes_.queries, i % sizes_.queries, first, n);
      }
      const float* values = rows_of(value_, r, first, n, &ld);
      for (int64_t i = 0; i < rows; ++i)
        fns.weighted_rows(r.out + i * r.out_ld, r.scores + i * kKeyBlock, values, ld, n, sizes_.value_size);
    }
    for (int64_t g = 0; g < groups; ++g) finish(r, g * sizes_.queries, r.kv_head * groups + g, 0, sizes_.queries);
  }

  void finish(Room& r, int64_t row, int64_t head, int64_t first_row, int64_t rows) const {
    float* lse = lse_ + (r.batch * sizes_.heads + head) * sizes_.queries + first_row;
    for (int64_t i = 0; i < rows; ++i) {
      float* out = r.out + (row + i) * r.out_ld;
      row_fns<float>().times(out, out, 1.0f / r.total[row + i], sizes_.value_size);
      // Of a row that saw nothing every weight is 0 / 0.
      if (r.total[row + i] == 0) std::fill_n(out, sizes_.value_size, std::numeric_limits<float>::quiet_NaN());
      lse[i] = r.most[row + i] + std::log(r.total[row + i]);
    }
    out_.write(r.out + row * r.out_ld, r.out_ld, r.batch, head, first_row, rows);
  }

  AttentionSizes sizes_;
  ScoreMask mask_;
  HeadRows query_, key_, value_, out_;
  float* lse_;
  float scale_;
};

void attention(OpCall& c) {
  rules::attention::Args a(c);
  if (a.query.dtype() == DType::kFloat64 || a.key.size(1) == 0 || a.query.size(3) == 0) return by_composition(c);
  if (c.out(0).numel() == 0) return;
  Forward(a, c.out(0), c.out(1)).run();
}

const RegisterCpu registered{"attention", attention};

}  // namespace
}  // namespace paddle::kernels
