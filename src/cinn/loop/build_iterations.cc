// The iterations of a kernel's parallel loop: how many, and which indices each stands for.
#include "cinn/loop/builder.h"

namespace paddle::cinn {

bool Builder::counts_with_chunk(int axis) const {
  return axes_.axes[axis].chunk >= 0 && axis != kernel_->vector_axis && in_parallel(axes_.axes[axis].chunk);
}

std::vector<std::pair<int, Index>> Builder::numbered_axes() {
  std::vector<std::pair<int, Index>> out;
  for (int a : kernel_->parallel) {
    if (a == kernel_->vector_axis) continue;
    bool with_axis = false;
    for (int b : kernel_->parallel) with_axis |= axes_.axes[b].chunk == a && counts_with_chunk(b);
    if (with_axis) continue;
    if (a == kernel_->tile_axis) {
      out.push_back({a, m_.pool.ceil_div(axes_.axes[a].extent, kTile)});
      continue;
    }
    out.push_back({a, counts_with_chunk(a) ? axes_.axes[a].total : axes_.axes[a].extent});
  }
  return out;
}

Index Builder::parallel_extent() {
  Index rest = 1;
  for (auto& [axis, extent] : numbered_axes()) rest = rest * extent;
  if (kernel_->vector_axis < 0) return rest;
  block_ = block_size(rest);
  return rest * m_.pool.ceil_div(axes_.axes[kernel_->vector_axis].extent, block_);
}

int64_t Builder::block_size(const Index& others) const {
  const Index& n = axes_.axes[kernel_->vector_axis].extent;
  if (kernel_->tile_axis >= 0) return n.is_const() ? std::clamp<int64_t>(n.value(), 1, 128) : 128;
  bool reduces = false;
  for (const PassPlan& p : kernel_->passes) reduces |= !p.axes.empty();
  const int64_t most = reduces ? 1024 : 4096, least = reduces ? 64 : 256;
  if (!n.is_const()) return reduces ? 512 : 2048;
  int64_t block = n.value();
  int64_t wanted =
      others.is_const() ? (4 * target_.threads + others.value() - 1) / std::max<int64_t>(others.value(), 1) : 1;
  if (reduces) wanted = (wanted + 3) / 4;  // wide blocks read memory in longer runs
  if (wanted > 1) block = (block + wanted - 1) / wanted;
  block = std::clamp(block, std::min(least, n.value()), most);
  if (block < n.value()) block = (block + 63) / 64 * 64;
  return std::max<int64_t>(block, 1);
}

void Builder::decode(const Index& p) {
  Index rest = p;
  if (kernel_->vector_axis >= 0) {
    Index blocks = m_.pool.ceil_div(axes_.axes[kernel_->vector_axis].extent, block_);
    block_start_ = m_.pool.mod(rest, blocks) * block_;
    rest = m_.pool.div(rest, blocks);
  }
  auto axes = numbered_axes();
  for (size_t i = axes.size(); i-- > 0;) {
    auto& [axis, extent] = axes[i];
    Index at = i == 0 ? rest : m_.pool.mod(rest, extent);
    if (i > 0) rest = m_.pool.div(rest, extent);
    if (counts_with_chunk(axis)) {
      base_[axes_.axes[axis].chunk] = m_.pool.div(at, axes_.axes[axis].extent);
      at = m_.pool.mod(at, axes_.axes[axis].extent);
    }
    base_[axis] = axis == kernel_->tile_axis ? at * kTile : at;
  }
}

}  // namespace paddle::cinn
