// Runner: which calls a program is for, by the memory that tensors share, and what becomes of tensors that it writes.
#include "autograd/view.h"
#include "compile/runner.h"
#include "dispatch/eager.h"
#include "dispatch/overlap.h"

namespace paddle::compile {
namespace {

bool meet(const Tensor& a, const Tensor& b) {
  if (a.same(b)) return true;
  return a.is_dense() && b.is_dense() && a->storage == b->storage && dispatch::overlap(a, b);
}

}  // namespace

std::vector<Runner::Shared> Runner::shared_memory(std::span<const Tensor> inputs) const {
  std::vector<Shared> all;
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t k = i + 1; k < inputs.size() + parameters_.size(); ++k) {
      const Tensor& a = inputs[i];
      const Tensor& b = k < inputs.size() ? inputs[k] : parameters_[k - inputs.size()];
      if (meet(a, b)) all.push_back({i, k, a.same(b), b->offset - a->offset, a.strides(), b.strides()});
    }
  return all;
}

// Does nothing else that the program reads lie where it writes?
bool Runner::writes_apart(std::span<const Tensor> inputs) const {
  auto apart = [&](const Tensor& written, const Tensor& t) { return !meet(written, t); };
  for (const auto& w : captured_.input_writes) {
    const Tensor& written = inputs[w.input];
    for (size_t i = 0; i < inputs.size(); ++i)
      if (i != w.input && !apart(written, inputs[i])) return false;
    for (const Tensor& p : parameters_)
      if (!apart(written, p)) return false;
  }
  for (const ParameterWrite& w : parameter_writes_)
    for (const Tensor& t : inputs)
      if (!apart(parameters_[w.parameter], t)) return false;
  for (const auto& w : captured_.grad_writes)  // one leaf has one gradient
    for (size_t i = 0; w.input >= 0 && i < inputs.size(); ++i)
      if (i != static_cast<size_t>(w.input) && inputs[i].same(inputs[static_cast<size_t>(w.input)])) return false;
  return true;
}

bool Runner::fits(std::span<const Tensor> inputs) const {
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (grad_leaf_[i] < 0 && parameter_stops_[i] != parameters_[i].stop_gradient() &&
        is_inexact(parameters_[i].dtype()))
      return false;
  for (const auto& [a, b] : captured_.same_inputs)
    if (!inputs[a].same(inputs[b])) return false;
  return shared_ ? shared_memory(inputs) == *shared_ : writes_apart(inputs);
}

// Passes make one value of two that are equal, a copy and what it is a copy of too. Who gets the results may write
// them.
void Runner::give_own_memory(std::span<Tensor> results, std::span<const Tensor> inputs) const {
  const std::vector<int>& memory = captured_.output_memory;
  auto lies_in = [](const Tensor& t, const Tensor& x) { return x.is_dense() && x->storage == t->storage; };
  for (size_t i = 0; i < memory.size() && i < results.size(); ++i) {
    Tensor& t = results[i];
    if (memory[i] < 0 || !t.defined() || !t.is_dense()) continue;
    auto meets = [&](const Tensor& x) { return lies_in(t, x); };
    bool shared =
        std::any_of(inputs.begin(), inputs.end(), meets) || std::any_of(parameters_.begin(), parameters_.end(), meets);
    for (size_t k = 0; k < i; ++k) shared |= memory[k] != memory[i] && results[k].defined() && lies_in(t, results[k]);
    if (!shared) continue;
    Tensor copy = Tensor::empty(t.shape(), t.dtype(), t.place());
    dispatch::copy_into(copy, t);
    t = copy;
  }
}

Tensors Runner::settled(Tensors outs, std::span<const Tensor> inputs, bool recorded) const {
  for (const auto& h : captured_.new_histories) {
    if (!recorded) break;
    const Tensor* written = h.parameter.empty() ? &inputs[h.input] : nullptr;
    for (size_t i = 0; !written && i < parameters_.size(); ++i)
      if (parameter_names_[i] == h.parameter) written = &parameters_[i];
    if (written) autograd::take_history(*written, outs[h.output]);
  }
  outs.resize(captured_.num_outputs - captured_.new_histories.size());
  return outs;
}

}  // namespace paddle::compile
