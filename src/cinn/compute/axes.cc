#include "cinn/compute/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace paddle::cinn {
namespace {

// Factors are axes in the making: one may turn out to equal another, or to consist of several.
class Aligner {
 public:
  explicit Aligner(Group& group) : group_(group), pool_(group.pool) {}

  Axes run() {
    const size_t n = group_.nodes.size();
    dims_.resize(n);
    result_.mapped.resize(n);
    shared_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      align(static_cast<int>(i));
      PD_INVARIANT(dims_[i].size() == group_.nodes[i].shape.size());
    }
    finish();
    merge_neighbours();
    finish_shared();
    return std::move(result_);
  }

 private:
  struct Factor {
    Index size;
    int same_as = -1;
    std::vector<int> parts;
    std::set<int> nodes;  // that it occurs in
  };

  int fresh(const Index& size, int node) {
    factors_.push_back({size, -1, {}, {node}});
    return static_cast<int>(factors_.size()) - 1;
  }

  void resolve(int f, std::vector<int>& out) const {
    while (factors_[f].same_as >= 0) f = factors_[f].same_as;
    if (factors_[f].parts.empty()) out.push_back(f);
    for (int p : factors_[f].parts) resolve(p, out);
  }

  std::vector<int> resolve(const std::vector<int>& list) const {
    std::vector<int> out;
    for (int f : list) resolve(f, out);
    return out;
  }

  // a == b as lists of factors. On failure nothing is undone: finer factors than needed do no harm.
  bool unify(std::vector<int> a, std::vector<int> b) {
    for (;;) {
      a = resolve(a), b = resolve(b);  // the step before may have changed what stands in them
      if (a.empty() || b.empty()) return a.empty() && b.empty();
      int f = a[0], g = b[0];
      Index rest;
      if (factors_[f].size == factors_[g].size) {
        if (!same(f, g)) return false;
        a.erase(a.begin()), b.erase(b.begin());
      } else if (IndexPool::divide_exactly(factors_[f].size, factors_[g].size, &rest)) {
        if (!split(f, g, rest)) return false;
        a[0] = factors_[f].parts[1];
        b.erase(b.begin());
      } else if (IndexPool::divide_exactly(factors_[g].size, factors_[f].size, &rest)) {
        if (!split(g, f, rest)) return false;
        b[0] = factors_[g].parts[1];
        a.erase(a.begin());
      } else {
        return false;
      }
    }
  }

  // One loop can't stand for two dimensions of a tensor: x + transpose(x) would become its diagonal.
  bool disjoint(int f, int g) const {
    for (int n : factors_[f].nodes)
      if (factors_[g].nodes.count(n)) return false;
    return true;
  }

  bool same(int f, int g) {
    if (f == g) return true;
    if (!disjoint(f, g)) return false;
    factors_[g].same_as = f;
    factors_[f].nodes.insert(factors_[g].nodes.begin(), factors_[g].nodes.end());
    return true;
  }

  // f = first x rest
  bool split(int f, int first, const Index& rest) {
    if (!disjoint(f, first)) return false;
    int tail = fresh(rest, -1);
    factors_[tail].nodes = factors_[f].nodes;
    factors_[first].nodes.insert(factors_[f].nodes.begin(), factors_[f].nodes.end());
    factors_[f].parts = {first, tail};
    return true;
  }

  void fresh_dim(int i, size_t d) {
    const Index& size = group_.nodes[i].shape[d];
    dims_[i].emplace_back();
    if (!size.is(1)) dims_[i].back().push_back(fresh(size, i));
  }

  void fresh_dims(int i) {
    for (size_t d = 0; d < group_.nodes[i].shape.size(); ++d) fresh_dim(i, d);
  }

  // The next dimension of node i is dimension d of its operand x.
  void adopt_dim(int i, int x, size_t d) {
    dims_[i].push_back(resolve(dims_[x][d]));
    for (int f : dims_[i].back()) factors_[f].nodes.insert(i);
  }

  void adopt_or_fresh(int i, size_t d, bool unchanged) {
    if (!unchanged) return fresh_dim(i, d);
    adopt_dim(i, group_.nodes[i].operands[0], d);
    shared_[i][0].push_back(static_cast<int>(d));
  }

  // Dimension d of node i and of its k-th operand are the same, if their axes can be.
  void share_dim(int i, size_t k, size_t d) {
    if (unify(dims_[group_.nodes[i].operands[k]][d], dims_[i][d])) shared_[i][k].push_back(static_cast<int>(d));
  }

  bool unify_all(int a, int b) {
    bool ok = true;
    for (size_t d = 0; d < dims_[a].size(); ++d) ok &= unify(dims_[a][d], dims_[b][d]);
    return ok;
  }

  bool unify_reshape(int result, int operand) {
    std::vector<int> a, b;
    for (const auto& d : dims_[result]) a.insert(a.end(), d.begin(), d.end());
    for (const auto& d : dims_[operand]) b.insert(b.end(), d.begin(), d.end());
    return unify(a, b);
  }

  void align(int i) {
    const Node& n = group_.nodes[i];
    auto& mapped = result_.mapped[i];
    mapped.assign(n.operands.size(), false);
    shared_[i].resize(n.operands.size());
    const int x = n.operands.empty() ? -1 : n.operands[0];
    switch (n.kind) {
      case NodeKind::kInput:
      case NodeKind::kConstant:
      case NodeKind::kSize:
      case NodeKind::kIota:
        return fresh_dims(i);
      case NodeKind::kPointwise:
      case NodeKind::kCast:
        if (x < 0) return fresh_dims(i);
        for (size_t d = 0; d < n.shape.size(); ++d) adopt_dim(i, x, d);
        for (size_t k = 1; k < n.operands.size(); ++k) mapped[k] = !unify_all(n.operands[k], i);
        return;
      case NodeKind::kReshape:
        fresh_dims(i);
        mapped[0] = !unify_reshape(i, x);
        return;
      case NodeKind::kTranspose:
      case NodeKind::kBroadcast:
        for (size_t d = 0; d < n.dims.size(); ++d)
          if (n.dims[d] >= 0)
            adopt_dim(i, x, n.dims[d]);
          else
            fresh_dim(i, d);
        return;
      case NodeKind::kReduce:
        for (size_t d = 0; d < dims_[x].size(); ++d)
          if (std::find(n.dims.begin(), n.dims.end(), static_cast<int>(d)) == n.dims.end()) adopt_dim(i, x, d);
        return;
      case NodeKind::kTake:
        for (size_t d = 0; d < n.shape.size(); ++d) adopt_dim(i, n.operands[1], d);
        mapped[0] = true;
        for (size_t d = 0; d < n.shape.size(); ++d)
          if (static_cast<int>(d) != n.axis) share_dim(i, 0, d);
        return;
      case NodeKind::kSlice:
        mapped[0] = true;
        for (size_t d = 0; d < n.shape.size(); ++d)
          adopt_or_fresh(i, d, n.starts[d].is(0) && n.steps[d].is(1) && n.shape[d] == group_.nodes[x].shape[d]);
        return;
      case NodeKind::kPad:
        mapped[0] = true;
        for (size_t d = 0; d < n.shape.size(); ++d)
          adopt_or_fresh(i, d, n.starts[d].is(0) && n.shape[d] == group_.nodes[x].shape[d]);
        return;
      case NodeKind::kConcat:
        mapped.assign(n.operands.size(), true);
        for (size_t d = 0; d < n.shape.size(); ++d) {
          adopt_or_fresh(i, d, static_cast<int>(d) != n.axis);
          for (size_t k = 1; k < n.operands.size() && static_cast<int>(d) != n.axis; ++k) share_dim(i, k, d);
        }
        return;
      case NodeKind::kGather:
        fresh_dims(i);
        mapped.assign(n.operands.size(), true);
        return;
    }
  }

  void finish() {
    std::map<int, int> axis_of;
    for (auto& dims : dims_) {
      NodeAxes out;
      for (auto& d : dims) {
        out.dims.emplace_back();
        for (int f : resolve(d)) {
          auto [it, added] = axis_of.try_emplace(f, static_cast<int>(result_.axes.size()));
          if (added) result_.axes.push_back({factors_[f].size, -1, {}});
          out.dims.back().push_back(it->second);
        }
        out.all.insert(out.all.end(), out.dims.back().begin(), out.dims.back().end());
      }
      result_.nodes.push_back(std::move(out));
    }
  }

  void finish_shared() {
    result_.shared.resize(shared_.size());
    for (size_t i = 0; i < shared_.size(); ++i)
      for (const auto& dims : shared_[i]) {
        result_.shared[i].emplace_back();
        for (int d : dims) {
          const AxisList& list = result_.nodes[i].dims[d];
          result_.shared[i].back().insert(result_.shared[i].back().end(), list.begin(), list.end());
        }
      }
  }

  // Two axes that always stand side by side are one loop: [B, S, H] all dense is just n elements.
  void merge_neighbours() {
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<int> next(result_.axes.size(), -1);  // what follows the axis in the first node that has both
      for (const NodeAxes& x : result_.nodes)
        for (size_t i = 0; i + 1 < x.all.size(); ++i)
          if (next[x.all[i]] < 0) next[x.all[i]] = x.all[i + 1];
      for (size_t a = 0; a < next.size(); ++a)
        if (next[a] >= 0 && next[a] != static_cast<int>(a) && can_merge(static_cast<int>(a), next[a])) {
          merge(static_cast<int>(a), next[a]);
          changed = true;
          break;
        }
    }
  }

  bool can_merge(int a, int b) const {
    bool used = false;
    for (size_t i = 0; i < group_.nodes.size(); ++i) {
      const NodeAxes& x = result_.nodes[i];
      auto at_a = std::find(x.all.begin(), x.all.end(), a), at_b = std::find(x.all.begin(), x.all.end(), b);
      if ((at_a == x.all.end()) != (at_b == x.all.end())) return false;
      if (at_a == x.all.end()) continue;
      used = true;
      if (at_b != at_a + 1) return false;
      if (individual(static_cast<int>(i)) && !same_dim(x, a, b)) return false;
    }
    return used;
  }

  static bool same_dim(const NodeAxes& x, int a, int b) {
    for (const auto& d : x.dims) {
      bool has_a = std::find(d.begin(), d.end(), a) != d.end(), has_b = std::find(d.begin(), d.end(), b) != d.end();
      if (has_a != has_b) return false;
    }
    return true;
  }

  // The node's dimensions are indexed one by one.
  bool individual(int i) const {
    if (group_.nodes[i].kind == NodeKind::kIota || group_.nodes[i].kind == NodeKind::kGather) return true;
    for (bool m : result_.mapped[i])
      if (m) return true;
    for (size_t u = i + 1; u < group_.nodes.size(); ++u)
      for (size_t k = 0; k < group_.nodes[u].operands.size(); ++k)
        if (group_.nodes[u].operands[k] == i && result_.mapped[u][k]) return true;
    return false;
  }

  void merge(int a, int b) {
    result_.axes[a].extent = result_.axes[a].extent * result_.axes[b].extent;
    for (NodeAxes& x : result_.nodes) {
      for (auto& d : x.dims) std::erase(d, b);
      std::erase(x.all, b);
    }
    result_.axes[b].extent = 1;
  }

  Group& group_;
  IndexPool& pool_;
  std::vector<Factor> factors_;
  std::vector<std::vector<std::vector<int>>> dims_;    // node, dimension, factors
  std::vector<std::vector<std::vector<int>>> shared_;  // node, operand: dimensions that pass a mapped edge unchanged
  Axes result_;
};

}  // namespace

Axes align_axes(Group& group) { return Aligner(group).run(); }

bool Axes::contains(int node, int axis) const {
  const AxisList& all = nodes[node].all;
  return std::find(all.begin(), all.end(), axis) != all.end();
}

int behind_views(const Group& g, const Axes& axes, int node) {
  for (;;) {
    const Node& n = g.nodes[node];
    const bool repeats = n.kind == NodeKind::kBroadcast || n.kind == NodeKind::kReshape;
    const bool widens = n.kind == NodeKind::kCast && is_float(n.dtype) && is_float(g.nodes[n.operands[0]].dtype) &&
                        size_of(n.dtype) > size_of(g.nodes[n.operands[0]].dtype);
    if ((!repeats && !widens) || axes.mapped[node][0]) return node;
    node = n.operands[0];
  }
}

std::string Axes::str(const Group& group) const {
  std::string out;
  for (size_t i = 0; i < nodes.size(); ++i) {
    out += fmt::format("%{}:", i);
    for (const auto& d : nodes[i].dims) out += fmt::format(" [{}]", fmt::join(d, " "));
    for (size_t k = 0; k < mapped[i].size(); ++k)
      if (mapped[i][k]) out += fmt::format(" mapped %{}", group.nodes[i].operands[k]);
    out += "\n";
  }
  for (size_t a = 0; a < axes.size(); ++a) {
    out += fmt::format("axis {}: {}", a, group.pool.str(axes[a].extent));
    if (axes[a].chunk >= 0) out += fmt::format(" of {} in chunks {}", group.pool.str(axes[a].total), axes[a].chunk);
    out += "\n";
  }
  return out;
}

}  // namespace paddle::cinn
