#include "phi/kernels/cpu/tile/nest.h"

#include <cstdlib>

#include "base/error.h"

namespace paddle::tile {
namespace {

// Whether the operand is dense in row-major order (1), one repeated element (0), or neither (-1).
int flat_stride(const TileOperand& operand, std::span<const int64_t> shape) {
  if (!operand.strides) return 1;
  int64_t expected = 1;
  bool dense = true, scalar = true;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    if (shape[d] == 1) continue;
    dense &= operand.strides[d] == expected;
    scalar &= operand.strides[d] == 0;
    expected *= shape[d];
  }
  return dense ? 1 : scalar ? 0 : -1;
}

bool build_flat(Nest& nest, std::span<const TileOperand> ins, std::span<const TileOperand> outs,
                std::span<const int64_t> shape) {
  int number = 0;
  for (const auto group : {ins, outs}) {
    for (const TileOperand& operand : group) {
      const int stride = flat_stride(operand, shape);
      if (stride < 0) return false;
      nest.strides[number++][0] = stride;
    }
  }
  nest.rank = nest.size == 1 ? 0 : 1;
  nest.shape[0] = nest.size;
  return true;
}

void sort_dimensions(Nest& nest, int lead) {
  for (int i = 1; i < nest.rank; ++i) {
    for (int d = i; d > 0 && std::llabs(nest.strides[lead][d - 1]) < std::llabs(nest.strides[lead][d]); --d) {
      std::swap(nest.shape[d - 1], nest.shape[d]);
      for (int o = 0; o < nest.operands; ++o) std::swap(nest.strides[o][d - 1], nest.strides[o][d]);
    }
  }
}

void merge_dimensions(Nest& nest) {
  int last = 0;
  for (int d = 1; d < nest.rank; ++d) {
    bool merge = true;
    for (int o = 0; o < nest.operands && merge; ++o) {
      merge = nest.strides[o][last] == nest.strides[o][d] * nest.shape[d];
    }
    if (merge) {
      nest.shape[last] *= nest.shape[d];
    } else {
      nest.shape[++last] = nest.shape[d];
    }
    for (int o = 0; o < nest.operands; ++o) nest.strides[o][last] = nest.strides[o][d];
  }
  nest.rank = nest.rank > 0 ? last + 1 : 0;
}

}  // namespace

void build_nest(Nest& nest, std::span<const TileOperand> ins, std::span<const TileOperand> outs,
                std::span<const int64_t> shape, int lead) {
  nest.operands = static_cast<int>(ins.size() + outs.size());
  PD_INVARIANT(nest.operands <= kMaxOperands);
  PD_INVARIANT(shape.size() <= static_cast<size_t>(kMaxRank));
  nest.size = 1;
  for (const int64_t n : shape) nest.size *= n;
  nest.rank = 0;
  if (nest.size == 0 || build_flat(nest, ins, outs, shape)) return;

  int64_t dense[kMaxRank];
  int64_t step = 1;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    dense[d] = step;
    step *= shape[d];
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    int number = 0;
    for (const auto group : {ins, outs}) {
      for (const TileOperand& operand : group) {
        nest.strides[number++][nest.rank] = operand.strides ? operand.strides[d] : dense[d];
      }
    }
    nest.shape[nest.rank++] = shape[d];
  }
  sort_dimensions(nest, lead);
  merge_dimensions(nest);
}

}  // namespace paddle::tile
