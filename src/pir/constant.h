// Tensor data as attributes and back.
#pragma once
#include "pir/program.h"

namespace paddle::pir {

DenseData dense_of(const Tensor& t);       // a copy; of a tensor with memory the host can read
Tensor tensor_of(const Attribute& dense);  // shares the attribute's memory, and keeps it alive: don't write to it
Tensor tensor_of(DenseData data);          // owns the data
// The tensor that builtin.constant (or, with `parameters`, builtin.parameter) stands for; undefined for other
// operations and for names the program has no tensor of.
Tensor constant_tensor(const Operation& op, const Program& program, bool parameters = false);

}  // namespace paddle::pir
