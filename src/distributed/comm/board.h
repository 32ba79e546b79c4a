// Board: memory that all ranks of a group see, with what they need to work in step: a barrier that knows who is
// missing, a notice per rank that says what it is about to do, staging space, and a channel from each rank to each
// other. It lies on the heap for ranks that are threads, in shared memory for ranks that are processes.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "distributed/comm/process_group.h"

namespace paddle::comm {

struct BoardLayout {
  int ranks = 1;
  size_t stage_bytes = 0;    // of one of a rank's two staging halves; 0 when ranks read each other's memory directly
  size_t channel_bytes = 0;  // of one channel; a power of two
  size_t bytes() const;
};

// What a rank posts before it works: all must post the same operation.
struct Notice {
  CollectiveKind kind;
  DType dtype;
  ReduceOp op;
  int32_t root;
  int64_t count;                  // what must agree
  int64_t in_bytes;               // what the others may read
  const std::byte* in = nullptr;  // direct: readable by the others, as they are mapped by the poster
  std::byte* out = nullptr;
  int64_t in_place = -1;   // shared memory: offset of `in` in the poster's arena, or -1
  int64_t out_place = -1;  // of `out`
};

class Board {
 public:
  // `memory` is zeroed and layout.bytes() long, aligned to 64.
  Board(std::byte* memory, BoardLayout layout, int rank);

  // Every rank has come so far. On a time-out: the ranks that have not, else empty. `gone` may tell that a rank is
  // dead.
  std::vector<int> barrier(Milliseconds timeout, const std::function<bool(int)>& gone);

  void give_up() { slot(rank_).broken.store(1, std::memory_order_release); }
  bool gave_up(int rank) const { return slot(rank).broken.load(std::memory_order_acquire) != 0; }

  Notice& notice(int rank) { return slot(rank).notices[parity_]; }
  void next_call() { parity_ ^= 1; }  // so that a fast rank's next notice does not overwrite one still being read
  std::byte* stage(int rank, int half) const;
  size_t stage_bytes() const { return layout_.stage_bytes; }

  // Through the channel to / from a peer, as many bytes as there are. False on a time-out, or when the peer is gone.
  bool push(int to, const std::byte* data, size_t bytes, Milliseconds timeout, const std::function<bool(int)>& gone);
  bool pop(int from, std::byte* data, size_t bytes, Milliseconds timeout, const std::function<bool(int)>& gone);

 private:
  struct alignas(64) Slot {
    alignas(64) std::atomic<uint32_t> arrived;
    std::atomic<uint32_t> broken;   // this rank gave up: its memory no longer means anything
    std::atomic<uint64_t> verdict;  // of slot 0: the last barrier that all passed, or kFailed and who gave up first
    alignas(64) Notice notices[2];
  };
  struct alignas(64) Channel {  // one writer, one reader
    alignas(64) std::atomic<uint32_t> written;
    alignas(64) std::atomic<uint32_t> read;
  };
  friend struct BoardLayout;
  static constexpr uint64_t kFailed = uint64_t{1} << 63;
  // Did all pass this barrier? Decided once, for all: a rank that comes when another has just given up must not go on
  // to read memory that is gone.
  bool passed(bool all_came);

  Slot& slot(int rank) const { return reinterpret_cast<Slot*>(memory_)[rank]; }
  Channel& channel(int from, int to) const;

  std::byte* memory_;
  BoardLayout layout_;
  int rank_;
  uint32_t turn_ = 0;
  uint64_t barriers_ = 0;
  int parity_ = 0;
};

}  // namespace paddle::comm
