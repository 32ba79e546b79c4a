// The tape: a Node is one differentiable step of the past; its edges lead to the nodes that made its inputs.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "api/op_call.h"
#include "base/ref_counted.h"

namespace paddle::autograd {

class Node;

struct Edge {
  Ref<Node> node;      // null: no gradient is wanted
  uint32_t index = 0;  // which output of that node
};

// Changes a gradient on its way; returns undefined to leave it.
using GradHook = std::function<Tensor(const Tensor&)>;

// Is shown what an object holds, each reference once.
struct HeldVisitor {
  virtual void object(const RefCounted* o) = 0;

 protected:
  ~HeldVisitor() = default;
};

class Node : public RefCounted {
 public:
  Node();
  // Gradients of the inputs from those of the outputs (undefined = zero). May be called once unless the graph is
  // retained.
  virtual Tensors apply(Tensors&& out_grads, bool create_graph) = 0;
  virtual void release_saved() {}  // what the next backward would need
  virtual void give_up_saved() {}  // the next apply() is the last: it may write over what was saved, as it goes
  virtual void visit_held(HeldVisitor&) const {}  // beside edges and hooks
  virtual std::string name() const = 0;

  uint64_t sequence() const { return sequence_; }
  std::vector<Edge> edges;  // one per input that apply() returns a gradient for
  uint32_t num_outputs = 1;
  std::vector<TensorMeta> output_metas;  // shapes and dtypes of the outputs, to make zeros and to check
  struct OutputHook {
    uint32_t index;
    uint64_t id;
    GradHook fn;
  };
  std::vector<OutputHook> hooks;  // tensor hooks, in the order of registration
  std::vector<std::function<void(Tensors&)>> pre_hooks, post_hooks;

 protected:
  // Long graphs are released iteratively: one thousand linked nodes must not recurse one thousand deep.
  void destroy() noexcept override;
  virtual void free() noexcept { delete this; }

 private:
  uint64_t sequence_;
};

// What a tensor knows about its gradient beyond grad_fn.
struct Meta final : RefCounted {
  Tensor grad;
  // Set by clearing to zeros: the storage that was all zeros at this version. What comes next may take its place
  // instead of being added.
  Ref<Storage> zeros;
  uint32_t zeros_version = 0;
  Node* accumulator = nullptr;          // not owned: the accumulator owns the tensor, and clears this when it goes
  std::vector<Node::OutputHook> hooks;  // of a leaf
  std::vector<std::function<void()>> after_accumulate;
  uint64_t next_hook = 1;
};

Meta& meta_of(const Tensor& t);    // makes it
Meta* find_meta(const Tensor& t);  // null if there is none
Edge edge_of(const Tensor& t);     // where a gradient for t goes; null node if t needs none
bool is_leaf(const Tensor& t);
Ref<Node> grad_fn(const Tensor& t);  // null for leaves
void set_history(const Tensor& t, const Ref<Node>& node, uint32_t index);

uint64_t add_hook(const Tensor& t, GradHook fn);
// `g` after the hooks of output `index`. A hook may remove itself or others.
Tensor after_hooks(const std::vector<Node::OutputHook>& hooks, uint32_t index, Tensor g);
void remove_hook(const Tensor& t, uint64_t id);

}  // namespace paddle::autograd
