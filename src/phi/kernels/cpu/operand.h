// A tensor as the tile interpreter sees it, broadcast to an iteration shape.
#pragma once
#include "phi/kernels/cpu/tile/pointwise.h"
#include "tensor/tensor.h"

namespace paddle::kernels {

// Owns the strides that the TileOperand points to.
class Operand {
 public:
  // t's trailing axes align with shape's; axes of size 1 repeat. Dense operands of exactly that shape get no strides at
  // all.
  tile::TileOperand broadcast(const Tensor& t, const Shape& shape) {
    if (t.shape() == shape && t.is_contiguous()) return {t.data(), t.dtype(), nullptr};
    size_t rank = shape.size(), own = t.shape().size();
    strides_.resize(rank, 0);
    for (size_t i = 0; i < own; ++i) {
      size_t at = rank - own + i;
      strides_[at] = t.shape()[i].bits() == 1 && shape[at].bits() != 1 ? 0 : t.strides()[i];
    }
    return {t.data(), t.dtype(), strides_.data()};
  }

 private:
  Strides strides_;
};

// dst = src, converted to dst's dtype; one shape, any strides.
inline void convert_elements(const Tensor& dst, const Tensor& src) {
  Operand to, from;
  tile::TileOperand out = to.broadcast(dst, src.shape()), in = from.broadcast(src, src.shape());
  if (dst.dtype() == src.dtype())
    tile::run_copy(out, in, static_sizes(src.shape()));
  else
    tile::run_cast(out, in, static_sizes(src.shape()));
}

}  // namespace paddle::kernels
