#include "phi/kernels/cpu/rows/winograd_filter.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/parallel_for.h"

namespace paddle::kernels {
namespace {

constexpr int64_t kLanes = 8;

// G applied to a column of three, for a lane of filters each.
void column(const double* a, const double* b, const double* c, double* out, int64_t step) {
  for (int64_t l = 0; l < kLanes; ++l) {
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

// One channel of a few filters, `pitch` floats apart, to 36 planes; lanes beyond `filters` are zero. In double: what
// filters lose here every result loses.
void transform(const float* w, int64_t pitch, int64_t filters, float* u, int64_t plane, int64_t lanes) {
  double g[9][kLanes] = {}, half[6][3][kLanes], row[6][kLanes];
  for (int64_t l = 0; l < filters; ++l)
    for (int i = 0; i < 9; ++i) g[i][l] = static_cast<double>(w[l * pitch + i]);
  for (int j = 0; j < 3; ++j) column(g[j], g[3 + j], g[6 + j], half[0][j], 3 * kLanes);
  for (int a = 0; a < 6; ++a) {
    column(half[a][0], half[a][1], half[a][2], row[0], kLanes);
    for (int b = 0; b < 6; ++b)
      for (int64_t l = 0; l < lanes; ++l) u[(6 * a + b) * plane + l] = static_cast<float>(row[b][l]);
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

Ref<Storage> transformed_filters(const Tensor& filter, int64_t block) {
  const int64_t filters = filter.size(0), channels = filter.size(1), blocks = (filters + block - 1) / block;
  const int64_t plane = blocks * channels * block;
  Ref<Storage> made = Storage::allocate(static_cast<size_t>(36 * plane) * sizeof(float), Place::cpu());
  auto* u = static_cast<float*>(made->data());
  const float* w = filter.data<float>();
  parallel_for(0, blocks, std::max<int64_t>(1, 4096 / (channels * block)), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t at = 0; at < block; at += kLanes) {
          const int64_t first = k * block + at, there = std::clamp<int64_t>(filters - first, 0, kLanes);
          transform(w + (std::min(first, filters - 1) * channels + c) * 9, channels * 9, there,
                    u + (k * channels + c) * block + at, plane, std::min(block - at, kLanes));
        }
  });
  return made;
}

}  // namespace paddle::kernels
