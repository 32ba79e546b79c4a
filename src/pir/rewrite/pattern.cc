#include "pir/rewrite/pattern.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "pir/effects.h"

namespace paddle::pir {

void Rewriter::replace(Operation* op, std::span<const Value> values) {
  PD_INVARIANT(values.size() == op->num_results());
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] && values[i] != op->result(i)) replace_all_uses(op->result(i), values[i]);
  erase(op);
}

void Rewriter::replace_all_uses(Value from, Value to) {
  if (listener_)
    for (Operation* user : from.users()) listener_->changed(user);
  from.replace_all_uses_with(to);
  if (listener_ && to.is_result()) listener_->changed(to.defining_op());
}

void Rewriter::erase_tree(Operation* op) {
  if (!listener_) return;
  op->walk([&](Operation& inner) { listener_->erased(&inner); });
}

void Rewriter::erase(Operation* op) {
  if (!op->results_unused()) throw InternalError(op->describe() + ": erased while its results are used");
  if (insertion_point() == op) after(op);
  if (listener_) {
    // What it used may be dead now.
    for (Value v : op->operands())
      if (v && v.is_result()) listener_->changed(v.defining_op());
    erase_tree(op);
  }
  op->erase();
}

void Rewriter::modify(Operation* op, const std::function<void()>& change) {
  std::vector<Value> before = op->operands();
  change();
  if (!listener_) return;
  for (Value v : before)  // what it used and uses no more may be dead
    if (v && v.is_result()) listener_->changed(v.defining_op());
  listener_->changed(op);
  for (size_t i = 0; i < op->num_results(); ++i)
    for (Operation* user : op->result(i).users()) listener_->changed(user);
}

namespace {

class FunctionPattern : public Pattern {
 public:
  FunctionPattern(std::string name, std::string root, std::function<bool(Operation&, Rewriter&)> f, int benefit)
      : Pattern(std::move(name), std::move(root), benefit), f_(std::move(f)) {}
  bool rewrite(Operation& op, Rewriter& r) const override { return f_(op, r); }

 private:
  std::function<bool(Operation&, Rewriter&)> f_;
};

// Operations to look at, each at most once; erased ones leave a hole.
class Worklist {
 public:
  void push(Operation* op) {
    if (!at_.emplace(op, list_.size()).second) return;
    list_.push_back(op);
  }
  void remove(Operation* op) {
    auto it = at_.find(op);
    if (it == at_.end()) return;
    list_[it->second] = nullptr;
    at_.erase(it);
  }
  Operation* pop() {
    while (next_ < list_.size()) {
      Operation* op = list_[next_++];
      if (!op) continue;
      at_.erase(op);
      return op;
    }
    return nullptr;
  }

 private:
  std::vector<Operation*> list_;
  size_t next_ = 0;
  std::unordered_map<Operation*, size_t> at_;
};

class Driver : public Rewriter::Listener {
 public:
  Driver(Operation& root, const PatternSet& set, const GreedyOptions& options) : root_(root), options_(options) {
    for (auto& p : set.patterns()) (p->root().empty() ? any_ : by_root_[p->root()]).push_back(p.get());
    auto order = [](std::vector<const Pattern*>& v) {
      std::stable_sort(v.begin(), v.end(), [](auto* a, auto* b) { return a->benefit() > b->benefit(); });
    };
    order(any_);
    for (auto& [name, v] : by_root_) order(v);
  }

  GreedyResult run() {
    size_t ops = 0;
    root_.walk([&](Operation& op) {
      ++ops;
      if (&op != &root_) work_.push(&op);
    });
    size_t most = options_.max_rewrites ? options_.max_rewrites : 10000 + 50 * ops;
    rewriter_.listen(this);
    while (Operation* op = work_.pop()) {
      if (!step(op)) continue;
      if (++result_.rewrites >= most) {
        result_.converged = work_.pop() == nullptr;
        break;
      }
    }
    return std::move(result_);
  }

  void created(Operation* op) override {
    op->walk([&](Operation& inner) { work_.push(&inner); });
  }
  void changed(Operation* op) override { work_.push(op); }
  void erased(Operation* op) override { work_.remove(op); }

 private:
  bool step(Operation* op) {
    if (!op->block()) return false;
    rewriter_.before(op);
    if (options_.remove_dead && is_dead(*op) && sizes_told_by(*op).empty()) {
      count("(dead)");
      rewriter_.erase(op);
      return true;
    }
    rewriter_.set_loc(op->loc());
    if (options_.fold && fold(op)) return true;
    auto it = by_root_.find(op->name());
    return (it != by_root_.end() && match(op, it->second)) || match(op, any_);
  }

  bool fold(Operation* op) {
    if (!op->def().fold) return false;
    std::vector<Value> values;
    if (!op->def().fold(*op, values)) return false;
    count("(fold)");
    rewriter_.replace(op, values);
    return true;
  }

  bool match(Operation* op, const std::vector<const Pattern*>& patterns) {
    for (const Pattern* p : patterns) {
      rewriter_.before(op);
      rewriter_.set_loc(Location::derived(p->name(), op->loc()));
      if (!p->rewrite(*op, rewriter_)) continue;
      count(p->name());
      return true;
    }
    return false;
  }

  void count(const std::string& name) { ++result_.by_pattern[name]; }

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  Operation& root_;
  const GreedyOptions& options_;
  std::unordered_map<std::string, std::vector<const Pattern*>, Hash, std::equal_to<>> by_root_;
  std::vector<const Pattern*> any_;
  Worklist work_;
  Rewriter rewriter_;
  GreedyResult result_;
};

}  // namespace

void PatternSet::add(std::string name, std::string root, std::function<bool(Operation&, Rewriter&)> f, int benefit) {
  add(std::make_unique<FunctionPattern>(std::move(name), std::move(root), std::move(f), benefit));
}

GreedyResult apply_greedily(Operation& root, const PatternSet& patterns, const GreedyOptions& options) {
  return Driver(root, patterns, options).run();
}

}  // namespace paddle::pir
