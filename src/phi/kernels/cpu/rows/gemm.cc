#include "phi/kernels/cpu/rows/gemm.h"

#include <algorithm>
#include <vector>

#include "base/cpu_features.h"
#include "base/parallel_for.h"
#include "base/parallel_pieces.h"
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::rows {
namespace {

constexpr int64_t kDepth = 256;     // of a block: a tile's rows of a and its panel of b stay in L1
constexpr int64_t kDeep = 1024;     // blocks of depth that are packed at once
constexpr int64_t kColumns = 1024;  // of a packed block of b: 4 MiB of f32, L3
constexpr int64_t kRows = 96;       // of a block of a: 96 KiB of f32, L2
constexpr int64_t kWork = 1 << 18;  // multiplications from which a second thread pays

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

struct Span {
  int64_t first, size;
};

struct Block {
  int64_t rows, cols, depth;
  bool add;
};

// Slices of mr rows of a: packed, or where they lie.
template <class T>
struct Slices {
  const T* data;
  int64_t next, row, col;
  const T* last;  // the last slice, packed, where rows are missing of it
};

// A tile of which rows or columns are missing.
template <class T>
void multiply_edge(const GemmFns<T>& fns, const Block& block, int64_t i, int64_t j, const Slices<T>& a, const T* panel,
                   T* c, int64_t ldc) {
  T edge[32 * 64];
  const int64_t width = std::min(fns.nr, block.cols - j), height = std::min(fns.mr, block.rows - i);
  if (height < fns.mr)
    fns.tile(block.depth, a.last, 1, fns.mr, panel, edge, fns.nr, false);
  else
    fns.tile(block.depth, a.data + i / fns.mr * a.next, a.row, a.col, panel, edge, fns.nr, false);
  for (int64_t r = 0; r < height; ++r)
    for (int64_t k = 0; k < width; ++k) {
      const T v = edge[r * fns.nr + k];
      c[r * ldc + k] = block.add ? c[r * ldc + k] + v : v;
    }
}

// A block of rows of a times a packed block of columns of b.
template <class T>
void multiply(const GemmFns<T>& fns, const Block& block, const Slices<T>& a, const T* b, T* c, int64_t ldc) {
  for (int64_t j = 0; j < block.cols; j += fns.nr) {
    const T* panel = b + j * block.depth;
    const int64_t whole = block.cols - j < fns.nr ? 0 : block.rows / fns.mr * fns.mr;
    for (int64_t i = 0; i < whole; i += fns.mr)
      fns.tile(block.depth, a.data + i / fns.mr * a.next, a.row, a.col, panel, c + i * ldc + j, ldc, block.add);
    for (int64_t i = whole; i < block.rows; i += fns.mr)
      multiply_edge(fns, block, i, j, a, panel, c + i * ldc + j, ldc);
  }
}

// `rows` rows of a from `from` on, `depth` deep.
template <class T>
Slices<T> slices_of(const GemmFns<T>& fns, const MatrixOf<T>& a, const T* from, int64_t rows, int64_t depth) {
  const int64_t size = fns.mr * depth;
  T* packed = scratch<T, Use::kA>(up(rows, fns.mr) * depth);
  const bool lies_well = a.col_stride == 1 && !rows_coincide(a);
  if (!lies_well) {
    fns.pack_a(packed, from, rows, depth, a.row_stride, a.col_stride);
    return {packed, size, 1, fns.mr, packed + rows / fns.mr * size};
  }
  if (const int64_t rest = rows % fns.mr)
    fns.pack_a(packed, from + (rows - rest) * a.row_stride, rest, depth, a.row_stride, a.col_stride);
  return {from, fns.mr * a.row_stride, a.row_stride, a.col_stride, packed};
}

// Columns of b from one on, some depth: blocks of kDepth one after another, each in panels of nr columns.
template <class T>
void pack_columns(const GemmFns<T>& fns, const MatrixOf<T>& b, const Span& depth, const Span& columns, T* to) {
  const int64_t panels = up(columns.size, fns.nr) / fns.nr, blocks = up(depth.size, kDepth) / kDepth;
  const int64_t grain = std::max<int64_t>(1, (1 << 15) / (fns.nr * std::min(kDepth, depth.size)));
  parallel_for(0, blocks * panels, grain, [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last;) {
      const int64_t p = at / panels * kDepth, panel = at % panels, count = std::min(panels - panel, last - at);
      const int64_t deep = std::min(kDepth, depth.size - p), j = panel * fns.nr;
      fns.pack_b(to + (p * panels + panel * deep) * fns.nr,
                 b.data + (depth.first + p) * b.row_stride + (columns.first + j) * b.col_stride,
                 std::min(columns.size - j, count * fns.nr), deep, b.col_stride, b.row_stride);
      at += count;
    }
  });
}

// c's block of rows and columns (+)= a's rows times packed columns, block of depth by block of depth.
template <class T>
void multiply_rows(const GemmFns<T>& fns, const MatrixOf<T>& a, const Span& depth, const Span& rows, int64_t columns,
                   const T* packed, T* c, int64_t ldc) {
  for (int64_t p = 0; p < depth.size; p += kDepth) {
    const int64_t deep = std::min(kDepth, depth.size - p);
    const T* from = a.data + rows.first * a.row_stride + (depth.first + p) * a.col_stride;
    const Slices<T> left = slices_of(fns, a, from, rows.size, deep);
    multiply(fns, {rows.size, columns, deep, depth.first + p > 0}, left, packed + p * up(columns, fns.nr), c, ldc);
  }
}

}  // namespace

template <class T>
void gemm(const MatrixOf<T>& a, const MatrixOf<T>& b, T* c) {
  const GemmFns<T>& fns = functions<T>();
  const int64_t m = a.rows, n = b.cols, k = a.cols, unit = up(kRows, fns.mr);
  T* packed = scratch<T, Use::kB>(std::min(kDeep, k) * up(std::min(kColumns, n), fns.nr));
  for (int64_t j = 0; j < n; j += kColumns)
    for (int64_t p = 0; p < k; p += kDeep) {
      const Span columns{j, std::min(kColumns, n - j)}, depth{p, std::min(kDeep, k - p)};
      pack_columns(fns, b, depth, columns, packed);
      const int64_t grain = std::max<int64_t>(1, kWork / (fns.mr * columns.size * depth.size));
      parallel_pieces(0, up(m, fns.mr) / fns.mr, grain, [&](int64_t first, int64_t last) {
        const int64_t end = std::min(m, last * fns.mr);
        for (int64_t i = first * fns.mr; i < end; i += unit)
          multiply_rows(fns, a, depth, {i, std::min(unit, end - i)}, columns.size, packed, c + i * n + j, n);
      });
    }
}
template void gemm(const MatrixOf<float>&, const MatrixOf<float>&, float*);
template void gemm(const MatrixOf<double>&, const MatrixOf<double>&, double*);

bool gemm_pays(const MatrixF32& a, const MatrixF32& b) {
  if (cpu_isa() != CpuIsa::kAvx2 || a.rows < 256 || a.cols < 64) return false;
  const bool both_plain = a.col_stride == 1 && b.col_stride == 1;
  return b.cols >= (both_plain ? 192 : 128);  // of few columns, packing b takes too large a part
}

}  // namespace paddle::rows
