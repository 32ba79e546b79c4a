#include "autograd/view.h"

#include "autograd/op_node.h"

namespace paddle::autograd {
namespace {

struct Geometry {
  std::vector<int64_t> dims, strides;
  int64_t offset;
};

// The view in terms of its base's elements counted in row-major order, as gradients are laid out.
Geometry geometry(const Tensor& view, const TensorImpl& base) {
  check(Tensor(Ref<TensorImpl>(const_cast<TensorImpl*>(&base))).is_contiguous(), ErrorKind::kRuntime,
        "an in-place write through a view of a non-contiguous tensor can't be differentiated; call contiguous() on it first");
  Geometry g;
  for (Dim d : view.shape()) g.dims.push_back(d.value());
  g.strides.assign(view.strides().begin(), view.strides().end());
  g.offset = view->offset - base.offset;
  return g;
}

}  // namespace

void note_view(const Tensor& view, const Tensor& source) {
  if (!view->storage || view->storage != source->storage || view.same(source)) return;
  view->base = source->base ? source->base : Ref<TensorImpl>(source.impl());
  view->base_generation = view->base->generation;
}

void refresh_view(const Tensor& view) {
  if (!view->base || view->base->generation == view->base_generation) return;
  Tensor base(view->base);
  view->base_generation = base->generation;
  if (base.stop_gradient()) return;
  Geometry g = geometry(view, *base.impl());
  Arg args[] = {Arg(base), Arg(std::span<const int64_t>(g.dims)), Arg(std::span<const int64_t>(g.strides)), Arg(g.offset)};
  OpCall call(op_named("as_strided"), args);
  Ref<OpNode> node = OpNode::make(call);
  call.out(0) = view;
  node->save_outputs(call);
}

void rebase(const Tensor& view) {
  Tensor base(view->base);
  check(!(is_leaf(base) && !base.stop_gradient()), ErrorKind::kRuntime,
        "a view of a leaf tensor that needs a gradient can't be written in place; use no_grad() or write to a copy");
  Geometry g = geometry(view, *base.impl());
  // The new value of the viewed part, with the history that the in-place operator just gave to the view.
  Tensor part(TensorImpl::make());
  part.become(view);
  Tensor old(TensorImpl::make());
  old.become(base);
  Arg args[] = {Arg(old), Arg(part), Arg(std::span<const int64_t>(g.dims)), Arg(std::span<const int64_t>(g.strides)),
                Arg(g.offset)};
  OpCall call(op_named("as_strided_scatter"), args);
  Ref<OpNode> node = OpNode::make(call);
  call.out(0) = base;
  node->save_outputs(call);
  ++base->generation;
  refresh_view(view);
}

}  // namespace paddle::autograd
