// G g G^T: filters of 3x3 convolutions as Winograd's algorithm multiplies with them. In double: what filters lose here
// every result loses.
#pragma once
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::rows::detail::PD_ISA {
namespace {

// G applied to a column of three, for a lane of filters each.
inline void filter_column(const double* a, const double* b, const double* c, double* out, int64_t step) {
  for (int64_t l = 0; l < kFilterLanes; ++l) {
    const double even = (a[l] + c[l]) * (-1.0 / 6), odd = b[l] * (1.0 / 6);
    const double outer = a[l] * (1.0 / 24) + c[l] * (1.0 / 6), inner = b[l] * (1.0 / 12);
    out[l] = a[l] * (1.0 / 4);
    out[step + l] = even - odd;
    out[2 * step + l] = even + odd;
    out[3 * step + l] = outer + inner;
    out[4 * step + l] = outer - inner;
    out[5 * step + l] = c[l];
  }
}

void winograd_filters(const WinogradFilters& f) {
  for (int64_t c = 0; c < f.channels; ++c)
    for (int64_t at = 0; at < f.lanes; at += kFilterLanes) {
      double g[9][kFilterLanes], half[6][3][kFilterLanes], row[6][kFilterLanes];
      for (int i = 0; i < 9; ++i)
        for (int64_t l = 0; l < kFilterLanes; ++l) g[i][l] = static_cast<double>(f.g[(9 * c + i) * f.pitch + at + l]);
      for (int j = 0; j < 3; ++j) filter_column(g[j], g[3 + j], g[6 + j], half[0][j], 3 * kFilterLanes);
      const int64_t lanes = f.lanes - at;
      for (int a = 0; a < 6; ++a) {
        filter_column(half[a][0], half[a][1], half[a][2], row[0], kFilterLanes);
        for (int b = 0; b < 6; ++b) {
          float* u = f.u + (6 * a + b) * f.plane + c * f.lanes + at;
          if (lanes >= kFilterLanes)
            for (int64_t l = 0; l < kFilterLanes; ++l) u[l] = static_cast<float>(row[b][l]);
          else
            for (int64_t l = 0; l < lanes; ++l) u[l] = static_cast<float>(row[b][l]);
        }
      }
    }
}

}  // namespace
}  // namespace paddle::rows::detail::PD_ISA
