// Placement: how a tensor lies along one axis of a mesh; DistAttr: along all of them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "spmd/mesh.h"

namespace paddle::spmd {

// How the ranks' values combine into the true one.
enum class PartialKind : uint8_t { kSum, kAvg, kMax, kMin, kProd, kAny, kAll };
std::string_view name_of(PartialKind kind);  // "sum", "avg", ...

struct Placement {
  enum Kind : uint8_t { kReplicate, kShard, kPartial };
  Kind kind = kReplicate;
  PartialKind partial = PartialKind::kSum;  // of kPartial
  int dim = -1;                             // of kShard

  bool is_replicate() const { return kind == kReplicate; }
  bool is_shard() const { return kind == kShard; }
  bool is_shard(int d) const { return kind == kShard && dim == d; }
  bool is_partial() const { return kind == kPartial; }
  bool operator==(const Placement& o) const {
    return kind == o.kind && (kind != kShard || dim == o.dim) && (kind != kPartial || partial == o.partial);
  }
  std::string to_string() const;  // Replicate(), Shard(dim=0), Partial(reduce_type=sum)
};

inline Placement Replicate() { return {}; }
inline Placement Shard(int dim) { return {Placement::kShard, PartialKind::kSum, dim}; }
inline Placement Partial(PartialKind kind = PartialKind::kSum) { return {Placement::kPartial, kind, -1}; }

using Placements = std::vector<Placement>;  // one for each mesh axis

std::string to_string(const Placements& placements);  // [Shard(dim=0), Replicate()]
bool all_replicate(const Placements& placements);
bool any_partial(const Placements& placements);

// One placement per mesh axis (missing ones are Replicate), negative dims counted from the end. Raises ValueError when
// there are more placements than axes or a dim is outside the rank.
Placements normalize(Placements placements, const ProcessMesh& mesh, int rank);

struct DistAttr {
  ProcessMesh mesh;
  Placements placements;
  bool operator==(const DistAttr&) const = default;
  std::string to_string() const;
};

// Per tensor dimension the mesh axes that shard it, outermost first: {{0}, {}} for [Shard(0), Replicate] on rank 2.
std::vector<std::vector<int>> dims_mapping(const Placements& placements, int rank);

}  // namespace paddle::spmd
