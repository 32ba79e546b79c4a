#include <unordered_map>
#include <unordered_set>

#include "passes/passes.h"
#include "pir/effects.h"
#include "pir/hash.h"

namespace paddle::passes {

using pir::Block;
using pir::Operation;
using pir::Value;

namespace {

// Operations seen so far, by hash; those of enclosing blocks too, since they dominate.
class Scope {
 public:
  explicit Scope(const Scope* outer) : outer_(outer) {}
  Operation* find(size_t hash, const Operation& op) const {
    for (const Scope* s = this; s; s = s->outer_) {
      auto [first, last] = s->seen_.equal_range(hash);
      for (; first != last; ++first)
        if (pir::equivalent(*first->second, op)) return first->second;
    }
    return nullptr;
  }
  void add(size_t hash, Operation* op) { seen_.emplace(hash, op); }

 private:
  const Scope* outer_;
  std::unordered_multimap<size_t, Operation*> seen_;
};

class Merger {
 public:
  // Values that an in-place form overwrites mean different things before and after it.
  explicit Merger(Operation& root) {
    root.walk([&](Operation& op) {
      if (!op.has(pir::kInplaceForm | uint64_t{kInplaceOnly})) return;
      for (Value v : op.operands())
        if (v) overwritten_.insert(v);
    });
  }

  size_t run(Block& block, const Scope* outer) {
    Scope scope(outer);
    for (Operation& op : block) {
      for (size_t r = 0; r < op.num_regions(); ++r)
        for (size_t b = 0; b < op.region(r).size(); ++b)
          run(op.region(r).block(b), op.has(pir::kIsolated) ? nullptr : &scope);
      if (!pir::is_mergeable(op) || touches_overwritten(op) || op.num_results() == 0) continue;
      size_t hash = pir::hash_for_equivalence(op);
      if (Operation* same = scope.find(hash, op)) {
        for (size_t i = 0; i < op.num_results(); ++i) merge(op.result(i), same->result(i));
        op.erase();
        ++merged_;
      } else {
        scope.add(hash, &op);
      }
    }
    return merged_;
  }

 private:
  bool touches_overwritten(const Operation& op) const {
    if (overwritten_.empty()) return false;
    for (const auto& o : op.op_operands())
      if (o.get() && overwritten_.count(o.get())) return true;
    return false;
  }

  static void merge(Value from, Value to) {
    // If either needs a gradient, the one that stays does.
    if (from.attr("stop_gradient") && !from.stop_gradient()) to.set_stop_gradient(false);
    from.replace_all_uses_with(to);
  }

  std::unordered_set<Value> overwritten_;
  size_t merged_ = 0;
};

}  // namespace

size_t merge_common_subexpressions(Operation& root) {
  Merger merger(root);
  size_t merged = 0;
  for (size_t r = 0; r < root.num_regions(); ++r)
    for (size_t b = 0; b < root.region(r).size(); ++b) merged = merger.run(root.region(r).block(b), nullptr);
  return merged;
}

}  // namespace paddle::passes
