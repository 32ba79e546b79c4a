// What both layouts of Winograd's algorithm share: transformed filters, scratch memory.
#pragma once
#include <cstdint>

namespace paddle::kernels::winograd {

inline int64_t up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
// G g G^T of one 3x3 filter, in double: 36 numbers.
void transformed(const float* g, double* out);
// Aligned to cache lines; freed by std::free.
float* zeros(int64_t floats);
// The calling thread's; it grows and stays.
float* scratch(int64_t floats);

}  // namespace paddle::kernels::winograd
