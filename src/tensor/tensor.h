// Tensor: a counted handle to a TensorImpl. The impl knows shape, dtype and place, and where the elements are: in a
// strided view of a Storage (dense), or in a payload (a traced value, sparse rows, a shard of a distributed tensor).
// The fields of autograd and of the language binding are opaque here.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/ref_counted.h"
#include "device/place.h"
#include "tensor/dim.h"
#include "tensor/dtype.h"
#include "tensor/storage.h"

namespace paddle {

class Tensor;

// What a tensor is when it isn't dense. Subclasses: pir's TracedPayload, spmd's DistPayload, SparseRows.
class Payload : public RefCounted {};

// Facts about an input that dispatch must know before it chooses a path: they are or-ed over all inputs.
enum TensorBits : uint8_t {
  kNeedsGrad = 1,  // not stop_gradient
  kTraced = 2,
  kDist = 4,
  kSparse = 8,
  kOverwritten = 16,  // stands for a saved tensor whose elements were overwritten: only its shape and dtype may be read
};

class TensorImpl final : public RefCounted {
 public:
  static Ref<TensorImpl> make();  // from the thread's pool

  DType dtype = DType::kUndefined;
  uint8_t bits = 0;  // TensorBits
  bool persistable = false;
  bool is_parameter = false;
  Place place;
  uint16_t grad_index = 0;  // which output of grad_fn this is
  int64_t offset = 0;       // elements from the storage's start
  Shape shape;
  Strides strides;       // elements; dense only
  Ref<Storage> storage;  // dense only
  Ref<Payload> payload;
  Ref<RefCounted> grad_fn;       // autograd::Node that made this tensor
  Ref<RefCounted> autograd;      // autograd::Meta: .grad, hooks, leaf accumulator
  Ref<TensorImpl> base;          // dense views: the tensor whose storage this looks into
  uint32_t generation = 0;       // counts changes of this tensor's history by in-place writes
  uint32_t base_generation = 0;  // the base's generation when this view's grad_fn was made
  void* py_object = nullptr;     // borrowed: the living Python object of this tensor
  void* py_state = nullptr;      // owned: what of a dead Python object must outlive it (its type and attributes)
  std::unique_ptr<std::string> name;

  ~TensorImpl() override;

 protected:
  void destroy() noexcept override;
};

// Called when an impl that has a py_state dies; the binding installs it.
extern void (*release_py_state)(void* state);

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}

  // Uninitialised, contiguous memory.
  static Tensor empty(std::span<const Dim> shape, DType dtype, Place place);
  static Tensor empty(std::initializer_list<int64_t> shape, DType dtype, Place place = Place::cpu());
  // A view of the same storage; strides in elements, offset in elements from the storage's start.
  Tensor as_view(std::span<const Dim> shape, std::span<const int64_t> strides, int64_t offset) const;
  // Memory owned by someone else; `owner` is released when the storage dies.
  static Tensor from_blob(void* data, std::span<const Dim> shape, std::span<const int64_t> strides, DType dtype,
                          Place place, std::function<void()> owner);
  // Metadata only: no storage, no payload (for shape inference).
  static Tensor meta(std::span<const Dim> shape, DType dtype, Place place);

  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  TensorImpl* operator->() const { return impl_.get(); }
  Ref<TensorImpl> take() { return std::move(impl_); }

  DType dtype() const { return impl_->dtype; }
  Place place() const { return impl_->place; }
  const Shape& shape() const { return impl_->shape; }
  const Strides& strides() const { return impl_->strides; }
  int64_t rank() const { return static_cast<int64_t>(impl_->shape.size()); }
  Dim dim(int64_t axis) const { return impl_->shape[axis < 0 ? axis + rank() : axis]; }
  int64_t size(int64_t axis) const { return dim(axis).value(); }
  int64_t numel() const { return paddle::numel(impl_->shape).value(); }
  bool is_dense() const { return static_cast<bool>(impl_->storage); }
  bool is_traced() const { return impl_->bits & kTraced; }
  bool is_dist() const { return impl_->bits & kDist; }
  bool is_contiguous() const;
  bool stop_gradient() const { return !(impl_->bits & kNeedsGrad); }
  void set_stop_gradient(bool stop) { impl_->bits = stop ? impl_->bits & ~kNeedsGrad : impl_->bits | kNeedsGrad; }
  bool same(const Tensor& o) const { return impl_ == o.impl_; }

  // First element. Dense only.
  void* data() const {
    return static_cast<char*>(impl_->storage->data()) + impl_->offset * static_cast<int64_t>(size_of(impl_->dtype));
  }
  template <class T>
  T* data() const {
    return static_cast<T*>(data());
  }

  // The handle keeps its identity but now means what `other` means (in-place operators under trace, set_value).
  void become(const Tensor& other);

 private:
  Ref<TensorImpl> impl_;
};

using Tensors = std::vector<Tensor>;

}  // namespace paddle
