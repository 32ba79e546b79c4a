// The scalar language: what a pointwise operator computes for one element.
//
// A record's `expr` is parsed once, by the generator, into a Program: straight-line code over the functions that
// ops/scalar.yaml lists. Eager's tile interpreter and CINN's code generators read the same Program, so an operator
// cannot mean two things.
#pragma once
#include <cstdint>
#include <span>

namespace paddle::scalar {

// Generated from ops/scalar.yaml (build/generated/base/scalar_fns.inc): one entry a function, in the order of the file.
enum class Fn : uint8_t {
#define PD_SCALAR_FN(name, arity) name,
#include "base/scalar_fns.inc"
#undef PD_SCALAR_FN
  kCount
};

// One step in SSA form. Registers are numbered: first the tensor inputs, then the scalar parameters (attributes of the
// operator, such as negative_slope), then one register per instruction. `constant` has no operand and yields imm.
struct Instr {
  Fn fn;
  uint8_t a = 0, b = 0, c = 0;  // operand registers; unused ones are 0
  double imm = 0;               // value of Fn::constant
};

struct Program {
  const char* text = "";  // the expression as written in the record, for people
  std::span<const Instr> instrs;
  uint8_t num_inputs = 0;
  uint8_t num_params = 0;
  std::span<const uint8_t> outputs;  // registers that hold the results, one per output
};

struct FnInfo {
  const char* name;
  uint8_t arity;
  bool boolean;   // yields a truth value whatever the compute type
  const char* c;  // spelling in C-like code for float: "expf($0)", "($0 + $1)"
};
const FnInfo& info(Fn fn);

}  // namespace paddle::scalar
