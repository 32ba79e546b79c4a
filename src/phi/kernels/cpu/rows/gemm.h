#pragma once
#include <cstdint>

namespace paddle::rows {

// A matrix of doubles with any strides, in elements.
struct MatrixF64 {
  const double* data;
  int64_t rows, cols, row_stride, col_stride;
};

// c = a b, c dense. Blocked for the caches after Goto and van de Geijn (2008): b is packed in panels that all threads
// share, each thread packs its own rows of a.
void gemm_f64(const MatrixF64& a, const MatrixF64& b, double* c);

}  // namespace paddle::rows
