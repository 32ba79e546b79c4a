#include "phi/kernels/cpu/rows/mid_gemm.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/cpu_features.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/tile/transpose.h"

namespace paddle::rows {
namespace {

constexpr int64_t kDepth = 256;          // of a block: a panel of b is then what L1 holds
constexpr int64_t kRows = 96;            // of a block of a
constexpr int64_t kPanels = 16;          // of a block of b: beside what else is used they stay in L2
constexpr int64_t kFewRows = 48;         // for so many b is read where it lies
constexpr int64_t kWork = 1 << 18;       // multiplications from which another thread pays
constexpr int64_t kFallTogether = 1024;  // rows so far apart, or multiples of it, share lines of the cache
constexpr int64_t kMostWork = 1 << 25;   // multiplications

// Memory of one thread that stays from call to call.
enum class Use { kA, kB };
template <Use>
float* scratch(int64_t floats) {
  thread_local std::vector<float> kept;
  if (static_cast<int64_t>(kept.size()) < floats) kept.resize(static_cast<size_t>(floats));
  return kept.data();
}

// to[p][j] = from[p, j]; `wide` columns in each row of `to`.
void copy_panel(float* to, int64_t wide, const MatrixF32& from) {
  if (from.row_stride == 1 && from.col_stride != 1) {
    tile::transpose(reinterpret_cast<uint32_t*>(to), wide, reinterpret_cast<const uint32_t*>(from.data),
                    from.col_stride, from.rows, from.cols);
    return;
  }
  for (int64_t p = 0; p < from.rows; ++p) {
    const float* row = from.data + p * from.row_stride;
    if (from.col_stride == 1)
      std::memcpy(to + p * wide, row, static_cast<size_t>(from.cols) * sizeof(float));
    else
      for (int64_t j = 0; j < from.cols; ++j) to[p * wide + j] = row[j * from.col_stride];
  }
}

MatrixF32 part(const MatrixF32& m, int64_t row, int64_t rows, int64_t col, int64_t cols) {
  return {m.data + row * m.row_stride + col * m.col_stride, rows, cols, m.row_stride, m.col_stride};
}

// Some rows of a times a panel of b, to c: whole panels by a kernel for these.
void multiply(const MatrixF32& a, const float* b, int64_t ldb, int64_t columns, float* c, int64_t ldc, bool add) {
  const AcrossFns& fns = row_table().across;
  const SmallProduct product{.rows = a.rows,
                             .columns = columns,
                             .depth = a.cols,
                             .a = a.data,
                             .a_row = a.row_stride,
                             .a_col = a.col_stride,
                             .b = b,
                             .ldb = ldb,
                             .c = c,
                             .ldc = ldc,
                             .add = add};
  (columns == fns.width ? fns.run : row_table().small_product)(product);
}

// Threads share the columns.
void by_columns(const MatrixF32& a, const MatrixF32& b, float* c) {
  const int64_t width = row_table().across.width, n = b.cols, k = a.cols;
  const int64_t work = std::max<int64_t>(1, width * k * a.rows);
  parallel_for(0, (n + width - 1) / width, std::max<int64_t>(1, kWork / work), [&](int64_t first, int64_t last) {
    for (int64_t j = first * width; j < std::min(n, last * width); j += width)
      for (int64_t p = 0; p < k; p += kDepth)
        multiply(part(a, 0, a.rows, p, std::min(kDepth, k - p)), b.data + p * b.row_stride + j, b.row_stride,
                 std::min(width, n - j), c + j, n, p > 0);
  });
}

// A block of rows of a, copied where its elements would displace each other before they are used again.
MatrixF32 near(const MatrixF32& a, int64_t panels) {
  const bool together = a.col_stride == 1 && a.row_stride % kFallTogether == 0;
  if (panels < 3 || a.rows == 1 || !together) return a;
  constexpr int64_t kPitch = kDepth + 16;
  float* to = scratch<Use::kA>(2 * kRows * kPitch);
  copy_panel(to, kPitch, a);
  return {to, a.rows, a.cols, kPitch, 1};
}

// So many that threads have about equally many blocks, in whole tiles.
int64_t block_of_rows(int64_t m) {
  constexpr int64_t kTile = 24;  // of every kernel's tiles
  const int64_t threads = num_threads(), each = (m + threads * kRows - 1) / (threads * kRows);
  return std::min(kRows, (m + threads * each * kTile - 1) / (threads * each * kTile) * kTile);
}

// Threads share the rows, and the panels of b that are copied before.
void by_rows(const MatrixF32& a, const MatrixF32& b, float* c) {
  const int64_t width = row_table().across.width, m = a.rows, n = b.cols, k = a.cols;
  const int64_t most = kPanels * width, block = block_of_rows(m);
  float* packed = scratch<Use::kB>(std::min(kDepth, k) * std::min(most, (n + width - 1) / width * width));
  for (int64_t j = 0; j < n; j += most) {
    const int64_t columns = std::min(most, n - j), panels = (columns + width - 1) / width;
    for (int64_t p = 0; p < k; p += kDepth) {
      const int64_t depth = std::min(kDepth, k - p);
      parallel_for(0, panels, std::max<int64_t>(1, (1 << 15) / (width * depth)), [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i)
          copy_panel(packed + i * width * depth, width,
                     part(b, p, depth, j + i * width, std::min(width, columns - i * width)));
      });
      const int64_t work = std::max<int64_t>(1, block * columns * depth);
      parallel_for(0, (m + block - 1) / block, std::max<int64_t>(1, kWork / work), [&](int64_t first, int64_t last) {
        for (int64_t row = first * block; row < std::min(m, last * block); row += block) {
          const MatrixF32 rows = near(part(a, row, std::min(block, m - row), p, depth), panels);
          for (int64_t i = 0; i < panels; ++i)
            multiply(rows, packed + i * width * depth, width, std::min(width, columns - i * width),
                     c + row * n + j + i * width, n, p > 0);
        }
      });
    }
  }
}

}  // namespace

bool mid_gemm_pays(const MatrixF32& a, const MatrixF32& b) {
  if (cpu_isa() != CpuIsa::kAvx512 || a.rows < 2 || b.cols < 2) return false;
  return a.rows * b.cols <= kMostWork && a.cols <= kMostWork && a.rows * b.cols * a.cols <= kMostWork;
}

void mid_gemm(const MatrixF32& a, const MatrixF32& b, float* c) {
  const bool dense = b.col_stride == 1;
  const bool narrow = b.cols < row_table().across.width / 3;
  dense && (a.rows <= kFewRows || narrow) ? by_columns(a, b, c) : by_rows(a, b, c);
}

}  // namespace paddle::rows
