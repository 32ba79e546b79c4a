// Which part of a tensor a rank holds. Sizes follow ceil(n / parts): the last shards may be smaller, or empty.
// When several mesh axes shard one dimension, the first of them cuts first and each next one cuts what is left.
#pragma once
#include "spmd/placement.h"

namespace paddle::spmd {

struct Range {
  int64_t offset = 0;
  int64_t size = 0;
  bool operator==(const Range&) const = default;
};

// The index-th of `parts` pieces of n elements.
Range shard_range(int64_t n, int64_t parts, int64_t index);
std::vector<int64_t> shard_sizes(int64_t n, int64_t parts);

struct LocalShard {
  Shape shape;
  Shape offset;  // of the shard's first element in the whole tensor
  bool operator==(const LocalShard&) const = default;
};

// The part of a tensor of global shape `shape` that lies at `coordinate` of the mesh.
LocalShard local_shard(const Shape& shape, const ProcessMesh& mesh, const Placements& placements,
                       const Shape& coordinate);

// True if every mesh axis cuts its dimension into equal parts: then all ranks have one local shape.
bool is_even(const Shape& shape, const ProcessMesh& mesh, const Placements& placements);

// What rank 0 holds, which is the largest shard. Unknown sizes (-1) stay unknown.
Shape largest_local_shape(const Shape& shape, const ProcessMesh& mesh, const Placements& placements);

}  // namespace paddle::spmd
