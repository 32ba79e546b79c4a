#include "phi/kernels/cpu/rows/winograd_filter.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"

namespace paddle::kernels {
namespace {

// In double: what filters lose here every result loses.
void transformed(const float* g, double* out) {
  static constexpr double kG[6][3] = {{1.0 / 4, 0, 0},
                                      {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                      {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                      {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                      {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                      {0, 0, 1}};
  double half[6][3];
  for (int a = 0; a < 6; ++a)
    for (int j = 0; j < 3; ++j) {
      half[a][j] = 0;
      for (int i = 0; i < 3; ++i) half[a][j] += kG[a][i] * static_cast<double>(g[3 * i + j]);
    }
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b < 6; ++b) {
      out[6 * a + b] = 0;
      for (int j = 0; j < 3; ++j) out[6 * a + b] += half[a][j] * kG[b][j];
    }
}

}  // namespace

float* aligned_zeros(int64_t floats, const char* what) {
  const int64_t bytes = (4 * floats + 63) / 64 * 64;
  auto* p = static_cast<float*>(std::aligned_alloc(64, static_cast<size_t>(bytes)));
  check(p != nullptr, ErrorKind::kMemory, "[conv2d] no memory for {} bytes of {}", bytes, what);
  std::fill_n(p, floats, 0.0f);
  return p;
}

float* transformed_filters(const Tensor& filter, int64_t block) {
  const int64_t filters = filter.size(0), channels = filter.size(1), blocks = (filters + block - 1) / block;
  float* u = aligned_zeros(36 * blocks * channels * block, "transformed filters");
  const float* w = filter.data<float>();
  for (int64_t k = 0; k < filters; ++k)
    for (int64_t c = 0; c < channels; ++c) {
      double t[36];
      transformed(w + (k * channels + c) * 9, t);
      for (int64_t n = 0; n < 36; ++n)
        u[((n * blocks + k / block) * channels + c) * block + k % block] = static_cast<float>(t[n]);
    }
  return u;
}

}  // namespace paddle::kernels
