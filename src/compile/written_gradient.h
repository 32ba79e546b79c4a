// Gradients that the user wrote in a program (pir/custom_gradient.h), where it is run operator by operator.
#pragma once
#include <memory>

#include "pir/program.h"
#include "tensor/tensor.h"

namespace paddle::compile {

// A gradient's region as a program of its own: what it reads from outside and its arguments are the inputs.
class WrittenGradient {
 public:
  WrittenGradient(const pir::Operation& op, size_t region);
  const std::vector<pir::Value>& outside() const { return outside_; }
  Tensors run(const Tensors& args) const;

  Tensors read;  // of outside()

 private:
  std::shared_ptr<const pir::Program> program_;
  std::vector<pir::Value> outside_;
};

// `computed` as results whose gradient the regions of `op`, a cf.custom_grad, say: on the tape, or in the program that
// is being captured.
Tensors with_written_gradient(const pir::Operation& op, const Tensors& inputs, const Tensors& computed,
                              std::vector<WrittenGradient> regions);
void add_written_hook(const Tensor& t, WrittenGradient hook);

}  // namespace paddle::compile
