#include "pir/dist_text.h"

#include "base/error.h"
#include "pir/text.h"
#include "spmd/placement.h"

namespace paddle::pir {

std::string dist_text(const spmd::DistAttr& attr) {
  auto numbers = [](const std::vector<int64_t>& v) {
    std::string s = "[";
    for (size_t i = 0; i < v.size(); ++i) s += (i ? ", " : "") + std::to_string(v[i]);
    return s + "]";
  };
  std::string s =
      "{mesh: " + numbers(attr.mesh.shape()) + ", ranks: " + numbers(attr.mesh.process_ids()) + ", names: [";
  for (size_t i = 0; i < attr.mesh.dim_names().size(); ++i) s += (i ? ", " : "") + quote(attr.mesh.dim_names()[i]);
  s += "], placements: [";
  for (size_t i = 0; i < attr.placements.size(); ++i) {
    const spmd::Placement& p = attr.placements[i];
    if (i) s += ", ";
    if (p.is_shard())
      s += fmt::format("Shard({})", p.dim);
    else if (p.is_partial())
      s += fmt::format("Partial({})", spmd::name_of(p.partial));
    else
      s += "Replicate";
  }
  return s + "]}";
}

}  // namespace paddle::pir
