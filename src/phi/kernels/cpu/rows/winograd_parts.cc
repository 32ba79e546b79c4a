#include "phi/kernels/cpu/rows/winograd_parts.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"

namespace paddle::kernels::winograd {
namespace {

float* aligned(int64_t floats, const char* what) {
  auto* p = static_cast<float*>(std::aligned_alloc(64, static_cast<size_t>(up(4 * floats, 64))));
  check(p != nullptr, ErrorKind::kMemory, "[conv2d] no memory for {} bytes of {}", 4 * floats, what);
  return p;
}

}  // namespace

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

float* zeros(int64_t floats) {
  float* p = aligned(floats, "transformed filters");
  std::fill_n(p, floats, 0.0f);
  return p;
}

float* scratch(int64_t floats) {
  struct Block {
    float* data = nullptr;
    int64_t size = 0;
    ~Block() { std::free(data); }
  };
  thread_local Block block;
  if (block.size < floats) {
    std::free(block.data);
    block.data = nullptr;
    block.size = up(floats, 1024);
    block.data = aligned(block.size, "scratch");
    std::fill_n(block.data, block.size, 0.0f);  // lanes that no tile fills are computed with: not as denormals
  }
  return block.data;
}

}  // namespace paddle::kernels::winograd
