#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/flags.h"
#include "distributed/comm/board_group.h"

namespace paddle::comm {
namespace {

// Two ranks with the same text see one /dev/shm, unless they were told to behave as if they did not.
std::string machine() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  struct stat s {};
  ::stat("/dev/shm", &s);
  return fmt::format("{}-{}-{}", boot, s.st_dev, flags::get_string("comm_machine"));
}

// Rank 0 makes a segment, the others open it; then its name is gone, so nothing is left behind however the ranks end.
// Whatever fails on one rank fails on all.
ShmSegment share(Store& store, const std::string& topic, const GroupInfo& info, size_t bytes) {
  std::string name, error;
  ShmSegment segment;
  auto attempt = [&](auto make) {
    try {
      segment = make();
    } catch (const Error& e) {
      error = e.what();
    }
  };
  if (info.rank == 0) {
    name = ShmSegment::unique_name();
    attempt([&] { return ShmSegment::create(name, bytes); });
  }
  auto failed = [](const std::string& report) { return report.starts_with("!"); };
  auto names =
      exchange(store, topic + "/segment", info.rank, info.ranks, error.empty() ? name : "!" + error, info.timeout);
  if (info.rank != 0 && !failed(names[0])) attempt([&] { return ShmSegment::open(names[0], bytes); });
  auto done = exchange(store, topic + "/mapped", info.rank, info.ranks, error.empty() ? "" : "!" + error, info.timeout);
  if (info.rank == 0) ShmSegment::unlink(name);
  for (const auto* reports : {&names, &done})
    for (const std::string& report : *reports)
      if (failed(report)) throw_error(ErrorKind::kOS, report.substr(1));
  return segment;
}

}  // namespace

std::shared_ptr<SharedMemoryGroup> SharedMemoryGroup::create(StorePtr store, GroupInfo info,
                                                             SharedMemoryOptions options) {
  int n = static_cast<int>(info.ranks.size());
  auto hosts = comm::exchange(*store, info.name + "/machine", info.rank, info.ranks,
                              fmt::format("{} {}", ::getpid(), machine()), info.timeout);
  std::vector<int> processes;
  for (int r = 0; r < n; ++r) {
    size_t space = hosts[r].find(' ');
    processes.push_back(std::stoi(hosts[r]));
    check(hosts[r].substr(space) == hosts[0].substr(hosts[0].find(' ')), ErrorKind::kValue,
          "[shared memory] ranks {} and {} are not on one machine; use the gloo back end", info.ranks[0],
          info.ranks[r]);
  }
  size_t channel = options.channel_bytes ? options.channel_bytes : (n <= 4 ? 64 << 10 : 16 << 10);
  BoardLayout layout{n, options.stage_bytes, channel};
  check(layout.stage_bytes % 64 == 0 && layout.stage_bytes > 0 && (channel & (channel - 1)) == 0, ErrorKind::kValue,
        "[shared memory] expected stage_bytes in multiples of 64 and channel_bytes a power of two");
  ShmSegment segment = share(*store, info.name, info, layout.bytes());
  return std::shared_ptr<SharedMemoryGroup>(
      new SharedMemoryGroup(std::move(store), std::move(info), std::move(segment), layout, std::move(processes)));
}

SharedMemoryGroup::SharedMemoryGroup(StorePtr store, GroupInfo info, ShmSegment segment, BoardLayout layout,
                                     std::vector<int> processes)
    : BoardGroup(std::move(info), segment.data(), layout),
      store_(std::move(store)),
      segment_(std::move(segment)),
      processes_(std::move(processes)) {}

SharedMemoryGroup::~SharedMemoryGroup() { drain(); }

bool SharedMemoryGroup::ended(int rank) const {
  int process = processes_[rank];
  if (::kill(process, 0) != 0) return errno == ESRCH;
  // A child that nobody has waited for still answers signals.
  std::string text;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", process)), text);
  size_t name_end = text.rfind(')');
  return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] == 'Z';
}

int64_t SharedMemoryGroup::place_of(const void* p, size_t bytes) const {
  if (!arena_.data() || !p) return -1;
  auto* at = static_cast<const std::byte*>(p);
  const std::byte* mine = arena_.data() + static_cast<size_t>(rank()) * arena_bytes_;
  return at >= mine && at + bytes <= mine + arena_bytes_ ? at - mine : -1;
}

void SharedMemoryGroup::locate(Notice& notice) const {
  notice.in_place = place_of(notice.in, static_cast<size_t>(notice.in_bytes));
  notice.out_place = place_of(notice.out, static_cast<size_t>(notice.in_bytes));  // asked for in all_reduce only
}

std::byte* SharedMemoryGroup::reach_in(const Notice& notice, int rank) const {
  return notice.in_place < 0 ? nullptr : arena_.data() + static_cast<size_t>(rank) * arena_bytes_ + notice.in_place;
}

std::byte* SharedMemoryGroup::reach_out(const Notice& notice, int rank) const {
  return notice.out_place < 0 ? nullptr : arena_.data() + static_cast<size_t>(rank) * arena_bytes_ + notice.out_place;
}

void SharedMemoryGroup::create_arena(size_t bytes) {
  bytes = (bytes + 4095) / 4096 * 4096;
  drain();
  GroupInfo info{name(), rank(), ranks(), timeout()};
  ShmSegment segment =
      share(*store_, fmt::format("{}/arena{}", name(), arenas_++), info, bytes * static_cast<size_t>(size()));
  std::lock_guard lock(arena_mutex_);
  check(used_.empty(), ErrorKind::kRuntime, "[shared memory] the arena of group '{}' is in use", name());
  arena_ = std::move(segment);
  arena_bytes_ = bytes;
  free_ = {{0, bytes}};
}

void* SharedMemoryGroup::arena_allocate(size_t bytes) {
  bytes = std::max<size_t>(64, (bytes + 63) / 64 * 64);
  std::lock_guard lock(arena_mutex_);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    auto [offset, size] = *it;
    if (size < bytes) continue;
    free_.erase(it);
    if (size > bytes) free_[offset + bytes] = size - bytes;
    used_[offset] = bytes;
    return arena_.data() + static_cast<size_t>(rank()) * arena_bytes_ + offset;
  }
  return nullptr;
}

void SharedMemoryGroup::arena_free(void* p) {
  std::lock_guard lock(arena_mutex_);
  size_t offset =
      static_cast<size_t>(static_cast<std::byte*>(p) - arena_.data()) - static_cast<size_t>(rank()) * arena_bytes_;
  auto used = used_.find(offset);
  check(used != used_.end(), ErrorKind::kValue, "[shared memory] the pointer is not from the arena");
  auto [at, fresh] = free_.emplace(offset, used->second);
  used_.erase(used);
  // Merge with the neighbours.
  if (auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at != free_.begin())
    if (auto before = std::prev(at); before->first + before->second == at->first) {
      before->second += at->second;
      free_.erase(at);
    }
}

}  // namespace paddle::comm
