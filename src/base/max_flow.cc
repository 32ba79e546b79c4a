#include "base/max_flow.h"

#include <algorithm>

namespace paddle {

int FlowNetwork::add_node() {
  out_.emplace_back();
  return static_cast<int>(out_.size()) - 1;
}

void FlowNetwork::add_edge(int from, int to, int64_t capacity) {
  out_[static_cast<size_t>(from)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({to, capacity});
  out_[static_cast<size_t>(to)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({from, 0});
}

// Edges from the source, over what is left of their capacities; -1: out of reach.
bool FlowNetwork::measure_distances(int source, int sink) {
  distance_.assign(out_.size(), -1);
  distance_[static_cast<size_t>(source)] = 0;
  std::vector<int> queue{source};
  for (size_t head = 0; head < queue.size() && distance_[static_cast<size_t>(sink)] < 0; ++head) {
    const auto node = static_cast<size_t>(queue[head]);
    for (int e : out_[node]) {
      ++steps_;
      const Edge& edge = edges_[static_cast<size_t>(e)];
      int& d = distance_[static_cast<size_t>(edge.to)];
      if (edge.left == 0 || d >= 0) continue;
      d = distance_[node] + 1;
      queue.push_back(edge.to);
    }
  }
  return distance_[static_cast<size_t>(sink)] >= 0;
}

// One path of the level graph; 0: there is none left.
int64_t FlowNetwork::augment(int source, int sink) {
  path_.clear();
  int node = source;
  while (node != sink) {
    auto at = static_cast<size_t>(node);
    bool further = false;
    for (; next_[at] < out_[at].size(); ++next_[at]) {
      ++steps_;
      const Edge& edge = edges_[static_cast<size_t>(out_[at][next_[at]])];
      if (edge.left == 0 || distance_[static_cast<size_t>(edge.to)] != distance_[at] + 1) continue;
      path_.push_back(out_[at][next_[at]]);
      node = edge.to;
      further = true;
      break;
    }
    if (further) continue;
    if (path_.empty()) return 0;
    node = edges_[static_cast<size_t>(path_.back() ^ 1)].to;
    path_.pop_back();
    ++next_[static_cast<size_t>(node)];
  }
  int64_t flow = kInfinite;
  for (int e : path_) flow = std::min(flow, edges_[static_cast<size_t>(e)].left);
  for (int e : path_) {
    ++steps_;
    edges_[static_cast<size_t>(e)].left -= flow;
    edges_[static_cast<size_t>(e ^ 1)].left += flow;
  }
  return flow;
}

std::vector<bool> FlowNetwork::reaching(int sink) const {
  std::vector<bool> found(out_.size());
  found[static_cast<size_t>(sink)] = true;
  std::vector<int> work{sink};
  while (!work.empty()) {
    const int node = work.back();
    work.pop_back();
    for (int e : out_[static_cast<size_t>(node)]) {
      const int from = edges_[static_cast<size_t>(e)].to;
      if (edges_[static_cast<size_t>(e ^ 1)].left == 0 || found[static_cast<size_t>(from)]) continue;
      found[static_cast<size_t>(from)] = true;
      work.push_back(from);
    }
  }
  return found;
}

std::optional<FlowNetwork::Cut> FlowNetwork::minimum_cut(int source, int sink, size_t limit) {
  int64_t flow = 0;
  while (measure_distances(source, sink)) {
    next_.assign(out_.size(), 0);
    while (const int64_t more = augment(source, sink)) {
      flow += more;
      if (steps_ > limit || flow >= kInfinite) return std::nullopt;
    }
    if (steps_ > limit) return std::nullopt;
  }
  return Cut{flow, reaching(sink)};
}

}  // namespace paddle
