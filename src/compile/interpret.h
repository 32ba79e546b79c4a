// The eager route: a program's operations called one after another through dispatch. Autograd then records them like
// any calls, so every order of derivative follows; under a capture they join the program that is being captured.
#pragma once
#include "base/generator.h"
#include "pir/program.h"
#include "tensor/tensor.h"

namespace paddle::compile {

// Inputs for each pd_op.data, parameters for each builtin.parameter, in order. Parameters aren't written. Results: for
// each shadow_output, then for each set_parameter, in order. keys: where random operators draw from; null: from the
// generator.
std::vector<Tensor> interpret(const pir::Program& program, std::span<const Tensor> inputs,
                              std::span<const Tensor> parameters, Generator* keys = nullptr);

}  // namespace paddle::compile
