#include "cinn/schedule/cut.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "cinn/schedule/axis_sets.h"
#include "cinn/schedule/centred.h"

namespace paddle::cinn {
namespace {

using scalar::Fn;

// The group's nodes written anew, some of them as several.
class Cutter {
 public:
  Cutter(Group& group, Axes& axes, int axis, int chunk) : group_(group), axes_(axes), axis_(axis), chunk_(chunk) {}

  void run() {
    std::vector<std::optional<CentredSum>> centred;
    for (size_t i = 0; i < group_.nodes.size(); ++i) {
      centred.push_back(is_cut(static_cast<int>(i)) ? centred_sum(group_, axes_, static_cast<int>(i)) : std::nullopt);
      if (centred[i] && centred[static_cast<size_t>(centred[i]->sum)]) centred[i].reset();  // whose parts are others
    }
    for (size_t i = 0; i < group_.nodes.size(); ++i) {
      Node n = group_.nodes[i];
      if (is_cut(static_cast<int>(i))) {
        const int partial = centred[i] ? centred_parts(static_cast<int>(i), *centred[i])
                                       : add_partial(static_cast<int>(i), moved_[n.operands[0]]);
        if (!centred[i]) partial_of_[static_cast<int>(i)] = partial;
        n.operands = {partial};
        n.dims = {static_cast<int>(n.shape.size())};
        n.combine_inline = true;
        moved_.push_back(add(std::move(n), axes_.nodes[i]));
        continue;
      }
      for (int& x : n.operands) x = moved_[x];
      moved_.push_back(add(std::move(n), axes_.nodes[i], axes_.mapped[i], axes_.shared[i]));
    }
    group_.nodes = std::move(nodes_);
    for (int& x : group_.inputs) x = moved_[x];
    for (int& x : group_.outputs) x = moved_[x];
    axes_.nodes = std::move(node_axes_);
    axes_.mapped = std::move(mapped_);
    axes_.shared = std::move(shared_);
  }

 private:
  bool is_cut(int i) const {
    const Node& n = group_.nodes[i];
    return n.kind == NodeKind::kReduce && has(axes_.nodes[n.operands[0]].all, axis_) && !has(axes_.nodes[i].all, axis_);
  }

  int add(Node n, NodeAxes where, std::vector<bool> mapped, std::vector<AxisList> shared) {
    nodes_.push_back(std::move(n));
    node_axes_.push_back(std::move(where));
    mapped_.push_back(std::move(mapped));
    shared_.push_back(std::move(shared));
    return static_cast<int>(nodes_.size()) - 1;
  }
  // Operands read at the node's own indices.
  int add(Node n, NodeAxes where) {
    const size_t operands = n.operands.size();
    return add(std::move(n), std::move(where), std::vector<bool>(operands), std::vector<AxisList>(operands));
  }

  // Reduction i over `x`, each chunk by itself.
  int add_partial(int i, int x) {
    Node partial = group_.nodes[i];
    if (is_float(partial.dtype)) partial.dtype = compute_type(partial.dtype);
    partial.shape.push_back(axes_.axes[chunk_].extent);
    partial.operands = {x};
    return add(std::move(partial), by_chunk(i));
  }

  NodeAxes by_chunk(int i) const {
    NodeAxes where = axes_.nodes[i];
    where.dims.push_back({chunk_});
    where.all.push_back(chunk_);
    return where;
  }

  // A pointwise operation of one instruction.
  int add_fn(Fn fn, std::vector<int> operands, const Shape& shape, const NodeAxes& where, DType type) {
    Node n{NodeKind::kPointwise, type, shape, std::move(operands)};
    n.program = {{fn, 0, 1, 0, 0}};
    n.result_register = 2;
    n.compute = type;
    return add(std::move(n), where);
  }

  // Elements of each chunk; `where` and `shape` are those of a partial result.
  int count(const Shape& shape, const NodeAxes& where, int i, DType type) {
    const Axis& a = axes_.axes[axis_];
    Index others = 1;
    for (int b : axes_.nodes[group_.nodes[i].operands[0]].all)
      if (b != axis_ && b != chunk_ && !has(axes_.nodes[i].all, b)) others = others * axes_.axes[b].extent;
    Index chunks;
    const bool even = a.total.is_const() && IndexPool::divide_exactly(a.total, a.extent, &chunks);
    auto size = [&](const Index& v) {
      if (v.is_const()) {
        Node n{NodeKind::kConstant, type, shape};
        n.value = static_cast<double>(v.value());
        return add(std::move(n), where);
      }
      Node n{NodeKind::kSize, type, shape};
      n.starts = {v};
      return add(std::move(n), where);
    };
    if (even) return size(a.extent * others);
    Node number{NodeKind::kIota, DType::kInt64, shape};
    number.axis = static_cast<int>(shape.size()) - 1;
    const int at = add(std::move(number), where);
    // min(extent, total - chunk * extent) * others, exact in integers
    auto whole = [&](const Index& v) {
      Node n{NodeKind::kSize, DType::kInt64, shape};
      n.starts = {v};
      return add(std::move(n), where);
    };
    const int before = add_fn(Fn::mul, {at, whole(a.extent)}, shape, where, DType::kInt64);
    const int left = add_fn(Fn::sub, {whole(a.total), before}, shape, where, DType::kInt64);
    const int here = add_fn(Fn::min, {left, whole(a.extent)}, shape, where, DType::kInt64);
    const int all = add_fn(Fn::mul, {here, whole(others)}, shape, where, DType::kInt64);
    return add(Node{NodeKind::kCast, type, shape, {all}}, where);
  }

  // What reduction i combines over the chunks: M2_b + n_b (mean_b - m)^2.
  int centred_parts(int i, const CentredSum& c) {
    const int sum = partial_of_.at(c.sum);
    const NodeAxes where = by_chunk(i);
    const Shape shape = nodes_[sum].shape;
    const DType type = compute_type(group_.nodes[i].dtype);
    const int n = count(shape, where, i, type);
    const int mean = add_fn(Fn::div, {sum, n}, shape, where, type);
    const NodeAxes& along = axes_.nodes[c.x];
    const Shape& wide = group_.shape(c.x);
    const int own = add(Node{NodeKind::kBroadcast, type, wide, {mean}}, along);
    const int off = add_fn(Fn::sub, {moved_[c.x], own}, wide, along, type);
    const int spread = add_partial(i, add_fn(Fn::mul, {off, off}, wide, along, type));
    const int m = add(Node{NodeKind::kBroadcast, type, shape, {moved_[c.mean]}}, where);
    const int shift = add_fn(Fn::sub, {mean, m}, shape, where, type);
    const int shifts = add_fn(Fn::mul, {n, add_fn(Fn::mul, {shift, shift}, shape, where, type)}, shape, where, type);
    return add_fn(Fn::add, {spread, shifts}, shape, where, type);
  }

  Group& group_;
  Axes& axes_;
  const int axis_, chunk_;
  std::vector<Node> nodes_;
  std::vector<NodeAxes> node_axes_;
  std::vector<std::vector<bool>> mapped_;
  std::vector<std::vector<AxisList>> shared_;
  std::vector<int> moved_;         // old node -> new
  std::map<int, int> partial_of_;  // old reduction -> its partial one
};

}  // namespace

int cut_axis(Group& group, Axes& axes, int axis, const Index& length) {
  const Index total = axes.axes[axis].extent;
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

void cut_reductions(Group& group, Axes& axes, int axis, int chunk) { Cutter(group, axes, axis, chunk).run(); }

}  // namespace paddle::cinn
