#include "phi/kernels/cpu/rows/small_gemm.h"

#include <algorithm>
#include <vector>

#include "base/cpu_features.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/tile/transpose.h"

namespace paddle::rows {
namespace {

constexpr int64_t kDepth = 64;      // of a block: its rows of b, and what of a meets them, stay in L1
constexpr int64_t kWork = 1 << 17;  // multiplications from which another thread pays

// Memory of one thread that stays from call to call.
float* scratch(size_t floats) {
  thread_local std::vector<float> kept;
  if (kept.size() < floats) kept.resize(floats);
  return kept.data();
}

// Rows first ... last of b with their columns side by side.
void dense_rows(float* to, const MatrixF32& b, int64_t first, int64_t last) {
  const float* from = b.data + first * b.row_stride;
  if (b.row_stride == 1) {
    tile::transpose(reinterpret_cast<uint32_t*>(to), b.cols, reinterpret_cast<const uint32_t*>(from), b.col_stride,
                    last - first, b.cols);
    return;
  }
  for (int64_t p = first; p < last; ++p, from += b.row_stride)
    for (int64_t j = 0; j < b.cols; ++j) *to++ = from[j * b.col_stride];
}

// c (+)= the part of the product that rows `first` ... `last` of b have.
void over_depth(const MatrixF32& a, const MatrixF32& b, int64_t first, int64_t last, float* c) {
  const SmallProductFn run = row_table().small_product;
  const bool dense = b.col_stride == 1 || b.cols == 1;
  float* packed = dense ? nullptr : scratch(static_cast<size_t>(std::min(kDepth, last - first) * b.cols));
  for (int64_t p = first; p < last; p += kDepth) {
    const int64_t end = std::min(last, p + kDepth);
    if (packed) dense_rows(packed, b, p, end);
    run({.rows = a.rows,
         .columns = b.cols,
         .depth = end - p,
         .a = a.data + p * a.col_stride,
         .a_row = a.row_stride,
         .a_col = a.col_stride,
         .b = packed ? packed : b.data + p * b.row_stride,
         .ldb = packed ? b.cols : b.row_stride,
         .c = c,
         .ldc = b.cols,
         .add = p > first});
  }
}

// Threads share the depth: each adds up its part, then the parts are added in their order.
void share_depth(const MatrixF32& a, const MatrixF32& b, float* c, int64_t parts) {
  const int64_t size = a.rows * b.cols, depth = a.cols;
  std::vector<float> sums(static_cast<size_t>((parts - 1) * size));
  auto of = [&](int64_t part) { return part == 0 ? c : sums.data() + (part - 1) * size; };
  parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) over_depth(a, b, depth * i / parts, depth * (i + 1) / parts, of(i));
  });
  for (int64_t i = 1; i < parts; ++i) row_fns<float>().add_to(c, of(i), size);
}

// With vectors of 16, on Sapphire Rapids and Emerald Rapids: whole vectors of columns, or few columns beyond them, are
// worth more there than little depth.
bool pays_avx512(int64_t m, int64_t n, int64_t k, bool dense) {
  const int64_t rest = n % 16;
  const bool filled = rest == 0 || (n > 16 && rest <= 4);
  if (!dense) {
    if (m < 16) return k <= 32 && n * k <= 256 * m;
    return (k <= 64 && n <= 100) || (k <= 128 && n <= 64 && filled);
  }
  if (k <= 64) return true;
  if (k <= 128) return (m <= 32 && n <= 64) || (m >= 16 && filled);
  return m >= 16 && m <= 512 && n >= 48 && n <= 64 && filled;
}

}  // namespace

// A single column is a product of its own kind, for which the tiles here are too wide; a transposed b is copied, which
// must be little beside the product; columns a power of two of lines apart fall onto each other in the cache where the
// depth is large.
bool small_gemm_pays(const MatrixF32& a, const MatrixF32& b) {
  const int64_t m = a.rows, n = b.cols, k = a.cols;
  const bool dense = b.col_stride == 1;
  if (n < 2 || n > 128) return false;
  if (cpu_isa() == CpuIsa::kAvx512) return pays_avx512(m, n, k, dense);
  if (k <= 64 || (k <= 128 && n >= 8)) return m >= 16 || dense || k <= 32;
  return m >= 8 && m <= 64 && n >= 8 && n < 64 && k >= 16 * m && dense;
}

void small_gemm(const MatrixF32& a, const MatrixF32& b, float* c) {
  // Part of a vector costs as much as a whole one.
  const int64_t line = std::max<int64_t>(1, (b.cols + 7) / 8 * 8 * a.cols);
  const int64_t parts = std::min<int64_t>({num_threads(), a.rows * line / kWork, a.cols / 16});
  if (parts > 1 && a.cols > 8 * a.rows) return share_depth(a, b, c, parts);
  parallel_for(0, a.rows, std::max<int64_t>(1, kWork / line), [&](int64_t begin, int64_t end) {
    MatrixF32 part = a;
    part.data += begin * a.row_stride;
    part.rows = end - begin;
    over_depth(part, b, 0, a.cols, c + begin * b.cols);
  });
}

}  // namespace paddle::rows
