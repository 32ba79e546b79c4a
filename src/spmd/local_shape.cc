#include "spmd/local_shape.h"

#include <algorithm>

namespace paddle::spmd {

Range shard_range(int64_t n, int64_t parts, int64_t index) {
  int64_t piece = (n + parts - 1) / parts;
  int64_t begin = std::min(n, piece * index);
  return {begin, std::min(n, begin + piece) - begin};
}

std::vector<int64_t> shard_sizes(int64_t n, int64_t parts) {
  std::vector<int64_t> sizes(parts);
  for (int64_t i = 0; i < parts; ++i) sizes[i] = shard_range(n, parts, i).size;
  return sizes;
}

LocalShard local_shard(const Shape& shape, const ProcessMesh& mesh, const Placements& placements,
                       const Shape& coordinate) {
  LocalShard local{shape, Shape(shape.size(), 0)};
  for (size_t axis = 0; axis < placements.size(); ++axis) {
    if (!placements[axis].is_shard()) continue;
    int dim = placements[axis].dim;
    Range r = shard_range(local.shape.at(dim), mesh.dim_size(axis), coordinate.at(axis));
    local.offset[dim] += r.offset;
    local.shape[dim] = r.size;
  }
  return local;
}

bool is_even(const Shape& shape, const ProcessMesh& mesh, const Placements& placements) {
  Shape left = shape;
  for (size_t axis = 0; axis < placements.size(); ++axis) {
    if (!placements[axis].is_shard()) continue;
    int64_t& n = left.at(placements[axis].dim);
    if (n % mesh.dim_size(axis) != 0) return false;
    n /= mesh.dim_size(axis);
  }
  return true;
}

Shape largest_local_shape(const Shape& shape, const ProcessMesh& mesh, const Placements& placements) {
  Shape local = shape;
  for (size_t axis = 0; axis < placements.size(); ++axis) {
    if (!placements[axis].is_shard()) continue;
    int64_t& n = local.at(placements[axis].dim);
    if (n >= 0) n = (n + mesh.dim_size(axis) - 1) / mesh.dim_size(axis);
  }
  return local;
}

}  // namespace paddle::spmd
