#include "cinn/schedule/split.h"

#include <algorithm>
#include <set>

#include "cinn/schedule/axis_sets.h"
#include "cinn/schedule/centred.h"
#include "cinn/schedule/cut.h"

namespace paddle::cinn {
namespace {

AxisList reduced_axes(const Group& group, const Axes& axes, int r) {
  AxisList out;
  for (int a : axes.nodes[group.nodes[r].operands[0]].all)
    if (!has(axes.nodes[r].all, a)) out.push_back(a);
  return out;
}

// Worth the second step that a cut costs.
bool is_long(const Index& n) { return !n.is_const() || n.value() >= 16384; }

// Chunks so many that every thread has some, never of no elements: the number of chunks is a quotient by their length.
Index shared_length(Group& group, const Axes& axes, int axis, int64_t shared, bool along_memory, const Target& target) {
  const int64_t chunks = std::max<int64_t>(2, 4 * target.threads / std::max<int64_t>(shared, 1));
  const int64_t step = along_memory ? 256 : 8;
  const Index extent = axes.axes[axis].extent;
  if (extent.is_const()) return group.pool.ceil_div(extent, chunks * step) * step;
  return (group.pool.div(extent, chunks * step) + 1) * step;
}

int longest(const Axes& axes, const AxisList& list, const Target& target) {
  int best = -1;
  int64_t most = 1;
  for (int a : list) {
    const Index& n = axes.axes[a].extent;
    if (!n.is_const() || n.value() >= 64 * target.threads) return a;
    if (n.value() > most) most = n.value(), best = a;
  }
  return best;
}

// The axis to cut so that threads can share reduction r, and into chunks of what length. -1: none.
int axis_to_split(Group& group, const Axes& axes, int r, const Target& target, Index* length) {
  const AxisList& kept = axes.nodes[r].all;
  const AxisList& all = axes.nodes[group.nodes[r].operands[0]].all;
  AxisList reduced = reduced_axes(group, axes, r);
  Index parallel = extent_of(axes, kept);
  if (reduced.empty() || !parallel.is_const() || !is_long(parallel * extent_of(axes, reduced))) return -1;
  const int64_t shared = shared_iterations(axes, kept, all.back()).value();
  if (shared >= 2 * target.threads) return -1;
  const int axis = longest(axes, reduced, target);
  if (axis >= 0) *length = shared_length(group, axes, axis, shared, all.back() == axis, target);
  return axis;
}

// As axis_to_split, for a number of rows that is no constant: what threads share for want of rows.
int axis_to_split_if_few(Group& group, const Axes& axes, int r, const Target& target, Index* length, Index* rows) {
  const AxisList& kept = axes.nodes[r].all;
  const AxisList& all = axes.nodes[group.nodes[r].operands[0]].all;
  const AxisList reduced = reduced_axes(group, axes, r);
  const Index elements = extent_of(axes, reduced);
  *rows = extent_of(axes, kept);
  if (reduced.empty() || rows->is_const() || !elements.is_const() || !is_long(elements)) return -1;
  if (!has(reduced, all.back())) {
    const Index& last = axes.axes[all.back()].extent;
    Index others;
    if (!last.is_const() || !IndexPool::divide_exactly(*rows, last, &others)) return -1;
    *rows = others * ((last.value() + kColumnBlock - 1) / kColumnBlock);
  }
  const int axis = longest(axes, reduced, target);
  if (axis >= 0) *length = shared_length(group, axes, axis, 1, all.back() == axis, target);
  return axis;
}

bool kept_by_a_reduction(const Group& group, const Axes& axes, int axis) {
  for (size_t i = 0; i < group.nodes.size(); ++i)
    if (group.nodes[i].kind == NodeKind::kReduce && has(axes.nodes[i].all, axis)) return true;
  return false;
}

// Elements that a block of a centred sum may have: read twice, the second time from the cache.
int64_t block_elements(const Axes& axes, int x, int axis, bool along_memory, const Target& target) {
  if (along_memory) return target.l2_bytes / 32;  // an eighth of it, in f32: the next block comes in meanwhile
  const Index& columns = axes.axes[axes.nodes[x].all.back()].extent;
  const int64_t beside =
      columns.is_const() && axis != axes.nodes[x].all.back() ? std::min<int64_t>(columns.value(), 1024) : 1;
  return target.l2_bytes / 8 / std::max<int64_t>(beside, 1);
}

// For a centred sum whose x would not stay in the cache from one reading to the next: the axis to cut, and into chunks
// of what length. -1: none.
int axis_to_block(const Group& group, const Axes& axes, int r, const Target& target, Index* length) {
  if (target.group_size > 0) return -1;
  const auto centred = centred_sum(group, axes, r);
  if (!centred) return -1;
  const AxisList reduced = reduced_axes(group, axes, r);
  const Index elements = extent_of(axes, reduced);
  if (reduced.empty() || !elements.is_const()) return -1;
  const AxisList& all = axes.nodes[centred->x].all;
  const bool along_memory = has(reduced, all.back());
  const int64_t most = block_elements(axes, centred->x, reduced[0], along_memory, target);
  if (elements.value() * 4 <= (along_memory ? target.l2_bytes / 2 : 2 * most * 4)) return -1;
  const int64_t inner = elements.value() / std::max<int64_t>(axes.axes[reduced[0]].extent.value(), 1);
  const int64_t wanted = most / std::max<int64_t>(inner, 1);
  if (wanted < 1 || wanted >= axes.axes[reduced[0]].extent.value()) return -1;
  *length = wanted;
  return reduced[0];
}

// Cuts the axis that choose(reduction, &length) names for some reduction; false if there is none.
bool cut_one(Group& group, Axes& axes, std::set<int>& done, auto&& choose) {
  for (size_t i = 0; i < group.nodes.size(); ++i) {
    if (group.nodes[i].kind != NodeKind::kReduce || group.nodes[i].combine_inline) continue;
    Index length;
    const int axis = choose(static_cast<int>(i), &length);
    if (axis < 0 || axes.axes[axis].chunk >= 0 || done.count(axis) || kept_by_a_reduction(group, axes, axis)) continue;
    done.insert(axis);
    cut_reductions(group, axes, axis, cut_axis(group, axes, axis, length));
    return true;
  }
  return false;
}

}  // namespace

bool split_long_reductions(Group& group, Axes& axes, const Target& target) {
  std::set<int> done;
  bool changed = false;
  while (
      cut_one(group, axes, done, [&](int r, Index* length) { return axis_to_block(group, axes, r, target, length); }))
    changed = true;
  while (target.threads > 1 && cut_one(group, axes, done, [&](int r, Index* length) {
           return axis_to_split(group, axes, r, target, length);
         }))
    changed = true;
  return changed;
}

std::optional<Index> split_few_rows(Group& group, Axes& axes, const Target& target) {
  std::set<int> done;
  std::optional<Index> rows;
  while (target.threads > 1 && target.group_size == 0 && cut_one(group, axes, done, [&](int r, Index* length) {
           Index here;
           const int axis = axis_to_split_if_few(group, axes, r, target, length, &here);
           if (axis < 0 || (rows && !(*rows == here))) return -1;  // one number decides
           rows = here;
           return axis;
         })) {
  }
  return done.empty() ? std::nullopt : rows;
}

}  // namespace paddle::cinn
