// A tensor around one axis: [outer, axis, inner]; and work on targets that may be strided.
#pragma once
#include "base/error.h"
#include "phi/kernels/registry.h"
#include "tensor/tensor.h"

namespace paddle::kernels {

inline Tensor dense(const Tensor& t) {
  if (t.is_contiguous()) return t;
  Tensor out = Tensor::empty(t.shape(), t.dtype(), t.place());
  copy_elements(out, t);
  return out;
}

inline void zero(const Tensor& t) { std::memset(t.data(), 0, static_cast<size_t>(t.numel()) * size_of(t.dtype())); }

// t repeated to a shape that it broadcasts to: a view whose new and single axes have stride 0.
inline Tensor broadcast_to(const Tensor& t, const Shape& shape) {
  Strides s(shape.size(), 0);
  size_t lead = shape.size() - t.shape().size();
  for (size_t i = 0; i < t.shape().size(); ++i)
    if (t.shape()[i] == shape[lead + i]) s[lead + i] = t.strides()[i];
  return t.as_view(shape, s, t->offset);
}

struct AroundAxis {
  int64_t outer = 1, axis = 1, inner = 1;
};
inline AroundAxis around(const Tensor& t, int64_t axis) {
  AroundAxis a;
  if (t.rank() == 0) return a;
  if (axis < 0) axis += t.rank();
  for (int64_t i = 0; i < axis; ++i) a.outer *= t.size(i);
  a.axis = t.size(axis);
  for (int64_t i = axis + 1; i < t.rank(); ++i) a.inner *= t.size(i);
  return a;
}

// A dense tensor to write into; what was written goes back to a strided target at the end.
class DenseTarget {
 public:
  // with_contents: the target's present elements are needed.
  DenseTarget(const Tensor& target, bool with_contents) : target_(target), work_(target) {
    if (target.is_contiguous()) return;
    work_ = Tensor::empty(target.shape(), target.dtype(), target.place());
    if (with_contents) copy_elements(work_, target);
  }
  const Tensor& tensor() const { return work_; }
  void finish() {
    if (!work_.same(target_)) copy_elements(target_, work_);
  }

 private:
  Tensor target_, work_;
};

// The result starts as x: copied, unless the call writes into x itself.
inline void start_from(OpCall& c, const Tensor& x) {
  if (!c.inplace) copy_elements(c.out(0), x);
}

// An index into an axis of `size`, counted from the end where negative.
// Official raises IndexError for some operators and ValueError for others.
inline int64_t wrapped(std::string_view op, int64_t i, int64_t size, ErrorKind kind = ErrorKind::kIndex) {
  if (i < 0) i += size;
  check(i >= 0 && i < size, kind, "[{}] expected an index in [{}, {}), got {}", op, -size, size, i < 0 ? i - size : i);
  return i;
}

}  // namespace paddle::kernels
