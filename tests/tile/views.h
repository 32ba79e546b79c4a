// Random data in random layouts.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace paddle::tile {

// Whole numbers in [-8, 8]: sums and products of a few are exact in every type.
template <class T>
std::vector<T> numbers(int64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> out(n);
  for (T& v : out) v = static_cast<T>(static_cast<int>(random() % 17) - 8);
  return out;
}

// A view of a buffer: strides of a permuted, sliced, reversed or broadcast array of the given shape.
struct View {
  std::vector<int64_t> strides;
  int64_t offset = 0, size = 0;  // of the first element, and of the buffer
};

inline View make_view(const std::vector<int64_t>& shape, std::mt19937_64& random, bool output) {
  const int rank = static_cast<int>(shape.size());
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (random() % 2) std::shuffle(order.begin(), order.end(), random);
  View view{std::vector<int64_t>(rank), 0, 1};
  for (int k = rank - 1; k >= 0; --k) {
    const int d = order[k];
    if (!output && random() % 4 == 0) continue;  // broadcast
    const int64_t gap = random() % 3 == 0 ? 2 : 1;
    view.strides[d] = view.size * gap;
    view.size *= gap * std::max<int64_t>(shape[d], 1);
    if (random() % 4 == 0) {
      view.offset += view.strides[d] * (shape[d] - 1);
      view.strides[d] = -view.strides[d];
    }
  }
  return view;
}

template <class Body>
void for_each_index(const std::vector<int64_t>& shape, Body body) {
  std::vector<int64_t> index(shape.size(), 0);
  int64_t total = 1;
  for (const int64_t n : shape) total *= n;
  for (int64_t k = 0; k < total; ++k) {
    int64_t rest = k;
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) index[d] = rest % shape[d], rest /= shape[d];
    body(index);
  }
}

inline int64_t at(const View& view, const std::vector<int64_t>& index) {
  int64_t offset = view.offset;
  for (size_t d = 0; d < index.size(); ++d) offset += index[d] * view.strides[d];
  return offset;
}

}  // namespace paddle::tile
