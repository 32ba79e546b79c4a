// Which kernel and pass computes what.
#include <fmt/format.h>

#include <map>
#include <set>

#include "cinn/schedule/axis_sets.h"
#include "cinn/schedule/cost.h"
#include "cinn/schedule/plan_steps.h"

namespace paddle::cinn {
namespace {

class Placer {
 public:
  Placer(const Group& group, const Axes& axes, const Target& target)
      : group_(group), axes_(axes), target_(target), costs_(group) {}

  Plan run() {
    plan_.kernel_of.assign(group_.nodes.size(), -1);
    plan_.temporary_of.assign(group_.nodes.size(), -1);
    depth_.assign(group_.nodes.size(), 0);
    place_reductions();
    place_outputs();
    share_between_kernels();
    return std::move(plan_);
  }

 private:
  struct Dependence {
    int reduction;
    bool aligned;
  };

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
      if (is_anchor(group_.nodes[n])) {
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

  // Enough iterations for all threads, whatever one of them does with a node that runs over `all`.
  bool is_wide(const AxisList& parallel, const AxisList& all) const {
    if (parallel.empty()) return false;
    for (int a : parallel)
      if (axes_.axes[a].chunk >= 0) return false;
    const Index n =
        target_.group_size > 0 ? extent_of(axes_, parallel) : shared_iterations(axes_, parallel, all.back());
    return !n.is_const() || n.value() >= target_.threads;
  }

  int new_kernel(int node, const std::vector<Dependence>& deps, const AxisList& parallel) {
    std::string why;
    for (size_t k = 0; k < plan_.kernels.size(); ++k)
      why += (k ? "; " : "") + why_apart(node, deps, parallel, static_cast<int>(k));
    plan_.kernels.push_back({parallel});
    plan_.kernels.back().why = std::move(why);
    return static_cast<int>(plan_.kernels.size()) - 1;
  }

  std::string why_apart(int node, const std::vector<Dependence>& deps, const AxisList& parallel, int kernel) const {
    for (const Dependence& d : deps) {
      if (plan_.kernel_of[d.reduction] == kernel && !d.aligned)
        return fmt::format("%{} needs all of %{}, which kernel {} is still computing", node, d.reduction, kernel);
      if (plan_.kernel_of[d.reduction] > kernel)
        return fmt::format("%{} needs %{}, which comes after kernel {}", node, d.reduction, kernel);
    }
    const bool reduces = group_.nodes[node].kind == NodeKind::kReduce;
    return fmt::format("%{} {} {}, kernel {} runs over {}: {}", node, reduces ? "keeps" : "runs over", text(parallel),
                       kernel, text(plan_.kernels[kernel].parallel),
                       reduces ? "other reduction axes" : "another iteration space");
  }

  std::string text(const AxisList& list) const {
    std::string out;
    for (int a : list) out += (out.empty() ? "" : ", ") + group_.pool.str(axes_.axes[a].extent);
    return "[" + out + "]";
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
      if (!is_anchor(group_.nodes[r]) || !used(r)) continue;
      auto deps = dependences(r, true);
      const AxisList& kept = axes_.nodes[r].all;
      int k = first_kernel(deps, [&](const KernelPlan& p) { return sorted(p.parallel) == sorted(kept); });
      if (k < 0) k = new_kernel(r, deps, kept);
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
        if (is_wide(p.parallel, all)) return true;
        for (const PassPlan& q : p.passes) known.insert(known.end(), q.axes.begin(), q.axes.end());
        return subset(inner, known);
      });
      if (k < 0) k = new_kernel(o, deps, all);
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
          if (it == computed.end() || costs_.of(n) < kWorthAPass) return true;
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

  const Group& group_;
  const Axes& axes_;
  const Target& target_;
  Plan plan_;
  SubtreeCosts costs_;
  std::vector<int> depth_;
  std::vector<bool> used_;
};

}  // namespace

Plan place_kernels(const Group& group, const Axes& axes, const Target& target) {
  return Placer(group, axes, target).run();
}

}  // namespace paddle::cinn
