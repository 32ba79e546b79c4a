#include "spmd/placement.h"

#include <algorithm>

#include "base/error.h"

namespace paddle::spmd {

std::string_view name_of(PartialKind kind) {
  constexpr std::string_view kNames[] = {"sum", "avg", "max", "min", "prod", "any", "all"};
  return kNames[static_cast<int>(kind)];
}

std::string Placement::to_string() const {
  if (is_shard()) return fmt::format("Shard(dim={})", dim);
  if (is_partial()) return fmt::format("Partial(reduce_type={})", name_of(partial));
  return "Replicate()";
}

std::string to_string(const Placements& placements) {
  std::string s = "[";
  for (const Placement& p : placements) {
    if (s.size() > 1) s += ", ";
    s += p.to_string();
  }
  return s + "]";
}

bool all_replicate(const Placements& placements) {
  return std::all_of(placements.begin(), placements.end(), [](const Placement& p) { return p.is_replicate(); });
}

bool any_partial(const Placements& placements) {
  return std::any_of(placements.begin(), placements.end(), [](const Placement& p) { return p.is_partial(); });
}

Placements normalize(Placements placements, const ProcessMesh& mesh, int rank) {
  check(static_cast<int>(placements.size()) <= mesh.ndim(), ErrorKind::kValue,
        "[placements] expected at most {} placements for a {}-D mesh, got {}", mesh.ndim(), mesh.ndim(),
        placements.size());
  placements.resize(mesh.ndim());
  for (Placement& p : placements) {
    if (!p.is_shard()) continue;
    check(p.dim >= -rank && p.dim < rank, ErrorKind::kValue,
          "[placements] expected Shard's dim in [{}, {}) for a tensor of {} dimensions, got {}", -rank, rank, rank,
          p.dim);
    if (p.dim < 0) p.dim += rank;
  }
  return placements;
}

std::string DistAttr::to_string() const {
  return fmt::format("{{mesh: {}, placements: {}}}", mesh.to_string(), spmd::to_string(placements));
}

std::vector<std::vector<int>> dims_mapping(const Placements& placements, int rank) {
  std::vector<std::vector<int>> mapping(rank);
  for (size_t axis = 0; axis < placements.size(); ++axis)
    if (placements[axis].is_shard()) mapping.at(placements[axis].dim).push_back(static_cast<int>(axis));
  return mapping;
}

}  // namespace paddle::spmd
