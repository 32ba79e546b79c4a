// A loop nest over strided operands, with the fewest dimensions, in the order of the output's memory.
#pragma once
#include <cstdint>
#include <span>

#include "phi/kernels/cpu/tile/pointwise.h"

namespace paddle::tile {

inline constexpr int kMaxRank = 32, kMaxOperands = 32;

struct Nest {
  int rank = 0;      // dimensions of size 1 are gone; rank 0 is one element
  int operands = 0;  // first inputs, then outputs
  int64_t size = 1;  // number of elements
  int64_t shape[kMaxRank];
  int64_t strides[kMaxOperands][kMaxRank];
};

// Dimensions in the order of |stride| of the operand number `lead` (usually the first output), merged where all
// operands allow it.
void build_nest(Nest& nest, std::span<const TileOperand> ins, std::span<const TileOperand> outs,
                std::span<const int64_t> shape, int lead);

}  // namespace paddle::tile
