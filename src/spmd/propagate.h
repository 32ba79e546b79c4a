// Which placements follow from which. One function for all operators; all it knows of an operator is its factors.
//
// Each mesh axis is decided on its own, in order: along it the operator shards one factor, passes a Partial through, or
// computes everything on every rank. Among what the known placements suggest it takes what moves the fewest bytes (as
// estimated); ties go to a factor before a Partial before replication, then to the earlier factor. Inputs and outputs
// count alike, so one call infers outputs from inputs, inputs from outputs, and inputs from each other.
#pragma once
#include <optional>
#include <span>

#include "spmd/rule_instance.h"

namespace paddle::spmd {

struct ResolvedTensor {
  Placements placements;  // inputs: what the operator needs; outputs: what it yields
  bool reshard = false;   // it was known to lie otherwise: an input before the call, an output (if wanted so) after it
};

// The part a mesh axis plays in the call, for `local` forms: factor -1 if it shards none.
struct AxisRole {
  int factor = -1;
  std::string label;                         // of the factor, as the rule writes it ("v")
  std::optional<PartialKind> makes_partial;  // by a sharded reduction, or passed through
};

struct Resolved {
  std::vector<ResolvedTensor> inputs, outputs;  // flat, as in the RuleInstance
  std::vector<AxisRole> axes;                   // one for each mesh axis
  bool unknown_rule = false;                    // everything was replicated for want of a rule: warn once
  std::string reason;
  bool any_reshard() const;
  bool any_partial_output() const;
};

using Known = std::optional<Placements>;  // empty: free to choose. Normalised: one per mesh axis, dims >= 0

// inputs and outputs run parallel to the rule's (missing ones are unknown). Placements must have one entry per mesh
// axis.
Resolved propagate(const RuleInstance& rule, std::span<const Known> inputs, std::span<const Known> outputs,
                   const ProcessMesh& mesh);

// The bytes each rank must receive, about, to turn `from` into `to` along one axis of `parts` ranks; `bytes` is the
// size of the tensor that the axis's ranks share.
double transition_bytes(const Placement& from, const Placement& to, double bytes, int64_t parts);

}  // namespace paddle::spmd
