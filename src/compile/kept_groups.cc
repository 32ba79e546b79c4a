#include "compile/kept_groups.h"

#include <algorithm>

namespace paddle::compile {

KeptGroups::KeptGroups(std::vector<distributed::MeshGroup> asked) {
  for (distributed::MeshGroup& g : asked) list_.push_back({g, g.id});
}

KeptGroups::KeptGroups(pir::ProgramReader& r) {
  ByteReader& in = r.in();
  list_.resize(in.size());
  for (Group& g : list_) {
    g.then = static_cast<int>(in.number(0, INT32_MAX));
    g.now.ranks.resize(in.size());
    for (int& rank : g.now.ranks) rank = static_cast<int>(in.number(0, INT32_MAX));
  }
  for (Group& g : list_) g.now.id = distributed::Environment::current().group_of(g.now.ranks);
}

void KeptGroups::write(pir::ProgramWriter& w) const {
  ByteWriter& out = w.out();
  out.size(list_.size());
  for (const Group& g : list_) {
    out.number(int64_t{g.now.id});
    out.size(g.now.ranks.size());
    for (int rank : g.now.ranks) out.number(int64_t{rank});
  }
}

void KeptGroups::renumber(pir::Program& program) const {
  if (std::all_of(list_.begin(), list_.end(), [](const Group& g) { return g.now.id == g.then; })) return;
  program.walk([&](pir::Operation& op) {
    const pir::Attribute ring = op.attr("ring_id");
    if (!ring) return;
    for (const Group& g : list_) {
      if (g.then != ring.as_int()) continue;
      op.set_attr("ring_id",
                  ring.kind() == pir::AttrKind::kInt64 ? pir::Attribute::i64(g.now.id) : pir::Attribute::i32(g.now.id));
      return;
    }
  });
}

}  // namespace paddle::compile
