#include "executor/plan.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace paddle::executor {
namespace {

size_t aligned(size_t n) { return (n + kArenaAlign - 1) / kArenaAlign * kArenaAlign; }

}  // namespace

Layout assign_offsets(std::span<const Interval> intervals) {
  Layout layout;
  layout.offsets.assign(intervals.size(), 0);
  std::vector<uint32_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return aligned(intervals[a].bytes) > aligned(intervals[b].bytes); });
  std::vector<uint32_t> placed;  // by offset
  for (uint32_t k : order) {
    const Interval& it = intervals[k];
    const size_t need = aligned(it.bytes);
    if (need == 0) continue;
    size_t at = 0;
    for (uint32_t p : placed) {
      const Interval& other = intervals[p];
      if (other.last < it.first || it.last < other.first) continue;
      if (layout.offsets[p] >= at + need) break;
      at = std::max(at, layout.offsets[p] + aligned(other.bytes));
    }
    layout.offsets[k] = at;
    layout.bytes = std::max(layout.bytes, at + need);
    auto where = std::upper_bound(placed.begin(), placed.end(), at,
                                  [&](size_t offset, uint32_t p) { return offset < layout.offsets[p]; });
    placed.insert(where, k);
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
