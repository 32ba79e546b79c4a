// SimulatedGroup: a ProcessGroup of any size on paper. Calls return at once with what every rank would get if all held
// what this one holds; bytes and time are counted by the alpha-beta model with ring algorithms (Thakur, Rabenseifner
// and Gropp 2005). Buffers may be null: then only the costs are counted.
#pragma once
#include <array>

#include "distributed/comm/process_group.h"

namespace paddle::comm {

struct LinkModel {
  double latency = 5e-6;       // seconds a message takes to start
  double bandwidth = 10e9;     // bytes per second, each way
  double reduce_speed = 20e9;  // bytes per second that a rank reduces
};

struct SimulatedCost {
  int64_t calls = 0;
  double bytes = 0;  // that this rank sends
  double seconds = 0;
  SimulatedCost& operator+=(const SimulatedCost& o) {
    calls += o.calls, bytes += o.bytes, seconds += o.seconds;
    return *this;
  }
};

// One call of `bytes` per rank (all_reduce, broadcast, reduce: the buffer; all_gather, reduce_scatter, all_to_all,
// gather, scatter: all ranks' parts together) among n ranks.
SimulatedCost estimate(CollectiveKind kind, double bytes, int n, const LinkModel& link);

class SimulatedGroup final : public ProcessGroup {
 public:
  SimulatedGroup(GroupInfo info, LinkModel link) : ProcessGroup(std::move(info)), link_(link) {}
  ~SimulatedGroup() override { drain(); }
  std::string_view backend() const override { return "simulated"; }

  SimulatedCost cost(CollectiveKind kind) const { return costs_[static_cast<size_t>(kind)]; }
  SimulatedCost total() const;
  void reset() { costs_ = {}; }

 protected:
  void execute(const Collective& call) override;
  bool needs_buffers() const override { return false; }

 private:
  LinkModel link_;
  std::mutex costs_mutex_;
  std::array<SimulatedCost, 11> costs_;
};

}  // namespace paddle::comm
