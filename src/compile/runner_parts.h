// Inside of Runner: what calls with and without gradients share.
#pragma once
#include "compile/runner.h"

namespace paddle::compile {

Tensor handle_of(const Tensor& t);           // another handle for what it means now, without its history
Tensors here(std::span<const Tensor> list);  // a partitioned program takes this rank's part of a distributed tensor
bool any_dist(std::span<const Tensor> list);
std::string key_of(const PipelineOptions& options);

}  // namespace paddle::compile
