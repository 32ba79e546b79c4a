#include "autograd/accumulate.h"

#include <cstring>

#include "api/ops.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"
#include "tensor/element.h"

namespace paddle::autograd {

AccumulateNode::AccumulateNode(Tensor leaf) : leaf_(std::move(leaf)) {
  output_metas.push_back({leaf_.dtype(), leaf_.shape()});
}

AccumulateNode::~AccumulateNode() {
  if (Meta* m = find_meta(leaf_)) m->accumulator = nullptr;
}

Ref<Node> accumulator_of(const Tensor& leaf) {
  Meta& m = meta_of(leaf);
  if (m.accumulator) return Ref<Node>(m.accumulator);
  Ref<Node> node = make_ref<AccumulateNode>(leaf);
  m.accumulator = node.get();
  return node;
}

bool cleared_to_zeros(const Meta& m) {
  return m.zeros && m.grad.defined() && m.grad.is_dense() && m.grad->storage == m.zeros &&
         m.zeros->version() == m.zeros_version;
}

namespace {

// Memory that nobody else sees.
bool is_own(const Tensor& t) {
  return t.impl()->use_count() == 1 && t.is_dense() && t->storage->use_count() == 1 && t.is_contiguous();
}

// At every step of a training loop: where the gradient's memory can serve again, no operator is called.
bool zero_in_place(Meta& m) {
  if (!m.grad.defined() || m.grad->grad_fn || !m.grad.is_dense() || !m.grad.place().is_cpu() || !is_own(m.grad))
    return false;
  std::memset(m.grad.data(), 0, static_cast<size_t>(m.grad.numel()) * size_of(m.grad.dtype()));
  m.grad->storage->bump_version();
  m.grad.set_stop_gradient(true);
  return true;
}

}  // namespace

void clear_to_zeros(const Tensor& leaf) {
  Meta& m = meta_of(leaf);
  if (!zero_in_place(m)) {
    dispatch::GradMode off(false);
    m.grad = m.grad.defined() ? ops::full_like(m.grad, Scalar(0.0)) : ops::full_like(leaf, Scalar(0.0));
  }
  m.zeros = m.grad->storage;
  m.zeros_version = m.grad->storage->version();
}

namespace {
// Zeros that nobody else can see.
bool only_zeros(const Meta& m) {
  return cleared_to_zeros(m) && m.zeros->use_count() == 2 && m.grad.impl()->use_count() == 1;
}
}  // namespace

void accumulate_grad(const Tensor& t, Tensor g, bool create_graph) {
  Meta& m = meta_of(t);
  const bool sole = is_own(g);
  if (m.grad.defined() && sole && !create_graph && only_zeros(m) && m.grad.dtype() == g.dtype()) m.grad = Tensor();
  m.zeros = nullptr;
  if (m.grad.defined()) {
    dispatch::GradMode mode(create_graph);
    if (create_graph) {
      m.grad = ops::add(m.grad, g);
    } else {
      ops::add_(m.grad, g);
    }
    return;
  }
  if (g.is_dist() && !create_graph) g = ops::assign(g);  // another leaf may get the same gradient
  if (create_graph || sole || !g.is_dense()) {
    if (!create_graph) g.set_stop_gradient(false);
    m.grad = std::move(g);
    return;
  }
  Tensor copy = Tensor::empty(g.shape(), g.dtype(), g.place());
  dispatch::copy_into(copy, g);
  copy.set_stop_gradient(false);  // as official Paddle's gradients of leaves
  m.grad = std::move(copy);
}

Tensors AccumulateNode::apply(Tensors&& out_grads, bool create_graph) {
  Tensor g = std::move(out_grads[0]);
  if (!g.defined()) return {};
  if (g.is_dist() && !leaf_.is_dist()) g = dense_value(g);  // a plain tensor's gradient is plain
  Meta& m = meta_of(leaf_);
  g = after_hooks(m.hooks, 0, g);
  if (g.shape() != leaf_.shape()) [[unlikely]]
    fail(ErrorKind::kRuntime, "[backward] expected a gradient of the tensor's shape {}, got {}",
         to_string(leaf_.shape()), to_string(g.shape()));
  if (g.dtype() != leaf_.dtype()) g = ops::cast(g, leaf_.dtype());
  accumulate_grad(leaf_, std::move(g), create_graph);
  const auto after = m.after_accumulate;  // which may add others
  for (auto& fn : after) fn();
  return {};
}

}  // namespace paddle::autograd
