#include "phi/kernels/cpu/tile/dims.h"

#include <cstdlib>
#include <utility>

namespace paddle::tile {

void sort_and_merge(Dims& dims, int operands, int lead) {
  for (int i = 1; i < dims.rank; ++i) {
    for (int d = i; d > 0 && std::llabs(dims.strides[lead][d - 1]) < std::llabs(dims.strides[lead][d]); --d) {
      std::swap(dims.shape[d - 1], dims.shape[d]);
      for (int o = 0; o < operands; ++o) std::swap(dims.strides[o][d - 1], dims.strides[o][d]);
    }
  }
  int last = 0;
  for (int d = 1; d < dims.rank; ++d) {
    bool merge = true;
    for (int o = 0; o < operands && merge; ++o) merge = dims.strides[o][last] == dims.strides[o][d] * dims.shape[d];
    if (merge) {
      dims.shape[last] *= dims.shape[d];
    } else {
      dims.shape[++last] = dims.shape[d];
    }
    for (int o = 0; o < operands; ++o) dims.strides[o][last] = dims.strides[o][d];
  }
  if (dims.rank > 0) dims.rank = last + 1;
}

void split_dims(Dims& kept, Dims& reduced, std::span<const TileOperand> ins, const TileOperand& out,
                std::span<const int64_t> shape, uint64_t axes, int lead) {
  const int rank = static_cast<int>(shape.size()), out_number = static_cast<int>(ins.size());
  int64_t dense_in[kMaxRank], dense_out[kMaxRank], step_in = 1, step_out = 1;
  for (int d = rank - 1; d >= 0; --d) {
    dense_in[d] = step_in;
    dense_out[d] = step_out;
    step_in *= shape[d];
    if (!(axes >> d & 1)) step_out *= shape[d];
  }
  for (int d = 0; d < rank; ++d) {
    const bool is_reduced = axes >> d & 1;
    Dims& dims = is_reduced ? reduced : kept;
    dims.size *= shape[d];
    if (shape[d] == 1) continue;
    for (size_t k = 0; k < ins.size(); ++k) {
      dims.strides[k][dims.rank] = ins[k].strides ? ins[k].strides[d] : dense_in[d];
    }
    dims.strides[out_number][dims.rank] = is_reduced ? 0 : out.strides ? out.strides[d] : dense_out[d];
    dims.shape[dims.rank++] = shape[d];
  }
  sort_and_merge(kept, out_number + 1, lead);
  sort_and_merge(reduced, out_number + 1, lead);
}

}  // namespace paddle::tile
