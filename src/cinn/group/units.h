// Units: a block's operations, united to what will stand together, and what must come before what.
#pragma once
#include <set>
#include <unordered_map>
#include <vector>

#include "pir/operation.h"

namespace paddle::cinn {

class Units {
 public:
  explicit Units(pir::Block& block);

  // Operations are numbered as they stand in the block; so are units at first, one for each operation.
  size_t size() const { return ops_.size(); }
  pir::Operation& op(int i) const { return *ops_[static_cast<size_t>(i)]; }
  // The operation of this block that makes v, or which `user` is; -1 where it is another block's.
  int maker(pir::Value v) const;
  int position(const pir::Operation* user) const;
  // Operations that i needs: their results, the effects they have before it, or the sizes that only they tell.
  const std::set<int>& before(int i) const { return before_[static_cast<size_t>(i)]; }

  int unit_of(int i) const { return unit_[static_cast<size_t>(i)]; }
  size_t count() const { return members_.size(); }  // of units, empty ones included
  const std::vector<int>& members(int unit) const { return members_[static_cast<size_t>(unit)]; }  // in order
  void unite(int a, int b);
  void leave(int i);  // the operation becomes a unit of its own

  // Whether unit `to` needs unit `from`, by way of some other unit only: then the first operation of that, else -1.
  int way_around(int from, int to) const;
  bool depends(int from, int to) const;  // directly or not
  bool used_outside(pir::Value v, int unit) const;
  // In an order that respects what comes before what, each unit as late as its last member stood.
  std::vector<int> order() const;

 private:
  void find_edges();
  void follow_tellers(size_t i, const std::unordered_map<int64_t, int>& tellers);

  std::vector<pir::Operation*> ops_;
  std::unordered_map<const pir::Operation*, int> position_;
  std::vector<std::set<int>> before_;
  std::vector<int> unit_;                  // of each operation
  std::vector<std::vector<int>> members_;  // of each unit
};

}  // namespace paddle::cinn
