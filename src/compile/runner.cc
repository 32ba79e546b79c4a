#include "compile/runner.h"

#include <algorithm>

#include "api/ops.h"
#include "autograd/accumulate.h"
#include "compile/decompose.h"
#include "compile/interpret.h"
#include "compile/runner_parts.h"
#include "compile/training.h"
#include "device/default_place.h"
#include "dispatch/eager.h"
#include "dispatch/overlap.h"
#include "dispatch/state.h"
#include "distributed/environment.h"
#include "distributed/partition/partition.h"
#include "distributed/reshard.h"
#include "executor/bundle.h"
#include "passes/passes.h"
#include "spmd/attr_text.h"
#include "spmd/dist_payload.h"

namespace paddle::compile {
bool any_dist(std::span<const Tensor> list) {
  return std::any_of(list.begin(), list.end(), [](const Tensor& t) { return t.is_dist(); });
}

Tensor handle_of(const Tensor& t) {
  Tensor alias(TensorImpl::make());
  alias.become(t);
  alias->grad_fn = nullptr;
  alias->bits &= static_cast<uint8_t>(~kNeedsGrad);
  return alias;
}

// A program that was partitioned reads and writes this rank's part of a distributed tensor.
Tensors here(std::span<const Tensor> list) {
  Tensors parts;
  for (const Tensor& t : list) parts.push_back(distributed::local_part(t));
  return parts;
}

// Weights that a program writes, it writes at every run: a step of training. Buffers (caches, statistics) may be.
bool keeps_weights(const pir::Program& program) {
  std::vector<std::string> written;
  for (const pir::Operation& op : program.block())
    if (op.is("builtin.set_parameter")) written.push_back(op.attr("parameter_name").as_string());
  return std::all_of(written.begin(), written.end(), [&](const std::string& name) {
    const Tensor t = program.parameter(name);
    return t.defined() && t.stop_gradient();
  });
}

std::string key_of(const PipelineOptions& options) {
  std::string key = fmt::format("{}:{};", options.place.kind, options.place.index);
  for (auto& [name, attr] : options.inputs) key += name + "=" + spmd::encode(*attr) + ";";
  return key;
}

Runner::Runner(dispatch::CapturedProgram captured, PipelineOptions options)
    : captured_(std::move(captured)), options_(options), latest_(options) {
  passes::drop_unchanged_writes(captured_.program.module());
  for (pir::Operation& op : captured_.program.block()) {
    if (op.is("builtin.parameter")) {
      parameter_names_.push_back(op.attr("parameter_name").as_string());
      parameters_.push_back(captured_.program.parameter(parameter_names_.back()));
      parameter_stops_.push_back(op.result().stop_gradient());
    }
    if (!op.is("builtin.shadow_output")) continue;
    result_names_.push_back(op.attr("output_name").as_string());
    output_shapes_.push_back(op.operand(0).type().has_shape() ? op.operand(0).shape() : Shape());
  }
  size_t at = result_names_.size();
  for (pir::Operation& op : captured_.program.block()) {
    if (!op.is("builtin.set_parameter")) continue;
    const std::string& name = op.attr("parameter_name").as_string();
    auto it = std::find(parameter_names_.begin(), parameter_names_.end(), name);
    PD_INVARIANT(it != parameter_names_.end());
    parameter_writes_.push_back({at++, static_cast<size_t>(it - parameter_names_.begin())});
    parameter_written_.resize(parameters_.size());
    parameter_written_[parameter_writes_.back().parameter] = 1;
  }
  for (const auto& w : captured_.input_writes) {
    input_written_.resize(captured_.inputs.size());
    input_written_[w.input] = 1;
  }
  stops_ = captured_.output_stop_gradient;
  for (size_t i = 0; i < captured_.output_spent.size(); ++i) {
    stops_[i] = stops_[i] || captured_.output_spent[i];
    any_spent_ |= captured_.output_spent[i];
  }
  flows_ = std::find(stops_.begin(), stops_.end(), false) != stops_.end();
  grad_leaf_.assign(parameters_.size(), -1);
  for (size_t g = 0; g < captured_.grad_reads.size(); ++g)
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (parameter_names_[i] == captured_.grad_reads[g].parameter) grad_leaf_[i] = static_cast<int>(g);
}

Runner::~Runner() = default;

bool Runner::accepts(std::span<const Shape> shapes) const {
  std::map<int64_t, int64_t> values;
  if (shapes.size() != captured_.inputs.size()) return false;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Shape& expected = captured_.inputs[i].shape;
    if (expected.size() != shapes[i].size()) return false;
    for (size_t k = 0; k < expected.size(); ++k) {
      int64_t size = shapes[i][k].value();
      if (expected[k].is_const()) {
        if (expected[k].value() != size) return false;
        continue;
      }
      if (size < 2 && has_hint(expected[k])) return false;  // 0 and 1 are constants
      values[node_of(expected[k]).value] = size;
    }
  }
  bool known = true;
  auto value = [&](int64_t id) -> int64_t {
    auto it = values.find(id);
    if (it == values.end()) known = false;
    return it == values.end() ? 2 : it->second;
  };
  for (const DimGuard& g : captured_.guards) {
    known = true;
    int64_t a = evaluate(g.a, value), b = evaluate(g.b, value);
    if (!known) continue;  // about a size that only running tells
    bool ok = g.rel == DimRel::kEq ? a == b : g.rel == DimRel::kNe ? a != b : g.rel == DimRel::kLt ? a < b : a <= b;
    if (!ok) return false;
  }
  return true;
}

bool Runner::grads_fit() const {
  auto there = [](const Tensor& leaf) {
    autograd::Meta* m = autograd::find_meta(leaf);
    return m && m->grad.defined() && !autograd::cleared_to_zeros(*m);
  };
  for (const auto& w : captured_.grad_writes)
    if (w.absent && w.input < 0 && there(w.leaf)) return false;
  for (const auto& r : captured_.grad_reads) {
    autograd::Meta* m = autograd::find_meta(r.leaf);
    if (!m || !m->grad.defined()) return false;
  }
  return true;
}

std::vector<Tensor> Runner::parameters_now() const {
  std::vector<Tensor> out(parameters_);
  for (size_t i = 0; i < out.size(); ++i) {
    if (grad_leaf_[i] < 0) continue;
    const Tensor& leaf = captured_.grad_reads[static_cast<size_t>(grad_leaf_[i])].leaf;
    if (autograd::Meta* m = autograd::find_meta(leaf); m && m->grad.defined()) out[i] = m->grad;
  }
  return out;
}

void Runner::write_back(std::span<const Tensor> results, std::span<const Tensor> inputs) const {
  auto result = [&](const std::string& name) -> const Tensor& {
    auto it = std::find(result_names_.begin(), result_names_.end(), name);
    return results[static_cast<size_t>(it - result_names_.begin())];
  };
  std::vector<std::pair<Tensor, Tensor>> writes;  // what is written, and with what
  auto add = [&](const Tensor& written, const Tensor& value) {
    if (written.is_dist() && !spmd::dist_payload(written).local.defined()) return;  // on another mesh
    Tensor target = distributed::local_part(written);
    if (dispatch::coincide(target, value)) return;  // written in place
    writes.emplace_back(std::move(target), value);
  };
  for (const ParameterWrite& w : parameter_writes_) add(parameters_[w.parameter], results[w.result]);
  for (const auto& w : captured_.input_writes) add(inputs[w.input], result(w.output));
  // A value that lies where another is to be written: two that change places.
  for (size_t i = 1; i < writes.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (writes[k].first->storage == writes[i].second->storage) {
        Tensor copy = Tensor::empty(writes[i].second.shape(), writes[i].second.dtype(), writes[i].second.place());
        dispatch::copy_into(copy, writes[i].second);
        writes[i].second = copy;
      }
  for (auto& [target, value] : writes) {
    if (target.shape() == value.shape() && target.dtype() == value.dtype())
      dispatch::copy_into(target, value);
    else
      target.become(value);
  }
  dispatch::GradMode off(false);
  for (const auto& w : captured_.grad_writes) {
    const Tensor& leaf = w.input < 0 ? w.leaf : inputs[static_cast<size_t>(w.input)];
    if (w.input >= 0 && (leaf.stop_gradient() || leaf->grad_fn))
      continue;  // what isn't a leaf in this call has no .grad
    autograd::Meta& m = autograd::meta_of(leaf);
    const bool adds = w.input >= 0 && w.absent && m.grad.defined() && !autograd::cleared_to_zeros(m);
    if (!w.zeros) {
      Tensor g = w.output.empty() ? Tensor() : handle_of(result(w.output));
      m.grad = adds && g.defined() ? ops::add(m.grad, g) : g;
      m.zeros = nullptr;
    } else if (!autograd::cleared_to_zeros(m)) {
      autograd::clear_to_zeros(leaf);
    }
  }
}

// Will write_back() overwrite this tensor's memory?
bool Runner::written(const Tensor& t, std::span<const Tensor> inputs) const {
  for (const ParameterWrite& w : parameter_writes_)
    if (parameters_[w.parameter]->storage == t->storage) return true;
  for (const auto& w : captured_.input_writes)
    if (inputs[w.input]->storage == t->storage) return true;
  return false;
}

Tensor Runner::same_as(size_t i, std::span<const Tensor> inputs) const {
  for (const auto& s : captured_.same_tensors) {
    if (s.output != i) continue;
    if (s.parameter.empty()) return inputs[s.input];
    auto it = std::find(parameter_names_.begin(), parameter_names_.end(), s.parameter);
    return it == parameter_names_.end() ? Tensor() : parameters_[static_cast<size_t>(it - parameter_names_.begin())];
  }
  return {};
}

// Results for the caller that lie where write_back() writes, now or in a later call, become copies; but for those that
// are such a tensor: they mean what it means.
void Runner::hand_out(std::span<Tensor> results, std::span<const Tensor> inputs) const {
  give_own_memory(results, inputs);
  const bool writes = !parameter_writes_.empty() || !captured_.input_writes.empty();
  std::vector<Tensor> same(captured_.num_outputs);
  for (size_t i = 0; writes && i < captured_.num_outputs; ++i) {
    if (same[i] = same_as(i, inputs); same[i].defined() && same[i].is_dense()) continue;
    same[i] = Tensor();
    executor::for_each_held(results[i], [&](Tensor& t) {
      if (!t.is_dense() || !written(t, inputs)) return;
      Tensor copy = Tensor::empty(t.shape(), t.dtype(), t.place());
      dispatch::copy_into(copy, t);
      t = copy;
    });
  }
  if (writes || !captured_.grad_writes.empty()) write_back(results, inputs);
  for (size_t i = 0; i < same.size(); ++i)
    if (same[i].defined()) results[i] = handle_of(same[i]);
}

// Compiles; what the passes assumed about sizes joins the guards.
Runner::Plain Runner::prepare_guarded(PipelineOptions options) {
  dispatch::StackScope scope;
  DimGuardSink sink(&captured_.guards);
  Plain made;
  options.stayed = &made.stayed;
  options.keep_weights = keeps_weights(captured_.program);
  made.program = prepare(captured_.program, options);
  return made;
}

// The program for inputs that lie so. Called with the lock.
const Runner::Plain& Runner::plain(const PipelineOptions& options) {
  Plain& made = plain_[key_of(options)];
  if (!made.program) made = prepare_guarded(options);
  return made;
}

// A result as the caller gets it: one that stayed on its mesh is distributed there.
Tensor Runner::output(size_t i, Tensor result, const distributed::Layouts& stayed) const {
  auto it = stayed.find(result_names_[i]);
  if (it == stayed.end()) return result;
  bool has_part = it->second->mesh.contains(distributed::Environment::current().rank());
  DType dtype = result.dtype();
  Place place = result.place();
  return spmd::make_dist(output_shapes_[i], dtype, place, it->second, has_part ? std::move(result) : Tensor());
}

// A program runs where its tensors are; numbers on the CPU don't count, and without any the default place does.
Place Runner::place_for(std::span<const Tensor> inputs) const {
  bool any = false;
  for (std::span<const Tensor> list : {inputs, std::span<const Tensor>(parameters_)})
    for (const Tensor& t : list) {
      if (!t.defined()) continue;
      if (!t.place().is_cpu()) return t.place();
      any |= t.rank() > 0;
    }
  return any ? Place::cpu() : device::default_place();
}

// Where the program runs, and how the distributed inputs lie. Those that the program writes, or whose sizes only a call
// tells, are taken whole.
PipelineOptions Runner::options_for(std::span<const Tensor> inputs) {
  PipelineOptions options = options_;
  options.place = place_for(inputs);
  if (any_dist(inputs)) {
    std::vector<std::string> names;
    for (pir::Operation& op : captured_.program.block())
      if (op.is("pd_op.data")) names.push_back(op.attr("name").as_string());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].is_dist() && taken_in_parts(i)) options.inputs[names.at(i)] = spmd::dist_payload(inputs[i]).attr;
  }
  std::lock_guard lock(mutex_);
  latest_ = options;
  plain_latest_ = nullptr;
  training_latest_ = nullptr;
  return options;
}

bool Runner::taken_in_parts(size_t input) const {
  if (!is_static(view(captured_.inputs[input].shape))) return false;
  return std::none_of(captured_.input_writes.begin(), captured_.input_writes.end(),
                      [&](const auto& w) { return w.input == input; });
}

// The program that serves these inputs.
Runner::Plain Runner::plain_for(std::span<const Tensor> inputs) {
  const bool parts = any_dist(inputs);
  if (!parts) {
    const Place place = place_for(inputs);
    std::lock_guard lock(mutex_);
    if (plain_latest_ && latest_.place == place) return *plain_latest_;
  }
  const PipelineOptions options = options_for(inputs);
  std::lock_guard lock(mutex_);
  const Plain& made = plain(options);
  plain_latest_ = parts ? nullptr : &made;
  return made;
}

Tensors Runner::run_plain(std::span<const Tensor> inputs) {
  const Plain made = plain_for(inputs);
  bool own = !captured_.grad_reads.empty();
  Tensors parts;
  std::span<const Tensor> given = inputs;
  if (any_dist(inputs)) given = parts = here(inputs);
  std::vector<Tensor> results = own ? made.program->run(given, here(parameters_now())) : made.program->run(given);
  hand_out(results, inputs);
  Tensors outs;
  outs.reserve(captured_.num_outputs);
  for (size_t i = 0; i < captured_.num_outputs; ++i) {
    // A handle of its own: the program may return what it was given.
    bool fresh = results[i].impl()->use_count() == 1;
    outs.push_back(output(i, fresh ? std::move(results[i]) : handle_of(results[i]), made.stayed));
    outs.back().set_stop_gradient(true);
  }
  if (any_spent_ && dispatch::state().grad_enabled) set_spent(inputs, outs);
  return settled(std::move(outs), inputs, false);
}

// Which inputs and parameters a gradient would go to.
std::vector<uint8_t> Runner::needs_grad(std::span<const Tensor> inputs) const {
  std::vector<uint8_t> needs(inputs.size() + parameters_.size());
  for (size_t i = 0; i < needs.size(); ++i) {
    const Tensor& t = i < inputs.size() ? inputs[i] : parameters_[i - inputs.size()];
    needs[i] = !t.stop_gradient() && is_inexact(t.dtype());
  }
  return needs;
}

Tensors Runner::run(std::span<const Tensor> inputs) {
  check(inputs.size() == captured_.inputs.size(), ErrorKind::kValue, "[{}] the program expects {} inputs, got {}",
        captured_.name, captured_.inputs.size(), inputs.size());
  auto keeps = [&](size_t i) { return !inputs[i].is_dist() || (!dispatch::tracing() && taken_in_parts(i)); };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (keeps(i)) continue;
    Tensors whole;
    for (size_t k = 0; k < inputs.size(); ++k)
      whole.push_back(keeps(k) ? inputs[k] : ops::reshard(inputs[k], "", spmd::encode(spmd::dist_attr(inputs[k]))));
    return run(whole);
  }
  if (dispatch::tracing()) {
    std::vector<Tensor> outs = interpret(captured_.program, inputs, parameters_now());
    outs.resize(captured_.num_outputs);
    return settled(std::move(outs), inputs, false);
  }
  if (dispatch::state().grad_enabled) {
    std::vector<uint8_t> needs;
    if (flows_) needs = needs_grad(inputs);
    if (std::find(needs.begin(), needs.end(), 1) != needs.end()) return run_recorded(inputs, needs);
  }
  return run_plain(inputs);
}

std::vector<std::pair<std::string, std::string>> Runner::stages() {
  std::vector<std::pair<std::string, std::string>> out;
  pir::Program p = captured_.program.clone();
  dispatch::StackScope scope;
  std::vector<DimGuard> asked;
  DimGuardSink sink(&asked);
  out.emplace_back("captured", p.str());
  PipelineOptions options = latest_;
  options.keep_weights = keeps_weights(captured_.program);
  if (!options.inputs.empty() || distributed::is_distributed(p)) {
    distributed::PartitionOptions partition;
    partition.inputs = std::move(options.inputs);
    options.inputs.clear();
    p = distributed::partition(p, partition);
    out.emplace_back("sharded", p.str());
  }
  decompose(p, DecomposeWhat::kAll);
  out.emplace_back("decomposed", p.str());
  optimise(p, options);
  out.emplace_back("fused", p.str());
  return out;
}

std::string Runner::compiled_text() {
  pir::Program p = captured_.program.clone();
  dispatch::StackScope scope;
  std::vector<DimGuard> asked;
  DimGuardSink sink(&asked);
  PipelineOptions options = latest_;
  options.keep_weights = keeps_weights(captured_.program);
  optimise(p, options);
  return p.str();
}

}  // namespace paddle::compile
