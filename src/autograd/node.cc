#include "autograd/node.h"

#include <algorithm>
#include <atomic>

#include "autograd/accumulate.h"
#include "autograd/view.h"

namespace paddle::autograd {
namespace {
std::atomic<uint64_t> next_sequence{1};
}

Node::Node() : sequence_(next_sequence.fetch_add(1, std::memory_order_relaxed)) {}

void Node::destroy() noexcept {
  // The outermost destruction on this thread works through a list; those it triggers only queue up.
  static thread_local std::vector<Node*>* queue = nullptr;
  if (queue) {
    queue->push_back(this);
    return;
  }
  std::vector<Node*> pending{this};
  queue = &pending;
  while (!pending.empty()) {
    Node* n = pending.back();
    pending.pop_back();
    n->free();
  }
  queue = nullptr;
}

Meta& meta_of(const Tensor& t) {
  if (!t->autograd) t->autograd = make_ref<Meta>();
  return static_cast<Meta&>(*t->autograd);
}

Meta* find_meta(const Tensor& t) { return static_cast<Meta*>(t->autograd.get()); }

Ref<Node> grad_fn(const Tensor& t) {
  refresh_view(t);
  return Ref<Node>(static_cast<Node*>(t->grad_fn.get()));
}

Edge edge_of(const Tensor& t) {
  if (t->base) [[unlikely]]
    refresh_view(t);
  if (t.stop_gradient()) return {};
  if (t->grad_fn) return {Ref<Node>(static_cast<Node*>(t->grad_fn.get())), t->grad_index};
  return {accumulator_of(t), 0};
}

bool is_leaf(const Tensor& t) { return !grad_fn(t); }

void set_history(const Tensor& t, const Ref<Node>& node, uint32_t index) {
  t->grad_fn = node;
  t->grad_index = static_cast<uint16_t>(index);
  t->bits |= kNeedsGrad;
}

uint64_t add_hook(const Tensor& t, GradHook fn) {
  check(!t.stop_gradient(), ErrorKind::kRuntime,
        "[register_hook] expected a tensor that needs a gradient (stop_gradient=False): no gradient will ever arrive "
        "here");
  Meta& m = meta_of(t);
  uint64_t id = m.next_hook++;
  if (Ref<Node> node = grad_fn(t)) {
    node->hooks.push_back({t->grad_index, id | (uint64_t{t->grad_index} << 48), std::move(fn)});
    return node->hooks.back().id;
  }
  m.hooks.push_back({0, id, std::move(fn)});
  return id;
}

Tensor after_hooks(const std::vector<Node::OutputHook>& hooks, uint32_t index, Tensor g) {
  if (hooks.empty()) return g;
  const std::vector<Node::OutputHook> now = hooks;
  for (const Node::OutputHook& hook : now)
    if (hook.index == index)
      if (Tensor changed = hook.fn(g); changed.defined()) g = changed;
  return g;
}

void remove_hook(const Tensor& t, uint64_t id) {
  auto drop = [id](std::vector<Node::OutputHook>& hooks) {
    std::erase_if(hooks, [id](const Node::OutputHook& h) { return h.id == id; });
  };
  if (Meta* m = find_meta(t)) drop(m->hooks);
  if (Ref<Node> node = grad_fn(t)) drop(node->hooks);
}

}  // namespace paddle::autograd
