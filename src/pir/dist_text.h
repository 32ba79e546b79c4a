// Text form of mesh and placements inside types and attributes:
//   {mesh: [2, 2], ranks: [0, 1, 2, 3], names: ["x", "y"], placements: [Shard(0), Partial(sum)]}
#pragma once
#include <string>

namespace paddle::spmd {
struct DistAttr;
}

namespace paddle::pir {
std::string dist_text(const spmd::DistAttr& attr);
}
