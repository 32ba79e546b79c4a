// FlowNetwork: minimum cuts by maximum flow (Dinic, 1970), deterministic and bounded in its steps.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace paddle {

class FlowNetwork {
 public:
  static constexpr int64_t kInfinite = int64_t{1} << 60;  // an edge that no cut crosses

  int add_node();
  void add_edge(int from, int to, int64_t capacity);
  size_t num_edges() const { return edges_.size() / 2; }

  struct Cut {
    int64_t capacity;
    std::vector<bool> behind;  // per node: on the sink's side
  };
  // Of all minimum cuts the one nearest to the sink. Once for each network. Nothing where it would take more than
  // `limit` steps, or where only infinite edges part the two.
  std::optional<Cut> minimum_cut(int source, int sink, size_t limit);

 private:
  struct Edge {
    int to;
    int64_t left;  // capacity that is not used
  };
  bool measure_distances(int source, int sink);
  int64_t augment(int source, int sink);
  std::vector<bool> reaching(int sink) const;

  std::vector<Edge> edges_;  // an edge and its reverse stand next to each other
  std::vector<std::vector<int>> out_;
  std::vector<int> distance_;
  std::vector<size_t> next_;  // per node: the edge that is tried next
  std::vector<int> path_;     // edges
  size_t steps_ = 0;
};

}  // namespace paddle
