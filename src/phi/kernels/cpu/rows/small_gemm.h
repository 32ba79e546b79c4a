// Products of matrices of which at least two sides are small: there a general library spends its time on copying into
// its own layout and on choosing. Here the operands are read where they lie.
#pragma once
#include "phi/kernels/cpu/rows/gemm.h"

namespace paddle::rows {

// Whether small_gemm is the faster one, as measured against oneDNN.
bool small_gemm_pays(const MatrixF32& a, const MatrixF32& b);

// c = a b, c dense.
void small_gemm(const MatrixF32& a, const MatrixF32& b, float* c);

}  // namespace paddle::rows
