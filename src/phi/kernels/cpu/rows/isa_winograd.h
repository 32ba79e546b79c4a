// Convolutions 3x3 with stride 1 by Winograd's F(4x4, 3x3) (Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks", 2016): 36 products per tile of 16 results instead of 144. What both layouts share.
#pragma once
#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/tile/isa_math.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

using namespace tile::detail::PD_ISA;

using Vf = VecOf<float>;
inline constexpr int64_t kVf = kLanes<float>;

// B^T d: what a line of six inputs becomes.
template <class V>
inline void input_line(const V* d, V* out) {
  const V t0 = d[4] - 4.0f * d[2], t1 = d[3] - 4.0f * d[1];
  const V t2 = d[4] - d[2], t3 = 2.0f * (d[3] - d[1]);
  out[0] = 4.0f * d[0] - 5.0f * d[2] + d[4];
  out[1] = t0 + t1;
  out[2] = t0 - t1;
  out[3] = t2 + t3;
  out[4] = t2 - t3;
  out[5] = 4.0f * d[1] - 5.0f * d[3] + d[5];
}

// A^T m: four results from a line of six products.
template <class V>
inline void output_line(const V* m, V* out) {
  const V s1 = m[1] + m[2], s2 = m[3] + m[4], d1 = m[1] - m[2], d2 = m[3] - m[4];
  out[0] = m[0] + s1 + s2;
  out[1] = d1 + 2.0f * d2;
  out[2] = s1 + 4.0f * s2;
  out[3] = d1 + 8.0f * d2 + m[5];
}

// A^T m A of 36 products, `pitch` apart: half[i] are lines of four results before the last step.
inline void output_columns(const float* m, int64_t pitch, Vf half[4][6]) {
  for (int64_t b = 0; b < 6; ++b) {
    Vf column[6], out[4];
    for (int64_t a = 0; a < 6; ++a) column[a] = load(m + (6 * a + b) * pitch);
    output_line(column, out);
    for (int64_t i = 0; i < 4; ++i) half[i][b] = out[i];
  }
}

struct TileAt {
  int64_t image, y, x;  // of the first result
};
inline TileAt tile_at(const WinogradTask& t, int64_t tile) {
  const int64_t row = tile / t.tiles_x;
  return {row / t.tiles_y, row % t.tiles_y * 4, tile % t.tiles_x * 4};
}

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
