// What a pass costs, and what follows from that.
#include "cinn/loop/builder.h"

#include "cinn/schedule/axis_sets.h"
#include "cinn/schedule/cost.h"

namespace paddle::cinn {

double Builder::body_cost(const PassPlan& pass) const {
  double sum = 0;
  std::vector<bool> seen(group_.nodes.size());
  std::vector<int> work;
  for (int r : pass.reductions) work.push_back(group_.nodes[r].operands[0]);
  for (const StorePlan& s : pass.stores) work.push_back(s.node);
  while (!work.empty()) {
    int n = work.back();
    work.pop_back();
    if (seen[n] || keeping_ready(n)) continue;
    if (plan_.temporary_of[n] >= 0 && plan_.kernel_of[n] < kernel_index_) continue;
    seen[n] = true;
    if (group_.nodes[n].kind == NodeKind::kReduce) continue;
    sum += cost_of(group_.nodes[n]) + (group_.nodes[n].kind == NodeKind::kInput ? 1 : 0);
    for (int x : group_.nodes[n].operands) work.push_back(x);
  }
  return sum;
}

Index Builder::work_of(const PassPlan& pass) const {
  Index n = static_cast<int64_t>(body_cost(pass)) + 1;
  for (int a : pass.axes) n = n * axes_.axes[a].extent;
  if (kernel_->tile_axis >= 0) n = n * kTile;
  return kernel_->vector_axis >= 0 ? n * block_ : n;
}

bool Builder::reads_ahead(const PassPlan& pass) const {
  if (!target_.streaming || kernel_->by_group || pass.axes.empty()) return false;
  const Index& n = axes_.axes[pass.axes.back()].extent;
  Index elements = extent_of(axes_, pass.axes);
  for (int a : kernel_->parallel) elements = elements * axes_.axes[a].extent;
  if (!elements.is_const() || !n.is_const() || elements.value() * 4 < target_.streaming_bytes) return false;
  if (n.value() < 4 * kAhead || body_cost(pass) > 8) return false;
  return ready_.empty() && accumulated_.empty();
}

int Builder::prefetch_level(const PassPlan& pass) const {
  if (kernel_->passes.size() < 2 || pass.axes.size() != 1 || !target_.streaming) return 0;
  const Index& n = axes_.axes[pass.axes[0]].extent;
  Index elements = n;
  for (int a : kernel_->parallel) elements = elements * axes_.axes[a].extent;
  if (elements.is_const() && elements.value() * 2 < target_.streaming_bytes) return 0;
  if (!n.is_const() || n.value() < 256 || body_cost(pass) != heaviest_) return 0;
  if (n.value() * 4 <= target_.l1_bytes / 2) return 1;
  return n.value() * 4 <= target_.l2_bytes / 4 ? 2 : 0;
}

}  // namespace paddle::cinn
