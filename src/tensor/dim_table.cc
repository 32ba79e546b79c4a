// The table of symbolic expressions: each is made once, and a Dim is its number.
#include <atomic>
#include <cctype>
#include <mutex>
#include <unordered_map>

#include "base/error.h"
#include "tensor/dim_expr.h"

namespace paddle {
namespace {

// Nodes never move and are never freed, so reading one needs no lock.
class NodeTable {
 public:
  static NodeTable& get() {
    static NodeTable* table = new NodeTable;
    return *table;
  }

  const DimNode& node(Dim d) const {
    auto i = static_cast<uint64_t>(d.bits()) - static_cast<uint64_t>(INT64_MIN);
    return chunks_[i / kChunk].load(std::memory_order_acquire)[i % kChunk];
  }

  Dim intern(DimOp op, std::vector<Dim> operands) {
    size_t h = static_cast<size_t>(op);
    for (Dim d : operands) h = (h ^ static_cast<size_t>(d.bits())) * 0x9E3779B97F4A7C15ull + (h >> 31);
    std::lock_guard lock(mutex_);
    auto [first, last] = by_hash_.equal_range(h);
    for (; first != last; ++first) {
      const DimNode& n = node(first->second);
      if (n.op == op && n.operands == operands) return first->second;
    }
    DimNode n;
    n.op = op;
    n.operands = std::move(operands);
    Dim d = append(std::move(n));
    by_hash_.emplace(h, d);
    return d;
  }

  Dim symbol(std::string name, int64_t hint, bool fresh) {
    std::lock_guard lock(mutex_);
    if (!fresh) {
      auto it = by_name_.find(name);
      if (it != by_name_.end()) return it->second;
    }
    int64_t id = num_symbols_++;
    if (name.empty()) {
      do name = fmt::format("S{}", next_name_++);
      while (by_name_.count(name));
    } else if (by_name_.count(name)) {
      std::string base = name;
      for (int i = 1; by_name_.count(name); ++i) name = fmt::format("{}_{}", base, i);
    }
    DimNode n;
    n.op = DimOp::kSymbol;
    n.value = id;
    n.name = name;
    // A stand-in is large, distinct, and divisible by much, so that a question such as "is it even" gets the answer
    // that lets a program through.
    n.hint = hint > 0 ? hint : 5040 * (id + 2);
    n.seen = hint > 0;
    Dim d = append(std::move(n));
    by_name_.emplace(std::move(name), d);
    return d;
  }

  int64_t num_symbols() const { return num_symbols_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kChunk = 1024, kChunks = 1 << 16;

  Dim append(DimNode n) {
    size_t chunk = count_ / kChunk;
    if (chunk >= kChunks) fail(ErrorKind::kMemory, "too many symbolic sizes");
    if (count_ % kChunk == 0) chunks_[chunk].store(new DimNode[kChunk], std::memory_order_release);
    chunks_[chunk].load(std::memory_order_relaxed)[count_ % kChunk] = std::move(n);
    return Dim::from_bits(static_cast<int64_t>(static_cast<uint64_t>(INT64_MIN) + count_++));
  }

  std::mutex mutex_;
  std::atomic<DimNode*> chunks_[kChunks] = {};
  size_t count_ = 0;
  std::atomic<int64_t> num_symbols_ = 0;
  int64_t next_name_ = 0;
  std::unordered_multimap<size_t, Dim> by_hash_;
  std::unordered_map<std::string, Dim> by_name_;
};

}  // namespace

Dim dim_detail::intern(DimOp op, std::vector<Dim> operands) { return NodeTable::get().intern(op, std::move(operands)); }

const DimNode& node_of(Dim d) {
  PD_INVARIANT(d.is_symbolic());
  return NodeTable::get().node(d);
}

Dim new_symbol(int64_t hint, std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
  if (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0]))) name = "_" + name;
  return NodeTable::get().symbol(std::move(name), hint, true);
}

int64_t dim_detail::symbols_made() { return NodeTable::get().num_symbols(); }

Dim symbol_by_name(const std::string& name) {
  PD_INVARIANT(!name.empty());
  return NodeTable::get().symbol(name, 0, false);
}

}  // namespace paddle
