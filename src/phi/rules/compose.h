// What derived gradients are composed with, besides operators.
#pragma once
#include "api/op_call.h"

namespace paddle::compose {

// A number as a 0-d tensor with the dtype of `like`.
Tensor lift(double value, const Tensor& like);
Tensor lift(const Scalar& value, const Tensor& like);
// A number in the shape and dtype of `like`.
Tensor full_like(double value, const Tensor& like);
// A truth value as 0 or 1 in the dtype of `like`; numbers as truth values.
Tensor cast_like(const Tensor& x, const Tensor& like);
Tensor truth(const Tensor& x);
// In another dtype; complex to real takes the real part.
Tensor cast_to(const Tensor& x, DType t);
// The complex conjugate; a real tensor itself.
Tensor conj(const Tensor& x);
// reshape that means its sizes: a 0 is 0, not "as before".
Tensor reshape_to(const Tensor& x, const Shape& shape);
// The sizes that infer::dims_of gives; those that only running tells are told by something of that shape.
Shape dims_of(std::string_view op, const Ints& sizes);
Tensor zeros_like(const TensorMeta& m);
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const TensorMeta& m);
// The gradient of a broadcast: g summed to the shape `to`, in the dtype of `to`. A real `to` takes the real part.
Tensor unbroadcast(const Tensor& g, const TensorMeta& to);
Tensor unbroadcast(const Tensor& g, const Tensor& to);
// g, or zeros of the given shape where no gradient flowed into that output.
Tensor or_zeros(const Tensor& g, const TensorMeta& m);
Tensor or_zeros(const Tensor& g, const Tensor& out);
// g of a reduction, with the reduced axes put back as 1. axes empty = all of rank.
Tensor keep_dims(const Tensor& g, std::span<const int64_t> axes, std::span<const Dim> input_shape);

}  // namespace paddle::compose
