// TrainingProgram: a program cut in two. The forward part returns, besides its results, what the backward part needs;
// the backward part is compiled at the first backward.
#pragma once
#include <mutex>

#include "compile/pipeline.h"
#include "compile/program_cache.h"
#include "dispatch/trace.h"
#include "spmd/placement.h"

namespace paddle::compile {

class TrainingProgram {
 public:
  // needs: per pd_op.data, then per builtin.parameter, whether a gradient is wanted. `outputs`: how many shadow_outputs
  // are results that a gradient may come to; `stop` says which of them take none. NotImplementedError where the program
  // holds an operation whose gradient can't be put into a program.
  TrainingProgram(const pir::Program& program, const std::vector<uint8_t>& needs, size_t outputs,
                  const std::vector<bool>& stop, const PipelineOptions& options);

  const executor::Executable& forward() const { return *forward_; }
  size_t num_kept() const { return num_kept_; }  // the forward's last shadow_outputs, "keep_<k>"
  // Whether kept value k may lie in memory that isn't ours: a function of the process made it.
  bool from_outside(size_t k) const { return k < from_outside_.size() && from_outside_[k]; }
  const executor::Executable& backward();

  // How results lie that stay on a mesh of only some of the ranks.
  const distributed::Layouts& stayed() const { return stayed_; }

  // Which output's gradient each of the backward's last inputs is; and which of `needs` each of its results belongs to.
  const std::vector<size_t>& grad_inputs() const { return grad_inputs_; }
  const std::vector<size_t>& grad_results() const { return grad_results_; }
  // How each of those results lies where what it belongs to is distributed: this rank's part of it is what comes out.
  // Else null.
  const std::vector<std::shared_ptr<const spmd::DistAttr>>& grad_attrs() const { return grad_attrs_; }

 private:
  void build(const pir::Program& program, const std::vector<uint8_t>& needs, size_t outputs,
             const std::vector<bool>& stop);
  Finished differentiated(const pir::Program& program, const std::vector<uint8_t>& needs, size_t outputs,
                          const std::vector<bool>& stop);

  // ---- training_cut.cc
  pir::Program in_parts(pir::Program joint, pir::Operation*& last_forward);  // where it is distributed
  Finished cut(pir::Program joint, pir::Operation* last_forward);

  // ---- training_cache.cc: both parts on disk
  bool restore();
  Finished finished_backward();
  void keep(const Finished& forward, std::span<const DimGuard> guards) const;

  ProgramKey key_;
  NamedTensors tensors_;  // of the captured program
  PipelineOptions options_;
  distributed::Layouts inputs_, stayed_;
  std::shared_ptr<executor::Executable> forward_, backward_;
  pir::Program backward_program_;
  std::string backward_bytes_;  // else: the program as it was kept, to be read when it is needed
  KeptGroups groups_;           // of both parts
  std::mutex mutex_;
  size_t num_kept_ = 0;
  std::vector<bool> from_outside_;  // empty: none (programs that call functions of the process aren't kept on disk)
  std::vector<size_t> grad_inputs_, grad_results_;
  std::vector<std::shared_ptr<const spmd::DistAttr>> grad_attrs_;
};

}  // namespace paddle::compile
