// How each kernel runs over its data: which axis along memory, in which order, what is kept between passes.
#include <map>
#include <set>

#include "cinn/schedule/axis_sets.h"
#include "cinn/schedule/cost.h"
#include "cinn/schedule/plan_steps.h"

namespace paddle::cinn {
namespace {

class Arranger {
 public:
  Arranger(const Group& group, const Axes& axes, const Target& target, Plan& plan)
      : group_(group), axes_(axes), target_(target), plan_(plan), costs_(group) {}

  void finish_kernel(int index) {
    KernelPlan& kernel = plan_.kernels[index];
    std::stable_sort(kernel.passes.begin(), kernel.passes.end(), [](const PassPlan& a, const PassPlan& b) {
      return std::make_pair(a.depth, a.axes.size()) < std::make_pair(b.depth, b.axes.size());
    });
    std::map<int, double> votes;
    std::set<int> seen;
    for (const PassPlan& p : kernel.passes) {
      for (int r : p.reductions) vote(group_.nodes[r].operands[0], votes, seen);
      for (const StorePlan& s : p.stores) {
        vote(s.node, votes, seen);
        const AxisList& all = axes_.nodes[s.node].all;
        if (!all.empty() && !is_anchor(group_.nodes[s.node]))
          votes[all.back()] += 1.5 * static_cast<double>(all.size());
      }
    }
    choose_vector_axis(kernel, votes);
    choose_tile_axis(kernel);
    for (PassPlan& p : kernel.passes) order_loops(kernel, p, votes);
    choose_kept(index);
  }

 private:
  // Votes of the tensors in memory for the axis that runs along them.
  void vote(int node, std::map<int, double>& votes, std::set<int>& seen) const {
    if (!seen.insert(node).second) return;
    const Node& n = group_.nodes[node];
    const AxisList& all = axes_.nodes[node].all;
    bool memory = n.kind == NodeKind::kInput;
    for (size_t k = 0; k < n.operands.size(); ++k) memory |= axes_.mapped[node][k];
    if (memory && !all.empty()) votes[all.back()] += static_cast<double>(all.size());
    if (is_anchor(group_.nodes[node])) return;
    for (size_t k = 0; k < n.operands.size(); ++k)
      if (!axes_.mapped[node][k]) vote(n.operands[k], votes, seen);
  }

  void choose_vector_axis(KernelPlan& kernel, const std::map<int, double>& votes) const {
    AxisList inner;
    for (const PassPlan& p : kernel.passes) inner.insert(inner.end(), p.axes.begin(), p.axes.end());
    int best = -1;
    double most = -1;
    auto consider = [&](int axis, double bonus) {
      auto it = votes.find(axis);
      double v = (it == votes.end() ? 0 : it->second) + bonus;
      if (v > most) most = v, best = axis;
    };
    for (int a : inner) consider(a, 0.5);
    for (size_t i = kernel.parallel.size(); i-- > 0;) consider(kernel.parallel[i], 0);
    bool rows = std::find(inner.begin(), inner.end(), best) != inner.end();
    if (target_.group_size > 0) {
      kernel.by_group = rows && fills_group(kernel);
      return;
    }
    kernel.by_columns = !rows;
    if (kernel.by_columns && best >= 0) kernel.vector_axis = best;
  }

  // Rows long enough for every thread of a group to have a part, or too few of them to give each thread one.
  bool fills_group(const KernelPlan& kernel) const {
    const Index rows = extent_of(axes_, kernel.parallel);
    const bool few = rows.is_const() && rows.value() < target_.threads;
    for (const PassPlan& p : kernel.passes) {
      const Index n = extent_of(axes_, p.axes);
      if (!n.is_const() || n.value() >= (few ? 2 : target_.group_size / 2)) return true;
    }
    return false;
  }

  void choose_tile_axis(KernelPlan& kernel) const {
    if (!kernel.by_columns || kernel.vector_axis < 0) return;
    std::set<int> seen;
    std::vector<int> work;
    for (const PassPlan& p : kernel.passes) {
      if (!p.axes.empty()) return;
      for (const StorePlan& s : p.stores) work.push_back(s.node);
    }
    while (!work.empty()) {
      int n = work.back();
      work.pop_back();
      if (!seen.insert(n).second) continue;
      const Node& node = group_.nodes[n];
      const AxisList& all = axes_.nodes[n].all;
      if (node.kind == NodeKind::kInput && axes_.contains(n, kernel.vector_axis) && all.back() != kernel.vector_axis &&
          axes_.axes[all.back()].chunk < 0 &&
          std::find(kernel.parallel.begin(), kernel.parallel.end(), all.back()) != kernel.parallel.end())
        kernel.tile_axis = all.back();
      for (size_t k = 0; k < node.operands.size(); ++k)
        if (!axes_.mapped[n][k] && node.kind != NodeKind::kReduce) work.push_back(node.operands[k]);
    }
  }

  void order_loops(const KernelPlan& kernel, PassPlan& p, const std::map<int, double>& votes) const {
    if (kernel.by_columns || p.axes.size() < 2) return;
    auto best = std::max_element(p.axes.begin(), p.axes.end(), [&](int a, int b) {
      auto va = votes.find(a), vb = votes.find(b);
      return (va == votes.end() ? 0 : va->second) < (vb == votes.end() ? 0 : vb->second);
    });
    std::rotate(best, best + 1, p.axes.end());
  }

  bool fits_scratch(const PassPlan& p) const {
    if (target_.group_size > 0) return false;
    const Index n = extent_of(axes_, p.axes);
    return !p.axes.empty() && (!n.is_const() || n.value() * 4 <= target_.l2_bytes / 4);
  }

  bool in_memory(int node, int kernel) const { return plan_.temporary_of[node] >= 0 && plan_.kernel_of[node] < kernel; }

  void choose_kept(int index) {
    KernelPlan& kernel = plan_.kernels[index];
    std::map<int, size_t> evaluated;  // node -> pass that computed it
    for (size_t i = 0; i < kernel.passes.size(); ++i) {
      PassPlan& p = kernel.passes[i];
      std::set<int> seen;
      std::vector<int> work;
      for (int r : p.reductions)
        if (!axes_.mapped[r][0]) work.push_back(group_.nodes[r].operands[0]);
      for (const StorePlan& s : p.stores) work.push_back(s.node);
      while (!work.empty()) {
        int n = work.back();
        work.pop_back();
        if (!seen.insert(n).second) continue;
        const Node& node = group_.nodes[n];
        if (node.kind == NodeKind::kReduce || node.operands.empty() || in_memory(n, index)) continue;
        AxisList inner = minus(axes_.nodes[n].all, kernel.parallel);
        auto earlier = evaluated.find(n);
        if (!kernel.by_columns && earlier != evaluated.end() && sorted(inner) == sorted(p.axes) &&
            sorted(kernel.passes[earlier->second].axes) == sorted(p.axes) && costs_.of(n) >= 6 && fits_scratch(p)) {
          auto& keep = kernel.passes[earlier->second].keep;
          if (std::find(keep.begin(), keep.end(), n) == keep.end()) keep.push_back(n);
          continue;
        }
        if (kernel.by_columns && !p.axes.empty() && inner.empty() && axes_.contains(n, kernel.vector_axis) &&
            costs_.of(n) > 0) {
          p.prelude.push_back(n);
          continue;
        }
        for (size_t k = 0; k < node.operands.size(); ++k)
          if (!axes_.mapped[n][k]) work.push_back(node.operands[k]);
      }
      for (int n : seen) evaluated.try_emplace(n, i);
    }
  }

  const Group& group_;
  const Axes& axes_;
  const Target& target_;
  Plan& plan_;
  SubtreeCosts costs_;
};

}  // namespace

void arrange_kernels(const Group& group, const Axes& axes, const Target& target, Plan& plan) {
  Arranger arranger(group, axes, target, plan);
  for (size_t k = 0; k < plan.kernels.size(); ++k) arranger.finish_kernel(static_cast<int>(k));
}

}  // namespace paddle::cinn
