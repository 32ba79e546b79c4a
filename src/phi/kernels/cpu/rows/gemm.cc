#include "phi/kernels/cpu/rows/gemm.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/cpu_features.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::rows {
namespace {

template <class T>
constexpr int64_t kDepth = 2048 / sizeof(T);  // of a block: a tile's columns of a and b stay in L1
constexpr int64_t kColumns = 1024;            // of a packed block of b: 2 MiB, L2 and L3
constexpr int64_t kRows = 96;                 // of a packed block of a: 192 KiB, L2
constexpr int64_t kWork = 1 << 18;            // multiplications from which a second thread pays

int64_t up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// Memory of one thread that stays from call to call.
enum class Use { kA, kB };
template <class T, Use>
T* scratch(int64_t size) {
  thread_local std::vector<T> kept;
  if (static_cast<int64_t>(kept.size()) < size) kept.resize(static_cast<size_t>(size));
  return kept.data();
}

template <class T>
const GemmFns<T>& functions() {
  if constexpr (sizeof(T) == 4)
    return row_table().gemm_f32;
  else
    return row_table().gemm_f64;
}

// Slices of `width` rows of the matrix, each stored depth by depth; what is missing is zero. Memory is read as it lies.
template <class T>
void pack(T* to, const T* from, int64_t across, int64_t along, int64_t across_stride, int64_t along_stride,
          int64_t width) {
  for (int64_t first = 0; first < across; first += width, to += along * width) {
    const int64_t have = std::min(width, across - first);
    const T* slice = from + first * across_stride;
    if (have < width) std::fill_n(to, along * width, T(0));
    if (across_stride == 1) {
      for (int64_t p = 0; p < along; ++p)
        std::memcpy(to + p * width, slice + p * along_stride, static_cast<size_t>(have) * sizeof(T));
      continue;
    }
    for (int64_t i = 0; i < have; ++i)
      for (int64_t p = 0; p < along; ++p) to[p * width + i] = slice[i * across_stride + p * along_stride];
  }
}

struct Block {
  int64_t rows, cols, depth;
  bool add;
};

// A packed block of rows of a times a packed block of columns of b.
template <class T>
void multiply(const GemmFns<T>& fns, const Block& block, const T* a, const T* b, T* c, int64_t ldc) {
  T edge[32 * 64];
  for (int64_t j = 0; j < block.cols; j += fns.nr) {
    const T* panel = b + j * block.depth;
    const int64_t width = std::min(fns.nr, block.cols - j);
    for (int64_t i = 0; i < block.rows; i += fns.mr) {
      const int64_t height = std::min(fns.mr, block.rows - i);
      T* to = c + i * ldc + j;
      if (width == fns.nr && height == fns.mr) {
        fns.tile(block.depth, a + i * block.depth, panel, to, ldc, block.add);
        continue;
      }
      fns.tile(block.depth, a + i * block.depth, panel, edge, fns.nr, false);
      for (int64_t r = 0; r < height; ++r)
        for (int64_t k = 0; k < width; ++k) {
          const T v = edge[r * fns.nr + k];
          to[r * ldc + k] = block.add ? to[r * ldc + k] + v : v;
        }
    }
  }
}

}  // namespace

template <class T>
void gemm(const MatrixOf<T>& a, const MatrixOf<T>& b, T* c) {
  const GemmFns<T>& fns = functions<T>();
  const int64_t m = a.rows, n = b.cols, k = a.cols;
  T* packed_b = scratch<T, Use::kB>(std::min(kDepth<T>, k) * up(std::min(kColumns, n), fns.nr));
  for (int64_t j = 0; j < n; j += kColumns) {
    const int64_t cols = std::min(kColumns, n - j);
    for (int64_t p = 0; p < k; p += kDepth<T>) {
      const int64_t depth = std::min(kDepth<T>, k - p);
      const T* b_block = b.data + p * b.row_stride + j * b.col_stride;
      const int64_t panels = up(cols, fns.nr) / fns.nr;
      parallel_for(0, panels, std::max<int64_t>(1, (1 << 15) / (fns.nr * depth)), [&](int64_t first, int64_t last) {
        pack(packed_b + first * fns.nr * depth, b_block + first * fns.nr * b.col_stride,
             std::min(cols, last * fns.nr) - first * fns.nr, depth, b.col_stride, b.row_stride, fns.nr);
      });
      const int64_t slices = up(m, fns.mr) / fns.mr;
      parallel_for(0, slices, std::max<int64_t>(1, kWork / (fns.mr * cols * depth)), [&](int64_t first, int64_t last) {
        T* packed_a = scratch<T, Use::kA>(std::min(up(kRows, fns.mr), (last - first) * fns.mr) * depth);
        const int64_t end = std::min(m, last * fns.mr);
        for (int64_t i = first * fns.mr; i < end; i += kRows) {
          const int64_t rows = std::min(kRows, end - i);
          pack(packed_a, a.data + i * a.row_stride + p * a.col_stride, rows, depth, a.row_stride, a.col_stride, fns.mr);
          multiply(fns, {rows, cols, depth, p > 0}, packed_a, packed_b, c + i * n + j, n);
        }
      });
    }
  }
}
template void gemm(const MatrixOf<float>&, const MatrixOf<float>&, float*);
template void gemm(const MatrixOf<double>&, const MatrixOf<double>&, double*);

bool gemm_pays(const MatrixF32& a, const MatrixF32& b) {
  if (cpu_isa() != CpuIsa::kAvx2 || a.rows < 256 || b.cols < 256 || a.cols < 64) return false;
  const bool a_transposed = a.col_stride != 1;
  const bool rows_coincide = b.col_stride == 1 && b.row_stride % 512 == 0;
  return a_transposed || rows_coincide;
}

}  // namespace paddle::rows
