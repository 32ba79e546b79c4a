#include "phi/kernels/cpu/tile/pointwise.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/parallel_pieces.h"
#include "phi/kernels/cpu/tile/frame.h"
#include "phi/kernels/cpu/tile/nest.h"

namespace paddle::tile {
namespace {

constexpr int64_t kBlock = 32;              // edge of a tile where an input runs across the output's order
constexpr int64_t kLargeStride = 8;         // an inner stride from which walking blocks pays, in elements
constexpr int64_t kDirectTile = 1 << 14;    // elements a tile when nothing is kept in L1
constexpr int64_t kParallelWork = 1 << 15;  // elements times work per element that a thread must have
constexpr int kStackSlots = 16;

// The two dimensions that make up a tile, the size of the tile in them, and the loops around.
struct Tiling {
  int row = -1, col = -1;      // dimensions of the nest, -1: none
  int64_t rows = 1, cols = 1;  // extents of these dimensions
  int64_t tile_rows = 1, tile_cols = 1;
  int64_t row_tiles = 1, col_tiles = 1, outer = 1;

  int64_t count() const { return outer * row_tiles * col_tiles; }
};

// The dimension along which an input runs contiguously, if its stride in the innermost one is large; else -1.
int crossing_dimension(const Nest& nest) {
  const int inner = nest.rank - 1;
  for (int o = 0; o < nest.operands; ++o) {
    const int64_t stride = std::llabs(nest.strides[o][inner]);
    if (stride < kLargeStride) continue;
    int best = -1;
    for (int d = 0; d < inner; ++d) {
      const int64_t s = std::llabs(nest.strides[o][d]);
      if (s != 0 && s < stride && (best < 0 || s < std::llabs(nest.strides[o][best]))) best = d;
    }
    if (best >= 0) return best;
  }
  return -1;
}

Tiling choose_tiling(const Nest& nest, int64_t tile_elements) {
  Tiling t;
  if (nest.rank == 0) return t;
  t.col = nest.rank - 1;
  t.cols = nest.shape[t.col];
  const int crossing = nest.rank > 1 ? crossing_dimension(nest) : -1;
  if (crossing >= 0) {
    t.row = crossing;
    t.rows = nest.shape[t.row];
    t.tile_rows = std::min<int64_t>(kBlock, t.rows);
    t.tile_cols = std::min<int64_t>(std::max(kBlock, tile_elements / kBlock), t.cols);
    t.tile_cols = std::min(t.tile_cols, tile_elements / t.tile_rows);
  } else {
    t.tile_cols = std::min(t.cols, tile_elements);
    if (nest.rank > 1) {
      t.row = nest.rank - 2;
      t.rows = nest.shape[t.row];
      t.tile_rows = std::min(t.rows, std::max<int64_t>(1, tile_elements / t.tile_cols));
    }
  }
  t.col_tiles = (t.cols + t.tile_cols - 1) / t.tile_cols;
  t.row_tiles = (t.rows + t.tile_rows - 1) / t.tile_rows;
  t.outer = nest.size / (t.rows * t.cols);
  return t;
}

class Runner {
 public:
  Runner(const Nest& nest, const Tiling& tiling, const Frame& frame, std::span<const TileOperand> ins,
         std::span<const TileOperand> outs)
      : nest_(nest), tiling_(tiling), frame_(frame), ins_(ins), outs_(outs) {}

  void run(int64_t first, int64_t last) const {
    alignas(64) char stack[kStackSlots * kTileBytes];
    std::unique_ptr<char[]> heap;
    char* buffer = stack;
    if (frame_.slots() > kStackSlots) {
      heap.reset(new char[frame_.slots() * kTileBytes]);
      buffer = heap.get();
    }
    TileState state(frame_, buffer);
    char* pointers[kMaxOperands];
    for (int64_t tile = first; tile < last; ++tile) {
      const int64_t col = tile % tiling_.col_tiles * tiling_.tile_cols;
      int64_t rest = tile / tiling_.col_tiles;
      const int64_t row = rest % tiling_.row_tiles * tiling_.tile_rows;
      rest /= tiling_.row_tiles;
      locate(pointers, row, col, rest);
      state.run(pointers, std::min(tiling_.tile_rows, tiling_.rows - row),
                std::min(tiling_.tile_cols, tiling_.cols - col));
    }
  }

 private:
  void locate(char** pointers, int64_t row, int64_t col, int64_t outer) const {
    int64_t index[kMaxRank];
    for (int d = nest_.rank - 1; d >= 0; --d) {
      if (d == tiling_.col) {
        index[d] = col;
      } else if (d == tiling_.row) {
        index[d] = row;
      } else {
        index[d] = outer % nest_.shape[d];
        outer /= nest_.shape[d];
      }
    }
    for (int o = 0; o < nest_.operands; ++o) {
      const size_t in = static_cast<size_t>(o);
      const TileOperand& operand = in < ins_.size() ? ins_[in] : outs_[in - ins_.size()];
      int64_t offset = 0;
      for (int d = 0; d < nest_.rank; ++d) offset += index[d] * nest_.strides[o][d];
      pointers[o] = static_cast<char*>(operand.data) + offset * static_cast<int64_t>(size_of(operand.dtype));
    }
  }

  const Nest& nest_;
  const Tiling& tiling_;
  const Frame& frame_;
  std::span<const TileOperand> ins_, outs_;
};

// Whether the operand is dense in row-major order (1), one repeated element (0), or neither (-1).
inline int flat_stride(const TileOperand& operand, std::span<const int64_t> shape) {
  if (!operand.strides) return 1;
  int64_t expected = 1;
  bool dense = true, scalar = true;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    dense &= operand.strides[d] == expected;
    scalar &= operand.strides[d] == 0;
    expected *= shape[d];
  }
  return dense ? 1 : scalar ? 0 : -1;
}

// The common small call, without a frame: dense operands and numbers, all of the compute type, on one thread. Returns
// false, with nothing done, for any other. What depends on numbers alone is computed once.
bool run_small(const scalar::Program& program, std::span<const TileOperand> ins, std::span<const ScalarParam> params,
               std::span<const TileOperand> outs, std::span<const int64_t> shape, Compute compute) {
  constexpr size_t kMost = 16;
  constexpr int kTemporaries = 3;
  const size_t instrs = program.instrs.size(), first = ins.size() + params.size();
  if (instrs == 0 || outs.size() != 1 || first + instrs > kMost || program.outputs[0] != first + instrs - 1)
    return false;
  int64_t size = 1;
  for (const int64_t n : shape) size *= n;
  if (size == 0) return true;  // beside an empty operand a single value is still a number, whose result has no place
  const DType dtype = dtype_of(compute);
  if (size >= kParallelWork || outs[0].dtype != dtype || flat_stride(outs[0], shape) != 1) return false;
  const void* registers[kMost];
  alignas(16) char numbers[kMost][16];
  unsigned scalar = 0;  // bit r: register r is one value
  for (size_t k = 0; k < ins.size(); ++k) {
    const int stride = flat_stride(ins[k], shape);
    if (stride < 0 || ins[k].dtype != dtype) return false;
    scalar |= (stride == 0 ? 1u : 0u) << k;
    registers[k] = ins[k].data;
  }
  const auto put = [&](size_t reg, const ScalarParam& value) {
    char* const number = numbers[reg & (kMost - 1)];  // reg < kMost; the mask tells the compiler
    write_number(compute, value, number);
    registers[reg] = number;
    scalar |= 1u << reg;
  };
  for (size_t p = 0; p < params.size(); ++p) put(ins.size() + p, params[p]);
  const bool fits = size * static_cast<int64_t>(size_of(dtype)) <= kTileBytes;
  alignas(64) char temporaries[kTemporaries][kTileBytes];
  int used = 0;
  for (size_t i = 0; i < instrs; ++i) {
    const scalar::Instr& step = program.instrs[i];
    const bool last = i + 1 == instrs;
    if (step.fn == scalar::Fn::constant && !last) {
      put(first + i, ScalarParam(step.imm));
      continue;
    }
    const FnKernel kernel = find_kernel(step.fn, compute);
    if (!kernel) return false;
    const int arity = scalar::info(step.fn).arity;
    const auto is_number = [scalar](uint8_t reg) { return (scalar >> reg) & 1u; };
    const unsigned all = (1u << arity) - 1;
    const unsigned scalars = (is_number(step.a) | is_number(step.b) << 1 | is_number(step.c) << 2) & all;
    void* to = outs[0].data;
    int64_t count = size;
    if (scalars == all) {
      if (last && size > 1) return false;
      count = 1;
      if (!last) {
        to = numbers[(first + i) & (kMost - 1)];
        scalar |= 1u << (first + i);
      }
    } else if (!last) {
      if (!fits || used == kTemporaries) return false;
      to = temporaries[used++];
    }
    registers[first + i] = to;
    if (count > 0) kernel(to, registers[step.a], registers[step.b], registers[step.c], count > 1 ? scalars : 0, count);
  }
  return true;
}

bool is_identity(const scalar::Program& program, std::span<const TileOperand> ins, std::span<const TileOperand> outs) {
  return program.instrs.empty() && outs.size() == 1 && ins.size() == 1 && program.outputs[0] == 0 &&
         ins[0].dtype == outs[0].dtype;
}

}  // namespace

ScalarParam::ScalarParam(double value) : re(value) {
  // Beyond int64 there is no right answer for an integer program; the nearest is at least defined.
  if (std::isnan(value))
    i = 0;
  else if (value >= 0x1p63)
    i = INT64_MAX;
  else if (value < -0x1p63)
    i = INT64_MIN;
  else
    i = static_cast<int64_t>(value);
}

Compute compute_type(std::span<const DType> dtypes) {
  bool complex = false, wide_float = false, any_float = false, wide_int = false, unsigned64 = false, signed64 = false;
  for (const DType t : dtypes) {
    complex |= is_complex(t);
    wide_float |= t == DType::kFloat64 || t == DType::kComplex128;
    any_float |= is_float(t);
    wide_int |= t == DType::kInt64 || t == DType::kUInt32;
    signed64 |= t == DType::kInt64;
    unsigned64 |= t == DType::kUInt64;
  }
  if (complex) return wide_float ? Compute::kC128 : Compute::kC64;
  if (wide_float) return Compute::kF64;
  if (any_float) return Compute::kF32;
  if (unsigned64) return signed64 ? Compute::kI64 : Compute::kU64;
  return wide_int ? Compute::kI64 : Compute::kI32;
}

DType dtype_of(Compute compute) {
  constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64,   DType::kInt32,     DType::kInt64,
                              DType::kUInt64,  DType::kComplex64, DType::kComplex128};
  return kTypes[static_cast<size_t>(compute)];
}

void run_pointwise(const scalar::Program& program, std::span<const TileOperand> ins,
                   std::span<const ScalarParam> params, std::span<const TileOperand> outs,
                   std::span<const int64_t> shape, Compute compute) {
  PD_INVARIANT(ins.size() == program.num_inputs && params.size() == program.num_params &&
               outs.size() == program.outputs.size());
  if (run_small(program, ins, params, outs, shape, compute)) return;
  if (is_identity(program, ins, outs)) return run_copy(outs[0], ins[0], shape);
  Nest nest;
  build_nest(nest, ins, outs, shape, static_cast<int>(ins.size()));
  if (nest.size == 0) return;

  Frame frame(program, ins, params, outs, compute);
  const Tiling tiling = choose_tiling(nest, frame.tile_elements());
  for (int o = 0; o < nest.operands; ++o) {
    frame.set_strides(o, tiling.row < 0 ? 0 : nest.strides[o][tiling.row],
                      tiling.col < 0 ? 0 : nest.strides[o][tiling.col]);
  }
  bool constant[kMaxOperands];
  for (size_t o = 0; o < ins.size(); ++o) {
    constant[o] = true;
    for (int d = 0; d < nest.rank && constant[o]; ++d) constant[o] = nest.strides[o][d] == 0;
  }
  frame.bind(tiling.tile_rows > 1 ? tiling.cols == tiling.tile_cols ? tiling.cols : -1 : 0, constant);

  Tiling final_tiling = tiling;
  if (frame.slots() == 0 && tiling.tile_rows == 1) {  // nothing to keep in L1: longer runs
    final_tiling.tile_cols = std::min(tiling.cols, kDirectTile);
    final_tiling.col_tiles = (tiling.cols + final_tiling.tile_cols - 1) / final_tiling.tile_cols;
  }
  const Runner runner(nest, final_tiling, frame, ins, outs);
  const int64_t tile_work = final_tiling.tile_rows * final_tiling.tile_cols * frame.work();
  const int64_t count = final_tiling.count();
  if (count == 1 || nest.size * frame.work() < kParallelWork) return runner.run(0, count);
  parallel_pieces(0, count, std::max<int64_t>(1, kParallelWork / tile_work),
                  [&](int64_t first, int64_t last) { runner.run(first, last); });
}

void run_cast(const TileOperand& dst, const TileOperand& src, std::span<const int64_t> shape) {
  static constexpr uint8_t kOutputs[] = {0};
  static constexpr scalar::Program kIdentity{"x", {}, 1, 0, kOutputs};
  // In the type that holds the source exactly; complex to real takes the real part when it is stored.
  run_pointwise(kIdentity, {&src, 1}, {}, {&dst, 1}, shape, compute_type({src.dtype}));
}

void run_fill(const TileOperand& dst, const ScalarParam& value, std::span<const int64_t> shape) {
  static constexpr uint8_t kOutputs[] = {0};
  static constexpr scalar::Program kParameter{"value", {}, 0, 1, kOutputs};
  run_pointwise(kParameter, {}, {&value, 1}, {&dst, 1}, shape, compute_type({dst.dtype}));
}

}  // namespace paddle::tile
