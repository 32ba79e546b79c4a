// Which operations inside a branch or loop lead to some of its results.
#pragma once
#include <map>
#include <set>
#include <unordered_set>
#include <vector>

#include "pir/operation.h"

namespace paddle::autograd {

class RegionSlice {
 public:
  explicit RegionSlice(pir::Operation& op) : op_(op) {}
  // This result is wanted too. Gives values from outside that it follows from.
  std::vector<pir::Value> want(pir::Value result);
  const std::vector<pir::Operation*>& live() const { return live_; }
  // Takes what leads to no wanted result out of a copy of the operation.
  void prune(pir::Operation& copy) const { prune(op_, copy); }

 private:
  bool within(pir::Value v) const;
  void keep(pir::Operation& op);
  void keep_result(pir::Operation& op, size_t index);
  void prune(pir::Operation& original, pir::Operation& copy) const;
  void pass_by(pir::Operation& copy, size_t index) const;

  pir::Operation& op_;
  std::vector<pir::Operation*> live_;
  std::unordered_set<const pir::Operation*> known_;
  std::unordered_set<pir::Value> seen_;
  std::map<const pir::Operation*, std::set<size_t>> wanted_;  // results of branches and loops
  std::vector<pir::Value> todo_;
};

}  // namespace paddle::autograd
