// A round of a loop under construction, run once more where its gradient is taken.
//
// What the loop's variables were at the start of each round goes into lists that the loop carries; so does what can't
// be computed anew: what random operators drew, and gradients that went back through the rounds before.
#pragma once
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "dispatch/trace.h"
#include "pir/clone.h"

namespace paddle::autograd {

// The operations of one round, copied; `map` says what stands for a value of the loop's body.
struct RoundAgain {
  pir::ValueMap map;
  std::vector<pir::Value> lost;  // gradients through earlier rounds, which can't be differentiated again
  std::vector<std::pair<pir::Operation*, pir::Operation*>> drawn;  // random operators: the original, the copy
  pir::Value index;

  bool known(pir::Value v) const { return map.count(v) > 0; }
  pir::Value value(pir::Value v) const { return pir::mapped(map, v); }
};

class KeptRounds {
 public:
  KeptRounds(dispatch::Trace& trace, dispatch::TraceRegion& body) : trace_(trace), body_(body), block_(body.block()) {}

  pir::Value rounds();  // how many rounds were run before this one
  // Values from outside that the body uses, in order of first use.
  std::vector<pir::Value> captures() const;
  // Appends, to the block that is open, what leads to `wanted` in round `index`. `given` are known there.
  RoundAgain again(const Tensor& index, const std::vector<pir::Value>& wanted, const pir::ValueMap& given,
                   const std::function<bool(pir::Value)>& relevant, const std::string& where);
  // The body's arguments that a value's gradient passes to in one round.
  std::unordered_set<pir::Value> arguments_behind(pir::Value v, const std::function<bool(pir::Value)>& relevant) const;
  void settle(RoundAgain& again);  // when its gradient is taken
  // What a value of the body became.
  void replaced(pir::Value old, pir::Value now);
  pir::Value now(pir::Value v) const { return pir::mapped(replaced_, v); }
  // The loop's variables for all that.
  void carry(Tensors& inits, Tensors& next);
  bool inside(pir::Value v) const;
  pir::Value variable_of(pir::Value list) const;  // the argument whose values a list has; null for any other value

 private:
  struct Slice;
  bool once_only(const pir::Operation& op) const;
  pir::Value list_of(pir::Value v, const std::string& where);
  void need(Slice& slice, pir::Value v);
  void need_operation(Slice& slice, pir::Operation& op);
  void need_result(Slice& slice, pir::Operation& op, pir::Value v);
  pir::Value read(pir::Value v, const RoundAgain& again, const std::string& where);
  void rename_sizes(const RoundAgain& again, const pir::ValueMap& given,
                    const std::vector<pir::Operation*>& copies) const;

  dispatch::Trace& trace_;
  dispatch::TraceRegion& body_;
  pir::Block& block_;
  pir::Value rounds_;
  std::vector<std::pair<pir::Value, pir::Value>> lists_;  // a value of the body, and the argument that has it by rounds
  pir::ValueMap replaced_;
  std::unordered_set<pir::Value> gradients_;  // what stands for gradients through earlier rounds
};

}  // namespace paddle::autograd
