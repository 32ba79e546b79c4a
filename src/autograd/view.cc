#include "autograd/view.h"

#include "api/ops.h"
#include "autograd/op_node.h"
#include "dispatch/state.h"

namespace paddle::autograd {
namespace {

struct Geometry {
  std::vector<int64_t> dims, strides;
  int64_t offset;
  bool parts = false;  // the base is complex, the view looks at the parts of its elements
};

// The view in terms of its base's elements counted in row-major order, as gradients are laid out.
Geometry geometry(const Tensor& view, const TensorImpl& base) {
  check(Tensor(Ref<TensorImpl>(const_cast<TensorImpl*>(&base))).is_contiguous(), ErrorKind::kRuntime,
        "an in-place write through a view of a non-contiguous tensor can't be differentiated; call contiguous() on it "
        "first");
  const bool parts = is_complex(base.dtype) && view.dtype() == real_of(base.dtype);
  check(parts || view.dtype() == base.dtype, ErrorKind::kNotImplemented,
        "an in-place write to a {} tensor through a view as {} can't be differentiated; write to a copy",
        name_of(base.dtype), name_of(view.dtype()));
  Geometry g;
  for (Dim d : view.shape()) g.dims.push_back(d.value());
  g.strides.assign(view.strides().begin(), view.strides().end());
  g.offset = view->offset - (parts ? 2 : 1) * base.offset;
  g.parts = parts;
  return g;
}

// What the view's strides count: elements, or their parts.
Tensor counted(const Tensor& t, bool parts) { return parts ? ops::as_real(t) : t; }

}  // namespace

void refresh_view(const Tensor& view) {
  if (!view->base || view->base->generation == view->base_generation) return;
  Tensor base(view->base);
  view->base_generation = base->generation;
  if (base.stop_gradient()) return;
  Geometry g = geometry(view, *base.impl());
  Tensor whole = counted(base, g.parts);
  Arg args[] = {Arg(whole), Arg(std::span<const int64_t>(g.dims)), Arg(std::span<const int64_t>(g.strides)),
                Arg(g.offset)};
  OpCall call(op_named("as_strided"), args);
  Ref<OpNode> node = OpNode::make(call);
  call.out(0) = view;
  node->save_outputs(call);
}

namespace {

// "old with the viewed part replaced by part": the gradient is cut in two.
class ReplacePart final : public Node {
 public:
  ReplacePart(Geometry g, Shape base) : g_(std::move(g)), base_(std::move(base)) {
    if (g_.parts) base_.push_back(2);
  }
  std::string name() const override { return "replace_part"; }

  Tensors apply(Tensors&& out_grads, bool create_graph) override {
    dispatch::GradMode mode(create_graph);
    Tensor g = out_grads[0].is_dense() && !out_grads[0].is_contiguous() ? ops::assign(out_grads[0]) : out_grads[0];
    g = counted(g, g_.parts);
    Tensor part = ops::as_strided(g, g_.dims, g_.strides, g_.offset);
    Tensors grads(2);
    if (edges[0].node) {
      Tensor rest = ops::subtract(g, ops::as_strided_scatter_add(part, Ints(base_), g_.dims, g_.strides, g_.offset));
      grads[0] = g_.parts ? ops::as_complex(rest) : rest;
    }
    if (edges[1].node) grads[1] = ops::assign(part);
    return grads;
  }

 private:
  Geometry g_;
  Shape base_;
};

}  // namespace

void rebase(const Tensor& view) {
  Tensor base(view->base);
  check(!(is_leaf(base) && !base.stop_gradient()), ErrorKind::kRuntime,
        "a view of a leaf tensor that needs a gradient can't be written in place; use no_grad() or write to a copy");
  Geometry g = geometry(view, *base.impl());
  Ref<ReplacePart> node = make_ref<ReplacePart>(std::move(g), base.shape());
  node->output_metas.push_back({base.dtype(), base.shape()});
  node->edges.push_back(edge_of(base));
  // What the in-place operator just gave to the view.
  node->edges.push_back({Ref<Node>(static_cast<Node*>(view->grad_fn.get())), view->grad_index});
  set_history(base, node, 0);
  ++base->generation;
  refresh_view(view);
}

void take_history(const Tensor& written, const Tensor& value) {
  if (!value->grad_fn) return;  // nothing that it follows from needs a gradient
  set_history(written, Ref<Node>(static_cast<Node*>(value->grad_fn.get())), value->grad_index);
  if (written->base)
    rebase(written);
  else
    ++written->generation;
}

}  // namespace paddle::autograd
