#include "compile/device_copy.h"

#include <map>

#include "base/error.h"
#include "cinn/jit/device.h"
#include "cinn/loop/emitter.h"

namespace paddle::compile {
namespace {

using cinn::Index;

constexpr int kMaxRank = 6;  // after axes that lie in each other were joined

struct Walk {
  std::vector<int64_t> sizes, to, from;  // strides in elements
};

// Axes of size 1 go, and an axis that continues the next one in both tensors is one with it.
Walk walk_of(const Tensor& dst, const Tensor& src) {
  Walk w;
  for (size_t i = 0; i < dst.shape().size(); ++i) {
    const int64_t n = dst.shape()[i].value(), to = dst.strides()[i], from = src.strides()[i];
    if (n == 1) continue;
    if (!w.sizes.empty() && w.to.back() == to * n && w.from.back() == from * n) {
      w.sizes.back() *= n;
      w.to.back() = to;
      w.from.back() = from;
    } else {
      w.sizes.push_back(n);
      w.to.push_back(to);
      w.from.push_back(from);
    }
  }
  return w;
}

// out[sum i_k * to_k] = in[sum i_k * from_k]; symbols: the sizes, then `to`, then `from`.
cinn::Module copy_module(DType element, int rank) {
  cinn::Module m;
  cinn::IndexPool& pool = m.pool;
  std::vector<Index> sizes, to, from;
  for (int i = 0; i < 3 * rank; ++i) (i < rank ? sizes : i < 2 * rank ? to : from).push_back(pool.symbol(i));
  m.num_symbols = 3 * rank;
  m.num_inputs = m.num_outputs = 1;
  m.buffers.push_back({cinn::BufferRole::kInput, 0, element, 0, 0});
  m.buffers.push_back({cinn::BufferRole::kOutput, 0, element, 0, 0});
  cinn::Kernel k;
  k.name = fmt::format("copy{}_{}", 8 * size_of(element), rank);
  k.parallel_extent = 1;
  for (const Index& n : sizes) k.parallel_extent = k.parallel_extent * n;
  const Index p = pool.var(k.parallel_extent);
  k.parallel_var = p.terms()[0].first[0];
  k.work = 2;
  Index rest = p, reads = 0, writes = 0;
  for (size_t i = sizes.size(); i-- > 0;) {
    const Index at = i == 0 ? rest : pool.mod(rest, sizes[i]);
    if (i > 0) rest = pool.div(rest, sizes[i]);
    reads = reads + at * from[i];
    writes = writes + at * to[i];
  }
  cinn::Emitter emit(m);
  emit.begin_kernel(k.parallel_var);
  emit.store(1, writes, emit.load(0, reads, -1), false);
  k.body = emit.end_kernel();
  m.kernels.push_back(std::move(k));
  return m;
}

// All copies of a device in one batch: one program for its compiler.
struct Copies {
  std::shared_ptr<cinn::DeviceBatch> batch;
  std::map<std::pair<size_t, int>, size_t> kernels;  // by element size and rank

  explicit Copies(Place place) : batch(std::make_shared<cinn::DeviceBatch>(place)) {
    for (DType t : {DType::kUInt8, DType::kInt16, DType::kInt32, DType::kInt64})
      for (int rank = 1; rank <= kMaxRank; ++rank) kernels[{size_of(t), rank}] = batch->add(copy_module(t, rank));
  }
};

Copies& copies_at(Place place) {
  static std::mutex mutex;
  static auto* all = new std::map<std::pair<int, int>, Copies>;
  std::lock_guard lock(mutex);
  return all->try_emplace({place.kind, place.index}, place).first->second;
}

}  // namespace

void copy_strided(const Tensor& dst, const Tensor& src) {
  int64_t n = src.numel();
  if (n == 0) return;
  Walk w = walk_of(dst, src);
  size_t size = size_of(src.dtype());
  if (size == 16) {  // two words each
    for (auto* strides : {&w.to, &w.from})
      for (int64_t& s : *strides) s *= 2;
    w.sizes.push_back(2);
    w.to.push_back(1);
    w.from.push_back(1);
    size = 8;
    n *= 2;
  }
  if (w.sizes.empty()) w = {{1}, {1}, {1}};
  check(w.sizes.size() <= kMaxRank, ErrorKind::kNotImplemented,
        "[copy] expected at most {} axes that don't lie in each other, got {}", kMaxRank, w.sizes.size());
  const int rank = static_cast<int>(w.sizes.size());
  std::vector<int64_t> sizes = w.sizes;
  sizes.insert(sizes.end(), w.to.begin(), w.to.end());
  sizes.insert(sizes.end(), w.from.begin(), w.from.end());
  void* const buffers[] = {src.data(), dst.data()};
  Copies& copies = copies_at(dst.place());
  copies.batch->launch(copies.kernels.at({size, rank}), false, n, buffers, sizes);
}

}  // namespace paddle::compile
