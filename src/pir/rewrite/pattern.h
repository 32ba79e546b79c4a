// Patterns: "where the program looks like this, make it look like that".
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pir/builder.h"

namespace paddle::pir {

// What a pattern changes the program with. The driver listens, so that it knows what to look at again. The insertion
// point is the matched operation, and new operations get its location, marked with the pattern's name.
class Rewriter : public Builder {
 public:
  // All uses of the results become uses of `values` (a null value where a result has no use); the operation is erased.
  void replace(Operation* op, std::span<const Value> values);
  void replace(Operation* op, Value value) { replace(op, std::span<const Value>(&value, 1)); }
  void erase(Operation* op);  // nothing may use its results
  void replace_all_uses(Value from, Value to);
  // For changes of attributes or operands in place.
  void modify(Operation* op, const std::function<void()>& change);

  class Listener : public BuildListener {
   public:
    virtual void changed(Operation* op) = 0;  // its attributes, or its operands
    virtual void erased(Operation* op) = 0;   // before it is
  };
  void listen(Listener* listener) {
    set_listener(listener);
    listener_ = listener;
  }

 private:
  void erase_tree(Operation* op);
  Listener* listener_ = nullptr;
};

class Pattern {
 public:
  // `root`: name of the operation it starts from; "" tries every operation. Higher benefit goes first.
  Pattern(std::string name, std::string root, int benefit = 1)
      : name_(std::move(name)), root_(std::move(root)), benefit_(benefit) {}
  virtual ~Pattern() = default;
  const std::string& name() const { return name_; }
  const std::string& root() const { return root_; }
  int benefit() const { return benefit_; }
  // True if the program was changed. After false it must be as before.
  virtual bool rewrite(Operation& op, Rewriter& r) const = 0;

 private:
  std::string name_, root_;
  int benefit_;
};

class PatternSet {
 public:
  void add(std::unique_ptr<Pattern> p) { patterns_.push_back(std::move(p)); }
  template <class P, class... Args>
  void emplace(Args&&... args) {
    add(std::make_unique<P>(std::forward<Args>(args)...));
  }
  // A pattern that is one function.
  void add(std::string name, std::string root, std::function<bool(Operation&, Rewriter&)> f, int benefit = 1);
  const std::vector<std::unique_ptr<Pattern>>& patterns() const { return patterns_; }

 private:
  std::vector<std::unique_ptr<Pattern>> patterns_;
};

struct GreedyOptions {
  bool fold = true;         // also the operations' own folds
  bool remove_dead = true;  // also unused operations
  size_t max_rewrites = 0;  // 0: 10,000 + 50 for each operation; a pattern that undoes another would go on for ever
};

struct GreedyResult {
  size_t rewrites = 0;  // in all, with folds and removals
  bool converged = true;
  std::map<std::string, size_t> by_pattern;
  explicit operator bool() const { return rewrites != 0; }
};

// Applies the patterns to everything inside `root`'s regions until none matches. Deterministic.
GreedyResult apply_greedily(Operation& root, const PatternSet& patterns, const GreedyOptions& options = {});
inline GreedyResult apply_greedily(Program& p, const PatternSet& patterns, const GreedyOptions& options = {}) {
  return apply_greedily(p.module(), patterns, options);
}

}  // namespace paddle::pir
