#include "tensor/tensor.h"

#include "base/error.h"
#include "base/pool.h"

namespace paddle {
namespace {
struct ImplTag {};
using ImplPool = Pool<ImplTag, sizeof(TensorImpl)>;
}  // namespace

void (*release_py_state)(void* state) = nullptr;

Ref<TensorImpl> TensorImpl::make() { return Ref<TensorImpl>(new (ImplPool::get()) TensorImpl()); }

TensorImpl::~TensorImpl() {
  if (py_state) release_py_state(py_state);
}

void TensorImpl::destroy() noexcept {
  this->~TensorImpl();
  ImplPool::put(this);
}

Tensor Tensor::meta(std::span<const Dim> shape, DType dtype, Place place) {
  // Official's limit is 9; kernels keep sizes and strides in arrays of this length.
  constexpr size_t kMostDimensions = 32;
  check(shape.size() <= kMostDimensions, ErrorKind::kValue, "[tensor] expected at most {} dimensions, got {}",
        kMostDimensions, shape.size());
  Ref<TensorImpl> impl = TensorImpl::make();
  impl->dtype = dtype;
  impl->place = place;
  impl->shape = Shape(shape);
  return Tensor(std::move(impl));
}

Tensor Tensor::empty(std::span<const Dim> shape, DType dtype, Place place) {
  PD_INVARIANT(dtype != DType::kUndefined);
  Tensor t = meta(shape, dtype, place);
  int64_t n = 1;
  TensorImpl& impl = *t.impl();
  impl.strides.resize(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    int64_t d = shape[i].value();
    impl.strides[i] = n;
    // Extents of zero don't collapse the strides of what stands left of them.
    bool overflow = __builtin_mul_overflow(n, d > 0 ? d : 1, &n);
    if (d < 0 || overflow) [[unlikely]]
      fail(ErrorKind::kValue, "[empty] expected a shape of non-negative extents whose product fits, got {}",
           to_string(shape));
  }
  int64_t count = n;
  for (Dim d : shape)
    if (d.value() == 0) count = 0;
  int64_t bytes;
  if (__builtin_mul_overflow(count, static_cast<int64_t>(size_of(dtype)), &bytes)) [[unlikely]]
    fail(ErrorKind::kMemory, "[empty] a tensor of shape {} is larger than memory can be", to_string(shape));
  impl.storage = Storage::allocate(static_cast<size_t>(bytes), place);
  return t;
}

Tensor Tensor::empty(std::initializer_list<int64_t> shape, DType dtype, Place place) {
  Shape dims(shape.begin(), shape.end());
  return empty(dims, dtype, place);
}

Tensor Tensor::as_view(std::span<const Dim> shape, std::span<const int64_t> strides, int64_t offset) const {
  Tensor t = meta(shape, dtype(), place());
  t->strides = Strides(strides);
  t->offset = offset;
  t->storage = impl_->storage;
  return t;
}

Tensor Tensor::from_blob(void* data, std::span<const Dim> shape, std::span<const int64_t> strides, DType dtype,
                         Place place, std::function<void()> owner) {
  Tensor t = meta(shape, dtype, place);
  t->strides = strides.empty() ? contiguous_strides(shape) : Strides(strides);
  size_t bytes = static_cast<size_t>(paddle::numel(shape).value()) * size_of(dtype);
  t->storage = Storage::wrap(data, bytes, place, std::move(owner));
  return t;
}

bool Tensor::is_contiguous() const {
  int64_t expected = 1;
  const Shape& s = impl_->shape;
  for (size_t i = s.size(); i-- > 0;) {
    int64_t d = s[i].value();
    if (d == 0) return true;
    if (d != 1 && impl_->strides[i] != expected) return false;
    expected *= d;
  }
  return true;
}

void Tensor::become(const Tensor& other) {
  TensorImpl& a = *impl_;
  const TensorImpl& b = *other.impl();
  a.dtype = b.dtype;
  a.place = b.place;
  a.bits = static_cast<uint8_t>((b.bits & ~kNeedsGrad) | ((a.bits | b.bits) & kNeedsGrad));
  a.offset = b.offset;
  a.shape = b.shape;
  a.strides = b.strides;
  a.storage = b.storage;
  a.payload = b.payload;
  a.grad_fn = b.grad_fn;
  a.grad_index = b.grad_index;
}

}  // namespace paddle
