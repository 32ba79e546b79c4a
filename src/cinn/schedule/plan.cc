#include "cinn/schedule/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace paddle::cinn {
namespace {

AxisList sorted(AxisList list) {
  std::sort(list.begin(), list.end());
  return list;
}

AxisList minus(const AxisList& a, const AxisList& b) {
  AxisList out;
  for (int x : a)
    if (std::find(b.begin(), b.end(), x) == b.end()) out.push_back(x);
  return out;
}

AxisList common(const AxisList& a, const AxisList& b) { return minus(a, minus(a, b)); }

bool subset(const AxisList& a, const AxisList& b) { return minus(a, b).empty(); }

class Planner {
 public:
  Planner(const Group& group, const Axes& axes, const Target& target) : group_(group), axes_(axes), target_(target) {}

  Plan run() {
    plan_.kernel_of.assign(group_.nodes.size(), -1);
    plan_.temporary_of.assign(group_.nodes.size(), -1);
    depth_.assign(group_.nodes.size(), 0);
    place_reductions();
    place_outputs();
    share_between_kernels();
    for (size_t k = 0; k < plan_.kernels.size(); ++k) finish_kernel(static_cast<int>(k));
    return std::move(plan_);
  }

 private:
  struct Dependence {
    int reduction;
    bool aligned;
  };

  bool is_anchor(int node) const {
    return group_.nodes[node].kind == NodeKind::kReduce && !group_.nodes[node].combine_inline;
  }

  // The reductions that `node` reads, and whether it reads each at its own indices: whether all edges on the way leave
  // the reduction's axes as they are.
  std::vector<Dependence> dependences(int node, bool operands_only) const {
    const AxisList everything{-1};
    std::map<int, bool> found;
    std::set<std::pair<int, AxisList>> seen;
    std::vector<std::pair<int, AxisList>> work;
    auto push_operands = [&](int n, const AxisList& valid) {
      for (size_t k = 0; k < group_.nodes[n].operands.size(); ++k) {
        AxisList next = valid;
        if (group_.nodes[n].combine_inline)
          next = {};
        else if (axes_.mapped[n][k])
          next = valid == everything ? sorted(axes_.shared[n][k]) : sorted(common(valid, axes_.shared[n][k]));
        work.push_back({group_.nodes[n].operands[k], std::move(next)});
      }
    };
    if (operands_only)
      push_operands(node, everything);
    else
      work.push_back({node, everything});
    while (!work.empty()) {
      auto [n, valid] = std::move(work.back());
      work.pop_back();
      if (!seen.insert({n, valid}).second) continue;
      if (is_anchor(n)) {
        const bool aligned = valid == everything || subset(axes_.nodes[n].all, valid);
        auto [it, fresh] = found.try_emplace(n, aligned);
        it->second &= aligned;
        continue;
      }
      push_operands(n, valid);
    }
    std::vector<Dependence> out;
    for (auto& [n, aligned] : found) out.push_back({n, aligned});
    return out;
  }

  // The first kernel in which all that `deps` name is known, if this kernel keeps the axes `parallel`.
  int first_kernel(const std::vector<Dependence>& deps, auto&& fits) const {
    for (size_t k = 0; k < plan_.kernels.size(); ++k) {
      bool ok = fits(plan_.kernels[k]);
      for (const Dependence& d : deps) {
        int at = plan_.kernel_of[d.reduction];
        ok &= at < static_cast<int>(k) || (at == static_cast<int>(k) && d.aligned);
      }
      if (ok) return static_cast<int>(k);
    }
    return -1;
  }

  // Enough iterations for all threads, whatever one of them does.
  bool is_wide(const AxisList& parallel) const {
    Index n = 1;
    for (int a : parallel) {
      if (axes_.axes[a].chunk >= 0) return false;
      n = n * axes_.axes[a].extent;
    }
    return !parallel.empty() && (!n.is_const() || n.value() >= target_.threads);
  }

  int new_kernel(const AxisList& parallel) {
    plan_.kernels.push_back({parallel});
    return static_cast<int>(plan_.kernels.size()) - 1;
  }

  int depth_after(const std::vector<Dependence>& deps, int kernel) const {
    int depth = 0;
    for (const Dependence& d : deps)
      if (plan_.kernel_of[d.reduction] == kernel) depth = std::max(depth, depth_[d.reduction] + 1);
    return depth;
  }

  void need_temporaries(const std::vector<Dependence>& deps, int kernel) {
    for (const Dependence& d : deps) {
      if (plan_.kernel_of[d.reduction] == kernel || plan_.temporary_of[d.reduction] >= 0) continue;
      int slot = static_cast<int>(plan_.temporaries.size());
      plan_.temporaries.push_back(d.reduction);
      plan_.temporary_of[d.reduction] = slot;
      pass(plan_.kernel_of[d.reduction], depth_[d.reduction] + 1, {}).stores.push_back({d.reduction, true, slot});
    }
  }

  PassPlan& pass(int kernel, int depth, const AxisList& axes) {
    for (PassPlan& p : plan_.kernels[kernel].passes)
      if (p.depth == depth && sorted(p.axes) == sorted(axes)) return p;
    plan_.kernels[kernel].passes.push_back({axes});
    plan_.kernels[kernel].passes.back().depth = depth;
    return plan_.kernels[kernel].passes.back();
  }

  void place_reductions() {
    for (int r = 0; r < static_cast<int>(group_.nodes.size()); ++r) {
      if (!is_anchor(r) || !used(r)) continue;
      auto deps = dependences(r, true);
      const AxisList& kept = axes_.nodes[r].all;
      int k = first_kernel(deps, [&](const KernelPlan& p) { return sorted(p.parallel) == sorted(kept); });
      if (k < 0) k = new_kernel(kept);
      plan_.kernel_of[r] = k;
      depth_[r] = depth_after(deps, k);
      need_temporaries(deps, k);
      pass(k, depth_[r], minus(axes_.nodes[group_.nodes[r].operands[0]].all, kept)).reductions.push_back(r);
    }
  }

  bool used(int node) {
    if (used_.empty()) {
      used_.assign(group_.nodes.size(), false);
      for (int o : group_.outputs) used_[o] = true;
      for (size_t i = group_.nodes.size(); i-- > 0;)
        if (used_[i])
          for (int x : group_.nodes[i].operands) used_[x] = true;
    }
    return used_[node];
  }

  void place_outputs() {
    for (size_t slot = 0; slot < group_.outputs.size(); ++slot) {
      const int o = group_.outputs[slot];
      auto deps = dependences(o, false);
      const AxisList& all = axes_.nodes[o].all;
      int k = first_kernel(deps, [&](const KernelPlan& p) {
        if (!subset(p.parallel, all)) return false;
        AxisList inner = minus(all, p.parallel), known;
        if (is_wide(p.parallel)) return true;
        for (const PassPlan& q : p.passes) known.insert(known.end(), q.axes.begin(), q.axes.end());
        return subset(inner, known);
      });
      if (k < 0) k = new_kernel(all);
      need_temporaries(deps, k);
      pass(k, depth_after(deps, k), minus(all, plan_.kernels[k].parallel))
          .stores.push_back({o, false, static_cast<int>(slot)});
    }
  }

  // -- what a later kernel would compute again

  // Operations per element from which on writing a value and reading it back is cheaper than computing it a second
  // time.
  static constexpr double kWorthAPass = 40;

  std::vector<int> roots_of(const PassPlan& p) const {
    std::vector<int> roots;
    for (int r : p.reductions) roots.push_back(group_.nodes[r].operands[0]);
    for (const StorePlan& s : p.stores) roots.push_back(s.node);
    return roots;
  }

  // Visits what a pass evaluates at its own indices, users first; visit returns false where it goes no deeper.
  template <class Visit>
  void walk_pass(const PassPlan& p, Visit&& visit) const {
    std::set<int> seen;
    std::vector<int> work = roots_of(p);
    while (!work.empty()) {
      const int n = work.back();
      work.pop_back();
      const Node& node = group_.nodes[n];
      if (!seen.insert(n).second || node.kind == NodeKind::kReduce || node.operands.empty() || !visit(n)) continue;
      for (size_t k = 0; k < node.operands.size(); ++k)
        if (!axes_.mapped[n][k]) work.push_back(node.operands[k]);
    }
  }

  void share_between_kernels() {
    std::map<int, std::pair<int, size_t>> computed;  // node -> kernel and pass that have it for all its elements
    for (size_t k = 0; k < plan_.kernels.size(); ++k) {
      for (size_t i = 0; i < plan_.kernels[k].passes.size(); ++i)
        walk_pass(plan_.kernels[k].passes[i], [&](int n) {
          if (plan_.temporary_of[n] >= 0) return false;
          auto it = computed.find(n);
          if (it == computed.end() || subtree_cost(n) < kWorthAPass) return true;
          plan_.kernel_of[n] = it->second.first;
          plan_.temporary_of[n] = static_cast<int>(plan_.temporaries.size());
          plan_.kernels[it->second.first].passes[it->second.second].stores.push_back({n, true, plan_.temporary_of[n]});
          plan_.temporaries.push_back(n);
          return false;
        });
      for (size_t i = 0; i < plan_.kernels[k].passes.size(); ++i) {
        const PassPlan& p = plan_.kernels[k].passes[i];
        AxisList all = plan_.kernels[k].parallel;
        all.insert(all.end(), p.axes.begin(), p.axes.end());
        walk_pass(p, [&](int n) {
          if (sorted(axes_.nodes[n].all) == sorted(all)) computed.try_emplace(n, static_cast<int>(k), i);
          return true;
        });
      }
    }
  }

  // -- how a kernel runs over its data

  // Votes of the tensors in memory for the axis that runs along them.
  void vote(int node, std::map<int, double>& votes, std::set<int>& seen) const {
    if (!seen.insert(node).second) return;
    const Node& n = group_.nodes[node];
    const AxisList& all = axes_.nodes[node].all;
    bool memory = n.kind == NodeKind::kInput;
    for (size_t k = 0; k < n.operands.size(); ++k) memory |= axes_.mapped[node][k];
    if (memory && !all.empty()) votes[all.back()] += static_cast<double>(all.size());
    if (is_anchor(node)) return;
    for (size_t k = 0; k < n.operands.size(); ++k)
      if (!axes_.mapped[node][k]) vote(n.operands[k], votes, seen);
  }

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
        if (!all.empty() && !is_anchor(s.node)) votes[all.back()] += 1.5 * static_cast<double>(all.size());
      }
    }
    choose_vector_axis(kernel, votes);
    choose_tile_axis(kernel);
    for (PassPlan& p : kernel.passes) order_loops(kernel, p, votes);
    choose_kept(index);
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
    Index rows = 1;
    for (int a : kernel.parallel) rows = rows * axes_.axes[a].extent;
    const bool few = rows.is_const() && rows.value() < target_.threads;
    for (const PassPlan& p : kernel.passes) {
      Index n = 1;
      for (int a : p.axes) n = n * axes_.axes[a].extent;
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

  double subtree_cost(int node) {
    auto [it, fresh] = cost_.try_emplace(node, 0);
    if (!fresh) return it->second;
    double sum = cost_of(group_.nodes[node]);
    if (!is_anchor(node))
      for (int x : group_.nodes[node].operands) sum += subtree_cost(x);
    return cost_[node] = std::min(sum, 1e6);
  }

  bool fits_scratch(const PassPlan& p) const {
    if (target_.group_size > 0) return false;
    Index n = 1;
    for (int a : p.axes) n = n * axes_.axes[a].extent;
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
            sorted(kernel.passes[earlier->second].axes) == sorted(p.axes) && subtree_cost(n) >= 6 && fits_scratch(p)) {
          auto& keep = kernel.passes[earlier->second].keep;
          if (std::find(keep.begin(), keep.end(), n) == keep.end()) keep.push_back(n);
          continue;
        }
        if (kernel.by_columns && !p.axes.empty() && inner.empty() && axes_.contains(n, kernel.vector_axis) &&
            subtree_cost(n) > 0) {
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
  Plan plan_;
  std::vector<int> depth_;
  std::vector<bool> used_;
  std::map<int, double> cost_;
};

}  // namespace

Plan plan_kernels(const Group& group, const Axes& axes, const Target& target) {
  return Planner(group, axes, target).run();
}

std::string Plan::str(const Group&) const {
  std::string out;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const KernelPlan& p = kernels[k];
    out += fmt::format("kernel {}: parallel [{}]", k, fmt::join(p.parallel, " "));
    out += p.by_columns ? fmt::format(" columns along {}", p.vector_axis) : " rows";
    out += p.tile_axis >= 0 ? fmt::format(" tiles along {}\n", p.tile_axis) : "\n";
    for (const PassPlan& q : p.passes) {
      out += fmt::format("  pass {} [{}]", q.depth, fmt::join(q.axes, " "));
      if (!q.prelude.empty()) out += fmt::format(" prelude %{}", fmt::join(q.prelude, " %"));
      if (!q.reductions.empty()) out += fmt::format(" reduce %{}", fmt::join(q.reductions, " %"));
      if (!q.keep.empty()) out += fmt::format(" keep %{}", fmt::join(q.keep, " %"));
      for (const StorePlan& s : q.stores)
        out += fmt::format(" store %{} to {}{}", s.node, s.temporary ? "temp" : "out", s.slot);
      out += "\n";
    }
  }
  return out;
}

}  // namespace paddle::cinn
