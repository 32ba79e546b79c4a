// What a capture leaves: a program, and what it means for the tensors outside.
#pragma once
#include <string>
#include <vector>

#include "pir/operation.h"
#include "pir/program.h"
#include "tensor/dim.h"
#include "tensor/tensor.h"

namespace paddle::dispatch {

// What a captured program reads and writes, besides what its operations say.
struct ProgramInput {
  std::string name;  // of its pd_op.data
  Shape shape;
  DType dtype = DType::kUndefined;
  bool stop_gradient = true;
  bool leaf = true;         // made by the user, where it needs a gradient
  bool leaf_asked = false;  // ... and the function asked
};
struct CapturedProgram {
  std::string name;
  pir::Program program;  // pd_op.data inputs, builtin.parameter captures, shadow_output results, set_parameter writes
  std::vector<ProgramInput> inputs;
  size_t num_outputs = 0;  // shadow_output "output_<i>"
  std::vector<std::string> output_names;
  struct SameTensor {  // an output that is a captured tensor, or an argument, itself
    size_t output;
    std::string parameter;  // empty: the argument
    size_t input = 0;
  };
  std::vector<SameTensor> same_tensors;
  // Per output: outputs of one number share memory, others don't; below 0: it may be an argument's or captured
  // tensor's.
  std::vector<int> output_memory;
  struct InputWrite {  // an argument that was written in place: shadow_output "write_<input>"
    size_t input;
    std::string output;
  };
  std::vector<InputWrite> input_writes;
  struct NewHistory {       // an argument or captured tensor whose gradient goes back through the program afterwards
    size_t output;          // its elements as an output, after those that the caller asked for
    std::string parameter;  // empty: the argument
    size_t input = 0;
  };
  std::vector<NewHistory> new_histories;
  // Arguments that were one tensor, so that one stands for both.
  std::vector<std::pair<size_t, size_t>> same_inputs;
  struct GradWrite {  // backward() inside the trace: what a leaf's .grad is afterwards
    Tensor leaf;
    std::string output;   // empty: no gradient
    bool zeros = false;   // no gradient, kept as zeros
    bool absent = false;  // the program holds only where there was none before
    int input = -1;       // the leaf is this argument of the call
  };
  std::vector<GradWrite> grad_writes;
  struct GradRead {  // a captured .grad, read anew at every run
    std::string parameter;
    Tensor leaf;
  };
  std::vector<GradRead> grad_reads;
  std::vector<DimGuard> guards;
  std::vector<bool> output_stop_gradient;
  std::vector<bool> output_spent;  // backward() inside the trace freed the graph that it came from
};

}  // namespace paddle::dispatch
