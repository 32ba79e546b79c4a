// Boxes [x1, y1, x2, y2]: areas, overlaps, suppression.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"

namespace paddle::kernels {

// How many boxes each image has: ValueError unless the numbers are none below 0 and sum to `boxes`.
inline std::vector<int64_t> boxes_per_image(std::string_view op, std::string_view name, const Tensor& numbers_in,
                                            int64_t boxes) {
  const Tensor numbers = dense(numbers_in);
  std::vector<int64_t> counts;
  int64_t left = boxes;
  dispatch_index(op, numbers.dtype(), [&](auto t) {
    for (int64_t n = 0; n < numbers.numel(); ++n) {
      const auto count = static_cast<int64_t>(numbers.data<decltype(t)>()[n]);
      check(count >= 0, ErrorKind::kValue, "[{}] expected numbers of boxes in {}, got {}", op, name, count);
      check(count <= left, ErrorKind::kValue, "[{}] expected {} to sum to the number of boxes {}, got more", op, name,
            boxes);
      left -= count;
      counts.push_back(count);
    }
  });
  check(left == 0, ErrorKind::kValue, "[{}] expected {} to sum to the number of boxes {}, got {}", op, name, boxes,
        boxes - left);
  return counts;
}

// A number as an index in [0, limit]; NaN as 0.
template <class C>
int64_t clamped_index(C v, int64_t limit) {
  const auto d = static_cast<double>(v);
  return d >= static_cast<double>(limit) ? limit : d > 0 ? static_cast<int64_t>(d) : 0;
}

// `extra` is 1 where the far edges belong to a box.
template <class T>
T box_area(const T* b, T extra) {
  if (b[2] < b[0] || b[3] < b[1]) return 0;
  return (b[2] - b[0] + extra) * (b[3] - b[1] + extra);
}

template <class T>
T box_overlap(const T* a, const T* b, T extra) {
  if (b[0] > a[2] || b[2] < a[0] || b[1] > a[3] || b[3] < a[1]) return 0;
  const T width = std::min(a[2], b[2]) - std::max(a[0], b[0]) + extra;
  const T height = std::min(a[3], b[3]) - std::max(a[1], b[1]) + extra;
  const T common = width * height;
  return common / (box_area(a, extra) + box_area(b, extra) - common);
}

// The numbers of the scores above the threshold (all where there is none), best first, equal ones in order, NaN last;
// at most `most` unless that is negative.
template <class T>
std::vector<int64_t> ranked(const T* scores, int64_t n, const T* above, int64_t most) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i)
    if (!above || scores[i] > *above) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return scores[a] > scores[b] || (std::isnan(scores[b]) && !std::isnan(scores[a]));
  });
  if (most > -1 && most < static_cast<int64_t>(order.size())) order.resize(static_cast<size_t>(most));
  return order;
}

// Those of `order` that overlap none that was kept before them by more than the threshold, which shrinks by `eta` with
// every box that is kept while it is above a half.
template <class T>
std::vector<int64_t> suppressed(const T* boxes, const std::vector<int64_t>& order, T threshold, T eta, T extra) {
  std::vector<int64_t> kept;
  for (int64_t i : order) {
    bool keep = true;
    for (size_t k = 0; k < kept.size() && keep; ++k)
      keep = box_overlap(boxes + 4 * i, boxes + 4 * kept[k], extra) <= threshold;
    if (!keep) continue;
    kept.push_back(i);
    if (eta < 1 && threshold > T(0.5)) threshold *= eta;
  }
  return kept;
}

}  // namespace paddle::kernels
