#include "phi/kernels/cpu/rows/attention_blocks.h"

#include <algorithm>

#include "base/parallel_for.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/tile/kernel_table.h"

namespace paddle::rows {
namespace {

constexpr size_t kF32 = static_cast<size_t>(tile::Compute::kF32);
constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

// ---- rows

HeadRows::HeadRows(const Tensor& t)
    : data_(static_cast<char*>(t.data())),
      dtype_(t.dtype()),
      bytes_(static_cast<int64_t>(size_of(t.dtype()))),
      batch_(t.strides()[0]),
      row_(t.strides()[1]),
      head_(t.strides()[2]),
      unit_(t.strides()[3]),
      size_(t.size(3)) {}

void HeadRows::read(float* to, int64_t ld, int64_t batch, int64_t head, int64_t first, int64_t n) const {
  const auto load = tile::kernels().load[kF32][static_cast<size_t>(dtype_)];
  for (int64_t i = 0; i < n; ++i) load(to + i * ld, 1, at(batch, head, first + i), unit_, size_);
}

void HeadRows::write(const float* from, int64_t ld, int64_t batch, int64_t head, int64_t first, int64_t n) const {
  const auto store = tile::kernels().store[kF32][static_cast<size_t>(dtype_)];
  for (int64_t i = 0; i < n; ++i) store(at(batch, head, first + i), unit_, from + i * ld, 1, size_);
}

const float* HeadRows::direct(int64_t batch, int64_t head, int64_t first) const {
  if (dtype_ != DType::kFloat32 || (unit_ != 1 && size_ > 1)) return nullptr;
  return reinterpret_cast<const float*>(at(batch, head, first));
}

float longest(const float* rows, int64_t ld, int64_t n, int64_t size) {
  float most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float* row = rows + i * ld;
    const float square = row_table().attention.dot(row, row, size);
    if (!(square <= most)) most = square;
    if (most != most) return most;
  }
  return std::sqrt(most);
}

void pack_across(float* to, const float* from, int64_t ld, int64_t rows, int64_t size) {
  const int64_t width = row_table().attention.width;
  for (int64_t first = 0; first < rows; first += width, to += width * size) {
    const int64_t n = std::min(width, rows - first);
    if (n < width) std::fill(to, to + width * size, 0.0f);
    for (int64_t i = 0; i < n; ++i) {
      const float* row = from + (first + i) * ld;
      for (int64_t p = 0; p < size; ++p) to[p * width + i] = row[p];
    }
  }
}

void pack_along(float* to, int64_t depth, int64_t offset, const float* from, int64_t ld, int64_t rows, int64_t size) {
  const int64_t width = row_table().attention.width;
  for (int64_t first = 0; first < size; first += width, to += width * depth) {
    const int64_t n = std::min(width, size - first);
    float* at = to + offset * width;
    for (int64_t i = 0; i < rows; ++i, at += width) {
      std::copy_n(from + i * ld + first, n, at);
      std::fill(at + n, at + width, 0.0f);
    }
  }
}

// ---- sizes

AttentionSizes::AttentionSizes(const Tensor& query, const Tensor& key, const Tensor& value)
    : batch(query.size(0)),
      queries(query.size(1)),
      keys(key.size(1)),
      heads(query.size(2)),
      kv_heads(key.size(2)),
      size(query.size(3)),
      value_size(value.size(3)) {}

int64_t AttentionSizes::shares() const {
  const int64_t own = std::max<int64_t>(1, batch * kv_heads), threads = num_threads();
  if (own >= threads || queries * keys * (size + value_size) < (1 << 18)) return 1;
  return std::min(blocks(threads, own), std::max<int64_t>(1, query_blocks()));
}

int64_t AttentionSizes::grain() const {
  const int64_t work = queries * keys * groups() * (size + value_size) / shares();
  return std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(1, work));
}

// ---- masks

ScoreMask::ScoreMask(const AttentionSizes& sizes, const Tensor& mask, bool causal, double fill)
    : sizes_(sizes), causal_(causal), fill_(static_cast<float>(fill)) {
  if (!mask.defined()) return;
  const Shape full{Dim(sizes.batch), Dim(sizes.heads), Dim(sizes.queries), Dim(sizes.keys)};
  const Tensor wide = kernels::broadcast_to(mask, full);
  data_ = static_cast<const char*>(wide.data());
  dtype_ = wide.dtype();
  bytes_ = static_cast<int64_t>(size_of(dtype_));
  for (size_t i = 0; i < 4; ++i) stride_[i] = wide.size(static_cast<int64_t>(i)) == 1 ? 0 : wide.strides()[i];
  const int64_t batches = stride_[0] ? sizes.batch : 1, heads = stride_[1] ? sizes.heads : 1;
  const int64_t query_blocks = sizes.query_blocks(), key_blocks = sizes.key_blocks();
  limits_.resize(static_cast<size_t>(batches * heads * query_blocks * key_blocks));
  parallel_for(0, batches * heads * query_blocks, blocks(1 << 15, kQueryBlock * std::max<int64_t>(sizes.keys, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t unit = begin; unit < end; ++unit) {
                   const int64_t block = unit % query_blocks, head = unit / query_blocks;
                   const int64_t from = block * kQueryBlock;
                   const int64_t to = stride_[2] ? std::min(from + kQueryBlock, sizes.queries) : from + 1;
                   for (int64_t q = from; q < to; ++q)
                     for (int64_t k = 0; k < key_blocks; ++k)
                       note(limits_[static_cast<size_t>(unit * key_blocks + k)], head / heads, head % heads, q,
                            k * kKeyBlock, std::min(kKeyBlock, sizes.keys - k * kKeyBlock));
                 }
               });
}

void ScoreMask::note(Limit& l, int64_t batch, int64_t head, int64_t query, int64_t first, int64_t n) const {
  const char* p = at(batch, head, query, first);
  if (chooses()) {
    for (int64_t i = 0; i < n; ++i)
      if (p[i * stride_[3]])
        l.add = 0;
      else
        l.other = fill_;
    return;
  }
  float row[kKeyBlock];
  tile::kernels().load[kF32][static_cast<size_t>(dtype_)](row, 1, p, stride_[3], n);
  for (int64_t i = 0; i < n; ++i) l.add = row[i] <= l.add ? l.add : (row[i] == row[i] ? row[i] : kInfinity);
}

float ScoreMask::limit(int64_t batch, int64_t head, int64_t query_block, int64_t key_block, float bound) const {
  const int64_t last = std::min(sizes_.queries, (query_block + 1) * kQueryBlock) - 1 + sizes_.keys - sizes_.queries;
  const float product = causal_ && key_block * kKeyBlock > last ? -kInfinity : bound;
  if (!data_) return product;
  const int64_t heads = stride_[1] ? sizes_.heads : 1;
  const int64_t own = (stride_[0] ? batch : 0) * heads + (stride_[1] ? head : 0);
  const Limit& l =
      limits_[static_cast<size_t>((own * sizes_.query_blocks() + query_block) * sizes_.key_blocks() + key_block)];
  return std::max(product + l.add, l.other);
}

void ScoreMask::choose(float* s, const char* p, float otherwise, int64_t n) const {
  const auto* keep = reinterpret_cast<const uint8_t*>(p);
  if (stride_[3] == 1) return row_table().attention.choose_row(s, keep, otherwise, n);
  for (int64_t i = 0; i < n; ++i) s[i] = keep[i * stride_[3]] ? s[i] : otherwise;
}

void ScoreMask::erase(float* g, int64_t batch, int64_t head, int64_t query, int64_t first, int64_t n) const {
  if (chooses()) choose(g, at(batch, head, query, first), 0.0f, n);
}

void ScoreMask::apply(float* s, int64_t batch, int64_t head, int64_t query, int64_t first, int64_t n,
                      float* row) const {
  if (causal_) {
    const int64_t seen = std::clamp<int64_t>(query + sizes_.keys - sizes_.queries + 1 - first, 0, n);
    std::fill(s + seen, s + n, -kInfinity);
  }
  if (!data_) return;
  const AttentionFns& fns = row_table().attention;
  const char* p = at(batch, head, query, first);
  if (chooses()) return choose(s, p, fill_, n);
  if (dtype_ == DType::kFloat32 && stride_[3] == 1) return fns.add_row(s, reinterpret_cast<const float*>(p), n);
  tile::kernels().load[kF32][static_cast<size_t>(dtype_)](row, 1, p, stride_[3], n);
  fns.add_row(s, row, n);
}

}  // namespace paddle::rows
