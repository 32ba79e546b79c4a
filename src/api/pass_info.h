// What passes over programs ask a record: its fields `layout`, `evaluation` and `fuses`.
#pragma once
#include "api/op_info.h"

namespace paddle {

struct FlagTerm {  // of a disjunction of conjunctions: a bool argument has this value; `last` ends a conjunction
  uint8_t arg;
  bool value, last;
};
struct IntTerm {
  uint8_t arg;
  int64_t value;
};
struct FusedActivation {
  std::string_view value, op;  // of the argument; the operator that it stands for, empty for none
};

// An operator that computes another one and what follows it: a number per channel (without a layout: per element of the
// last axis), a tensor of the result's shape, an activation. Arguments are numbers of ours, -1 for none.
struct Fusion {
  std::string_view op;            // the one whose result is continued
  std::span<const uint8_t> args;  // for each of its arguments, which one of ours it is
  int8_t bias = -1, residual = -1, scale = -1, activation = -1;
  std::span<const FusedActivation> activations;
  std::span<const IntTerm> where;  // must all hold
  std::span<const DType> dtypes;   // of the result; empty: any
  uint8_t rank = 0;                // the least of its tensors
  bool ungrouped = false;          // only where a compiled group couldn't compute what follows
};

struct PassInfo {
  int8_t layout = -1;                    // the argument that names the axes of results and of some tensors
  uint32_t follows_layout = 0;           // one bit for each argument
  std::span<const FlagTerm> evaluation;  // where it holds, outputs that are written in place stay as they were
  const Fusion* fuses = nullptr;
};

const PassInfo& pass_info(const OpInfo& op);

}  // namespace paddle
