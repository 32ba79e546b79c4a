#include "cinn/schedule/split.h"

#include <algorithm>
#include <set>

namespace paddle::cinn {
namespace {

bool has(const AxisList& list, int axis) { return std::find(list.begin(), list.end(), axis) != list.end(); }

Index count(const Axes& axes, const AxisList& list) {
  Index n = 1;
  for (int a : list) n = n * axes.axes[a].extent;
  return n;
}

AxisList reduced_axes(const Group& group, const Axes& axes, int r) {
  AxisList out;
  for (int a : axes.nodes[group.nodes[r].operands[0]].all)
    if (!has(axes.nodes[r].all, a)) out.push_back(a);
  return out;
}

// How many iterations that threads could share: columns go in blocks.
constexpr int64_t kColumnBlock = 256;

bool is_long(const Index& n) { return !n.is_const() || n.value() >= 16384; }

// The axis to cut for reduction r, or -1.
int axis_to_split(const Group& group, const Axes& axes, int r, const Target& target, int64_t* shared) {
  const AxisList& kept = axes.nodes[r].all;
  const AxisList& all = axes.nodes[group.nodes[r].operands[0]].all;
  AxisList reduced = reduced_axes(group, axes, r);
  Index parallel = count(axes, kept);
  if (reduced.empty() || !parallel.is_const() || !is_long(count(axes, reduced))) return -1;
  *shared = parallel.value();
  if (!has(reduced, all.back())) {
    int64_t last = axes.axes[all.back()].extent.value();
    *shared = *shared / std::max<int64_t>(last, 1) * ((last + kColumnBlock - 1) / kColumnBlock);
  }
  if (*shared >= 2 * target.threads) return -1;
  int best = -1;
  int64_t longest = 1;
  for (int a : reduced) {
    const Index& n = axes.axes[a].extent;
    if (!n.is_const()) return a;
    if (n.value() >= 64 * target.threads) return a;
    if (n.value() > longest) longest = n.value(), best = a;
  }
  return best;
}

bool kept_by_a_reduction(const Group& group, const Axes& axes, int axis) {
  for (size_t i = 0; i < group.nodes.size(); ++i)
    if (group.nodes[i].kind == NodeKind::kReduce && has(axes.nodes[i].all, axis)) return true;
  return false;
}

// axis -> chunk, axis in every node.
int cut(Group& group, Axes& axes, int axis, int64_t chunks, bool along_memory) {
  const Index total = axes.axes[axis].extent;
  const int64_t step = along_memory ? 256 : 8;
  const Index length = group.pool.ceil_div(total, chunks * step) * step;
  const int chunk = static_cast<int>(axes.axes.size());
  axes.axes.push_back({group.pool.ceil_div(total, length), -1, {}});
  axes.axes[axis].extent = length;
  axes.axes[axis].chunk = chunk;
  axes.axes[axis].total = total;
  auto insert = [&](AxisList& list) {
    auto it = std::find(list.begin(), list.end(), axis);
    if (it != list.end()) list.insert(it, chunk);
  };
  for (auto& edges : axes.shared)
    for (AxisList& list : edges) insert(list);
  for (NodeAxes& n : axes.nodes) {
    for (AxisList& d : n.dims) insert(d);
    insert(n.all);
  }
  return chunk;
}

// Every reduction over both axes becomes a partial one that keeps the chunk, and a short one over the chunks.
void cut_reductions(Group& group, Axes& axes, int axis, int chunk) {
  std::vector<Node> nodes;
  std::vector<NodeAxes> node_axes;
  std::vector<std::vector<bool>> mapped;
  std::vector<std::vector<AxisList>> shared;
  std::vector<int> moved;
  for (size_t i = 0; i < group.nodes.size(); ++i) {
    Node n = group.nodes[i];
    bool cut_here =
        n.kind == NodeKind::kReduce && has(axes.nodes[n.operands[0]].all, axis) && !has(axes.nodes[i].all, axis);
    for (int& x : n.operands) x = moved[x];
    if (cut_here) {
      Node partial = n;
      if (is_float(n.dtype)) partial.dtype = compute_type(n.dtype);
      partial.shape.push_back(axes.axes[chunk].extent);
      NodeAxes where = axes.nodes[i];
      where.dims.push_back({chunk});
      where.all.push_back(chunk);
      nodes.push_back(std::move(partial));
      node_axes.push_back(std::move(where));
      mapped.push_back(axes.mapped[i]);
      shared.push_back(axes.shared[i]);
      n.operands = {static_cast<int>(nodes.size()) - 1};
      n.dims = {static_cast<int>(n.shape.size())};
      n.combine_inline = true;
    }
    moved.push_back(static_cast<int>(nodes.size()));
    nodes.push_back(std::move(n));
    node_axes.push_back(axes.nodes[i]);
    mapped.push_back(cut_here ? std::vector<bool>{false} : axes.mapped[i]);
    shared.push_back(cut_here ? std::vector<AxisList>{{}} : axes.shared[i]);
  }
  group.nodes = std::move(nodes);
  for (int& x : group.inputs) x = moved[x];
  for (int& x : group.outputs) x = moved[x];
  axes.nodes = std::move(node_axes);
  axes.mapped = std::move(mapped);
  axes.shared = std::move(shared);
}

}  // namespace

bool split_long_reductions(Group& group, Axes& axes, const Target& target) {
  if (target.threads < 2) return false;
  std::set<int> done;
  bool changed = false;
  for (size_t i = 0; i < group.nodes.size(); ++i) {
    if (group.nodes[i].kind != NodeKind::kReduce || group.nodes[i].combine_inline) continue;
    int64_t shared = 1;
    int axis = axis_to_split(group, axes, static_cast<int>(i), target, &shared);
    if (axis < 0 || axes.axes[axis].chunk >= 0 || !done.insert(axis).second || kept_by_a_reduction(group, axes, axis))
      continue;
    const Node& n = group.nodes[i];
    const bool along_memory = axes.nodes[n.operands[0]].all.back() == axis;
    const int64_t chunks = std::max<int64_t>(2, 4 * target.threads / std::max<int64_t>(shared, 1));
    cut_reductions(group, axes, axis, cut(group, axes, axis, chunks, along_memory));
    changed = true;
    i = static_cast<size_t>(-1);  // nodes were renumbered
  }
  return changed;
}

}  // namespace paddle::cinn
