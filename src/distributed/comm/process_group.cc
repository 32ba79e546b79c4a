#include "distributed/comm/process_group.h"

#include <fmt/ranges.h>

#include <cstring>
#include <numeric>

#include "base/error.h"

namespace paddle::comm {

std::string_view name_of(CollectiveKind kind) {
  constexpr std::string_view kNames[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "scatter",
                                         "gather",     "all_to_all", "send",           "recv",      "barrier"};
  return kNames[static_cast<int>(kind)];
}

std::vector<int64_t> offsets(std::span<const int64_t> counts) {
  std::vector<int64_t> at(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), at.begin() + 1);
  return at;
}

ProcessGroup::ProcessGroup(GroupInfo info) : info_(std::move(info)) {
  check(!info_.ranks.empty() && info_.rank >= 0 && info_.rank < size(), ErrorKind::kValue,
        "[ProcessGroup] expected a rank in [0, {}), got {}", info_.ranks.size(), info_.rank);
}

ProcessGroup::~ProcessGroup() {
  drain();
  for (Lane& lane : lanes_) {
    {
      std::lock_guard lock(lane.mutex);
      lane.stop = true;
    }
    lane.wake.notify_all();
    if (lane.thread.joinable()) lane.thread.join();
  }
}

void ProcessGroup::drain() {
  for (Lane& lane : lanes_) {
    std::unique_lock lock(lane.mutex);
    lane.wake.wait(lock, [&] { return lane.queue.empty() && !lane.busy; });
  }
}

int ProcessGroup::lane_of(CollectiveKind kind) {
  return kind == CollectiveKind::kSend ? 1 : kind == CollectiveKind::kRecv ? 2 : 0;
}

void ProcessGroup::missing(const Collective& call, const std::vector<int>& group_ranks) const {
  std::vector<int> global;
  for (int r : group_ranks) global.push_back(info_.ranks.at(r));
  double seconds = static_cast<double>(info_.timeout.count()) / 1000.0;
  fail(ErrorKind::kTimeout, "[{}] rank{} {} of group '{}' ({} ranks) did not come within {} s; rank {} waited",
       name_of(call.kind), global.size() == 1 ? "" : "s", fmt::join(global, ", "), info_.name, size(), seconds,
       info_.ranks[info_.rank]);
}

int64_t ProcessGroup::out_elements(const Collective& c) const {
  switch (c.kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll:
      return std::accumulate(c.recv_counts.begin(), c.recv_counts.end(), int64_t{0});
    case CollectiveKind::kReduceScatter:
      return c.recv_counts[info_.rank];
    default:
      return c.count;
  }
}

void ProcessGroup::verify(const Collective& c) const {
  auto name = name_of(c.kind);
  check(c.peer >= 0 && c.peer < size(), ErrorKind::kValue, "[{}] expected a rank of the group in [0, {}), got {}", name,
        size(), c.peer);
  check(c.count >= 0, ErrorKind::kValue, "[{}] expected a count >= 0, got {}", name, c.count);
  for (const auto* counts : {&c.send_counts, &c.recv_counts}) {
    check(counts->empty() || static_cast<int>(counts->size()) == size(), ErrorKind::kValue,
          "[{}] expected {} counts, one for each rank, got {}", name, size(), counts->size());
    for (int64_t n : *counts) check(n >= 0, ErrorKind::kValue, "[{}] expected counts >= 0, got {}", name, n);
  }
  bool pairwise = c.kind == CollectiveKind::kSend || c.kind == CollectiveKind::kRecv;
  check(!pairwise || c.peer != rank(), ErrorKind::kValue, "[{}] rank {} can't {} itself", name, info_.ranks[rank()],
        c.kind == CollectiveKind::kSend ? "send to" : "receive from");
  bool reduces = c.kind == CollectiveKind::kAllReduce || c.kind == CollectiveKind::kReduce ||
                 c.kind == CollectiveKind::kReduceScatter;
  check(!reduces || !is_complex(c.dtype) || (c.op != ReduceOp::kMax && c.op != ReduceOp::kMin), ErrorKind::kValue,
        "[{}] complex numbers have no {}", name, name_of(c.op));
  check(size_of(c.dtype) > 0, ErrorKind::kType, "[{}] expected a tensor with a dtype", name);
}

void ProcessGroup::alone(const Collective& c) const {
  // Everything a group of one does is a copy; send and recv were refused.
  if (c.out && c.in && c.out != c.in) std::memcpy(c.out, c.in, static_cast<size_t>(out_elements(c)) * size_of(c.dtype));
}

void ProcessGroup::perform(const Collective& call) {
  if (size() == 1 && needs_buffers())
    alone(call);
  else
    execute(call);
}

std::exception_ptr ProcessGroup::attempt(const Collective& call) {
  try {
    perform(call);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

WorkPtr ProcessGroup::submit(Collective call, Async async) {
  verify(call);
  auto work = std::make_shared<Work>();
  Lane& lane = lanes_[lane_of(call.kind)];
  std::unique_lock lock(lane.mutex);
  if (async == Async::kYes) {
    if (!lane.thread.joinable()) lane.thread = std::thread([this, &lane] { this->work(lane); });
    lane.queue.push_back({std::move(call), work});
    lock.unlock();
    lane.wake.notify_all();
    return work;
  }
  // In the caller's own thread, once all that was queued before is done.
  lane.wake.wait(lock, [&] { return lane.queue.empty() && !lane.busy; });
  lane.busy = true;
  lock.unlock();
  std::exception_ptr error = attempt(call);
  lock.lock();
  lane.busy = false;
  lock.unlock();
  lane.wake.notify_all();
  if (error) std::rethrow_exception(error);
  work->finish();
  return work;
}

void ProcessGroup::work(Lane& lane) {
  std::unique_lock lock(lane.mutex);
  while (true) {
    lane.wake.wait(lock, [&] { return lane.stop || (!lane.queue.empty() && !lane.busy); });
    if (lane.queue.empty()) {
      if (lane.stop) return;
      continue;
    }
    Queued next = std::move(lane.queue.front());
    lane.queue.pop_front();
    lane.busy = true;
    lock.unlock();
    next.work->finish(attempt(next.call));
    lock.lock();
    lane.busy = false;
    lane.wake.notify_all();
  }
}

WorkPtr ProcessGroup::all_reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, Async async) {
  return submit({CollectiveKind::kAllReduce, in, out, count, dtype, op}, async);
}

WorkPtr ProcessGroup::all_gather(const void* in, void* out, int64_t count, DType dtype, Async async) {
  return all_gather(in, out, std::vector<int64_t>(size(), count), dtype, async);
}

WorkPtr ProcessGroup::all_gather(const void* in, void* out, std::vector<int64_t> counts, DType dtype, Async async) {
  return submit({CollectiveKind::kAllGather, in, out, 0, dtype, ReduceOp::kSum, 0, false, {}, std::move(counts)},
                async);
}

WorkPtr ProcessGroup::reduce_scatter(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, Async async) {
  return reduce_scatter(in, out, std::vector<int64_t>(size(), count), dtype, op, async);
}

WorkPtr ProcessGroup::reduce_scatter(const void* in, void* out, std::vector<int64_t> counts, DType dtype, ReduceOp op,
                                     Async async) {
  return submit({CollectiveKind::kReduceScatter, in, out, 0, dtype, op, 0, false, {}, std::move(counts)}, async);
}

WorkPtr ProcessGroup::broadcast(void* buffer, int64_t count, DType dtype, int root, Async async) {
  return submit({CollectiveKind::kBroadcast, buffer, buffer, count, dtype, ReduceOp::kSum, root}, async);
}

WorkPtr ProcessGroup::reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root,
                             Async async) {
  return submit({CollectiveKind::kReduce, in, out, count, dtype, op, root}, async);
}

WorkPtr ProcessGroup::scatter(const void* in, void* out, int64_t count, DType dtype, int root, Async async) {
  return submit({CollectiveKind::kScatter, in, out, count, dtype, ReduceOp::kSum, root}, async);
}

WorkPtr ProcessGroup::gather(const void* in, void* out, int64_t count, DType dtype, int root, Async async) {
  return submit({CollectiveKind::kGather, in, out, count, dtype, ReduceOp::kSum, root}, async);
}

WorkPtr ProcessGroup::all_to_all(const void* in, void* out, int64_t count, DType dtype, Async async) {
  std::vector<int64_t> counts(size(), count);
  return submit({CollectiveKind::kAllToAll, in, out, count, dtype, ReduceOp::kSum, 0, false, counts, counts}, async);
}

WorkPtr ProcessGroup::all_to_all(const void* in, void* out, std::vector<int64_t> send_counts,
                                 std::vector<int64_t> recv_counts, DType dtype, Async async) {
  return submit({CollectiveKind::kAllToAll, in, out, 0, dtype, ReduceOp::kSum, 0, true, std::move(send_counts),
                 std::move(recv_counts)},
                async);
}

WorkPtr ProcessGroup::send(const void* buffer, int64_t count, DType dtype, int destination, Async async) {
  return submit({CollectiveKind::kSend, buffer, nullptr, count, dtype, ReduceOp::kSum, destination}, async);
}

WorkPtr ProcessGroup::recv(void* buffer, int64_t count, DType dtype, int source, Async async) {
  return submit({CollectiveKind::kRecv, nullptr, buffer, count, dtype, ReduceOp::kSum, source}, async);
}

WorkPtr ProcessGroup::barrier(Async async) { return submit({CollectiveKind::kBarrier}, async); }

}  // namespace paddle::comm
