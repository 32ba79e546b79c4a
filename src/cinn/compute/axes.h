// align_axes: which loops the group needs.
//
// Each dimension of each tensor becomes a list of axes, outermost first, such that a pointwise operator, a broadcast, a
// transpose, a reduction and a reshape all speak of the same axes: [6, 4] reshaped to [2, 12] splits both into 2, 3, 4.
// So fusing needs no patterns: two nodes belong in one loop nest if their axes say so. Where axes can't be aligned
// (x + transpose(x), a slice, [4, 6] against [6, 4]) the edge between the two nodes is `mapped`: the operand is read
// at computed indices instead.
#pragma once
#include <string>
#include <vector>

#include "cinn/compute/group.h"

namespace paddle::cinn {

using AxisList = std::vector<int>;

struct Axis {
  Index extent;
  // A dimension cut for several threads: the dimension's index is chunk * extent + this axis, and stays below `total`.
  int chunk = -1;  // the axis that numbers the chunks; -1: not cut
  Index total;
};

struct NodeAxes {
  std::vector<AxisList> dims;  // per dimension
  AxisList all;                // in order of dims
};

struct Axes {
  std::vector<Axis> axes;
  std::vector<NodeAxes> nodes;
  std::vector<std::vector<bool>> mapped;  // per node, per operand
  // Of a mapped edge: the axes that operand and result have in common all the same (the rows, where columns are
  // sliced).
  std::vector<std::vector<AxisList>> shared;

  bool contains(int node, int axis) const;
  std::string str(const Group& group) const;
};

Axes align_axes(Group& group);

// What `node` repeats, along axes that it shares, or converts to a wider float.
int behind_views(const Group& group, const Axes& axes, int node);

}  // namespace paddle::cinn
