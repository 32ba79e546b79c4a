#include "tensor/storage.h"

#include "base/pool.h"
#include "device/allocator.h"

namespace paddle {
namespace {
struct StorageTag {};
using StoragePool = Pool<StorageTag, sizeof(Storage)>;
}  // namespace

Ref<Storage> Storage::allocate(size_t bytes, Place place) {
  void* data = device::allocate(place, bytes);
  auto* s = new (StoragePool::get()) Storage();
  s->data_ = data;
  s->bytes_ = bytes;
  s->place_ = place;
  return Ref<Storage>(s);
}

Ref<Storage> Storage::wrap(void* data, size_t bytes, Place place, std::function<void()> owner) {
  auto* s = new (StoragePool::get()) Storage();
  s->data_ = data;
  s->bytes_ = bytes;
  s->place_ = place;
  s->owner_ = std::make_unique<std::function<void()>>(std::move(owner));
  return Ref<Storage>(s);
}

Storage::~Storage() {
  if (!owner_)
    device::deallocate(place_, data_, bytes_);
  else if (*owner_)
    (*owner_)();
}

void Storage::destroy() noexcept {
  this->~Storage();
  StoragePool::put(this);
}

}  // namespace paddle
