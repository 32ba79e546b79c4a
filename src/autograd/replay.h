// Replay: values of a recompute region are computed anew, where a gradient that reads them stands, from what goes into
// the region.
#pragma once
#include <map>
#include <unordered_map>

#include "dispatch/trace.h"
#include "pir/clone.h"

namespace paddle::autograd {

class Replay {
 public:
  explicit Replay(dispatch::Trace& trace) : trace_(trace) {}

  // What the gradient of `reader` is to read for `v`: a copy of the operations that lead to it, appended to the program
  // on first use, for each region that the two share; `v` itself where they share none. Nested regions are replayed
  // once per level: what an inner one keeps goes with each replay of the outer one.
  pir::Value value_for(const pir::Operation& reader, pir::Value v);

 private:
  using Path = std::vector<int64_t>;
  const Path& path_of(const pir::Operation& op);
  pir::Value at_level(pir::Value v, size_t level);
  pir::Value input(pir::Value v, const Path& region, size_t level);
  bool replayable(const pir::Operation& op) const;
  void append(pir::Operation* op);

  dispatch::Trace& trace_;
  std::unordered_map<const pir::Operation*, Path> paths_;
  std::map<std::pair<const pir::Operation*, size_t>, pir::Operation*> copies_;
  std::map<Path, pir::ValueMap> inputs_;  // per region: what stands for a value from outside
};

}  // namespace paddle::autograd
