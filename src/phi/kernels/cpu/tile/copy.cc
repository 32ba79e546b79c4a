// Copies of strided tensors: no arithmetic, so by element size, not by type.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/tile/nest.h"
#include "phi/kernels/cpu/tile/transpose.h"

namespace paddle::tile {
namespace {

constexpr int64_t kBlock = 32;            // a block of 32 x 32 stays in L1 whichever way it is walked
constexpr int64_t kBand = 128;            // rows of a transposition that one thread does together, two lines of bytes
constexpr int64_t kGrainBytes = 1 << 18;  // below this a second thread costs more than it saves

// One plane: d[r * dr + c * dc] = s[r * sr + c * sc].
struct Plane {
  int64_t rows, cols, dr, dc, sr, sc;
};

template <class T>
void copy_row(T* d, int64_t dc, const T* s, int64_t sc, int64_t n) {
  if (dc == 1 && sc == 1) {
    std::memmove(d, s, n * sizeof(T));
  } else if (dc == 1 && sc == 0) {
    std::fill_n(d, n, *s);
  } else {
    for (int64_t c = 0; c < n; ++c) d[c * dc] = s[c * sc];
  }
}

template <class T>
void copy_plane(T* d, const T* s, const Plane& p, bool blocked) {
  if (!blocked) {
    for (int64_t r = 0; r < p.rows; ++r) copy_row(d + r * p.dr, p.dc, s + r * p.sr, p.sc, p.cols);
    return;
  }
  if (p.sr == 1 && p.dc == 1) return transpose(d, p.dr, s, p.sc, p.rows, p.cols);
  for (int64_t c0 = 0; c0 < p.cols; c0 += kBlock) {
    const int64_t cols = std::min(kBlock, p.cols - c0);
    for (int64_t r0 = 0; r0 < p.rows; r0 += kBlock) {
      const int64_t rows = std::min(kBlock, p.rows - r0);
      T* to = d + r0 * p.dr + c0 * p.dc;
      const T* from = s + r0 * p.sr + c0 * p.sc;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c) to[r * p.dr + c * p.dc] = from[r * p.sr + c * p.sc];
      }
    }
  }
}

// Which dimension to put beside the innermost: for a source that runs across memory there, the one along which it runs.
int row_dimension(const Nest& nest) {
  int best = nest.rank - 2;
  const int64_t inner = std::llabs(nest.strides[0][nest.rank - 1]);
  if (inner <= 1) return best;
  for (int d = nest.rank - 2; d >= 0; --d) {
    const int64_t stride = std::llabs(nest.strides[0][d]);
    if (stride > 0 && stride < inner && stride < std::llabs(nest.strides[0][best])) best = d;
  }
  return best;
}

void move_to_rows(Nest& nest, int dimension) {
  for (int d = dimension; d < nest.rank - 2; ++d) {
    std::swap(nest.shape[d], nest.shape[d + 1]);
    for (int o = 0; o < nest.operands; ++o) std::swap(nest.strides[o][d], nest.strides[o][d + 1]);
  }
}

template <class T>
void copy(const Nest& nest, T* dst, const T* src) {
  const int64_t *ss = nest.strides[0], *ds = nest.strides[1];
  if (nest.rank == 0) {
    *dst = *src;
    return;
  }
  if (nest.rank == 1) {
    parallel_for(0, nest.size, kGrainBytes / static_cast<int64_t>(sizeof(T)), [&](int64_t first, int64_t last) {
      copy_row(dst + first * ds[0], ds[0], src + first * ss[0], ss[0], last - first);
    });
    return;
  }
  const int r = nest.rank - 2, c = nest.rank - 1;
  const bool blocked = std::llabs(ss[c]) > 1 && std::llabs(ss[r]) < std::llabs(ss[c]) && ss[r] != 0;
  const int64_t step = blocked ? kBand : 1;  // rows that belong together
  const int64_t bands = (nest.shape[r] + step - 1) / step, planes = nest.size / (nest.shape[r] * nest.shape[c]);
  const int64_t band_bytes = step * nest.shape[c] * static_cast<int64_t>(sizeof(T));
  parallel_for(0, planes * bands, std::max<int64_t>(1, kGrainBytes / band_bytes), [&](int64_t first, int64_t last) {
    while (first < last) {
      const int64_t plane = first / bands, band = first % bands, count = std::min(bands - band, last - first);
      int64_t to = 0, from = 0, rest = plane;
      for (int d = nest.rank - 3; d >= 0; --d) {
        to += rest % nest.shape[d] * ds[d];
        from += rest % nest.shape[d] * ss[d];
        rest /= nest.shape[d];
      }
      const int64_t row = band * step, rows = std::min(count * step, nest.shape[r] - row);
      copy_plane(dst + to + row * ds[r], src + from + row * ss[r], {rows, nest.shape[c], ds[r], ds[c], ss[r], ss[c]},
                 blocked);
      first += count;
    }
  });
}

}  // namespace

void run_copy(const TileOperand& dst, const TileOperand& src, std::span<const int64_t> shape) {
  PD_INVARIANT(dst.dtype == src.dtype);
  Nest nest;
  build_nest(nest, {&src, 1}, {&dst, 1}, shape, 1);
  if (nest.size == 0) return;
  if (nest.rank > 2) move_to_rows(nest, row_dimension(nest));
  switch (size_of(dst.dtype)) {
    case 1:
      return copy(nest, static_cast<uint8_t*>(dst.data), static_cast<const uint8_t*>(src.data));
    case 2:
      return copy(nest, static_cast<uint16_t*>(dst.data), static_cast<const uint16_t*>(src.data));
    case 4:
      return copy(nest, static_cast<uint32_t*>(dst.data), static_cast<const uint32_t*>(src.data));
    case 8:
      return copy(nest, static_cast<uint64_t*>(dst.data), static_cast<const uint64_t*>(src.data));
    default:
      return copy(nest, static_cast<Wide*>(dst.data), static_cast<const Wide*>(src.data));
  }
}

}  // namespace paddle::tile
