#include "pir/recompute.h"

namespace paddle::pir {

std::vector<int64_t> recompute_path(const Operation& op) {
  std::vector<int64_t> path;
  if (Attribute a = op.attr(kRecompute); a && (a.kind() == AttrKind::kIntArray || a.kind() == AttrKind::kArray))
    for (Dim d : a.as_ints()) path.push_back(d.value());
  return path;
}

}  // namespace paddle::pir
