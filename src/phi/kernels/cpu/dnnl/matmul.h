// Matrix products on the CPU.
#pragma once
#include "tensor/tensor.h"

namespace paddle::kernels {

// out[b..., i, j] = sum_k x[b..., i, k] * y[b..., k, j]; x and y have rank >= 2, are already "transposed" by their
// strides, and their batch axes broadcast. out is contiguous and of the result's shape. f32, bf16, f16, int8 -> oneDNN;
// f64, complex and integers by a blocked loop.
void matmul(const Tensor& x, const Tensor& y, const Tensor& out);

// An operand as matrices: a vector is a row (left) or a column; `transpose` swaps the last two axes.
Tensor matrix_view(const Tensor& t, bool transpose, bool left);

}  // namespace paddle::kernels
