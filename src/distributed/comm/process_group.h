// ProcessGroup: the one interface to collectives. Back ends: in_process (ranks are threads), shared memory (processes
// of one machine), Gloo (across machines), simulated (a cost model).
//
// Buffers are contiguous host memory, counts are elements. All ranks of a group must call the same operations in the
// same order; send and recv are ordered for each pair of ranks on their own. A rank that does not come is named in a
// TimeoutError. With Async::kYes a call returns at once and its buffers must live until the Work is done; calls of one
// group run in the order they were made, sends and receives each in their own. in == out is allowed where both have the
// same size (and in reduce, all_reduce).
#pragma once
#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "distributed/comm/reduce.h"
#include "distributed/comm/work.h"

namespace paddle::comm {

enum class Async : bool { kNo, kYes };

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kScatter,
  kGather,
  kAllToAll,
  kSend,
  kRecv,
  kBarrier
};
std::string_view name_of(CollectiveKind kind);

// One call, as back ends see it. Which fields count depends on the kind.
struct Collective {
  CollectiveKind kind = CollectiveKind::kBarrier;
  const void* in = nullptr;
  void* out = nullptr;
  int64_t count = 0;  // all_reduce, broadcast, reduce, send, recv: elements; scatter, gather: elements of each rank
  DType dtype = DType::kUInt8;
  ReduceOp op = ReduceOp::kSum;
  int peer = 0;         // root, destination or source: a rank of the group
  bool uneven = false;  // all_to_all: counts differ, and ranks know only their own
  // all_gather, reduce_scatter: of each rank. all_to_all: send_counts[r] go to, recv_counts[r] come from rank r.
  std::vector<int64_t> send_counts, recv_counts;
};

struct GroupInfo {
  std::string name = "default";
  int rank = 0;            // in the group
  std::vector<int> ranks;  // global ranks of the members; messages use them
  Milliseconds timeout{300000};
};

class ProcessGroup {
 public:
  explicit ProcessGroup(GroupInfo info);
  virtual ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  virtual std::string_view backend() const = 0;
  const std::string& name() const { return info_.name; }
  int rank() const { return info_.rank; }
  int size() const { return static_cast<int>(info_.ranks.size()); }
  const std::vector<int>& ranks() const { return info_.ranks; }
  Milliseconds timeout() const { return info_.timeout; }

  WorkPtr all_reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, Async async = Async::kNo);
  // out: count elements of every rank, by rank.
  WorkPtr all_gather(const void* in, void* out, int64_t count, DType dtype, Async async = Async::kNo);
  WorkPtr all_gather(const void* in, void* out, std::vector<int64_t> counts, DType dtype, Async async = Async::kNo);
  // in: the parts of all ranks, `count` (or counts[r]) elements each; out: this rank's part, reduced.
  WorkPtr reduce_scatter(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, Async async = Async::kNo);
  WorkPtr reduce_scatter(const void* in, void* out, std::vector<int64_t> counts, DType dtype, ReduceOp op,
                         Async async = Async::kNo);
  WorkPtr broadcast(void* buffer, int64_t count, DType dtype, int root, Async async = Async::kNo);
  WorkPtr reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root,
                 Async async = Async::kNo);
  // in counts at the root only: `count` elements for every rank, by rank.
  WorkPtr scatter(const void* in, void* out, int64_t count, DType dtype, int root, Async async = Async::kNo);
  WorkPtr gather(const void* in, void* out, int64_t count, DType dtype, int root, Async async = Async::kNo);
  WorkPtr all_to_all(const void* in, void* out, int64_t count, DType dtype, Async async = Async::kNo);
  WorkPtr all_to_all(const void* in, void* out, std::vector<int64_t> send_counts, std::vector<int64_t> recv_counts,
                     DType dtype, Async async = Async::kNo);
  WorkPtr send(const void* buffer, int64_t count, DType dtype, int destination, Async async = Async::kNo);
  WorkPtr recv(void* buffer, int64_t count, DType dtype, int source, Async async = Async::kNo);
  WorkPtr barrier(Async async = Async::kNo);

  // Waits for what was queued. Back ends call it first thing in their destructors.
  void drain();

 protected:
  // Runs one call to its end; sends, receives and all others each on one thread at a time. Called only for groups of
  // two and more ranks (simulated: any).
  virtual void execute(const Collective& call) = 0;
  // Simulated groups may be asked with null buffers.
  virtual bool needs_buffers() const { return true; }
  [[noreturn]] void missing(const Collective& call, const std::vector<int>& group_ranks) const;

 private:
  struct Lane;
  WorkPtr submit(Collective call, Async async);
  void verify(const Collective& call) const;
  void perform(const Collective& call);
  void alone(const Collective& call) const;  // a group of one
  void work(Lane& lane);
  std::exception_ptr attempt(const Collective& call);
  int64_t out_elements(const Collective& call) const;

  struct Queued {
    Collective call;
    WorkPtr work;
  };
  // Sends, receives and all other calls run beside each other, or two ranks that send to each other would wait for
  // good.
  struct Lane {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<Queued> queue;
    bool busy = false, stop = false;
    std::thread thread;  // started by the first asynchronous call
  };
  static int lane_of(CollectiveKind kind);

  GroupInfo info_;
  std::array<Lane, 3> lanes_;
};

using ProcessGroupPtr = std::shared_ptr<ProcessGroup>;

// Elements before each rank's part: offsets({2, 0, 3}) = {0, 2, 2, 5}.
std::vector<int64_t> offsets(std::span<const int64_t> counts);

}  // namespace paddle::comm
