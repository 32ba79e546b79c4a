// Storage: a block of device memory with a version that every in-place write counts up.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "base/ref_counted.h"
#include "device/place.h"

namespace paddle {

class Storage final : public RefCounted {
 public:
  // From the device's caching allocator. MemoryError when the device has none left, even after trimming its cache.
  static Ref<Storage> allocate(size_t bytes, Place place);
  // Foreign memory; `owner` runs when the storage dies.
  static Ref<Storage> wrap(void* data, size_t bytes, Place place, std::function<void()> owner);

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  Place place() const { return place_; }
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

  ~Storage() override;

 protected:
  void destroy() noexcept override;

 private:
  Storage() = default;
  void* data_ = nullptr;
  size_t bytes_ = 0;
  Place place_;
  std::atomic<uint32_t> version_{0};
  std::unique_ptr<std::function<void()>> owner_;
};

}  // namespace paddle
