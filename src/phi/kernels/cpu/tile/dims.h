// A group of dimensions of a loop nest: those reduced, or those kept.
#pragma once
#include <cstdint>
#include <span>

#include "phi/kernels/cpu/tile/nest.h"

namespace paddle::tile {

// Some of the dimensions, outermost first, merged where possible. Operands: the inputs, then the output.
struct Dims {
  int rank = 0;
  int64_t size = 1;
  int64_t shape[kMaxRank];
  int64_t strides[kMaxOperands][kMaxRank];

  int64_t inner() const { return rank ? shape[rank - 1] : 1; }
  int64_t inner_stride(int operand) const { return rank ? strides[operand][rank - 1] : 0; }
  int64_t outer() const { return inner() ? size / inner() : 0; }
  // Offset in elements of the outer index (all dimensions but the innermost).
  int64_t offset(int operand, int64_t index) const {
    int64_t result = 0;
    for (int d = rank - 2; d >= 0; --d) {
      result += index % shape[d] * strides[operand][d];
      index /= shape[d];
    }
    return result;
  }
};

// Orders by |stride| of operand `lead`, and merges neighbours where all operands allow it.
void sort_and_merge(Dims& dims, int operands, int lead);

// Splits `shape` into the dimensions whose bit in `axes` is set and the others. A null `strides` is dense; those of the
// last operand, the output, are dense over the kept dimensions, and 0 in the reduced ones. Sorted by `lead`, merged.
void split_dims(Dims& kept, Dims& reduced, std::span<const TileOperand> ins, const TileOperand& out,
                std::span<const int64_t> shape, uint64_t axes, int lead);

}  // namespace paddle::tile
