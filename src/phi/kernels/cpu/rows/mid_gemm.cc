#include "phi/kernels/cpu/rows/mid_gemm.h"

#include <algorithm>

#include "base/cpu_features.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::rows {
namespace {

constexpr int64_t kDepth = 256;         // of a block: a panel of b is then what L1 holds
constexpr int64_t kFewRows = 48;        // beyond, copying b's panels pays
constexpr int64_t kFewRowsAvx2 = 16;    // there it pays earlier,
constexpr int64_t kNearAvx2 = 1 << 18;  // and from a b on that L2 can't hold
constexpr int64_t kVeryFewColumns = 8;  // so few that reading a decides
constexpr int64_t kFewColumns = 16;     // so few are one panel at most
constexpr int64_t kWork = 1 << 17;      // multiplications from which another thread pays
constexpr int64_t kMostWork = 1 << 25;  // multiplications

// Columns first ... last of b, a panel at a time: whole panels by a kernel for these.
void multiply(const MatrixF32& a, const MatrixF32& b, int64_t first, int64_t last, float* c) {
  const AcrossFns& fns = row_table().across;
  for (int64_t j = first; j < last; j += fns.width) {
    const int64_t columns = std::min(fns.width, last - j);
    const SmallProductFn run = columns == fns.width ? fns.run : row_table().small_product;
    for (int64_t p = 0; p < a.cols; p += kDepth)
      run({.rows = a.rows,
           .columns = columns,
           .depth = std::min(kDepth, a.cols - p),
           .a = a.data + p * a.col_stride,
           .a_row = a.row_stride,
           .a_col = a.col_stride,
           .b = b.data + p * b.row_stride + j,
           .ldb = b.row_stride,
           .c = c + j,
           .ldc = b.cols,
           .add = p > 0});
  }
}

int64_t grain(int64_t work) { return std::max<int64_t>(1, kWork / std::max<int64_t>(1, work)); }

bool few_enough(int64_t m, int64_t n, int64_t k) {
  if (cpu_isa() == CpuIsa::kAvx512) return m <= kFewRows || n <= kFewColumns;
  if (cpu_isa() != CpuIsa::kAvx2) return false;
  return k <= kNearAvx2 && n <= kNearAvx2 && k * n <= kNearAvx2 && (m <= kFewRowsAvx2 || n <= kFewColumns);
}

}  // namespace

bool mid_gemm_pays(const MatrixF32& a, const MatrixF32& b) {
  if (rows_coincide(a) && a.rows > kFewRows && b.cols <= kVeryFewColumns) return false;
  if (a.rows < 2 || b.cols < 2 || b.col_stride != 1 || !few_enough(a.rows, b.cols, a.cols)) return false;
  return a.rows * b.cols <= kMostWork && a.cols <= kMostWork && a.rows * b.cols * a.cols <= kMostWork;
}

// Threads share the columns, of few columns the rows.
void mid_gemm(const MatrixF32& a, const MatrixF32& b, float* c) {
  const int64_t width = row_table().across.width, m = a.rows, n = b.cols, k = a.cols;
  if (n <= kFewColumns) {
    parallel_for(0, m, grain(k * n), [&](int64_t first, int64_t last) {
      MatrixF32 rows = a;
      rows.data += first * a.row_stride;
      rows.rows = last - first;
      multiply(rows, b, 0, n, c + first * n);
    });
    return;
  }
  parallel_for(0, (n + width - 1) / width, grain(width * k * m),
               [&](int64_t first, int64_t last) { multiply(a, b, first * width, std::min(n, last * width), c); });
}

}  // namespace paddle::rows
