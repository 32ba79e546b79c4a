#include "distributed/comm/board.h"

#include <algorithm>
#include <cstring>

#include "distributed/comm/futex.h"

namespace paddle::comm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kSpins = 200;      // then sleep: spinning on cores that others need costs milliseconds
constexpr int kLookEvery = 100;  // milliseconds between looks at whether a rank still lives

size_t aligned(size_t n) { return (n + 63) / 64 * 64; }

// Waits until ready(word) holds; false on a time-out or when stop() says so.
template <class Ready, class Stop>
bool wait_for(std::atomic<uint32_t>& word, Clock::time_point deadline, Ready ready, Stop stop) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (ready(word.load(std::memory_order_acquire))) return true;
    __builtin_ia32_pause();
  }
  while (true) {
    uint32_t seen = word.load(std::memory_order_acquire);
    if (ready(seen)) return true;
    auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 || stop()) return ready(word.load(std::memory_order_acquire));
    futex_wait(word, seen, static_cast<int>(std::min<int64_t>(left + 1, kLookEvery)));
  }
}

void publish(std::atomic<uint32_t>& word, uint32_t value) {
  word.store(value, std::memory_order_release);
  futex_wake_all(word);
}

}  // namespace

size_t BoardLayout::bytes() const {
  size_t n = static_cast<size_t>(ranks);
  return n * sizeof(Board::Slot) + n * n * (sizeof(Board::Channel) + aligned(channel_bytes)) +
         2 * n * aligned(stage_bytes);
}

Board::Board(std::byte* memory, BoardLayout layout, int rank) : memory_(memory), layout_(layout), rank_(rank) {}

Board::Channel& Board::channel(int from, int to) const {
  size_t n = static_cast<size_t>(layout_.ranks), index = static_cast<size_t>(from) * n + static_cast<size_t>(to);
  std::byte* base = memory_ + n * sizeof(Slot);
  return *reinterpret_cast<Channel*>(base + index * (sizeof(Channel) + aligned(layout_.channel_bytes)));
}

std::byte* Board::stage(int rank, int half) const {
  size_t n = static_cast<size_t>(layout_.ranks);
  std::byte* base = memory_ + n * sizeof(Slot) + n * n * (sizeof(Channel) + aligned(layout_.channel_bytes));
  return base + (2 * static_cast<size_t>(rank) + static_cast<size_t>(half)) * aligned(layout_.stage_bytes);
}

bool Board::passed(bool all_came) {
  uint64_t known = barriers_ - 1;
  const uint64_t verdict = all_came ? barriers_ : kFailed | static_cast<uint64_t>(rank_);
  if (slot(0).verdict.compare_exchange_strong(known, verdict, std::memory_order_acq_rel)) return all_came;
  return known == barriers_;
}

std::vector<int> Board::barrier(Milliseconds timeout, const std::function<bool(int)>& gone) {
  uint32_t turn = ++turn_;
  ++barriers_;
  publish(slot(rank_).arrived, turn);
  auto deadline = Clock::now() + timeout;
  auto come = [turn](uint32_t arrived) { return static_cast<int32_t>(arrived - turn) >= 0; };  // it may wrap around
  std::vector<int> missing;
  for (int r = 0; r < layout_.ranks; ++r) {
    if (r == rank_) continue;
    auto limit = missing.empty() ? deadline : Clock::now();  // the first is waited for, the rest are looked at
    if (!wait_for(slot(r).arrived, limit, come, [&] { return gone(r); })) missing.push_back(r);
  }
  if (passed(missing.empty())) return {};
  if (missing.empty()) {
    // All have come, but one of them had given up before. It says so at once, if it still lives.
    const int first = static_cast<int>(slot(0).verdict.load(std::memory_order_acquire) & ~kFailed);
    while (Clock::now() < deadline && !gone(first)) __builtin_ia32_pause();
    missing.push_back(first);
  }
  return missing;
}

bool Board::push(int to, const std::byte* data, size_t bytes, Milliseconds timeout,
                 const std::function<bool(int)>& gone) {
  Channel& c = channel(rank_, to);
  std::byte* ring = reinterpret_cast<std::byte*>(&c + 1);
  uint32_t capacity = static_cast<uint32_t>(layout_.channel_bytes);
  uint32_t written = c.written.load(std::memory_order_relaxed);
  while (bytes > 0) {
    auto room = [&](uint32_t read) { return written - read < capacity; };
    if (!wait_for(c.read, Clock::now() + timeout, room, [&] { return gone(to); })) return false;
    uint32_t free = capacity - (written - c.read.load(std::memory_order_acquire)), at = written % capacity;
    size_t n = std::min<size_t>({bytes, free, capacity - at});
    std::memcpy(ring + at, data, n);
    written += static_cast<uint32_t>(n), data += n, bytes -= n;
    publish(c.written, written);
  }
  return true;
}

bool Board::pop(int from, std::byte* data, size_t bytes, Milliseconds timeout, const std::function<bool(int)>& gone) {
  Channel& c = channel(from, rank_);
  const std::byte* ring = reinterpret_cast<const std::byte*>(&c + 1);
  uint32_t capacity = static_cast<uint32_t>(layout_.channel_bytes);
  uint32_t read = c.read.load(std::memory_order_relaxed);
  while (bytes > 0) {
    auto some = [&](uint32_t written) { return written != read; };
    if (!wait_for(c.written, Clock::now() + timeout, some, [&] { return gone(from); })) return false;
    uint32_t ready = c.written.load(std::memory_order_acquire) - read, at = read % capacity;
    size_t n = std::min<size_t>({bytes, ready, capacity - at});
    std::memcpy(data, ring + at, n);
    read += static_cast<uint32_t>(n), data += n, bytes -= n;
    publish(c.read, read);
  }
  return true;
}

}  // namespace paddle::comm
