// Collectives over a Board: in_process (ranks are threads, which read each other's buffers) and shared_memory (ranks
// are processes of one machine: buffers from the arena are read where they lie, all others are staged in chunks).
#pragma once
#include <map>
#include <span>

#include "distributed/comm/board.h"
#include "distributed/comm/shm_segment.h"
#include "distributed/comm/store.h"

namespace paddle::comm {

class BoardGroup : public ProcessGroup {
 protected:
  BoardGroup(GroupInfo info, std::byte* memory, BoardLayout layout);
  void execute(const Collective& call) override;

  virtual void locate(Notice& notice) const = 0;                          // fills in how the others reach in and out
  virtual std::byte* reach_in(const Notice& notice, int rank) const = 0;  // nullptr: not reachable
  virtual std::byte* reach_out(const Notice& notice, int rank) const = 0;
  virtual bool ended(int rank) const { return false; }  // the rank's process is no more

 private:
  using Parts = std::span<const std::byte* const>;
  using Consume = std::function<void(int64_t begin, int64_t end, Parts parts)>;

  void post(const Collective& call);
  void agree(const Collective& call);
  void meet(const Collective& call);  // barrier, or an error that names who is missing
  [[noreturn]] void lost(const Collective& call, std::vector<int> ranks);
  void exchange(const Collective& call, const Consume& consume);
  void all_reduce_call(const Collective& call);
  void all_reduce_direct(const Collective& call);
  void all_reduce_staged(const Collective& call);
  void all_to_all_call(const Collective& call);
  void pairwise(const Collective& call);

  Board board_;
};

// The ranks that are threads of this process, and the groups they form. Shared by these threads.
class InProcessWorld : public std::enable_shared_from_this<InProcessWorld> {
 public:
  explicit InProcessWorld(int size) : size_(size) {}
  int size() const { return size_; }
  // The group of that name, as rank `global_rank` sees it. `ranks` empty: all. Every member asks once.
  ProcessGroupPtr group(int global_rank, const std::string& name = "default", std::vector<int> ranks = {},
                        Milliseconds timeout = Milliseconds(300000));

 private:
  int size_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<std::byte>> boards_;
};

struct SharedMemoryOptions {
  size_t stage_bytes = 256 << 10;  // of each half; a rank has two
  size_t channel_bytes = 0;        // 0: 64 KiB for up to four ranks, else 16 KiB
};

class SharedMemoryGroup final : public BoardGroup {
 public:
  // Collective: all members call it. Raises an OSError (on every rank) when /dev/shm is too small, a ValueError when
  // the ranks do not share a machine, a TimeoutError that names missing ranks.
  static std::shared_ptr<SharedMemoryGroup> create(StorePtr store, GroupInfo info, SharedMemoryOptions options = {});
  ~SharedMemoryGroup() override;
  std::string_view backend() const override { return "shared_memory"; }

  // Collective: reserves `bytes` for every rank, that all ranks map. Buffers from it are reduced without a copy.
  void create_arena(size_t bytes);
  void* arena_allocate(size_t bytes);  // nullptr when the arena is full; 64-byte aligned
  void arena_free(void* p);

 private:
  SharedMemoryGroup(StorePtr store, GroupInfo info, ShmSegment segment, BoardLayout layout, std::vector<int> processes);
  void locate(Notice& notice) const override;
  std::byte* reach_in(const Notice& notice, int rank) const override;
  std::byte* reach_out(const Notice& notice, int rank) const override;
  bool ended(int rank) const override;
  int64_t place_of(const void* p, size_t bytes) const;

  StorePtr store_;
  ShmSegment segment_, arena_;
  size_t arena_bytes_ = 0;  // of each rank
  int arenas_ = 0;
  std::vector<int> processes_;
  std::mutex arena_mutex_;
  std::map<size_t, size_t> free_, used_;  // offset -> bytes, in this rank's part
};

}  // namespace paddle::comm
