#include "distributed/comm/simulated_group.h"

#include <cmath>
#include <cstring>

namespace paddle::comm {

SimulatedCost estimate(CollectiveKind kind, double bytes, int n, const LinkModel& link) {
  SimulatedCost c{1, 0, 0};
  if (n <= 1 && kind != CollectiveKind::kSend && kind != CollectiveKind::kRecv) return c;
  double steps = n - 1, share = steps / n, rounds = std::ceil(std::log2(n));
  auto time = [&](double messages, double sent, double reduced) {
    c.bytes = sent;
    c.seconds = messages * link.latency + sent / link.bandwidth + reduced / link.reduce_speed;
  };
  switch (kind) {
    case CollectiveKind::kAllReduce:
      time(2 * steps, 2 * share * bytes, share * bytes);
      break;
    case CollectiveKind::kReduceScatter:
      time(steps, share * bytes, share * bytes);
      break;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll:
      time(steps, share * bytes, 0);
      break;
    case CollectiveKind::kScatter:
    case CollectiveKind::kGather:
      time(rounds, share * bytes, 0);
      break;
    // Scatter and all-gather; reduce-scatter and gather.
    case CollectiveKind::kBroadcast:
      time(rounds + steps, 2 * share * bytes, 0);
      break;
    case CollectiveKind::kReduce:
      time(rounds + steps, 2 * share * bytes, share * bytes);
      break;
    case CollectiveKind::kSend:
    case CollectiveKind::kRecv:
      time(1, bytes, 0);
      break;
    case CollectiveKind::kBarrier:
      time(rounds, 0, 0);
      break;
  }
  return c;
}

SimulatedCost SimulatedGroup::total() const {
  SimulatedCost sum;
  for (const SimulatedCost& c : costs_) sum += c;
  return sum;
}

void SimulatedGroup::execute(const Collective& call) {
  auto item = static_cast<int64_t>(size_of(call.dtype));
  int64_t elements = call.count;
  if (call.kind == CollectiveKind::kAllGather || call.kind == CollectiveKind::kReduceScatter)
    elements = offsets(call.recv_counts).back();
  if (call.kind == CollectiveKind::kAllToAll) elements = offsets(call.send_counts).back();
  if (call.kind == CollectiveKind::kScatter || call.kind == CollectiveKind::kGather) elements *= size();
  {
    std::lock_guard lock(costs_mutex_);
    costs_[static_cast<size_t>(call.kind)] += estimate(call.kind, static_cast<double>(elements * item), size(), link_);
  }
  auto* in = static_cast<const std::byte*>(call.in);
  auto* out = static_cast<std::byte*>(call.out);
  if (!in || !out) return;
  auto copy = [&](int64_t to, int64_t from, int64_t n) {
    if (n > 0 && out + to * item != in + from * item)
      std::memmove(out + to * item, in + from * item, static_cast<size_t>(n * item));
  };
  switch (call.kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduce: {
      std::vector<const void*> inputs(size(), in);
      return comm::reduce(inputs, out, call.count, call.dtype, call.op);
    }
    case CollectiveKind::kReduceScatter: {
      int64_t at = offsets(call.recv_counts)[rank()];
      std::vector<const void*> inputs(size(), in + at * item);
      return comm::reduce(inputs, out, call.recv_counts[rank()], call.dtype, call.op);
    }
    case CollectiveKind::kAllGather: {
      auto at = offsets(call.recv_counts);
      for (int r = 0; r < size(); ++r) copy(at[r], 0, std::min(call.recv_counts[r], call.recv_counts[rank()]));
      return;
    }
    case CollectiveKind::kGather:
      for (int r = 0; r < size() && rank() == call.peer; ++r) copy(r * call.count, 0, call.count);
      return;
    case CollectiveKind::kScatter:
      return copy(0, rank() == call.peer ? rank() * call.count : 0, call.count);
    case CollectiveKind::kAllToAll: {
      int64_t from = offsets(call.send_counts)[rank()];
      auto at = offsets(call.recv_counts);
      for (int r = 0; r < size(); ++r) copy(at[r], from, std::min(call.recv_counts[r], call.send_counts[rank()]));
      return;
    }
    default:
      return;
  }
}

}  // namespace paddle::comm
