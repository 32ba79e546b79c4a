#include "executor/arena.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "device/allocator.h"

namespace paddle::executor {
namespace {

struct Block {
  char* data;
  size_t bytes;
  device::Seconds since;
};

struct Pool {
  std::mutex mutex;
  std::vector<Block> idle;  // used last comes last

  static Pool& instance() {
    static auto* pool = [] {
      auto* p = new Pool;
      device::on_trim([p](device::Seconds before) { p->trim(before); });
      return p;
    }();
    return *pool;
  }

  Block take(size_t bytes) {
    Block old{nullptr, 0, 0};
    {
      std::lock_guard lock(mutex);
      // The smallest that is large enough, of equal ones the one used last.
      auto best = idle.end();
      for (auto it = idle.begin(); it != idle.end(); ++it)
        if (it->bytes >= bytes && (best == idle.end() || it->bytes <= best->bytes)) best = it;
      if (best != idle.end()) {
        Block b = *best;
        idle.erase(best);
        return b;
      }
      // Else the largest grows: idle blocks of every size would add up.
      auto largest =
          std::max_element(idle.begin(), idle.end(), [](const Block& a, const Block& b) { return a.bytes < b.bytes; });
      if (largest != idle.end()) {
        old = *largest;
        idle.erase(largest);
      }
    }
    if (old.data) device::release_pages(old.data, old.bytes);
    return {static_cast<char*>(device::reserve_pages(bytes)), bytes, 0};
  }

  void give(Block b) {
    b.since = device::seconds_now();
    std::lock_guard lock(mutex);
    idle.push_back(b);
  }

  void trim(device::Seconds before) {
    std::vector<Block> blocks;
    {
      std::lock_guard lock(mutex);
      auto unused = std::stable_partition(idle.begin(), idle.end(), [&](const Block& b) { return b.since >= before; });
      blocks.assign(unused, idle.end());
      idle.erase(unused, idle.end());
    }
    for (Block b : blocks) device::release_pages(b.data, b.bytes);
  }
};

constexpr size_t kGrain = size_t{1} << 16;

}  // namespace

Arena::Arena(size_t bytes) {
  if (bytes == 0) return;
  Block b = Pool::instance().take((bytes + kGrain - 1) / kGrain * kGrain);
  data_ = b.data;
  bytes_ = b.bytes;
  device::note_use(static_cast<int64_t>(bytes_));
}

Arena::~Arena() {
  if (!data_) return;
  device::note_use(-static_cast<int64_t>(bytes_));
  Pool::instance().give({data_, bytes_, 0});
}

Arena& Arena::operator=(Arena&& o) noexcept {
  std::swap(data_, o.data_);
  std::swap(bytes_, o.bytes_);
  return *this;
}

}  // namespace paddle::executor
