#include "device/large_blocks.h"

#include <ctime>

#include <algorithm>

namespace paddle::device {

Seconds seconds_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return t.tv_sec;
}

void* LargeBlocks::take(size_t bytes) {
  auto it = by_size_.find(bytes);
  if (it == by_size_.end() || it->second.empty()) return nullptr;
  void* data = it->second.back().data;
  it->second.pop_back();
  return data;
}

void LargeBlocks::put(void* data, size_t bytes) { by_size_[bytes].push_back({data, seconds_now(), next_++}); }

std::vector<LargeBlocks::Block> LargeBlocks::unused_since(Seconds before) {
  std::vector<Block> out;
  for (auto& [bytes, list] : by_size_) {
    auto used = std::find_if(list.begin(), list.end(), [before](const Idle& b) { return b.since >= before; });
    for (auto it = list.begin(); it != used; ++it) out.push_back({it->data, bytes});
    list.erase(list.begin(), used);
  }
  return out;
}

std::vector<LargeBlocks::Block> LargeBlocks::oldest(size_t bytes) {
  std::vector<Block> out;
  for (size_t sum = 0; sum < bytes; sum += out.back().bytes) {
    auto first = by_size_.end();
    for (auto it = by_size_.begin(); it != by_size_.end(); ++it)
      if (!it->second.empty() && (first == by_size_.end() || it->second.front().order < first->second.front().order))
        first = it;
    if (first == by_size_.end()) break;
    out.push_back({first->second.front().data, first->first});
    first->second.erase(first->second.begin());
  }
  return out;
}

}  // namespace paddle::device
