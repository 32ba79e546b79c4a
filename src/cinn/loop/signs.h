// Signs: which values are known to lie on one side of 0, whatever is read.
#pragma once
#include <vector>

#include "cinn/loop/ast.h"

namespace paddle::cinn {

class Signs {
 public:
  explicit Signs(const Module& module) : m_(module) {}

  // At most 0, or NaN.
  bool not_positive(ValueId v) { return of(v).not_positive; }
  void set_not_positive(ValueId v) {
    of(v);
    known_[static_cast<size_t>(v)].not_positive = true;
  }

  // The same to the last digit wherever it is computed from the same elements: nothing in it can be contracted in one
  // place and not in another.
  bool rounds_alike(ValueId v) { return of(v).rounds_alike; }

 private:
  struct Facts {
    bool not_positive = false, not_negative = false, rounds_alike = false;
  };
  Facts of(ValueId v);
  Facts derived(const Value& v) const;
  void find_signs(const Value& v, Facts& out) const;
  bool fn_rounds_alike(const Value& v) const;
  bool is_product(ValueId v) const;

  const Module& m_;
  std::vector<Facts> known_;  // of all values up to the last that was asked for
};

}  // namespace paddle::cinn
