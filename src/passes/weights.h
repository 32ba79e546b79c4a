// Which values of a program follow from its weights and constants alone.
#pragma once
#include <unordered_set>

#include "pir/operation.h"

namespace paddle::passes {

class WeightValues {
 public:
  // Of one block. Parameters that the program writes are no weights.
  explicit WeightValues(const pir::Block& block);
  bool has(pir::Value v) const { return !v || values_.count(v); }  // an absent operand asks for nothing
  void add(pir::Value v) { values_.insert(v); }

 private:
  std::unordered_set<pir::Value> values_;
};

}  // namespace paddle::passes
