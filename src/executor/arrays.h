// What operations on lists of tensors compute, besides reading and writing: the pieces of their gradients.
#pragma once
#include "tensor/tensor.h"

namespace paddle::executor {

// A list index as Python counts, in [0, size). IndexError.
size_t list_index(int64_t index, size_t size);

Tensors array_zeros_like(const Tensors& a);
Tensors array_add(const Tensors& a, const Tensors& b);
Tensors array_add_at(Tensors a, int64_t index, const Tensor& item);
Tensors array_insert(Tensors a, int64_t index, const Tensor& item);
// Without what a write at `index` to a list of `length` items put there: zeros in its place, or nothing if it was
// appended.
Tensors array_unwrite(Tensors a, int64_t index, int64_t length);
Tensors array_unstack(const Tensor& x, int64_t axis);
Tensors array_split(const Tensor& x, const Tensors& like, int64_t axis);  // pieces as long as like's items

}  // namespace paddle::executor
