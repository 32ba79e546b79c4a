// A program made ready to run over tiles: where each register lives, which loop each step calls.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>

#include "phi/kernels/cpu/tile/nest.h"

namespace paddle::tile {

inline constexpr int64_t kTileBytes = 4096;  // of one register: 1024 float32
inline constexpr int kMaxRegisters = 256;

struct Step {
  FnKernel kernel;
  uint8_t a, b, c, out;
  uint8_t scalars;  // bit k: operand k is one value
};

// How an operand's tile in memory is converted to or from a register.
struct Access {
  ConvertKernel convert;
  int64_t row, col;  // strides, in elements
  uint8_t operand, reg;
  uint8_t size;  // bytes of one element in memory
};

// `value` in the compute type, 16 bytes at most.
inline void write_number(Compute compute, const ScalarParam& value, void* to) {
  switch (compute) {
    case Compute::kF32:
      *static_cast<float*>(to) = static_cast<float>(value.re);
      return;
    case Compute::kF64:
      *static_cast<double*>(to) = value.re;
      return;
    case Compute::kI32:
      *static_cast<int32_t*>(to) = static_cast<int32_t>(value.i);
      return;
    case Compute::kI64:
      *static_cast<int64_t*>(to) = value.i;
      return;
    case Compute::kU64:
      *static_cast<uint64_t*>(to) = static_cast<uint64_t>(value.i);
      return;
    case Compute::kC64: {
      const float parts[] = {static_cast<float>(value.re), static_cast<float>(value.im)};
      std::memcpy(to, parts, sizeof parts);
      return;
    }
    default: {
      const double parts[] = {value.re, value.im};
      std::memcpy(to, parts, sizeof parts);
      return;
    }
  }
}

// Setting one up is most of what a small call costs: it fills only what the program uses, and allocates nothing.
class Frame {
 public:
  Frame(const scalar::Program& program, std::span<const TileOperand> ins, std::span<const ScalarParam> params,
        std::span<const TileOperand> outs, Compute compute);

  // Strides of an operand (inputs, then outputs) across rows and columns of a tile.
  void set_strides(int operand, int64_t row, int64_t col) { row_[operand] = row, col_[operand] = col; }

  // Decides the places of all registers. row_pitch: the row stride at which a tile of several rows is contiguous, -1 if
  // it never is, 0 if tiles have one row. constant[k]: input k is one element; it is read here, and steps that depend
  // on such alone run here. Without outputs, result() is where the tile of output 0 is found after TileState::run.
  void bind(int64_t row_pitch, const bool* constant);

  int slots() const { return slots_; }
  int64_t work() const { return work_; }  // rough cost of one element; an addition is 1
  int64_t tile_elements() const { return kTileBytes / element_; }
  int64_t element() const { return element_; }  // bytes of the compute type

 private:
  friend class TileState;
  enum class Place : uint8_t { kScalar, kDirect, kSlot, kOutput };

  void place_inputs(int64_t row_pitch, const bool* constant);
  void place_instrs();
  void place_outputs(int64_t row_pitch);
  void assign_slots();
  bool contiguous(int operand, int64_t row_pitch) const {
    return col_[operand] == 1 && row_pitch >= 0 && (row_pitch == 0 || row_[operand] == row_pitch);
  }

  const scalar::Program& program_;
  std::span<const TileOperand> ins_, outs_;
  std::span<const ScalarParam> params_;
  const KernelTable& table_;
  Compute compute_;
  DType dtype_;  // of the compute type
  int64_t element_;
  int64_t work_ = 1;
  int registers_, slots_ = 0, steps_ = 0, loads_ = 0, stores_ = 0;

  int64_t row_[kMaxOperands], col_[kMaxOperands];
  Place place_[kMaxRegisters];
  uint8_t where_[kMaxRegisters];     // slot, or operand number
  int16_t last_use_[kMaxRegisters];  // the step that reads it last
  Step step_[kMaxRegisters];
  Access load_[kMaxOperands], store_[kMaxOperands];
  alignas(16) char scalars_[kMaxRegisters][16];
};

// One thread's registers.
class TileState {
 public:
  TileState(const Frame& frame, char* buffer);
  // Computes one tile; pointers[operand] is its first element.
  void run(char* const* pointers, int64_t rows, int64_t cols);
  // The values of a register after run; one value only if `scalar`.
  const void* value(int reg, bool& scalar) const {
    scalar = frame_.place_[reg] == Frame::Place::kScalar;
    return registers_[reg];
  }

 private:
  void load(const Access& access, const char* from, int64_t rows, int64_t cols);
  void store(const Access& access, char* to, int64_t rows, int64_t cols) const;

  const Frame& frame_;
  char* registers_[kMaxRegisters];
  const char* loaded_[kMaxOperands];  // what a slot holds, by address, for inputs that repeat from tile to tile
  int64_t loaded_rows_ = -1, loaded_cols_ = -1;
};

}  // namespace paddle::tile
