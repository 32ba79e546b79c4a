// Products of f32 matrices of few rows or few columns: b is read where it lies. oneDNN multiplies them as quickly, but
// by kernels that it makes at the first such product: all sixteen of their kind, which takes 15 to 60 ms.
#pragma once
#include "phi/kernels/cpu/rows/gemm.h"

namespace paddle::rows {

// Whether mid_gemm is as fast as oneDNN, as measured: no vector, not too large, rows of b dense.
bool mid_gemm_pays(const MatrixF32& a, const MatrixF32& b);

// c = a b, c dense; rows of b dense.
void mid_gemm(const MatrixF32& a, const MatrixF32& b, float* c);

}  // namespace paddle::rows
