// What the compiled instruction sets offer: a loop per scalar function and compute type, conversions, reductions.
//
// Only plain types here: the files behind it are compiled with different -march flags, and an inline function that two
// of them share would be taken by the linker from any of them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/scalar.h"
#include "tensor/dtype.h"

namespace paddle::tile {

// The type that arithmetic is done in. Registers of the interpreter are arrays of it.
enum class Compute : uint8_t { kF32, kF64, kI32, kI64, kU64, kC64, kC128, kCount };

inline constexpr size_t kComputes = static_cast<size_t>(Compute::kCount);
inline constexpr size_t kDTypes = static_cast<size_t>(DType::kCount);
inline constexpr size_t kFns = static_cast<size_t>(scalar::Fn::kCount);

// out[i] = f(a[i], b[i], c[i]), 0 <= i < n. Bit k of `scalars`: operand k is one value for all i. `out` may be an
// operand.
using FnKernel = void (*)(void* out, const void* a, const void* b, const void* c, unsigned scalars, int64_t n);

// dst[i * dst_stride] = src[i * src_stride] converted, 0 <= i < n; strides in elements, src_stride 0 repeats.
using ConvertKernel = void (*)(void* dst, int64_t dst_stride, const void* src, int64_t src_stride, int64_t n);

enum class Combine : uint8_t { kSum, kProd, kMin, kMax, kAny, kAll, kCount };
inline constexpr size_t kCombines = static_cast<size_t>(Combine::kCount);

// Combines x[0..n) into one value, in the compute type; sums use many accumulators.
using ReduceKernel = void (*)(void* out, const void* x, int64_t n);

// out[r] = the combination of row r, x[r * row_stride + 0 .. cols), for each of `rows` rows.
using ReduceRowsKernel = void (*)(void* out, const void* x, int64_t row_stride, int64_t rows, int64_t cols);

// acc[j] = combine(acc[j], x[i * row_stride + j]) over rows i and columns j; row_stride in elements.
using FoldRowsKernel = void (*)(void* acc, const void* x, int64_t row_stride, int64_t rows, int64_t cols);

struct KernelTable {
  FnKernel fn[kComputes][kFns] = {};
  ConvertKernel load[kComputes][kDTypes] = {};   // storage -> compute
  ConvertKernel store[kComputes][kDTypes] = {};  // compute -> storage
  ReduceKernel reduce[kComputes][kCombines] = {};
  ReduceRowsKernel reduce_rows[kComputes][kCombines] = {};  // real types only
  FoldRowsKernel fold_rows[kComputes][kCombines] = {};
};

// The table for cpu_isa(). Entries that no instruction set has its own loop for come from the portable files.
const KernelTable& kernels();

// A function that a compute type lacks has no entry (null).
FnKernel find_kernel(scalar::Fn fn, Compute compute);

namespace detail {
void fill_portable(KernelTable& table);  // complex numbers, special functions, checked integer division, odd dtypes
namespace base {
void fill(KernelTable& table);
}
namespace avx2 {
void fill(KernelTable& table);
}
namespace avx512 {
void fill(KernelTable& table);
}
}  // namespace detail

}  // namespace paddle::tile
