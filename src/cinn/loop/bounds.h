// Bounds: what is known of values whatever is read, so that code for functions needn't reckon with more.
#pragma once
#include <limits>
#include <vector>

#include "cinn/loop/ast.h"

namespace paddle::cinn {

class Bounds {
 public:
  explicit Bounds(const Module& module) : m_(module) {}

  // Of exp and exp2, as FnTraits.
  int64_t traits_of_power(scalar::Fn fn, ValueId operand);
  bool within(ValueId v, double low, double high);
  void narrow(ValueId v, double low, double high);  // known from elsewhere

  // The same to the last digit wherever it is computed from the same elements: nothing in it can be contracted in one
  // place and not in another.
  bool rounds_alike(ValueId v) { return of(v).rounds_alike; }

 private:
  // The value, unless NaN, is at least `low` and at most `high`, but for its roundings where these are not 0.
  struct Facts {
    double low = -std::numeric_limits<double>::infinity(), high = -low;
    bool rounds_alike = false;
  };
  Facts of(ValueId v);
  Facts derived(const Value& v) const;
  void bound_fn(const Value& v, Facts& out) const;
  bool fn_rounds_alike(const Value& v) const;
  bool is_product(ValueId v) const;
  const Facts& known(ValueId v) const { return known_[static_cast<size_t>(v)]; }

  const Module& m_;
  std::vector<Facts> known_;  // of all values up to the last that was asked for
};

}  // namespace paddle::cinn
