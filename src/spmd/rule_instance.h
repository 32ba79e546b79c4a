// A sharding rule applied to one call: which factor each dimension of each tensor is made of. propagate() needs no
// more.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "spmd/placement.h"

namespace paddle::spmd {

// One factor of the iteration space, such as matmul's k.
struct Factor {
  int64_t size = 1;                   // -1: unknown
  bool whole = false;                 // may not be sharded
  std::optional<PartialKind> reduce;  // sharded, it makes the outputs that lack it Partial
  std::vector<int> additive;          // flat inputs that are added to the reduction: they must be Partial along with it
  std::string label;                  // for messages
};

// The factors of each dimension, outermost first. One: plain; none: never sharded (size 1, broadcast, or whole);
// several: a reshape merged them.
struct TensorFactors {
  Shape shape;  // global; -1: unknown
  int64_t itemsize = 4;
  std::vector<std::vector<int>> dims;
};

// If all of `inputs` are Partial of a kind that `through` lets pass, and the other inputs are Replicate, then every
// output is Partial of that kind. add: one group {x, y}; matmul: two groups {x} and {y}.
struct PartialPass {
  enum Through : uint8_t {
    kLinear,    // sum, avg: f(a + b) = f(a) + f(b)
    kMonotone,  // max, min, any, all: f(max(a, b)) = max(f(a), f(b))
    kMoves,     // every kind: the operator only moves elements
  };
  Through through = kLinear;
  std::vector<int> inputs;  // flat
  bool lets(PartialKind kind) const;
};

struct RuleInstance {
  std::vector<Factor> factors;
  std::vector<TensorFactors> inputs, outputs;  // flat: lists in place, absent optionals left out
  std::vector<PartialPass> passes;
  bool replicate_all = false;  // nothing is known: every tensor must be Replicate
  std::string reason;          // why, when replicate_all; the caller warns once per operator
};

// What a call looks like to a rule. Attribute lookups are by name; a missing attribute is std::monostate.
using AttrValue = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>>;

struct TensorInfo {
  Shape shape;
  int64_t itemsize = 4;
};
using Slot = std::vector<TensorInfo>;  // an absent optional is empty, a tensor has one element, a list has any number

struct CallInfo {
  std::string op;
  std::vector<Slot> inputs, outputs;  // outputs: global shapes from the shape rule
  std::vector<std::pair<std::string, AttrValue>> attrs;
  bool has_local = false;                // the operator has a `local` form for shards
  std::vector<std::string> input_names;  // of the slots; lets clauses say `x` for `0`

  const AttrValue& attr(std::string_view name) const;
  int64_t int_attr(std::string_view name, int64_t otherwise) const;
  bool bool_attr(std::string_view name, bool otherwise) const;
  std::string string_attr(std::string_view name, std::string otherwise) const;
  std::vector<int64_t> ints_attr(std::string_view name) const;  // a number counts as a list of one
};

// Builds an instance by hand, for named rules.
class RuleBuilder {
 public:
  explicit RuleBuilder(const CallInfo& call);

  int factor(int64_t size, std::string label = "");
  int whole(int64_t size) { return set_whole(factor(size)); }
  int set_whole(int f) { return instance_.factors[f].whole = true, f; }
  void set_reduce(int f, PartialKind kind, std::span<const int> additive = {});

  // Dimension `dim` of the index-th tensor of a slot is made of `factors`. Dimensions of size 1 stay empty.
  void input(int slot, int index, int dim, std::vector<int> factors);
  void output(int slot, int index, int dim, std::vector<int> factors);
  int input_index(int slot, int index = 0) const { return input_start_[slot] + index; }    // flat
  int output_index(int slot, int index = 0) const { return output_start_[slot] + index; }  // flat
  // A scratch output: it may lack factors, and is taken as Replicate.
  void leave_out(int flat_output) { left_out_.push_back(flat_output); }
  void pass(PartialPass::Through through, std::vector<int> flat_inputs);

  // Factors that only outputs have, or that some output lacks without a reduction, become whole.
  RuleInstance finish();

 private:
  RuleInstance instance_;
  std::vector<int> input_start_, output_start_, left_out_;
};

RuleInstance replicate_all(const CallInfo& call, std::string reason);

}  // namespace paddle::spmd
