// Text form of programs, close to Paddle's, and complete: parse_program() (program.h) reads it back to an equal
// program.
//
//   (%2) = "pd_op.softmax" (%1) {axis: (Int32)-1, stop_gradient: [false]} : (tensor<3x4xf32>) -> tensor<3x4xf32>
//
// Values are numbered in order of appearance, block arguments as %arg0, %arg1 ...; an absent operand is `<<NULL
// VALUE>>`. Regions follow the types: `{ ^(%arg0 : tensor<2xf32> {}) ... }`.
#pragma once
#include <string>

#include "pir/program.h"

namespace paddle::pir {

struct PrintOptions {
  bool locations = false;  // loc("model.py":31 in "forward") after each operation
  size_t max_dense = 0;    // tensors' data longer than so many bytes are cut, which the parser refuses; 0: never cut
};

std::string print(const Program& program, const PrintOptions& options = {});
std::string print(const Operation& op, const PrintOptions& options = {});
std::string print(const Block& block, const PrintOptions& options = {});

// Lines that two texts don't share, as "- old" and "+ new" with a line of context: what a pass changed. Empty if equal.
std::string diff(std::string_view before, std::string_view after);

}  // namespace paddle::pir
