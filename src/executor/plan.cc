#include "executor/plan.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace paddle::executor {
namespace {

size_t aligned(size_t n) { return (n + kArenaAlign - 1) / kArenaAlign * kArenaAlign; }

// What lies in one block, by offset.
struct Filling {
  std::vector<uint32_t> placed;

  size_t lowest_gap(std::span<const Interval> intervals, const Layout& layout, uint32_t k) const {
    const Interval& it = intervals[k];
    size_t at = 0;
    for (uint32_t p : placed) {
      const Interval& other = intervals[p];
      if (other.last < it.first || it.last < other.first) continue;
      if (layout.offsets[p] >= at + aligned(it.bytes)) break;
      at = std::max(at, layout.offsets[p] + aligned(other.bytes));
    }
    return at;
  }

  void add(Layout& layout, uint32_t k, size_t at) {
    layout.offsets[k] = at;
    auto where = std::upper_bound(placed.begin(), placed.end(), at,
                                  [&](size_t offset, uint32_t p) { return offset < layout.offsets[p]; });
    placed.insert(where, k);
  }
};

}  // namespace

Layout assign_offsets(std::span<const Interval> intervals, std::span<const Lent> lent) {
  Layout layout;
  layout.offsets.assign(intervals.size(), 0);
  layout.lent.assign(intervals.size(), -1);
  std::vector<int> smallest(lent.size());
  std::iota(smallest.begin(), smallest.end(), 0);
  std::stable_sort(smallest.begin(), smallest.end(), [&](int a, int b) {
    return lent[static_cast<size_t>(a)].bytes < lent[static_cast<size_t>(b)].bytes;
  });
  std::vector<Filling> lent_filling(lent.size());
  Filling own;
  std::vector<uint32_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return aligned(intervals[a].bytes) > aligned(intervals[b].bytes); });
  auto fits_in_lent = [&](uint32_t k) {
    for (int b : smallest) {
      const Lent& block = lent[static_cast<size_t>(b)];
      if (block.bytes < intervals[k].bytes || block.last >= intervals[k].first) continue;
      Filling& filling = lent_filling[static_cast<size_t>(b)];
      const size_t at = filling.lowest_gap(intervals, layout, k);
      if (at + intervals[k].bytes > block.bytes) continue;
      filling.add(layout, k, at);
      layout.lent[k] = b;
      return true;
    }
    return false;
  };
  for (uint32_t k : order) {
    if (intervals[k].bytes == 0 || fits_in_lent(k)) continue;
    const size_t at = own.lowest_gap(intervals, layout, k);
    layout.bytes = std::max(layout.bytes, at + aligned(intervals[k].bytes));
    own.add(layout, k, at);
  }
  return layout;
}

size_t lower_bound(std::span<const Interval> intervals) {
  std::map<uint32_t, int64_t> change;
  for (const Interval& it : intervals) {
    change[it.first] += static_cast<int64_t>(aligned(it.bytes));
    change[it.last + 1] -= static_cast<int64_t>(aligned(it.bytes));
  }
  int64_t now = 0, most = 0;
  for (auto [at, delta] : change) most = std::max(most, now += delta);
  return static_cast<size_t>(most);
}

}  // namespace paddle::executor
