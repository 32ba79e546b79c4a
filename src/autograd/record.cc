// Autograd's interpreter: runs the call and notes how to go back.
#include "autograd/record.h"
#include "api/ops.h"
#include "autograd/op_node.h"
#include "autograd/view.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"

namespace paddle::autograd {
namespace {

// Below autograd: dist where an input has placements, else eager. Nothing there records.
void run_below(OpCall& c) {
  bool dist = false;
  c.for_each_tensor([&](const Tensor& t) { dist |= t.is_dist(); });
  dist ? dispatch::dist_call(c) : dispatch::run_eager(c);
}

void check_inplace_targets(const OpCall& c) {
  for (const OutInfo& o : c.op.outs) {
    if (o.inplace_of < 0) continue;
    for (const Tensor& t : c.args[o.inplace_of].tensors_or_empty()) {
      Tensor written = t->base ? Tensor(t->base) : t;
      check(written.stop_gradient() || !is_leaf(written), ErrorKind::kValue,
            "[{}_] a leaf tensor that needs a gradient can't be written in place, nor through a view; use no_grad() or "
            "the "
            "out-of-place operator",
            c.op.name);
    }
  }
}

// An in-place operator that is a composition: the composition reads a copy, its result is written into the target.
void record_inplace_composition(OpCall& c) {
  check_inplace_targets(c);
  dispatch::resolve_arguments(c);
  Tensors targets(c.num_outs()), copies(c.num_outs());
  for (size_t i = 0; i < c.num_outs(); ++i) {
    int from = c.op.outs[i].inplace_of;
    if (from < 0) continue;
    targets[i] = c.args[from].tensor();
    copies[i] = ops::assign(targets[i]);
    c.args[from] = Arg(copies[i]);
  }
  c.inplace = false;
  c.op.decompose(c);
  for (size_t i = 0; i < c.num_outs(); ++i) {
    if (!targets[i].defined()) continue;
    ops::set_value_with_tensor_(targets[i], c.out(i), Ints{}, Ints{}, Ints{}, {}, {}, {});
    c.out_slot(i).tensor = targets[i];
  }
}

}  // namespace

void record(OpCall& c) {
  if (c.op.has(kNondifferentiable) || (c.op.has(kInplaceOnly) && !c.op.vjp)) {
    run_below(c);
    return;
  }
  if (!c.op.vjp) {
    check(c.op.decompose, ErrorKind::kRuntime, "[{}{}] has no gradient", c.op.name, c.inplace ? "_" : "");
    dispatch::infer(c);  // a composition may rely on what the shape rule checks
    c.inplace ? record_inplace_composition(c) : c.op.decompose(c);
    return;
  }
  if (c.inplace) check_inplace_targets(c);
  dispatch::resolve_arguments(c);
  Ref<OpNode> node = OpNode::make(c);
  bool any = false;
  for (const Edge& e : node->edges) any |= static_cast<bool>(e.node);
  {
    dispatch::GradMode off(false);
    run_below(c);
  }
  if (!any) return;  // only inputs that no gradient flows to
  node->save_outputs(c);
  if (!c.inplace) return;
  for (size_t i = 0; i < c.num_outs(); ++i) {
    if (c.op.outs[i].inplace_of < 0 || !c.out(i).defined()) continue;
    const Tensor& t = c.out(i);
    if (t->base)
      rebase(t);
    else
      ++t->generation;
  }
}

void install() { dispatch::record_call = record; }

namespace {
[[maybe_unused]] const bool installed = (install(), true);
}

}  // namespace paddle::autograd
