#include <algorithm>
#include <new>
#include <numeric>

#include "base/error.h"
#include "distributed/comm/board_group.h"

namespace paddle::comm {
namespace {

// Threads read each other's buffers where they lie.
class InProcessGroup final : public BoardGroup {
 public:
  InProcessGroup(GroupInfo info, std::shared_ptr<std::byte> memory, BoardLayout layout)
      : BoardGroup(std::move(info), memory.get(), layout), memory_(std::move(memory)) {}
  ~InProcessGroup() override { drain(); }
  std::string_view backend() const override { return "in_process"; }

 private:
  void locate(Notice&) const override {}
  std::byte* reach_in(const Notice& notice, int) const override { return const_cast<std::byte*>(notice.in); }
  std::byte* reach_out(const Notice& notice, int) const override { return notice.out; }

  std::shared_ptr<std::byte> memory_;
};

std::shared_ptr<std::byte> zeroed(size_t bytes) {
  auto* p = static_cast<std::byte*>(::operator new(bytes, std::align_val_t(64)));
  std::fill(p, p + bytes, std::byte{0});
  return {p, [](std::byte* q) { ::operator delete(q, std::align_val_t(64)); }};
}

}  // namespace

ProcessGroupPtr InProcessWorld::group(int global_rank, const std::string& name, std::vector<int> ranks,
                                      Milliseconds timeout) {
  if (ranks.empty()) {
    ranks.resize(size_);
    std::iota(ranks.begin(), ranks.end(), 0);
  }
  auto at = std::find(ranks.begin(), ranks.end(), global_rank);
  check(at != ranks.end(), ErrorKind::kValue, "[new_group] rank {} is not a member of '{}'", global_rank, name);
  BoardLayout layout{static_cast<int>(ranks.size()), 0, 64 << 10};
  std::shared_ptr<std::byte> memory;
  {
    std::lock_guard lock(mutex_);
    auto& board = boards_[name];
    if (!board) board = zeroed(layout.bytes());
    memory = board;
  }
  return std::make_shared<InProcessGroup>(GroupInfo{name, static_cast<int>(at - ranks.begin()), ranks, timeout}, memory,
                                          layout);
}

}  // namespace paddle::comm
