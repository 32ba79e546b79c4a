// Transposition of a block of elements of any size.
#pragma once
#include <cstdint>

namespace paddle::tile {

// dst[r * dst_pitch + c] = src[c * src_pitch + r] for r < rows, c < cols; pitches in elements. T is any type of 1, 2,
// 4, 8 or 16 bytes. Both sides are touched one whole cache line at a time: with pitches that are powers of two the
// lines of a block all fall into one set of the cache, and would not survive there until their next element is due.
template <class T>
void transpose(T* dst, int64_t dst_pitch, const T* src, int64_t src_pitch, int64_t rows, int64_t cols);

// The same by element size in bytes.
void transpose(void* dst, int64_t dst_pitch, const void* src, int64_t src_pitch, int64_t rows, int64_t cols,
               int64_t size);

struct Wide {  // 16 bytes
  uint64_t low, high;
};

}  // namespace paddle::tile
