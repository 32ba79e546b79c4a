// Products of matrices of which at least two sides are small: there a general library spends its time on copying into
// its own layout and on choosing. Here the operands are read where they lie.
#pragma once
#include <cstdint>

namespace paddle::rows {

// A matrix with any strides, in elements.
struct MatrixF32 {
  const float* data;
  int64_t rows, cols, row_stride, col_stride;
};

// Whether small_gemm is the faster one, as measured against oneDNN.
bool small_gemm_pays(const MatrixF32& a, const MatrixF32& b);

// c = a b, c dense.
void small_gemm(const MatrixF32& a, const MatrixF32& b, float* c);

}  // namespace paddle::rows
