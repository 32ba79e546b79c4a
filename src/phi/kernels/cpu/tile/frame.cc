#include "phi/kernels/cpu/tile/frame.h"

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "phi/kernels/cpu/tile/transpose.h"

namespace paddle::tile {
namespace {

using scalar::Fn;
using scalar::Instr;

constexpr int16_t kForever = INT16_MAX;

// What a step costs against an addition, in eighths of what a transcendental function does.
int64_t work_of(Fn fn) {
  switch (fn) {
    case Fn::exp:
    case Fn::log:
    case Fn::tanh:
    case Fn::sigmoid:
    case Fn::exp2:
    case Fn::log2:
    case Fn::sqrt:
    case Fn::rsqrt:
    case Fn::div:
    case Fn::sin:
    case Fn::cos:
    case Fn::erf:
    case Fn::expm1:
    case Fn::log1p:
      return 4;
    case Fn::pow:
    case Fn::tan:
    case Fn::atan2:
    case Fn::lgamma:
    case Fn::digamma:
    case Fn::polygamma:
    case Fn::gammainc:
    case Fn::gammaincc:
    case Fn::erfinv:
    case Fn::i0:
    case Fn::i0e:
    case Fn::i1:
    case Fn::i1e:
    case Fn::mod:
    case Fn::fmod:
    case Fn::floor_div:
      return 16;
    default:
      return 1;
  }
}

const char* name_of(Compute compute) {
  constexpr const char* kNames[] = {"float32", "float64", "int32", "int64", "uint64", "complex64", "complex128"};
  return kNames[static_cast<size_t>(compute)];
}

// Logical right shift fills with zeros in the operand's own width: a narrow signed operand is read as unsigned.
DType load_dtype(const scalar::Program& program, int input, DType dtype, Compute compute) {
  if (dtype != DType::kInt8 && dtype != DType::kInt16 && !(dtype == DType::kInt32 && compute == Compute::kI64))
    return dtype;
  for (const Instr& instr : program.instrs) {
    if (instr.fn != Fn::shift_right_logical || instr.a != input) continue;
    return dtype == DType::kInt8 ? DType::kUInt8 : dtype == DType::kInt16 ? DType::kUInt16 : DType::kUInt32;
  }
  return dtype;
}

bool all_bool(std::span<const TileOperand> ins) {
  return !ins.empty() &&
         std::all_of(ins.begin(), ins.end(), [](const TileOperand& in) { return in.dtype == DType::kBool; });
}

bool overlap(const TileOperand& a, const TileOperand& b) { return a.data == b.data; }

}  // namespace

Frame::Frame(const scalar::Program& program, std::span<const TileOperand> ins, std::span<const ScalarParam> params,
             std::span<const TileOperand> outs, Compute compute)
    : program_(program),
      ins_(ins),
      outs_(outs),
      params_(params),
      table_(kernels()),
      compute_(compute),
      dtype_(dtype_of(compute)),
      element_(static_cast<int64_t>(size_of(dtype_))),
      registers_(program.num_inputs + program.num_params + static_cast<int>(program.instrs.size())) {
  PD_INVARIANT(registers_ < kMaxRegisters);
}

void Frame::bind(int64_t row_pitch, const bool* constant) {
  place_inputs(row_pitch, constant);
  place_instrs();
  place_outputs(row_pitch);
  assign_slots();
}

void Frame::place_inputs(int64_t row_pitch, const bool* constant) {
  const int c = static_cast<int>(compute_);
  for (int k = 0; k < program_.num_inputs; ++k) {
    const TileOperand& in = ins_[k];
    last_use_[k] = -1;
    const ConvertKernel convert = table_.load[c][static_cast<int>(load_dtype(program_, k, in.dtype, compute_))];
    PD_INVARIANT(convert);
    if (constant[k]) {
      place_[k] = Place::kScalar;
      convert(scalars_[k], 1, in.data, 1, 1);
    } else if (in.dtype == dtype_ && contiguous(k, row_pitch)) {
      place_[k] = Place::kDirect;
      where_[k] = static_cast<uint8_t>(k);
    } else {
      place_[k] = Place::kSlot;
      where_[k] = static_cast<uint8_t>(slots_++);
      load_[loads_++] = {convert,
                         row_[k],
                         col_[k],
                         static_cast<uint8_t>(k),
                         static_cast<uint8_t>(k),
                         static_cast<uint8_t>(size_of(in.dtype))};
    }
  }
  for (int p = 0; p < program_.num_params; ++p) {
    const int reg = program_.num_inputs + p;
    place_[reg] = Place::kScalar;
    write_number(compute_, params_[p], scalars_[reg]);
  }
}

// Steps over scalars alone are done once, here; the others are noted, with who reads what last.
void Frame::place_instrs() {
  int reg = program_.num_inputs + program_.num_params;
  for (const Instr& instr : program_.instrs) {
    const int out = reg++;
    if (instr.fn == Fn::constant) {
      place_[out] = Place::kScalar;
      write_number(compute_, ScalarParam(instr.imm), scalars_[out]);
      continue;
    }
    // A bool's complement is the other truth value, not all other bits.
    const Fn fn = instr.fn == Fn::bitwise_not && all_bool(ins_) ? Fn::logical_not : instr.fn;
    const FnKernel kernel = table_.fn[static_cast<int>(compute_)][static_cast<int>(fn)];
    if (!kernel) {
      fail(ErrorKind::kType, "{} is not defined for {} (in `{}`)", scalar::info(instr.fn).name, name_of(compute_),
           program_.text);
    }
    const int arity = scalar::info(instr.fn).arity;
    const uint8_t args[] = {instr.a, instr.b, instr.c};
    unsigned scalars = 0;
    for (int k = 0; k < arity; ++k) scalars |= (place_[args[k]] == Place::kScalar ? 1u : 0u) << k;
    if (scalars == (1u << arity) - 1) {
      place_[out] = Place::kScalar;
      kernel(scalars_[out], scalars_[instr.a], scalars_[instr.b], scalars_[instr.c], 0, 1);
      continue;
    }
    place_[out] = Place::kSlot;
    last_use_[out] = -1;
    for (int k = 0; k < arity; ++k) last_use_[args[k]] = static_cast<int16_t>(steps_);
    step_[steps_++] = {kernel, instr.a, instr.b, instr.c, static_cast<uint8_t>(out), static_cast<uint8_t>(scalars)};
    work_ += work_of(instr.fn);
  }
}

// A step may write its result straight to the output, unless a later step still reads an input that lives there.
void Frame::place_outputs(int64_t row_pitch) {
  for (size_t k = 0; k < outs_.size(); ++k) {
    const int operand = static_cast<int>(ins_.size() + k), reg = program_.outputs[k];
    const TileOperand& out = outs_[k];
    bool direct = place_[reg] == Place::kSlot && reg >= program_.num_inputs && out.dtype == dtype_ &&
                  contiguous(operand, row_pitch);
    if (direct) {
      int step = 0;
      while (step_[step].out != reg) ++step;
      for (int i = 0; i < program_.num_inputs && direct; ++i) {
        direct = place_[i] != Place::kDirect || last_use_[i] <= step || !overlap(ins_[i], out);
        // An input that is itself an output is read at the very end.
        for (size_t j = 0; j < outs_.size() && direct; ++j) direct = program_.outputs[j] != i || !overlap(ins_[i], out);
      }
    }
    if (direct) {
      place_[reg] = Place::kOutput;
      where_[reg] = static_cast<uint8_t>(operand);
      continue;
    }
    const ConvertKernel convert = table_.store[static_cast<int>(compute_)][static_cast<int>(out.dtype)];
    PD_INVARIANT(convert);
    store_[stores_++] = {convert,
                         row_[operand],
                         col_[operand],
                         static_cast<uint8_t>(operand),
                         static_cast<uint8_t>(reg),
                         static_cast<uint8_t>(size_of(out.dtype))};
  }
  for (const uint8_t reg : program_.outputs) last_use_[reg] = kForever;
}

// Slots of intermediate results are used again once their last reader ran; a step may write over what it reads.
void Frame::assign_slots() {
  uint8_t free_slots[kMaxRegisters];
  int free_count = 0;
  for (int s = 0; s < steps_; ++s) {
    const Step& step = step_[s];
    const uint8_t args[] = {step.a, step.b, step.c};
    for (const uint8_t reg : args) {
      if (place_[reg] == Place::kSlot && reg >= program_.num_inputs && last_use_[reg] == s) {
        free_slots[free_count++] = where_[reg];
        last_use_[reg] = -1;  // an operand used twice is freed once
      }
    }
    if (place_[step.out] == Place::kSlot) {
      where_[step.out] = free_count ? free_slots[--free_count] : static_cast<uint8_t>(slots_++);
      if (last_use_[step.out] < 0) free_slots[free_count++] = where_[step.out];  // nobody reads it
    }
  }
}

TileState::TileState(const Frame& frame, char* buffer) : frame_(frame) {
  for (int r = 0; r < frame.registers_; ++r) {
    if (frame.place_[r] == Frame::Place::kScalar)
      registers_[r] = const_cast<char*>(frame.scalars_[r]);
    else if (frame.place_[r] == Frame::Place::kSlot)
      registers_[r] = buffer + frame.where_[r] * kTileBytes;
  }
  for (int k = 0; k < frame.loads_; ++k) loaded_[k] = nullptr;
}

void TileState::load(const Access& access, const char* from, int64_t rows, int64_t cols) {
  const int64_t element = frame_.element_, size = access.size;
  char* to = registers_[access.reg];
  if (rows == 1) return access.convert(to, 1, from, access.col, cols);
  // Along whichever way is longer; across if the input runs that way.
  const bool across = (cols < 8 && rows > cols) || (access.row != 0 && std::llabs(access.row) < std::llabs(access.col));
  if (across && cols >= 8) {  // convert along memory, then turn the block in L1
    alignas(64) char turned[kTileBytes];
    for (int64_t c = 0; c < cols; ++c)
      access.convert(turned + c * rows * element, 1, from + c * access.col * size, access.row, rows);
    transpose(to, cols, turned, rows, rows, cols, element);
  } else if (across) {
    for (int64_t c = 0; c < cols; ++c)
      access.convert(to + c * element, cols, from + c * access.col * size, access.row, rows);
  } else {
    for (int64_t r = 0; r < rows; ++r)
      access.convert(to + r * cols * element, 1, from + r * access.row * size, access.col, cols);
  }
}

void TileState::store(const Access& access, char* to, int64_t rows, int64_t cols) const {
  const int64_t element = frame_.element_, size = access.size;
  const char* from = registers_[access.reg];
  if (frame_.place_[access.reg] == Frame::Place::kScalar) {
    for (int64_t r = 0; r < rows; ++r) access.convert(to + r * access.row * size, access.col, from, 0, cols);
  } else if (rows == 1 || (access.col == 1 && access.row == cols)) {
    access.convert(to, access.col, from, 1, rows * cols);
  } else if (cols < 8 && rows > cols) {
    for (int64_t c = 0; c < cols; ++c)
      access.convert(to + c * access.col * size, access.row, from + c * element, cols, rows);
  } else {
    for (int64_t r = 0; r < rows; ++r)
      access.convert(to + r * access.row * size, access.col, from + r * cols * element, 1, cols);
  }
}

void TileState::run(char* const* pointers, int64_t rows, int64_t cols) {
  const Frame& f = frame_;
  for (int r = 0; r < f.registers_; ++r) {
    if (f.place_[r] == Frame::Place::kDirect || f.place_[r] == Frame::Place::kOutput)
      registers_[r] = pointers[f.where_[r]];
  }
  const bool same_size = rows == loaded_rows_ && cols == loaded_cols_;
  for (int k = 0; k < f.loads_; ++k) {
    const Access& access = f.load_[k];
    const char* from = pointers[access.operand];
    // A row that is broadcast need not be read again, if it can't have been written since.
    if (same_size && from == loaded_[k] && access.row == 0) continue;
    load(access, from, rows, cols);
    loaded_[k] = from;
  }
  loaded_rows_ = rows, loaded_cols_ = cols;
  for (int s = 0; s < f.steps_; ++s) {
    const Step& step = f.step_[s];
    step.kernel(registers_[step.out], registers_[step.a], registers_[step.b], registers_[step.c], step.scalars,
                rows * cols);
  }
  for (int k = 0; k < f.stores_; ++k) store(f.store_[k], pointers[f.store_[k].operand], rows, cols);
}

}  // namespace paddle::tile
