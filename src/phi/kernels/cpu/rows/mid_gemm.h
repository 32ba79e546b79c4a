// Products of f32 matrices of middling size, on AVX-512. oneDNN multiplies them as they lie, by kernels that it makes
// at the first such product: all sixteen of their kind, which takes 30 to 60 ms, as long as some thousands of products.
#pragma once
#include "phi/kernels/cpu/rows/gemm.h"

namespace paddle::rows {

// Whether they are small enough that a few per cent of their time don't matter (mid_gemm is as fast as oneDNN for few
// rows, some 4 % slower for others), and no vector.
bool mid_gemm_pays(const MatrixF32& a, const MatrixF32& b);

// c = a b, c dense.
void mid_gemm(const MatrixF32& a, const MatrixF32& b, float* c);

}  // namespace paddle::rows
