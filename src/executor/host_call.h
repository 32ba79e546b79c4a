// Operations that call back into the language that the program was written in (cf.host_call).
#pragma once
#include <span>
#include <string>

#include "pir/operation.h"
#include "tensor/tensor.h"

namespace paddle::executor {

// Installed by the language binding; it knows functions by their numbers.
extern Tensors (*host_call)(int64_t function, std::span<const Tensor> inputs);

// Of the operation `op`. RuntimeError where the function belongs to another process; ValueError where it gave another
// number of results.
Tensors call_host(const pir::Operation& op, std::span<const Tensor> inputs);
const std::string& process_token();  // what tells this process from others

}  // namespace paddle::executor
