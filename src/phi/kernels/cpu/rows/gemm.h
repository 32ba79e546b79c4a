#pragma once
#include <cstdint>

namespace paddle::rows {

// A matrix with any strides, in elements.
template <class T>
struct MatrixOf {
  const T* data;
  int64_t rows, cols, row_stride, col_stride;
};
using MatrixF32 = MatrixOf<float>;
using MatrixF64 = MatrixOf<double>;

// Rows that are read side by side and lie a multiple of a page apart fall onto each other in the first cache.
template <class T>
bool rows_coincide(const MatrixOf<T>& m) {
  return m.col_stride == 1 && m.row_stride * static_cast<int64_t>(sizeof(T)) % 4096 == 0;
}

// c = a b, c dense. Blocked for the caches after Goto and van de Geijn (2008): b is packed in panels that all threads
// share; a's rows are read where they lie, or packed by the thread that multiplies them.
template <class T>
void gemm(const MatrixOf<T>& a, const MatrixOf<T>& b, T* c);
extern template void gemm(const MatrixOf<float>&, const MatrixOf<float>&, float*);
extern template void gemm(const MatrixOf<double>&, const MatrixOf<double>&, double*);

// Whether gemm takes no longer than oneDNN's, as measured with AVX2 over some 600 shapes: equal in the median, half to
// a fifth less where that one reads lines of a upright, rows that fall onto each other in the cache, or divides columns
// badly among threads.
bool gemm_pays(const MatrixF32& a, const MatrixF32& b);

}  // namespace paddle::rows
