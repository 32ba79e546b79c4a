// Reductions, index reductions and scans over strided tensors of any dtype.
#pragma once
#include <cstdint>
#include <span>

#include "phi/kernels/cpu/tile/pointwise.h"

namespace paddle::tile {

// out = combine over the dimensions in `axes` (bit d: dimension d of `shape`) of pre(ins, params), or of ins[0] if
// `pre` is null. `shape` is that of the inputs; out.strides has an entry per dimension of it, those reduced are not
// read (null: dense in the order of the kept ones). `compute` is the accumulator's type: f32 for 16-bit floats, I64 for
// integer sums.
//
// Sums of floats are kept in many short partial sums (f32 beyond a block in f64); the order of additions does not
// depend on the number of threads. NaN is passed on by min and max. An empty sum is 0, prod 1, any false, all true; an
// empty min or max raises ValueError. TypeError: min or max of complex numbers.
void run_reduce(Combine combine, const scalar::Program* pre, std::span<const TileOperand> ins,
                std::span<const ScalarParam> params, const TileOperand& out, std::span<const int64_t> shape,
                uint64_t axes, Compute compute);

// Index (int32 or int64) along `axis` of the first largest or smallest element; the first NaN wins, as in NumPy.
// out.strides as for run_reduce. ValueError if the axis is empty and the output is not.
void run_arg_reduce(bool largest, const TileOperand& in, const TileOperand& out, std::span<const int64_t> shape,
                    int axis);

enum class Scan : uint8_t { kSum, kProd, kMax, kMin, kLogSumExp };

// out[i] = combine of in[0..i] along `axis` (of in[i..] if reverse), accumulated in f64 for floats. `indices`, for max
// and min only, may be null: where the value came from (int32 or int64; the last of equal ones, the first NaN).
void run_scan(Scan scan, const TileOperand& in, const TileOperand& out, const TileOperand* indices,
              std::span<const int64_t> shape, int axis, bool reverse);

}  // namespace paddle::tile
