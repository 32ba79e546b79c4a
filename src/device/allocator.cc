#include "device/allocator.h"

#include <malloc.h>

#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/pool.h"
#include "device/registry.h"

namespace paddle::device {
namespace {

// Size classes: multiples of 64 up to 1 KiB, then four steps per power of two, so at most 25 % is lost to rounding.
constexpr size_t kAlign = 64;
constexpr size_t kSmallLimit = 64 << 10;

size_t round_up(size_t bytes) {
  if (bytes <= 1024) return bytes == 0 ? kAlign : (bytes + kAlign - 1) / kAlign * kAlign;
  size_t step = std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) / step * step;
}

// Index of a small class; classes are dense in [0, kSmallClasses).
constexpr size_t kSmallClasses = 16 + 6 * 4;
size_t small_class(size_t rounded) {
  if (rounded <= 1024) return rounded / kAlign - 1;
  size_t power = std::bit_width(rounded - 1) - 1;  // rounded in (2^power, 2^(power+1)]
  size_t step = (size_t{1} << power) / 4;
  return 16 + (power - 10) * 4 + (rounded - (size_t{1} << power)) / step - 1;
}

// Of the host's memory as much may be reserved: half as much again as was in use lately, and this.
constexpr int64_t kBeside = int64_t{256} << 20;
constexpr Seconds kKeepUnused = 30;

struct Cache {
  std::mutex mutex;
  LargeBlocks large;                                    // by rounded size
  int64_t most_now = 0, most_before = 0;                // in use, in this period of kKeepUnused and in the one before
  std::atomic<Seconds> period{seconds_now()};           // when this one began
  std::array<std::vector<void*>, kSmallClasses> small;  // overflow of the threads' pools
  std::atomic<int64_t> in_use{0}, reserved{0}, peak_in_use{0}, peak_reserved{0};
  std::atomic<uint64_t> device_calls{0};

  static void raise(std::atomic<int64_t>& peak, int64_t now) {
    int64_t seen = peak.load(std::memory_order_relaxed);
    while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
    }
  }
  void count_use(int64_t bytes) {
    int64_t now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (bytes > 0) raise(peak_in_use, now);
  }
  // Bytes to give back before so many more are reserved. The mutex is held.
  size_t excess(size_t bytes) const {
    const int64_t lately = std::max(most_now, most_before);
    const int64_t after = reserved.load(std::memory_order_relaxed) + static_cast<int64_t>(bytes);
    return static_cast<size_t>(std::max<int64_t>(0, after - lately - lately / 2 - kBeside));
  }
  void count_reserved(int64_t bytes) {
    int64_t now = reserved.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (bytes > 0) raise(peak_reserved, now);
  }
};

Cache& cache(Place p) {
  static std::mutex mutex;
  static auto* caches = new std::map<uint32_t, Cache>;
  uint32_t key = (uint32_t{p.kind} << 16) | static_cast<uint16_t>(p.index);
  static Cache* cpu = [] {
    std::lock_guard lock(mutex);
    return &(*caches)[0];
  }();
  if (key == 0) [[likely]]
    return *cpu;
  std::lock_guard lock(mutex);
  return (*caches)[key];
}

// The CPU's small blocks: a stack per class and thread. Counting is per thread too and flushed rarely, or the counters'
// cache lines would cost more than the allocation.
struct ThreadPools {
  static constexpr size_t kKeep = 64;
  std::array<std::vector<void*>, kSmallClasses> free;
  int64_t unreported = 0;

  void report(Cache& c) {
    if (unreported) c.count_use(unreported);
    unreported = 0;
  }
  ~ThreadPools() {
    Cache& c = cache(Place::cpu());
    report(c);
    std::lock_guard lock(c.mutex);
    for (size_t i = 0; i < kSmallClasses; ++i) c.small[i].insert(c.small[i].end(), free[i].begin(), free[i].end());
  }
};

// In thread-local storage there is a pointer only: of its initial-exec kind, which costs no call, a process has
// some 1.5 KB in all.
thread_local constinit ThreadPools* thread_pools __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local constinit bool thread_ends __attribute__((tls_model("initial-exec"))) = false;

struct AtThreadEnd {
  ~AtThreadEnd() {
    thread_ends = true;
    delete std::exchange(thread_pools, nullptr);
  }
};
ThreadPools* make_pools() {
  if (thread_ends) return nullptr;
  static thread_local AtThreadEnd guard;
  static_cast<void>(&guard);
  return thread_pools = new ThreadPools;
}
// Null when the thread is ending.
ThreadPools* pools() {
  if (thread_pools) [[likely]]
    return thread_pools;
  return make_pools();
}

void give_back(Cache& c, Place place, const std::vector<LargeBlocks::Block>& blocks) {
  for (const LargeBlocks::Block& b : blocks) {
    table(place).deallocate(place.index, b.data, b.bytes);
    c.count_reserved(-static_cast<int64_t>(b.bytes));
  }
}

struct Trimmers {
  std::mutex mutex;
  std::vector<std::function<void(Seconds)>> list;
};
Trimmers& trimmers() {
  static auto* t = new Trimmers;
  return *t;
}

// Whether there was something.
bool trim_unused(Cache& c, Place place, Seconds before) {
  if (place.is_cpu()) {
    std::vector<std::function<void(Seconds)>> list;
    {
      std::lock_guard lock(trimmers().mutex);
      list = trimmers().list;
    }
    for (auto& fn : list) fn(before);
  }
  std::vector<LargeBlocks::Block> blocks;
  {
    std::lock_guard lock(c.mutex);
    blocks = c.large.unused_since(before);
  }
  give_back(c, place, blocks);
  return !blocks.empty();
}

// Before so many more bytes of the host are reserved.
void make_room(Cache& c, size_t bytes) {
  std::vector<LargeBlocks::Block> excess;
  {
    std::lock_guard lock(c.mutex);
    excess = c.large.oldest(c.excess(bytes));
  }
  give_back(c, Place::cpu(), excess);
}

// Once in a period: what nobody used during all of one.
void age_host() {
  Cache& c = cache(Place::cpu());
  const Seconds now = seconds_now();
  Seconds began = c.period.load(std::memory_order_relaxed);
  if (now - began < kKeepUnused || !c.period.compare_exchange_strong(began, now)) return;
  {
    std::lock_guard lock(c.mutex);
    c.most_before = std::exchange(c.most_now, c.in_use.load(std::memory_order_relaxed));
  }
  // Freed blocks of some MiB may lie between others on malloc's heap.
  if (trim_unused(c, Place::cpu(), now - kKeepUnused)) ::malloc_trim(0);
}

void* from_device(Cache& c, Place place, size_t rounded) {
  void* p = nullptr;
  const PdDevice& d = table(place);
  PdStatus s = d.allocate(place.index, rounded, &p);
  if (s.code == PD_ERROR_OUT_OF_MEMORY) {
    trim(place);
    s = d.allocate(place.index, rounded, &p);
  }
  check(s.code == PD_OK, ErrorKind::kMemory, "[allocator] can't allocate {} bytes on {} ({} in use, {} reserved): {}",
        rounded, to_string(place), c.in_use.load(), c.reserved.load(), s.message ? s.message : "no message");
  c.device_calls.fetch_add(1, std::memory_order_relaxed);
  c.count_reserved(static_cast<int64_t>(rounded));
  return p;
}

// A fresh chunk cut into blocks of one class: small blocks never go back to the device one by one.
void* refill_small(Cache& c, ThreadPools& t, size_t cls, size_t rounded) {
  {
    std::lock_guard lock(c.mutex);
    auto& shared = c.small[cls];
    if (!shared.empty()) {
      size_t take = std::min<size_t>(shared.size(), 16);
      t.free[cls].insert(t.free[cls].end(), shared.end() - take, shared.end());
      shared.resize(shared.size() - take);
      void* p = t.free[cls].back();
      t.free[cls].pop_back();
      return p;
    }
  }
  size_t blocks = std::max<size_t>(1, std::min<size_t>(16, (size_t{64} << 10) / rounded));
  char* chunk = static_cast<char*>(from_device(c, Place::cpu(), blocks * rounded));
  for (size_t i = 1; i < blocks; ++i) t.free[cls].push_back(chunk + i * rounded);
  return chunk;
}

// Past the thread's own pools.
void* allocate_shared(Cache& c, size_t cls, size_t rounded) {
  c.count_use(static_cast<int64_t>(rounded));
  {
    std::lock_guard lock(c.mutex);
    auto& shared = c.small[cls];
    if (!shared.empty()) {
      void* p = shared.back();
      shared.pop_back();
      return p;
    }
  }
  return from_device(c, Place::cpu(), rounded);
}

void* allocate_small(size_t rounded) {
  ThreadPools* t = pools();
  size_t cls = small_class(rounded);
  if (!t) [[unlikely]]
    return allocate_shared(cache(Place::cpu()), cls, rounded);
  t->unreported += static_cast<int64_t>(rounded);
  if (t->unreported > (1 << 20)) [[unlikely]]
    t->report(cache(Place::cpu()));
  auto& list = t->free[cls];
  if (!list.empty()) [[likely]] {
    void* p = list.back();
    list.pop_back();
    return p;
  }
  return refill_small(cache(Place::cpu()), *t, cls, rounded);
}

void deallocate_small(void* p, size_t rounded) noexcept {
  ThreadPools* t = pools();
  size_t cls = small_class(rounded);
  if (t) [[likely]] {
    t->unreported -= static_cast<int64_t>(rounded);
    auto& list = t->free[cls];
    if (list.size() < ThreadPools::kKeep) [[likely]] {
      list.push_back(p);
      return;
    }
  }
  Cache& c = cache(Place::cpu());
  if (!t) c.count_use(-static_cast<int64_t>(rounded));
  std::lock_guard lock(c.mutex);
  c.small[cls].push_back(p);
}

// What the address sanitizer can watch: a block of just that size, given back at once.
void* allocate_exactly(Place place, size_t bytes) {
  Cache& c = cache(place);
  void* p = from_device(c, place, bytes);
  c.count_use(static_cast<int64_t>(round_up(bytes)));
  return p;
}
void deallocate_exactly(Place place, void* p, size_t bytes) noexcept {
  Cache& c = cache(place);
  table(place).deallocate(place.index, p, bytes);
  c.count_reserved(-static_cast<int64_t>(bytes));
  c.count_use(-static_cast<int64_t>(round_up(bytes)));
}

}  // namespace

void* allocate(Place place, size_t bytes) {
  if (!kReuseBlocks && place.is_cpu()) return allocate_exactly(place, bytes);
  size_t rounded = round_up(bytes);
  if (place.is_cpu() && rounded <= kSmallLimit) return allocate_small(rounded);
  Cache& c = cache(place);
  c.count_use(static_cast<int64_t>(rounded));
  if (place.is_cpu()) age_host();
  {
    std::lock_guard lock(c.mutex);
    c.most_now = std::max(c.most_now, c.in_use.load(std::memory_order_relaxed));
    if (void* p = c.large.take(rounded)) return p;
  }
  try {
    if (place.is_cpu()) make_room(c, rounded);
    return from_device(c, place, rounded);
  } catch (...) {
    c.count_use(-static_cast<int64_t>(rounded));
    throw;
  }
}

void deallocate(Place place, void* ptr, size_t bytes) noexcept {
  size_t rounded = round_up(bytes);
  if (!kReuseBlocks && place.is_cpu()) return deallocate_exactly(place, ptr, bytes);
  if (place.is_cpu() && rounded <= kSmallLimit) return deallocate_small(ptr, rounded);
  Cache& c = cache(place);
  c.count_use(-static_cast<int64_t>(rounded));
  std::lock_guard lock(c.mutex);
  c.large.put(ptr, rounded);
}

AllocatorStats stats(Place place) {
  Cache& c = cache(place);
  if (place.is_cpu())
    if (ThreadPools* t = pools()) t->report(c);
  auto positive = [](int64_t v) { return static_cast<uint64_t>(std::max<int64_t>(v, 0)); };
  return {positive(c.in_use), positive(c.reserved), positive(c.peak_in_use), positive(c.peak_reserved), c.device_calls};
}

void reset_peak(Place place) {
  Cache& c = cache(place);
  if (place.is_cpu())
    if (ThreadPools* t = pools()) t->report(c);
  c.peak_in_use.store(c.in_use.load());
  c.peak_reserved.store(c.reserved.load());
}

void on_trim(std::function<void(Seconds before)> fn) {
  std::lock_guard lock(trimmers().mutex);
  trimmers().list.push_back(std::move(fn));
}

void* reserve_pages(size_t bytes) {
  Cache& c = cache(Place::cpu());
  make_room(c, bytes);
  return from_device(c, Place::cpu(), bytes);
}

void release_pages(void* ptr, size_t bytes) noexcept {
  table(Place::cpu()).deallocate(0, ptr, bytes);
  cache(Place::cpu()).count_reserved(-static_cast<int64_t>(bytes));
}

void note_use(int64_t bytes) {
  Cache& c = cache(Place::cpu());
  c.count_use(bytes);
  if (bytes > 0) age_host();
}

void trim(Place place) {
  trim_unused(cache(place), place, kEver);
  if (place.is_cpu()) ::malloc_trim(0);  // what programs and their text took
}

}  // namespace paddle::device
