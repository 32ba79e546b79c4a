// How a tensor gets from one distribution to another: a list of primitive steps that all ranks take together. Executing
// them (src/distributed) and simulating them need nothing more than this and local_shard().
#pragma once
#include "spmd/local_shape.h"

namespace paddle::spmd {

struct ReshardStep {
  enum Op : uint8_t {
    kSlice,          // Replicate -> Shard(dim): keep one's own part. No communication
    kToPartial,      // Replicate -> Partial(kind): sum, any: others zero; prod, all: others one; else unchanged. None
    kAllGather,      // Shard(dim) -> Replicate
    kAllReduce,      // Partial(kind) -> Replicate
    kReduceScatter,  // Partial(kind) -> Shard(dim)
    kAllToAll,       // Shard(from_dim) -> Shard(dim)
    kMove,           // to another mesh: rank `to` receives all that rank `from` holds (from == to: keeps it)
  };
  Op op = kSlice;
  int mesh_axis = -1;  // along which ranks work together; of the mesh that the tensor then lies on. -1 for kMove
  int dim = -1;        // tensor dimension that becomes sharded, or is gathered
  int from_dim = -1;   // of kAllToAll
  PartialKind kind = PartialKind::kSum;
  Placements before, after;  // of the whole tensor; local shapes follow from them
  struct Pair {
    int64_t from, to;  // process ids
    bool operator==(const Pair&) const = default;
  };
  std::vector<Pair> pairs;  // of kMove

  bool communicates() const { return op != kSlice && op != kToPartial; }
  std::string to_string() const;  // all_gather(dim=0, axis=1)
};

struct ReshardPlan {
  ProcessMesh from_mesh, to_mesh;
  std::vector<ReshardStep> steps;  // steps before kMove lie on from_mesh, those after it on to_mesh
  std::string to_string() const;
};

// Shapes may hold -1; placements must be normalised. The plan is the same on every rank. Where one dimension is sharded
// by several mesh axes, the inner ones are undone before an outer one changes, so uneven sizes need no special steps.
ReshardPlan plan_reshard(const Shape& shape, const DistAttr& from, const DistAttr& to);

// The value that a rank other than the first contributes to a Partial it has no part in.
double neutral_element(PartialKind kind);

// Whether kToPartial leaves other ranks' values as they are (max, min, avg of equal values).
bool replicate_is_partial(PartialKind kind);

// The bytes that a rank receives in the whole plan, about.
double estimate_bytes(const ReshardPlan& plan, const Shape& shape, int64_t itemsize);

// How the gradient of a tensor that lies as `x` shall lie: as the tensor, whole where that was Partial; along a
// replicated axis it may stay as it came (`grad`; null: not known).
DistAttr gradient_attr(DistAttr x, const DistAttr* grad = nullptr);

// The dual: gradients of a tensor at `placements` lie so (Replicate and Partial(sum) change places).
Placements dual(const Placements& placements);

}  // namespace paddle::spmd
