#include "compile/training.h"

#include "autograd/differentiate.h"
#include "compile/decompose.h"
#include "dispatch/state.h"
#include "distributed/partition/partition.h"
#include "passes/passes.h"
#include "pir/custom_gradient.h"
#include "spmd/dist_payload.h"
#include "spmd/reshard_plan.h"

namespace paddle::compile {
namespace {

using pir::Operation;
using pir::Value;

std::string purpose_of(const std::vector<uint8_t>& needs, size_t outputs, const std::vector<bool>& stop) {
  std::string text = fmt::format("training, {} outputs, needs ", outputs);
  for (uint8_t n : needs) text += n ? '1' : '0';
  text += ", stops ";
  for (bool s : stop) text += s ? '1' : '0';
  return text;
}

}  // namespace

TrainingProgram::TrainingProgram(const pir::Program& program, const std::vector<uint8_t>& needs, size_t outputs,
                                 const std::vector<bool>& stop, const PipelineOptions& options)
    : key_(program, options, purpose_of(needs, outputs, stop)),
      tensors_(given_to(program, options)),
      options_(options),
      inputs_(std::move(options_.inputs)) {
  options_.inference = false;
  options_.inputs.clear();  // cut() partitions; what is compiled afterwards is already in parts
  if (options_.cut || !restore()) build(program, needs, outputs, stop);
}

void TrainingProgram::build(const pir::Program& program, const std::vector<uint8_t>& needs, size_t outputs,
                            const std::vector<bool>& stop) {
  std::vector<DimGuard> asked;
  Finished forward;
  {
    DimGuardSink sink(&asked);
    distributed::MeshGroupsAsked groups;
    forward = differentiated(program, needs, outputs, stop);
    forward.groups = groups_ = KeptGroups(groups.list);
    forward.stayed = stayed_;
  }
  if (!options_.cut) keep(forward, asked);
  ask_again(asked);
  forward_ = executable(std::move(forward), options_);
}

// The forward part; the backward part is left in backward_program_.
Finished TrainingProgram::differentiated(const pir::Program& program, const std::vector<uint8_t>& needs, size_t outputs,
                                         const std::vector<bool>& stop) {
  pir::Program joint = program.clone();
  // First, so that it's the operator that is differentiated. Sharded tensors have their rules by the user's operators.
  if (options_.place.is_cpu() && inputs_.empty() && !distributed::is_distributed(joint)) {
    decompose(joint, DecomposeWhat::kContractions);
    passes::fuse_attention(joint.module(), true);
  }
  dispatch::Trace trace("backward", std::move(joint));
  dispatch::StackScope scope(&trace);
  std::vector<Value> sources, results;
  std::vector<Value> data, parameters;
  for (Operation& op : trace.program().block()) {
    if (op.is("pd_op.data")) data.push_back(op.result());
    if (op.is("builtin.parameter")) parameters.push_back(op.result());
    if (op.is("builtin.shadow_output")) results.push_back(op.operand(0));
  }
  sources = data;
  sources.insert(sources.end(), parameters.begin(), parameters.end());
  Tensors ins, outs, out_grads;
  std::vector<size_t> in_index;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!needs[i]) continue;
    sources[i].set_stop_gradient(false);
    ins.push_back(trace.tensor_of(sources[i], false));
    in_index.push_back(i);
  }
  Operation* last_forward = trace.program().block().back();
  while (last_forward && pir::is_custom_gradient(*last_forward)) last_forward = last_forward->prev();
  for (size_t i = 0; i < outputs; ++i) {
    Value v = results[i];
    if (stop[i] || !is_inexact(v.dtype())) continue;
    outs.push_back(trace.tensor_of(v, false));
    out_grads.push_back(trace.add_input("out_grad_" + std::to_string(i), v.shape(), v.dtype(), true));
    grad_inputs_.push_back(i);
  }
  Tensors grads = autograd::differentiate(trace, outs, out_grads, ins, {});
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) continue;
    trace.builder().shadow_output("in_grad_" + std::to_string(grad_results_.size()), trace.value_of(grads[i]));
    grad_results_.push_back(in_index[i]);
    grad_attrs_.push_back(nullptr);
    if (in_index[i] < data.size()) {
      auto given = inputs_.find(data[in_index[i]].defining_op()->attr("name").as_string());
      if (given != inputs_.end())
        grad_attrs_.back() = std::make_shared<spmd::DistAttr>(spmd::gradient_attr(*given->second));
      continue;
    }
    Operation* parameter = parameters[in_index[i] - data.size()].defining_op();
    Tensor t = program.parameter(parameter->attr("parameter_name").as_string());
    if (t.defined() && t.is_dist()) grad_attrs_.back() = spmd::dist_payload(t).attr;
  }
  pir::drop_custom_gradients(trace.program().module());
  return cut(trace.take_program(), last_forward);
}

const executor::Executable& TrainingProgram::backward() {
  std::lock_guard lock(mutex_);
  if (!backward_) {
    dispatch::StackScope scope;
    std::vector<DimGuard>
        asked;  // the forward part has run for these sizes: what holds for them is what the guards let pass
    DimGuardSink sink(&asked);
    backward_ = executable(finished_backward(), options_);
  }
  return *backward_;
}

}  // namespace paddle::compile
