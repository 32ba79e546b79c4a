// The end of a path: the node that adds a gradient to a leaf's .grad.
#pragma once
#include "autograd/node.h"

namespace paddle::autograd {

class AccumulateNode final : public Node {
 public:
  explicit AccumulateNode(Tensor leaf);
  ~AccumulateNode() override;
  Tensors apply(Tensors&& out_grads, bool create_graph) override;
  std::string name() const override { return "accumulate"; }
  void visit_held(HeldVisitor& visitor) const override { visitor.object(leaf_.impl()); }
  const Tensor& leaf() const { return leaf_; }

 private:
  Tensor leaf_;
};

Ref<Node> accumulator_of(const Tensor& leaf);

// Adds g to t.grad: takes g over if nobody else holds it, so that .grad never aliases another tensor.
void accumulate_grad(const Tensor& t, Tensor g, bool create_graph);

// Is .grad what clear_gradient() put there, not written since?
bool cleared_to_zeros(const Meta& m);
void clear_to_zeros(const Tensor& leaf);

}  // namespace paddle::autograd
