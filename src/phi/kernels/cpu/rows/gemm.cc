#include "phi/kernels/cpu/rows/gemm.h"

#include <algorithm>
#include <vector>

#include "base/parallel_for.h"
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::rows {
namespace {

constexpr int64_t kDepth = 256;     // of a block: a tile's columns of a and b stay in L1
constexpr int64_t kColumns = 1024;  // of a packed block of b: 2 MiB, L2 and L3
constexpr int64_t kRows = 96;       // of a packed block of a: 192 KiB, L2
constexpr int64_t kWork = 1 << 18;  // multiplications from which a second thread pays

int64_t up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// Slices of `width` rows of the matrix, each stored depth by depth; what is missing is zero.
void pack(double* to, const double* from, int64_t across, int64_t along, int64_t across_stride, int64_t along_stride,
          int64_t width) {
  for (int64_t first = 0; first < across; first += width) {
    const int64_t have = std::min(width, across - first);
    const double* slice = from + first * across_stride;
    for (int64_t p = 0; p < along; ++p, to += width) {
      const double* at = slice + p * along_stride;
      for (int64_t i = 0; i < have; ++i) to[i] = at[i * across_stride];
      for (int64_t i = have; i < width; ++i) to[i] = 0;
    }
  }
}

struct Block {
  int64_t rows, cols, depth;
  bool add;
};

// A packed block of rows of a times a packed block of columns of b.
void multiply(const GemmFns<double>& fns, const Block& block, const double* a, const double* b, double* c,
              int64_t ldc) {
  double edge[32 * 64];
  for (int64_t j = 0; j < block.cols; j += fns.nr) {
    const double* panel = b + j * block.depth;
    const int64_t width = std::min(fns.nr, block.cols - j);
    for (int64_t i = 0; i < block.rows; i += fns.mr) {
      const int64_t height = std::min(fns.mr, block.rows - i);
      double* to = c + i * ldc + j;
      if (width == fns.nr && height == fns.mr) {
        fns.tile(block.depth, a + i * block.depth, panel, to, ldc, block.add);
        continue;
      }
      fns.tile(block.depth, a + i * block.depth, panel, edge, fns.nr, false);
      for (int64_t r = 0; r < height; ++r)
        for (int64_t k = 0; k < width; ++k) {
          const double v = edge[r * fns.nr + k];
          to[r * ldc + k] = block.add ? to[r * ldc + k] + v : v;
        }
    }
  }
}

}  // namespace

void gemm_f64(const MatrixF64& a, const MatrixF64& b, double* c) {
  const GemmFns<double>& fns = row_table().gemm_f64;
  const int64_t m = a.rows, n = b.cols, k = a.cols;
  std::vector<double> packed_b(static_cast<size_t>(std::min(kDepth, k) * up(std::min(kColumns, n), fns.nr)));
  for (int64_t j = 0; j < n; j += kColumns) {
    const int64_t cols = std::min(kColumns, n - j);
    for (int64_t p = 0; p < k; p += kDepth) {
      const int64_t depth = std::min(kDepth, k - p);
      const double* b_block = b.data + p * b.row_stride + j * b.col_stride;
      const int64_t panels = up(cols, fns.nr) / fns.nr;
      parallel_for(0, panels, std::max<int64_t>(1, (1 << 15) / (fns.nr * depth)), [&](int64_t first, int64_t last) {
        pack(packed_b.data() + first * fns.nr * depth, b_block + first * fns.nr * b.col_stride,
             std::min(cols, last * fns.nr) - first * fns.nr, depth, b.col_stride, b.row_stride, fns.nr);
      });
      const int64_t slices = up(m, fns.mr) / fns.mr;
      parallel_for(0, slices, std::max<int64_t>(1, kWork / (fns.mr * cols * depth)), [&](int64_t first, int64_t last) {
        std::vector<double> packed_a(static_cast<size_t>(std::min(up(kRows, fns.mr), (last - first) * fns.mr) * depth));
        const int64_t end = std::min(m, last * fns.mr);
        for (int64_t i = first * fns.mr; i < end; i += kRows) {
          const int64_t rows = std::min(kRows, end - i);
          pack(packed_a.data(), a.data + i * a.row_stride + p * a.col_stride, rows, depth, a.row_stride, a.col_stride,
               fns.mr);
          multiply(fns, {rows, cols, depth, p > 0}, packed_a.data(), packed_b.data(), c + i * n + j, n);
        }
      });
    }
  }
}

}  // namespace paddle::rows
