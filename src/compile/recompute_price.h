// RecomputePrices: what keeping a value costs, and what computing it again would, in bytes.
#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "compile/recompute_cut.h"

namespace paddle::compile {

// By the sizes seen at the capture where they are open; 0 for what is no tensor.
int64_t bytes_of(pir::Value v);
std::string described(pir::Value v);  // "exp (model.py:31) f32[4, 8]"

class RecomputePrices {
 public:
  RecomputePrices(const pir::Block& block, const Operations& backward, bool host);

  int64_t keeping(pir::Value v) const;
  // FlowNetwork::kInfinite: never. 0 for what the forward part doesn't need itself.
  int64_t again(const pir::Operation& op) const;

  bool needed(const pir::Operation& op) const { return needed_.count(&op) > 0; }  // by the forward part itself

  std::string why_kept(const pir::Operation& maker) const;
  std::string why_again(const pir::Operation& op) const;

 private:
  using Operation = pir::Operation;
  using Value = pir::Value;

  bool fusable(const Operation& op) const;
  void note_steps(const std::vector<Operation*>& ops);
  void note_readers(const Operation& op, bool backward);
  void note_read(Value v, const Operation& by, bool backward);
  bool stays(Value v) const;
  int64_t memory_behind(Value v) const;
  std::string why_never(const Operation& op) const;

  bool host_;
  std::unordered_set<const Operation*> needed_;        // by the forward part
  std::unordered_set<Value> written_, written_again_;  // in memory for readers that aren't fused: forward, backward
  std::unordered_map<const Operation*, int>
      steps_;  // how many kernels of operators alone come before it, one after another
  std::unordered_set<std::string> overwritten_;  // parameters that the program writes
};

}  // namespace paddle::compile
