#include "compile/training.h"

#include <functional>
#include <unordered_set>

#include "autograd/differentiate.h"
#include "base/flags.h"
#include "compile/decompose.h"
#include "dispatch/state.h"
#include "distributed/partition/partition.h"
#include "passes/passes.h"
#include "pir/clone.h"
#include "pir/custom_gradient.h"
#include "pir/dominance.h"
#include "spmd/dist_payload.h"
#include "spmd/reshard_plan.h"

namespace paddle::compile {
namespace {

using pir::Operation;
using pir::Value;

bool is_source(const Operation& op) { return op.is("pd_op.data") || op.is("builtin.parameter"); }

// Made from nothing: made again rather than kept.
bool is_constant(const Operation& op) {
  return op.num_operands() == 0 && op.num_regions() == 0 && !is_source(op) && !op.has(kRandom | pir::kKeep);
}

int64_t bytes_of(Value v) {
  if (!v.type().has_shape()) return 0;
  int64_t n = static_cast<int64_t>(size_of(v.dtype()));
  for (Dim d : v.shape()) n *= d.hint();
  return n;
}

// Cheap to compute again: moves or converts elements, or one pass of arithmetic that fusion makes free.
bool is_cheap(const Operation& op) {
  if (!op.info() || op.num_regions() || op.has(kRandom | pir::kKeep | kDataDependentShape)) return false;
  return op.has(kView | kElementwise | kBroadcast) || op.info()->has(kView | kElementwise | kIndexMap);
}

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
  if (!restore()) build(program, needs, outputs, stop);
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
  keep(forward, asked);
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

namespace {

// Each of `extra` goes right before the first that reads it: what is made again lives no longer than it must.
template <class OperandsOf>
void place_before_use(std::vector<Operation*>& ops, const std::vector<Operation*>& extra, OperandsOf&& operands_of) {
  std::unordered_set<Operation*> waiting(extra.begin(), extra.end());
  std::vector<Operation*> placed;
  std::function<void(Operation*)> place = [&](Operation* op) {
    operands_of(*op, [&](Value v) {
      Operation* maker = v.is_result() ? v.defining_op() : nullptr;
      if (maker && waiting.erase(maker)) place(maker);
    });
    placed.push_back(op);
  };
  for (Operation* op : ops) place(op);
  ops = std::move(placed);
}

}  // namespace

// Values of the forward part that the backward part reads: fewest bytes, with what is cheap made again.
std::vector<Value> TrainingProgram::choose_kept(const pir::Program& joint, std::vector<Operation*>& backward_ops) {
  std::unordered_set<Operation*> later(backward_ops.begin(), backward_ops.end());
  std::vector<Value> order;
  std::unordered_set<Value> wanted;
  auto want = [&](Value v) {
    Operation* maker = v.defining_op();
    if (later.count(maker)) return;
    if (wanted.insert(v).second) order.push_back(v);
  };
  auto operands_of = [&](Operation& op, auto&& f) {
    for (Value v : op.operands())
      if (v) f(v);
    if (op.num_regions())
      for (Value v : pir::captured_values(op)) f(v);
  };
  for (Operation* op : backward_ops) operands_of(*op, want);
  // Latest first: making one value again may ask for earlier ones. Lists and constants are always made again; a cheap
  // operation is if all that it reads is there anyway.
  std::vector<Operation*> again;
  bool recompute = options_.cinn && flags::get_bool("use_cinn");
  std::vector<Operation*> all = joint.block().ops();
  for (size_t i = all.size(); i-- > 0;) {
    Operation& op = *all[i];
    if (later.count(&op)) continue;
    bool used = false;
    for (Value v : op.results_vector()) used |= v.type() && wanted.count(v);
    if (!used || is_source(op)) continue;
    bool list = op.is("builtin.combine");
    bool forced = is_constant(op) || list;
    if (!forced) {
      if (!recompute || !is_cheap(op)) continue;
      bool there = true;
      for (Value v : op.operands()) {
        if (!v) continue;
        Operation* maker = v.is_result() ? v.defining_op() : nullptr;
        bool have =
            wanted.count(v) || !maker || is_source(*maker) || is_constant(*maker) || maker->is("builtin.combine");
        there &= have;
      }
      if (!there || op.num_results() != 1 || bytes_of(op.result()) == 0) continue;
    }
    again.push_back(&op);
    for (Value v : op.results_vector()) wanted.erase(v);
    operands_of(op, [&](Value v) {
      if (wanted.insert(v).second) order.push_back(v);
    });
  }
  place_before_use(backward_ops, again, operands_of);
  std::vector<Value> kept;
  for (Value v : order)
    if (wanted.count(v) && std::find(kept.begin(), kept.end(), v) == kept.end()) kept.push_back(v);
  return kept;
}

Finished TrainingProgram::cut(pir::Program joint, Operation* last_forward) {
  passes::remove_dead_code(joint.module());
  // Cut after partitioning: what is kept for the backward part are this rank's parts.
  if (!inputs_.empty() || distributed::is_distributed(joint)) {
    distributed::PartitionOptions options;
    options.inputs = inputs_;
    options.stayed = &stayed_;
    for (size_t k = 0; k < grad_attrs_.size(); ++k)
      if (grad_attrs_[k]) options.results["in_grad_" + std::to_string(k)] = grad_attrs_[k];
    const Operation* mark = last_forward;
    options.mark = &mark;
    joint = distributed::partition(joint, options);
    last_forward = const_cast<Operation*>(mark);
  }
  pir::Block& block = joint.block();
  std::vector<Operation*> forward_ops, backward_ops;
  bool after = false;
  for (Operation& op : block) {
    bool grad = op.is("pd_op.data") && op.attr("name").as_string().starts_with("out_grad_");
    (after || grad ? backward_ops : forward_ops).push_back(&op);
    after |= &op == last_forward;
  }
  // Parameters that a gradient captured stand among the forward's: both parts may read them.
  std::vector<Operation*> own(backward_ops);
  kept_ = choose_kept(joint, backward_ops);

  // Sizes that the backward part reads must follow from the shapes of what it gets.
  std::vector<Dim> symbols, known;
  auto note = [](Value v, std::vector<Dim>& out) {
    if (v.type() && v.type().has_shape())
      for (Dim d : v.shape()) symbols_of(d, out);
  };
  for (Operation* op : backward_ops)
    op->walk([&](Operation& inner) {
      for (Value v : inner.results_vector()) note(v, symbols);
    });
  auto pure = [&](Value v) {
    if (v.type() && v.type().has_shape())
      for (Dim d : v.shape())
        if (d.is_symbolic() && node_of(d).op == DimOp::kSymbol) known.push_back(d);
  };
  for (Value v : kept_) pure(v);
  for (Operation* op : backward_ops)
    if (op->is("pd_op.data") || op->has(kDataDependentShape))
      for (Value v : op->results_vector()) pure(v);
  for (Dim s : symbols) {
    if (std::find(known.begin(), known.end(), s) != known.end()) continue;
    for (Operation* op : forward_ops) {
      bool found = false;
      for (Value v : op->results_vector()) {
        if (!v.type() || v.type().kind() != pir::TypeKind::kTensor) continue;
        for (Dim d : v.shape()) found |= d == s;
        if (found) {
          kept_.push_back(v);
          pure(v);
          break;
        }
      }
      if (found) break;
    }
  }

  // Backward: its own program.
  {
    pir::Program p;
    pir::ValueMap map;
    pir::Builder b(p);
    for (size_t k = 0; k < kept_.size(); ++k) {
      pir::Type t = kept_[k].type();
      bool tensor = t.has_shape();  // else a stack
      Operation* in = b.create("pd_op.data", {},
                               {{"name", pir::Attribute::string("keep_" + std::to_string(k))},
                                {"shape", pir::Attribute::ints(tensor ? view(t.shape()) : std::span<const Dim>())},
                                {"dtype", pir::Attribute::dtype(tensor ? t.dtype() : DType::kUndefined)},
                                {"place", pir::Attribute::undefined_place()}},
                               {t});
      map[kept_[k]] = in->result();
    }
    // The gradients' inputs come next, whatever stood before them.
    for (Operation* op : backward_ops)
      if (op->is("pd_op.data")) p.block().push_back(pir::clone_op(*op, map));
    for (Operation* op : backward_ops)
      if (!op->is("pd_op.data")) p.block().push_back(pir::clone_op(*op, map));
    for (auto& [name, tensor] : joint.parameters()) p.set_parameter(name, tensor);
    backward_program_ = std::move(p);
  }
  // Forward: what is left, with what is kept among its results.
  for (size_t i = own.size(); i-- > 0;) own[i]->erase();
  pir::Builder b(joint);
  for (size_t k = 0; k < kept_.size(); ++k) b.shadow_output("keep_" + std::to_string(k), kept_[k]);
  passes::remove_dead_code(joint.module());
  num_kept_ = kept_.size();
  kept_.clear();
  return finish(std::move(joint), options_);
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
