// What operations cost: scalar operations for one element, roughly; 1 for an addition.
#pragma once
#include <map>

#include "cinn/compute/group.h"

namespace paddle::cinn {

double cost_of(const Node& node);
double cost_of(scalar::Fn fn);

// Of a node and all that it is computed from, down to inputs and reductions.
class SubtreeCosts {
 public:
  explicit SubtreeCosts(const Group& group) : group_(group) {}
  double of(int node);

 private:
  const Group& group_;
  std::map<int, double> known_;
};

// A reduction with loops of its own; others are repeated wherever they are read.
bool is_anchor(const Node& node);

}  // namespace paddle::cinn
