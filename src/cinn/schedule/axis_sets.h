// Lists of axes as sets.
#pragma once
#include <algorithm>

#include "cinn/compute/axes.h"

namespace paddle::cinn {

inline bool has(const AxisList& list, int axis) { return std::find(list.begin(), list.end(), axis) != list.end(); }

inline AxisList sorted(AxisList list) {
  std::sort(list.begin(), list.end());
  return list;
}

inline AxisList minus(const AxisList& a, const AxisList& b) {
  AxisList out;
  for (int x : a)
    if (!has(b, x)) out.push_back(x);
  return out;
}

inline AxisList common(const AxisList& a, const AxisList& b) { return minus(a, minus(a, b)); }

inline bool subset(const AxisList& a, const AxisList& b) { return minus(a, b).empty(); }

// Iterations of loops over all of them.
inline Index extent_of(const Axes& axes, const AxisList& list) {
  Index n = 1;
  for (int a : list) n = n * axes.axes[static_cast<size_t>(a)].extent;
  return n;
}

inline constexpr int64_t kColumnBlock = 256;

// Iterations of parallel loops over `parallel` that threads could share, where what is computed has `last` along
// memory: such columns go in blocks.
inline Index shared_iterations(const Axes& axes, const AxisList& parallel, int last) {
  Index n = 1;
  for (int a : parallel) {
    const Index& extent = axes.axes[static_cast<size_t>(a)].extent;
    n = n * (a == last && extent.is_const() ? Index((extent.value() + kColumnBlock - 1) / kColumnBlock) : extent);
  }
  return n;
}

}  // namespace paddle::cinn
