// The tile interpreter: runs a scalar program over strided tensors, tile by tile of at most 1024 elements in L1.
//
//   run_pointwise(prog, ins, params, outs, shape, compute_type(dtypes of ins));
//
// Loads and stores convert element type and stride, so one loop per function and compute type serves every dtype,
// layout and broadcast. Runs in parallel above a size that pays for it.
#pragma once
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "base/scalar.h"
#include "phi/kernels/cpu/tile/kernel_table.h"
#include "tensor/dtype.h"

namespace paddle::tile {

// A tensor as a loop sees it: one stride per dimension of the iteration shape, in elements; 0 repeats (broadcast),
// negative runs backwards. `data` is the element at index 0. A null `strides` means dense, in row-major order.
struct TileOperand {
  void* data = nullptr;
  DType dtype = DType::kUndefined;
  const int64_t* strides = nullptr;
};

// The value of a scalar parameter, in each form a compute type may ask for.
struct ScalarParam {
  double re = 0, im = 0;
  int64_t i = 0;

  ScalarParam() = default;
  ScalarParam(double value);  // i is the value truncated
  ScalarParam(int64_t value) : re(static_cast<double>(value)), i(value) {}
  ScalarParam(int value) : ScalarParam(static_cast<int64_t>(value)) {}
  ScalarParam(bool value) : ScalarParam(static_cast<int64_t>(value)) {}
  ScalarParam(std::complex<double> value) : ScalarParam(value.real()) { im = value.imag(); }
};

// The type to compute in for operands of these dtypes: 16-bit floats in f32, small integers and bool in i32.
Compute compute_type(std::span<const DType> dtypes);
inline Compute compute_type(std::initializer_list<DType> dtypes) {
  return compute_type(std::span<const DType>(dtypes.begin(), dtypes.size()));
}

// The dtype that a register of this compute type is in memory: kF32 -> float32.
DType dtype_of(Compute compute);

// outs[k] = program(ins, params), for each index of `shape`. Inputs and outputs of any dtype; an output may be one of
// the inputs (same data, strides and dtype), but must not overlap one otherwise. Outputs must not have stride 0 where
// the shape is above 1. Integer division by zero gives 0. Raises TypeError if a function is not defined for `compute`
// (sin of integers), InternalError on a rank above 32 or on more than 32 operands.
void run_pointwise(const scalar::Program& program, std::span<const TileOperand> ins,
                   std::span<const ScalarParam> params, std::span<const TileOperand> outs,
                   std::span<const int64_t> shape, Compute compute);

// dst = src, bit by bit. Both have the same dtype; the shapes are `shape`.
void run_copy(const TileOperand& dst, const TileOperand& src, std::span<const int64_t> shape);

// dst = src converted to dst's dtype (to bool: is not zero; float to integer: truncates; complex to real: the real
// part).
void run_cast(const TileOperand& dst, const TileOperand& src, std::span<const int64_t> shape);

// Every element of dst becomes `value`.
void run_fill(const TileOperand& dst, const ScalarParam& value, std::span<const int64_t> shape);

}  // namespace paddle::tile
