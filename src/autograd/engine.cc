#include "autograd/engine.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "api/ops.h"
#include "autograd/accumulate.h"
#include "base/profile.h"
#include "dispatch/state.h"
#include "spmd/attr_text.h"
#include "spmd/dist_payload.h"
#include "tensor/shown_shape.h"

namespace paddle::autograd {
namespace {

struct Newest {
  bool operator()(const Node* a, const Node* b) const { return a->sequence() < b->sequence(); }
};

// One backward run.
class Run {
 public:
  Run(bool retain_graph, bool create_graph) : retain_(retain_graph), create_(create_graph) {}

  // Gradients that arrive here are handed out instead of going on to a leaf's .grad.
  struct Capture {
    Edge edge;
    Tensor value;
  };
  std::vector<Capture> captures;
  std::unordered_set<const Node*> stops;  // no_grad_vars: nothing passes
  bool accumulate_leaves = true;

  void seed(const Edge& e, Tensor g) {
    roots_.push_back(e.node);
    add(*e.node, e.index, std::move(g));
  }

  void execute() {
    plan();
    std::priority_queue<Node*, std::vector<Node*>, Newest> ready;
    std::unordered_set<Node*> queued;
    for (auto& r : roots_)
      if (pending_[r.get()] == 0 && queued.insert(r.get()).second) ready.push(r.get());
    while (!ready.empty()) {
      Node* node = ready.top();
      ready.pop();
      Tensors grads = visit(*node);
      for (size_t i = 0; i < node->edges.size(); ++i) {
        Node* next = node->edges[i].node.get();
        if (!next || !needed_.count(next)) continue;
        if (i < grads.size() && grads[i].defined()) add(*next, node->edges[i].index, std::move(grads[i]));
        if (--pending_[next] == 0) ready.push(next);
      }
    }
  }

 private:
  // Which nodes run, and how many edges lead to each from nodes that run.
  void plan() {
    std::vector<Node*> stack, order;
    std::unordered_set<Node*> seen;
    for (auto& r : roots_)
      if (seen.insert(r.get()).second) stack.push_back(r.get());
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      order.push_back(n);
      keep_.emplace_back(n);
      if (stops.count(n)) continue;
      for (Edge& e : n->edges)
        if (e.node && seen.insert(e.node.get()).second) stack.push_back(e.node.get());
    }
    if (accumulate_leaves) {
      needed_.insert(order.begin(), order.end());
    } else {
      mark_needed(order);
    }
    for (Node* n : order) {
      if (!needed_.count(n) || stops.count(n)) continue;
      for (Edge& e : n->edges)
        if (e.node && needed_.count(e.node.get())) ++pending_[e.node.get()];
    }
  }

  // Only nodes on a way to a captured edge need to run. Sequence numbers are a topological order, oldest first.
  void mark_needed(std::vector<Node*>& order) {
    std::vector<Node*> sorted(order);
    std::sort(sorted.begin(), sorted.end(), [](Node* a, Node* b) { return a->sequence() < b->sequence(); });
    for (auto& c : captures) targets_.insert(c.edge.node.get());
    // Accumulators are made lazily and may be younger than their users: they have no edges, so they come first.
    for (Node* n : sorted)
      if (n->edges.empty() && targets_.count(n)) needed_.insert(n);
    for (Node* n : sorted) {
      if (targets_.count(n)) needed_.insert(n);
      if (stops.count(n)) continue;
      for (Edge& e : n->edges)
        if (e.node && needed_.count(e.node.get())) needed_.insert(n);
    }
  }

  void add(Node& node, uint32_t index, Tensor g) {
    Tensors& buffer = buffers_[&node];
    if (buffer.size() <= index) buffer.resize(std::max<size_t>(index + 1, node.num_outputs));
    Tensor& slot = buffer[index];
    if (!slot.defined()) {
      slot = std::move(g);
      return;
    }
    dispatch::GradMode mode(create_);
    slot = ops::add(slot, g);
  }

  Tensors visit(Node& node) {
    Tensors grads;
    if (auto it = buffers_.find(&node); it != buffers_.end()) {
      grads = std::move(it->second);
      buffers_.erase(it);
    }
    grads.resize(node.num_outputs);
    if (!node.hooks.empty())
      for (uint32_t i = 0; i < grads.size(); ++i)
        if (grads[i].defined()) grads[i] = after_hooks(node.hooks, i, grads[i]);
    for (auto& c : captures)
      if (c.edge.node.get() == &node && grads[c.edge.index].defined()) c.value = hooked_leaf(node, grads[c.edge.index]);
    auto* leaf = dynamic_cast<AccumulateNode*>(&node);
    if (stops.count(&node) || (leaf && !accumulate_leaves)) return {};
    if (!accumulate_leaves && !has_needed_edge(node)) return {};
    bool any = false;
    for (const Tensor& g : grads) any |= g.defined();
    if (!any) return {};
    for (auto& hook : node.pre_hooks) hook(grads);
    const int64_t begin = profile::recording() ? profile::now() : 0;
    if (!retain_) node.give_up_saved();
    Tensors out = node.apply(std::move(grads), create_);
    if (begin) profile::add(profile::Kind::kBackward, node.name(), begin);
    for (auto& hook : node.post_hooks) hook(out);
    if (!retain_) node.release_saved();
    return out;
  }

  Tensor hooked_leaf(Node& node, Tensor g) {
    auto* leaf = dynamic_cast<AccumulateNode*>(&node);
    return leaf ? after_hooks(meta_of(leaf->leaf()).hooks, 0, g) : g;
  }

  bool has_needed_edge(const Node& node) const {
    for (const Edge& e : node.edges)
      if (e.node && needed_.count(e.node.get())) return true;
    return false;
  }

  bool retain_, create_;
  std::vector<Ref<Node>> roots_;
  std::vector<Ref<Node>> keep_;  // nodes stay alive until the run is over
  std::unordered_map<Node*, size_t> pending_;
  std::unordered_map<const Node*, Tensors> buffers_;
  std::unordered_set<const Node*> needed_, targets_;
};

Tensor ones_like(const Tensor& t) { return ops::full_like(t, Scalar(1.0)); }

void seed_all(Run& run, const Tensors& outputs, const Tensors& grad_outputs, const char* op) {
  check(grad_outputs.empty() || grad_outputs.size() == outputs.size(), ErrorKind::kValue,
        "[{}] expected as many grad_outputs as outputs ({}), got {}", op, outputs.size(), grad_outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    Edge e = edge_of(outputs[i]);
    if (!e.node) continue;  // needs no gradient: nothing to do, as official Paddle does
    Tensor g = i < grad_outputs.size() ? grad_outputs[i] : Tensor();
    if (g.defined())
      check(g.shape() == outputs[i].shape(), ErrorKind::kValue,
            "[{}] expected a gradient of shape {} for output {}, got {}", op, shown(outputs[i].shape()), i,
            shown(g.shape()));
    else
      g = ones_like(outputs[i]);
    run.seed(e, std::move(g));
  }
}

// The end of a path where nothing depends on a leaf.
class ConstantNode final : public Node {
 public:
  std::string name() const override { return "constant"; }
  Tensors apply(Tensors&&, bool) override { return {}; }
};

// A further handle on the same elements.
Tensor another(const Tensor& t) {
  Tensor made(TensorImpl::make());
  made.become(t);
  return made;
}

// With create_graph every gradient is part of a graph, those that are constants too: code that takes it on need not
// ask.
Tensor with_constant_history(const Tensor& t) {
  Ref<ConstantNode> node = make_ref<ConstantNode>();
  node->output_metas.push_back({t.dtype(), t.shape()});
  Tensor made = another(t);
  set_history(made, node, 0);
  return made;
}

}  // namespace

void backward(const Tensors& outputs, const Tensors& grad_outputs, bool retain_graph) {
  dispatch::GradMode off(false);
  Run run(retain_graph, false);
  seed_all(run, outputs, grad_outputs, "backward");
  run.execute();
}

Tensors grad(const Tensors& outputs, const Tensors& inputs, const Tensors& grad_outputs, bool retain_graph,
             bool create_graph, bool allow_unused, const Tensors& no_grad_vars) {
  dispatch::GradMode mode(create_graph);
  Run run(retain_graph, create_graph);
  run.accumulate_leaves = false;
  for (const Tensor& t : inputs) {
    Edge e = edge_of(t);
    check(static_cast<bool>(e.node), ErrorKind::kType,
          "[grad] expected inputs that need a gradient (stop_gradient=False), got one of shape {} that does not",
          shown(t.shape()));
    run.captures.push_back({e, {}});
  }
  for (const Tensor& t : no_grad_vars)
    if (Edge e = edge_of(t); e.node) run.stops.insert(e.node.get());
  seed_all(run, outputs, grad_outputs, "grad");
  run.execute();
  Tensors result;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor g = std::move(run.captures[i].value);
    check(g.defined() || allow_unused, ErrorKind::kValue,
          "[grad] input {} was not used to compute the outputs; pass allow_unused=True to get None for it", i);
    if (g.defined() && g.is_dist() && !inputs[i].is_dist())  // a plain tensor's gradient is plain
      g = ops::reshard(g, "", spmd::encode(spmd::dist_attr(g)));
    if (g.defined() && create_graph && g.stop_gradient()) g = with_constant_history(g);
    if (g.defined() && !create_graph) {
      Tensor plain = another(g);
      plain->grad_fn = nullptr;
      plain.set_stop_gradient(true);
      g = plain;
    }
    result.push_back(std::move(g));
  }
  return result;
}

}  // namespace paddle::autograd
