// Runner: which calls a program is for, by the memory that tensors share, and what becomes of tensors that it writes.
#include <algorithm>
#include <tuple>

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

// Tensors by where they lie: only those at one place can meet.
class Places {
 public:
  struct Entry {
    const void* at;
    size_t input;
    bool operator<(const Entry& o) const { return std::tie(at, input) < std::tie(o.at, o.input); }
  };
  explicit Places(std::span<const Tensor> inputs) {
    all_.reserve(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) all_.push_back({place(inputs[i]), i});
    std::sort(all_.begin(), all_.end());
  }
  // Of the inputs: those that may meet `t`, in their order.
  std::span<const Entry> near(const Tensor& t) const {
    const void* at = place(t);
    auto first = std::lower_bound(all_.begin(), all_.end(), Entry{at, 0}), last = first;
    while (last != all_.end() && last->at == at) ++last;
    return {first, last};
  }

 private:
  static const void* place(const Tensor& t) {
    return t.is_dense() ? static_cast<const void*>(t->storage.get()) : static_cast<const void*>(t.impl());
  }
  std::vector<Entry> all_;
};

}  // namespace

std::vector<Runner::Shared> Runner::shared_memory(std::span<const Tensor> inputs) const {
  const Places places(inputs);
  std::vector<Shared> all;
  auto add = [&](size_t i, size_t k, const Tensor& b) {
    const Tensor& a = inputs[i];
    if (meet(a, b)) all.push_back({i, k, a.same(b), b->offset - a->offset, a.strides(), b.strides()});
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    for (const Places::Entry& e : places.near(inputs[i]))
      if (e.input > i) add(i, e.input, inputs[e.input]);
  for (size_t k = 0; k < parameters_.size(); ++k)
    for (const Places::Entry& e : places.near(parameters_[k])) add(e.input, inputs.size() + k, parameters_[k]);
  return all;
}

Tensors Runner::sharing(std::span<const Tensor> inputs) const {
  Tensors found;
  for (const Shared& s : shared_memory(inputs)) {
    if (s.other < inputs.size()) continue;
    const Tensor& t = parameters_[s.other - inputs.size()];
    if (std::none_of(found.begin(), found.end(), [&](const Tensor& x) { return x.same(t); })) found.push_back(t);
  }
  return found;
}

// Does nothing else that the program reads lie where it writes?
bool Runner::writes_apart(std::span<const Tensor> inputs) const {
  const bool leaves = std::any_of(captured_.grad_writes.begin(), captured_.grad_writes.end(),
                                  [](const auto& w) { return w.input >= 0; });
  if (input_written_.empty() && parameter_written_.empty() && !leaves) return true;
  const Places places(inputs);
  for (size_t k = 0; k < parameters_.size(); ++k)
    for (const Places::Entry& e : places.near(parameters_[k])) {
      const bool written = (!input_written_.empty() && input_written_[e.input]) ||
                           (!parameter_written_.empty() && parameter_written_[k]);
      if (written && meet(inputs[e.input], parameters_[k])) return false;
    }
  auto alone = [&](size_t i, bool as_leaf) {
    for (const Places::Entry& e : places.near(inputs[i])) {
      if (e.input == i) continue;
      if (as_leaf ? inputs[e.input].same(inputs[i]) : meet(inputs[e.input], inputs[i])) return false;
    }
    return true;
  };
  for (const auto& w : captured_.input_writes)
    if (!alone(w.input, false)) return false;
  for (const auto& w : captured_.grad_writes)  // one leaf has one gradient
    if (w.input >= 0 && !alone(static_cast<size_t>(w.input), true)) return false;
  return true;
}

// Do tensors need gradients, or none, and are they leaves, as the capture was told?
bool Runner::stops_fit(std::span<const Tensor> inputs) const {
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (grad_leaf_[i] < 0 && parameter_stops_[i] != parameters_[i].stop_gradient() &&
        is_inexact(parameters_[i].dtype()))
      return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const dispatch::ProgramInput& info = captured_.inputs[i];
    if (info.leaf_asked && !inputs[i].stop_gradient() && info.leaf == static_cast<bool>(inputs[i]->grad_fn))
      return false;
  }
  return true;
}

bool Runner::fits(std::span<const Tensor> inputs) const {
  if (!stops_fit(inputs)) return false;
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
