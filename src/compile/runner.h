// Runner: a captured program, compiled, called like a function. With gradients on, one call is one node of the eager
// graph.
#pragma once
#include <map>
#include <mutex>

#include "compile/pipeline.h"
#include "dispatch/trace.h"

namespace paddle::compile {

class TrainingProgram;

// One decision of fusion, as text: operators with their source lines.
struct FusionReport {
  bool joined;
  std::string first, second, why;
};

// A group of operations that became one function, for looking at.
struct GroupReport {
  struct Step {
    std::string name, text;
    double milliseconds;
  };
  std::string operations;   // as text
  std::string assembly;     // empty: it runs by kernels
  std::string why_kernels;  // what kept it from being compiled
  std::vector<Step> steps;  // of the compiler, those that changed something
  // Why operations of the group were joined, and why not with their neighbours outside.
  std::vector<FusionReport> decisions;
  struct Kernel {
    std::string name;
    std::string why;                 // what keeps it apart from the kernels before
    int64_t bytes = -1, flops = -1;  // -1: sizes are known when it runs
  };
  std::vector<Kernel> kernels;
  int64_t bytes = -1;  // read and written, at the sizes of the capture; -1: a size isn't constant
  int64_t flops = -1;
};

class Runner : public std::enable_shared_from_this<Runner> {
 public:
  Runner(dispatch::CapturedProgram captured, PipelineOptions options);
  ~Runner();

  // One tensor for each input of the program; the outputs. Writes to captured tensors and arguments have happened
  // afterwards.
  Tensors run(std::span<const Tensor> inputs);
  // Do the sizes fit: the constants in the inputs' shapes, and the guards that the capture recorded.
  bool accepts(std::span<const Shape> shapes) const;
  // Does the program say what eager would do with tensors that share memory as these do with each other and with
  // captured ones, and do captured tensors need gradients as they did? (runner_memory.cc)
  bool fits(std::span<const Tensor> inputs) const;
  // The capture knew of all memory that these share; the program is for others that share it alike.
  // Captured tensors that share memory with some of these.
  Tensors sharing(std::span<const Tensor> inputs) const;
  void assume_shared_as(std::span<const Tensor> inputs) { shared_ = shared_memory(inputs); }
  // Do leaves have a .grad, or none, as they had when the program was captured?
  bool grads_fit() const;

  const dispatch::CapturedProgram& captured() const { return captured_; }
  const std::vector<std::string>& parameter_names() const { return parameter_names_; }
  const Tensors& parameters() const { return parameters_; }
  // Before the first run: false runs operator by operator.
  void set_cinn(bool on) { options_.cinn = latest_.cinn = on; }
  // What the program is after each step, with the step's name: captured, sharded, decomposed, fused. Inputs lie as
  // those of the latest run did.
  std::vector<std::pair<std::string, std::string>> stages();
  // apart: filled with what fusion decided about operations that stand in no group.
  std::vector<GroupReport> groups(std::vector<FusionReport>* apart = nullptr);
  // What is in memory and when, of each program that was compiled: whole, or forward and backward parts.
  std::vector<executor::MemoryReport> memory();
  // What forward parts keep for the backward part, and what that computes again, and why.
  std::vector<CutRow> cut();
  std::string compiled_text();  // of the forward program without gradients, after every pass

 private:
  friend class TrainingProgram;
  std::vector<Tensor> parameters_now() const;
  void write_back(std::span<const Tensor> results, std::span<const Tensor> inputs) const;
  bool written(const Tensor& t, std::span<const Tensor> inputs) const;
  void give_own_memory(std::span<Tensor> results, std::span<const Tensor> inputs) const;
  struct Shared {  // by an input and another one, or a parameter (counted after the inputs)
    size_t input, other;
    bool same;  // one tensor
    int64_t offset;
    Strides strides, other_strides;
    bool operator==(const Shared&) const = default;
  };
  std::vector<Shared> shared_memory(std::span<const Tensor> inputs) const;
  bool writes_apart(std::span<const Tensor> inputs) const;
  bool stops_fit(std::span<const Tensor> inputs) const;
  // Results for the caller; histories go to the tensors from outside that they are of.
  Tensors settled(Tensors outs, std::span<const Tensor> inputs, bool recorded) const;
  // write_back(), with the results for the caller set apart from what it writes.
  void hand_out(std::span<Tensor> results, std::span<const Tensor> inputs) const;
  // The captured tensor or argument that output i is itself; undefined: none.
  Tensor same_as(size_t i, std::span<const Tensor> inputs) const;
  PipelineOptions options_for(std::span<const Tensor> inputs);
  Place place_for(std::span<const Tensor> inputs) const;
  bool taken_in_parts(size_t input) const;
  std::vector<uint8_t> needs_grad(std::span<const Tensor> inputs) const;
  void set_spent(std::span<const Tensor> inputs, std::span<Tensor> outs) const;
  struct Plain {
    std::shared_ptr<executor::Executable> program;
    distributed::Layouts stayed;  // results on a mesh of only some of the ranks
  };
  Plain prepare_guarded(PipelineOptions options);
  const Plain& plain(const PipelineOptions& options);
  Tensor output(size_t i, Tensor result, const distributed::Layouts& stayed) const;
  Plain plain_for(std::span<const Tensor> inputs);
  Tensors run_plain(std::span<const Tensor> inputs);
  std::shared_ptr<TrainingProgram> training_for(std::span<const Tensor> inputs, const std::vector<uint8_t>& needs);
  Tensors run_recorded(std::span<const Tensor> inputs, const std::vector<uint8_t>& needs);

  dispatch::CapturedProgram captured_;
  PipelineOptions options_;
  std::vector<std::string> parameter_names_;
  Tensors parameters_;
  std::vector<uint8_t> parameter_stops_;  // when the program was captured
  std::optional<std::vector<Shared>> shared_;
  std::vector<uint8_t> input_written_;     // per input; empty: none is
  std::vector<int> grad_leaf_;             // per parameter: index into captured_.grad_reads, or -1
  std::vector<std::string> result_names_;  // shadow_outputs, then parameters written
  struct ParameterWrite {
    size_t result, parameter;
  };
  std::vector<ParameterWrite> parameter_writes_;
  std::vector<uint8_t> parameter_written_;  // per parameter; empty: none is
  // Per output: no gradient passes it, because it stops there or because its graph was freed while it was captured.
  std::vector<bool> stops_;
  bool any_spent_ = false, flows_ = false;
  mutable std::mutex mutex_;
  PipelineOptions latest_;              // of the latest run
  std::map<std::string, Plain> plain_;  // by place and how the inputs lie
  const Plain* plain_latest_ =
      nullptr;  // of plain_: what the latest run took, for latest_, where no input was distributed
  std::vector<Shape> output_shapes_;
  std::map<std::pair<std::vector<uint8_t>, std::string>, std::shared_ptr<TrainingProgram>>
      training_;  // also by which inputs and parameters need a gradient
  // The same for gradients: the latest run's, and what was needed there.
  std::shared_ptr<TrainingProgram> training_latest_;
  std::vector<uint8_t> needs_latest_;
};

}  // namespace paddle::compile
