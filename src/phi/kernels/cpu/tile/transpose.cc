#include "phi/kernels/cpu/tile/transpose.h"

#include <emmintrin.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cstring>

namespace paddle::tile {
namespace {

constexpr int64_t kLine = 64;    // bytes
constexpr int64_t kMacro = 256;  // elements: so many pages are in use at once on either side

// One block of a line's length each way, through a buffer.
template <class T>
void block(T* dst, int64_t dst_pitch, const T* src, int64_t src_pitch) {
  constexpr int64_t kEdge = kLine / sizeof(T);
  alignas(64) T lines[kEdge][kEdge];
  for (int64_t c = 0; c < kEdge; ++c) std::memcpy(lines[c], src + c * src_pitch, kLine);
  if constexpr (sizeof(T) == 4) {
    for (int64_t r = 0; r < kEdge; r += 4) {
      for (int64_t c = 0; c < kEdge; c += 4) {
        __m128 a = _mm_load_ps(reinterpret_cast<const float*>(&lines[c][r]));
        __m128 b = _mm_load_ps(reinterpret_cast<const float*>(&lines[c + 1][r]));
        __m128 d = _mm_load_ps(reinterpret_cast<const float*>(&lines[c + 2][r]));
        __m128 e = _mm_load_ps(reinterpret_cast<const float*>(&lines[c + 3][r]));
        _MM_TRANSPOSE4_PS(a, b, d, e);
        float* to = reinterpret_cast<float*>(dst + r * dst_pitch + c);
        _mm_storeu_ps(to, a);
        _mm_storeu_ps(to + dst_pitch, b);
        _mm_storeu_ps(to + 2 * dst_pitch, d);
        _mm_storeu_ps(to + 3 * dst_pitch, e);
      }
    }
  } else {
    for (int64_t r = 0; r < kEdge; ++r) {
      alignas(64) T line[kEdge];
      for (int64_t c = 0; c < kEdge; ++c) line[c] = lines[c][r];
      std::memcpy(dst + r * dst_pitch, line, kLine);
    }
  }
}

template <class T>
void edge(T* dst, int64_t dst_pitch, const T* src, int64_t src_pitch, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) dst[r * dst_pitch + c] = src[c * src_pitch + r];
  }
}

template <class T>
void macro_block(T* dst, int64_t dst_pitch, const T* src, int64_t src_pitch, int64_t rows, int64_t cols) {
  constexpr int64_t kEdge = kLine / sizeof(T);
  const int64_t full_rows = rows / kEdge * kEdge, full_cols = cols / kEdge * kEdge;
  for (int64_t c = 0; c < full_cols; c += kEdge) {
    for (int64_t r = 0; r < full_rows; r += kEdge) {
      block(dst + r * dst_pitch + c, dst_pitch, src + c * src_pitch + r, src_pitch);
    }
  }
  edge(dst + full_cols, dst_pitch, src + full_cols * src_pitch, src_pitch, full_rows, cols - full_cols);
  edge(dst + full_rows * dst_pitch, dst_pitch, src + full_rows, src_pitch, rows - full_rows, cols);
}

}  // namespace

template <class T>
void transpose(T* dst, int64_t dst_pitch, const T* src, int64_t src_pitch, int64_t rows, int64_t cols) {
  for (int64_t c = 0; c < cols; c += kMacro) {
    for (int64_t r = 0; r < rows; r += kMacro) {
      macro_block(dst + r * dst_pitch + c, dst_pitch, src + c * src_pitch + r, src_pitch, std::min(kMacro, rows - r),
                  std::min(kMacro, cols - c));
    }
  }
}

template void transpose(uint8_t*, int64_t, const uint8_t*, int64_t, int64_t, int64_t);
template void transpose(uint16_t*, int64_t, const uint16_t*, int64_t, int64_t, int64_t);
template void transpose(uint32_t*, int64_t, const uint32_t*, int64_t, int64_t, int64_t);
template void transpose(uint64_t*, int64_t, const uint64_t*, int64_t, int64_t, int64_t);
template void transpose(Wide*, int64_t, const Wide*, int64_t, int64_t, int64_t);

void transpose(void* dst, int64_t dst_pitch, const void* src, int64_t src_pitch, int64_t rows, int64_t cols,
               int64_t size) {
  const auto go = [&]<class T>(T) {
    transpose(static_cast<T*>(dst), dst_pitch, static_cast<const T*>(src), src_pitch, rows, cols);
  };
  switch (size) {
    case 1:
      return go(uint8_t{});
    case 2:
      return go(uint16_t{});
    case 4:
      return go(uint32_t{});
    case 8:
      return go(uint64_t{});
    default:
      return go(Wide{});
  }
}

}  // namespace paddle::tile
