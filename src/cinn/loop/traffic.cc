#include "cinn/loop/traffic.h"

#include <algorithm>
#include <map>
#include <set>

namespace paddle::cinn {
namespace {

class Counter {
 public:
  Counter(const Module& module, const Kernel& kernel) : m_(module) {
    if (!kernel.parallel_extent.is_const()) {
      known_ = false;
      return;
    }
    find_used(kernel.body);
    block(kernel.body, kernel.parallel_extent.value());
    for (auto& [buffer, accesses] : touched_) {
      const Buffer& b = m_.buffers[static_cast<size_t>(buffer)];
      if (!b.size.is_const()) known_ = false;
      // A kernel that reads a few rows of a table moves those.
      const int64_t elements = std::min(b.size.is_const() ? b.size.value() : 0, accesses);
      sum_.bytes += elements * static_cast<int64_t>(size_of(b.dtype));
    }
  }
  std::optional<KernelTraffic> result() const { return known_ ? std::optional(sum_) : std::nullopt; }

 private:
  // What simplifying left over costs nothing: code generators drop it. Uses come after definitions.
  void find_used(const std::vector<Stmt>& body) {
    for (auto s = body.rbegin(); s != body.rend(); ++s) {
      use(s->index);
      use(s->extent);
      if (s->kind == StmtKind::kStore || s->kind == StmtKind::kUpdate) used_.insert(s->value);
      find_used(s->body);
      if (s->kind != StmtKind::kLet || !used_.count(s->value)) continue;
      const Value& v = m_.values[static_cast<size_t>(s->value)];
      used_.insert(v.args.begin(), v.args.end());
      use(v.index);
    }
  }

  void use(const Index& index) {
    std::vector<AtomId> leaves;
    m_.pool.leaves(index, leaves);
    for (AtomId id : leaves)
      if (m_.pool.atom(id).kind == AtomKind::kValue) used_.insert(m_.pool.atom(id).number);
  }

  void block(const std::vector<Stmt>& body, int64_t times) {
    for (const Stmt& s : body) statement(s, times);
  }

  void statement(const Stmt& s, int64_t times) {
    switch (s.kind) {
      case StmtKind::kFor:
        return block(s.body, times * trips(s.extent));
      case StmtKind::kStore:
        return touch(s.buffer, times);
      case StmtKind::kUpdate:
        if (is_float(m_.values[static_cast<size_t>(s.value)].dtype)) sum_.flops += times;
        return;
      case StmtKind::kLet:
        if (used_.count(s.value)) value(m_.values[static_cast<size_t>(s.value)], times);
        return;
      default:
        return;
    }
  }

  void value(const Value& v, int64_t times) {
    if (v.op == ValueOp::kLoad) touch(v.buffer, times);
    if (v.op == ValueOp::kFn && is_float(v.dtype)) sum_.flops += times;
  }

  void touch(int buffer, int64_t times) {
    if (m_.buffers[static_cast<size_t>(buffer)].role != BufferRole::kScratch) touched_[buffer] += times;
  }

  // The last chunk of a cut axis may have fewer: counted as a full one.
  int64_t trips(const Index& extent) {
    if (extent.is_const()) return extent.value();
    int64_t most = -1;
    for (const auto& [monomial, c] : extent.terms())
      if (monomial.size() == 1 && c == 1 && extent.terms().size() == 1) most = bound(m_.pool.atom(monomial[0]));
    if (most < 0) known_ = false;
    return std::max<int64_t>(most, 0);
  }

  // The largest value of a minimum or maximum that has a constant in it.
  int64_t bound(const Atom& x) const {
    if (x.kind == AtomKind::kMin) {
      if (x.b.is_const()) return x.b.value();
      if (x.a.is_const()) return x.a.value();
    }
    if (x.kind == AtomKind::kMax && x.b.is_const() && x.a.terms().size() == 1 && x.a.terms()[0].first.size() == 1)
      return std::max(bound(m_.pool.atom(x.a.terms()[0].first[0])), x.b.value());
    return -1;
  }

  const Module& m_;
  bool known_ = true;
  KernelTraffic sum_;
  std::map<int, int64_t> touched_;  // buffer -> accesses
  std::set<ValueId> used_;
};

}  // namespace

std::optional<KernelTraffic> traffic_of(const Module& module, const Kernel& kernel) {
  return Counter(module, kernel).result();
}

}  // namespace paddle::cinn
