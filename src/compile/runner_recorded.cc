// Runner: a call with gradients, as one node of the eager graph.
#include <algorithm>

#include "api/ops.h"
#include "autograd/accumulate.h"
#include "autograd/engine.h"
#include "autograd/node.h"
#include "compile/interpret.h"
#include "compile/runner_parts.h"
#include "compile/training.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"
#include "distributed/environment.h"
#include "distributed/reshard.h"
#include "executor/bundle.h"
#include "spmd/dist_payload.h"
#include "tensor/shown_shape.h"

namespace paddle::compile {
namespace {

// What a forward part keeps: a tensor, or a bundle of those that loops kept. The versions are those of each tensor.
struct Saved {
  Tensor tensor;
  std::vector<uint32_t> versions;
  Ref<Storage> lent;  // memory that somebody else may look at without our knowing: never given up

  Saved(Tensor t, bool from_outside) : tensor(std::move(t)) {
    executor::for_each_held(tensor, [&](Tensor& x) { versions.push_back(version_of(x)); });
    if (from_outside) lent = tensor->storage;
  }
  static uint32_t version_of(const Tensor& t) { return t.is_dense() ? t->storage->version() : 0; }
};

[[noreturn]] void fail_as_freed(const std::string& program) {
  fail(ErrorKind::kRuntime,
       "[{}] this part of the graph was run backward already and its saved tensors are freed; pass retain_graph=True "
       "to the first backward to go through it again",
       program);
}

bool lies_in(std::span<const Tensor> list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Tensor& x) { return x.defined() && x->storage && x->storage == t->storage; });
}

// One call of a program with gradients.
class ProgramNode final : public autograd::Node {
 public:
  std::shared_ptr<Runner> runner;
  std::shared_ptr<TrainingProgram> training;  // null: the eager route
  std::vector<Saved> kept;
  std::vector<size_t> edge_of_source;  // per source (inputs, then parameters): its edge, or none
  Tensors inputs, parameters;          // with their histories
  std::vector<Ref<RefCounted>> histories;
  RandomKey key;              // the generator before the call
  executor::DrawnKeys drawn;  // in the forward part, for what is computed again
  std::vector<uint8_t> needs;
  size_t num_user_outputs = 0;
  bool released = false, last = false;

  std::string name() const override { return runner->captured().name + "_grad"; }

  void release_saved() override {
    released = true;
    kept.clear();
    inputs.clear();
    parameters.clear();
  }

  void give_up_saved() override { last = true; }

  Tensors apply(Tensors&& out_grads, bool create_graph) override {
    if (released) fail_as_freed(runner->captured().name);
    if (create_graph || !training) return by_eager_route(out_grads, create_graph);
    for (Saved& s : kept) {
      size_t at = 0;
      executor::for_each_held(s.tensor, [&](Tensor& t) {
        uint32_t now = Saved::version_of(t), then = s.versions[at++];
        check(now == then, ErrorKind::kRuntime,
              "[{}] a tensor of shape {} that its gradient needs was overwritten by an in-place operator: it is at "
              "version {}, expected {}",
              runner->captured().name, shown(view(t.shape())), now, then);
      });
    }
    Tensors args;
    for (Saved& s : kept) args.push_back(last ? std::move(s.tensor) : s.tensor);
    released = last;
    for (size_t i : training->grad_inputs()) {
      Tensor g = std::move(out_grads[i]);
      if (!g.defined()) {
        dispatch::GradMode off(false);
        g = ops::full(output_metas[i].shape, Scalar(0.0), output_metas[i].dtype);
      } else if (g.is_dist()) {
        g = seed_of(g);
      }
      args.push_back(std::move(g));
    }
    const executor::Executable& backward = training->backward();
    std::vector<Tensor> results =
        last ? backward.consume(std::move(args), &drawn) : backward.run(args, {}, nullptr, &drawn);
    Tensors grads(edges.size());
    const auto& sources = training->grad_results();
    for (size_t k = 0; k < sources.size(); ++k) {
      Tensor& g = grads[edge_of_source[sources[k]]];
      g = results[k];
      if (const auto& attr = training->grad_attrs()[k]) {
        const Tensor& of = sources[k] < inputs.size() ? inputs[sources[k]] : parameters[sources[k] - inputs.size()];
        bool has_part = attr->mesh.contains(distributed::Environment::current().rank());
        g = spmd::make_dist(of.shape(), of.dtype(), of.place(), attr, has_part ? g : Tensor());
      }
    }
    return grads;
  }

 private:
  // The gradient of a result, whole as the program takes it. Where its mesh is elsewhere nothing reads it.
  static Tensor seed_of(const Tensor& g) {
    dispatch::GradMode off(false);
    if (spmd::dist_payload(g).local.defined()) return distributed::whole_value(g);
    return ops::full(g.shape(), Scalar(0.0), g.dtype());
  }

  // The operations once more, recorded by the tape; then its gradient.
  Tensors by_eager_route(const Tensors& out_grads, bool create_graph) {
    Generator replay;
    replay.set_state(key);
    Tensors ins = inputs, params = parameters, wanted;
    std::vector<size_t> edge;
    size_t h = 0;
    auto restore = [&](Tensor& t, size_t source) {
      bool need = needs[source];
      Tensor alias = handle_of(t);
      if (need) {
        Ref<RefCounted> history = histories[h++];
        if (create_graph) {
          // A tensor of its own, before which the handle's history goes on: one input may have been made from another.
          dispatch::GradMode on(true);
          alias = ops::assign(t);
          (void)history;
        } else {
          alias.set_stop_gradient(false);
        }
        wanted.push_back(alias);
        edge.push_back(edge_of_source[source]);
      }
      t = alias;
    };
    for (size_t i = 0; i < ins.size(); ++i) restore(ins[i], i);
    for (size_t i = 0; i < params.size(); ++i) restore(params[i], ins.size() + i);
    std::vector<Tensor> outs;
    {
      dispatch::GradMode on(true);
      outs = interpret(runner->captured().program, ins, params, &replay);
    }
    Tensors roots, seeds;
    for (size_t i = 0; i < num_user_outputs; ++i)
      if (out_grads[i].defined() && !outs[i].stop_gradient()) roots.push_back(outs[i]), seeds.push_back(out_grads[i]);
    Tensors grads(edges.size());
    if (roots.empty()) return grads;
    Tensors found = autograd::grad(roots, wanted, seeds, create_graph, create_graph, true, {});
    for (size_t k = 0; k < found.size(); ++k) grads[edge[k]] = found[k];
    return grads;
  }
};

// Of results whose graph was freed by a backward() inside the program.
class SpentNode final : public autograd::Node {
 public:
  explicit SpentNode(const std::string& program) : program_(program) {}
  std::string name() const override { return program_ + "_grad"; }
  Tensors apply(Tensors&&, bool) override { fail_as_freed(program_); }

 private:
  std::string program_;
};

}  // namespace

// What eager backward() leaves: results that need a gradient, of a graph that can't be gone through again.
void Runner::set_spent(std::span<const Tensor> inputs, std::span<Tensor> outs) const {
  const std::vector<uint8_t> needs = needs_grad(inputs);
  if (std::find(needs.begin(), needs.end(), 1) == needs.end()) return;
  auto node = make_ref<SpentNode>(captured_.name);
  node->num_outputs = static_cast<uint32_t>(outs.size());
  for (size_t i = 0; i < needs.size(); ++i)
    if (needs[i])
      node->edges.push_back(autograd::edge_of(i < inputs.size() ? inputs[i] : parameters_[i - inputs.size()]));
  for (size_t i = 0; i < outs.size(); ++i) {
    node->output_metas.push_back({outs[i].dtype(), outs[i].shape()});
    if (captured_.output_spent[i]) autograd::set_history(outs[i], node, static_cast<uint32_t>(i));
  }
}

// Null where a gradient can't be put into a program.
std::shared_ptr<TrainingProgram> Runner::training_for(std::span<const Tensor> inputs,
                                                      const std::vector<uint8_t>& needs) {
  const bool parts = any_dist(inputs);
  if (!parts) {
    const Place place = place_for(inputs);
    std::lock_guard lock(mutex_);
    if (training_latest_ && latest_.place == place && needs_latest_ == needs) return training_latest_;
  }
  const PipelineOptions options = options_for(inputs);
  std::lock_guard lock(mutex_);
  std::pair key{needs, key_of(options)};
  auto it = training_.find(key);
  if (it == training_.end()) {
    std::shared_ptr<TrainingProgram> made;
    try {
      DimGuardSink sink(&captured_.guards);
      made = std::make_shared<TrainingProgram>(captured_.program, needs, captured_.num_outputs, stops_, options);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kNotImplemented) throw;
    }
    it = training_.emplace(std::move(key), std::move(made)).first;
  }
  if (!parts) {
    training_latest_ = it->second;
    needs_latest_ = needs;
  }
  return it->second;
}

Tensors Runner::run_recorded(std::span<const Tensor> inputs, const std::vector<uint8_t>& needs) {
  const std::shared_ptr<TrainingProgram> training = training_for(inputs, needs);
  Tensors parameters = parameters_now();
  Ref<ProgramNode> node = make_ref<ProgramNode>();
  node->runner = shared_from_this();
  node->training = training;
  node->needs = needs;
  node->num_user_outputs = captured_.num_outputs;
  node->key = generator().state();
  node->inputs.assign(inputs.begin(), inputs.end());
  node->parameters = parameters;
  node->edge_of_source.assign(needs.size(), SIZE_MAX);
  for (size_t i = 0; i < needs.size(); ++i) {
    if (!needs[i]) continue;
    const Tensor& t = i < inputs.size() ? inputs[i] : parameters[i - inputs.size()];
    node->edge_of_source[i] = node->edges.size();
    node->edges.push_back(autograd::edge_of(t));
    node->histories.push_back(t->grad_fn);
  }
  std::vector<Tensor> results;
  distributed::Layouts stayed;
  if (training) {
    stayed = training->stayed();
    results = training->forward().run(here(inputs), here(parameters), nullptr, &node->drawn);
    // What is kept comes last.
    size_t first = results.size() - training->num_kept();
    for (size_t k = first; k < results.size(); ++k) {
      executor::for_each_held(results[k], [&](Tensor& t) {
        // Handles of tensors from outside may be given another meaning; what they mean now is what is kept.
        if (t.impl()->use_count() > 1) t = handle_of(t);
        if (!written(t, inputs)) return;
        Tensor copy = Tensor::empty(t.shape(), t.dtype(), t.place());
        dispatch::copy_into(copy, t);
        t = copy;
      });
      const bool outside =
          training->from_outside(k - first) || lies_in(inputs, results[k]) || lies_in(parameters, results[k]);
      node->kept.emplace_back(results[k], outside);
    }
    results.resize(first);
  } else {
    const Plain made = plain_for(inputs);
    stayed = made.stayed;
    results = made.program->run(here(inputs), here(parameters));
  }
  hand_out(results, inputs);
  Tensors outs;
  node->num_outputs = static_cast<uint32_t>(captured_.num_outputs);
  for (size_t i = 0; i < captured_.num_outputs; ++i) {
    Tensor t = output(i, handle_of(results[i]), stayed);
    node->output_metas.push_back({t.dtype(), t.shape()});
    if (!stops_[i] && is_inexact(t.dtype())) autograd::set_history(t, node, static_cast<uint32_t>(i));
    outs.push_back(std::move(t));
  }
  if (any_spent_) set_spent(inputs, outs);
  return settled(std::move(outs), inputs, true);
}

}  // namespace paddle::compile
