// Gradients that the user wrote, in a program under construction: custom gradients and hooks (pir/custom_gradient.h).
#include <algorithm>

#include "dispatch/state.h"
#include "dispatch/trace_gradients.h"
#include "pir/custom_gradient.h"
#include "pir/dominance.h"

namespace paddle::dispatch {
namespace {

using pir::Operation;
using pir::Value;

// A program's edge through which a loop's rounds keep values can't be written out a second time.
void check_repeatable(const char* what, TraceRegion& region) {
  for (Operation& op : region.block())
    op.walk([&](Operation& inner) {
      if (!inner.is("cf.tuple_push") && !inner.is("cf.tuple_pop")) return;
      bool inside = false;
      Operation* stack = inner.operand(0).defining_op();
      for (const Operation* at = stack; at; at = at->parent_op()) inside |= at->block() == &region.block();
      check(inside, ErrorKind::kNotImplemented,
            "[{}] a gradient through a loop that was run before can't be taken in a gradient that is captured", what);
    });
}

void check_no_writes(const char* what, const TraceRegion& region) {
  for (const TraceRegion::Write& w : region.writes())
    fail(ErrorKind::kNotImplemented,
         "[{}] a gradient that is captured may not write in place to a tensor made outside of it (shape {})", what,
         to_string(view(w.handle.shape())));
}

}  // namespace

GradientScope::GradientScope(Trace& trace, TraceRegion& region)
    : trace_(trace), region_(region), marks_(std::exchange(trace.marks, {})), stack_(&trace) {
  recorded_ = std::exchange(state().grad_enabled, true);
  region_.enter();
}

GradientScope::~GradientScope() {
  region_.exit();
  state().grad_enabled = recorded_;
  trace_.marks = marks_;
}

Tensors build_custom_grad(Trace& trace, const char* what, std::span<const Value> inputs, const Tensors& computed,
                          const std::vector<bool>& stops, std::span<GradientRegion> regions) {
  std::vector<int64_t> given;
  pir::AttrMap attrs;
  for (size_t r = 0; r < regions.size(); ++r) {
    GradientRegion& g = regions[r];
    check_no_writes(what, *g.region);
    given.push_back(static_cast<int64_t>(g.given));
    std::vector<int64_t> to;
    std::vector<Value> values;
    {
      GradientScope scope(trace, *g.region);
      for (size_t i = 0; i < g.grads.size(); ++i) {
        if (!g.grads[i].defined()) continue;
        to.push_back(static_cast<int64_t>(i));
        values.push_back(trace.value_of(g.grads[i]));
      }
      trace.builder().yield(values);
    }
    check_repeatable(what, *g.region);
    attrs.set("grads_" + std::to_string(r), pir::Attribute::i64s(to));
  }
  attrs.set("given", pir::Attribute::i64s(given));
  std::vector<Value> operands(inputs.begin(), inputs.end());
  std::vector<pir::Type> types;
  for (const Tensor& t : computed) {
    operands.push_back(trace.value_of(t));
    types.push_back(operands.back().type());
  }
  if (trace.role()) attrs.set("op_role", pir::Attribute::i32(trace.role()));
  trace.builder().set_loc(current_location());
  Operation* op = trace.mark(
      trace.builder().create(pir::op_def(pir::kCustomGrad), operands, std::move(attrs), types, regions.size()));
  trace.edited();
  for (size_t r = 0; r < regions.size(); ++r) op->region(r).take_blocks(regions[r].region->region());
  Tensors results;
  for (size_t i = 0; i < types.size(); ++i) {
    op->result(i).set_stop_gradient(stops[i]);
    results.push_back(trace.tensor_of(op->result(i), stops[i], computed[i].place()));
  }
  return results;
}

int64_t add_gradient_hook(Trace& trace, const Tensor& t, TraceRegion& region, const Tensor& result, EagerHook eagerly) {
  check_no_writes("register_hook", region);
  const Value v = trace.value_of(t);
  check(v.owner_block() == trace.blocks().back(), ErrorKind::kNotImplemented,
        "[register_hook] a hook on a tensor from outside of a branch or loop can't be registered inside of it: the "
        "condition depends on a tensor");
  {
    GradientScope scope(trace, region);
    const Value out = trace.value_of(result.defined() ? result : region.args()[0]);
    check(out.type().dtype() == v.type().dtype() && out.type().rank() == v.type().rank(), ErrorKind::kValue,
          "[register_hook] expected the hook to return a gradient of shape {} and dtype {}, got {} and {}",
          to_string(view(v.shape())), name_of(v.dtype()), to_string(view(out.shape())), name_of(out.dtype()));
    trace.builder().yield({&out, 1});
  }
  check_repeatable("register_hook", region);
  const int64_t id = static_cast<int64_t>(trace.hooks.size()) + 1;
  trace.builder().set_loc(current_location());
  Operation* op =
      trace.builder().create(pir::op_def(pir::kGradHook), {&v, 1}, {{"id", pir::Attribute::i64(id)}}, {}, 1);
  trace.edited();
  op->region(0).take_blocks(region.region());
  trace.hooks.push_back({id, t, std::move(eagerly), nullptr});
  return id;
}

namespace {

Operation* find_hook(Trace& trace, int64_t id) {
  Operation* found = nullptr;
  for (pir::Block* b : trace.blocks())
    for (Operation& op : *b)
      op.walk([&](Operation& inner) {
        if (inner.is(pir::kGradHook) && inner.attr("id").as_int() == id) found = &inner;
      });
  return found;
}

}  // namespace

void remove_gradient_hook(int64_t id) {
  Trace* trace = Trace::active();
  const bool known = trace && id > 0 && static_cast<size_t>(id) <= trace->hooks.size();
  if (known && trace->hooks[static_cast<size_t>(id) - 1].remove)
    return std::exchange(trace->hooks[static_cast<size_t>(id) - 1].remove, nullptr)();
  Operation* op = known ? find_hook(*trace, id) : nullptr;
  check(op != nullptr, ErrorKind::kRuntime,
        "[remove] this hook is part of a captured program, which is finished: remove it inside the function that "
        "registered it");
  op->erase();
  trace->edited();
}

bool Trace::holds_from(const TraceRegion& region, const Tensor& but) const {
  auto payload = [](const Tensor& t) { return static_cast<TracedPayload*>(t->payload.get()); };
  auto inside = [&](const Tensor& t) { return t.is_traced() && payload(t)->home == &region.region_.front(); };
  std::unordered_map<TensorImpl*, size_t> ours;  // references that the capture itself holds
  for (const Tensor& t : region.args_) ++ours[t.impl()];
  for (const Tensor& t : made_) {
    ++ours[t.impl()];
    if (t.is_traced() && payload(t)->base.defined()) ++ours[payload(t)->base.impl()];
  }
  for (const Tensor& t : made_)
    if (inside(t) && !(but.defined() && t.same(but)) && t.impl()->use_count() > ours[t.impl()]) return true;
  return false;
}

// Hooks on tensors from outside hold beyond the segment: they go to the tensors themselves.
std::vector<Trace::Hook*> Trace::hooks_leaving() {
  std::vector<Hook*> leaving;
  for (Hook& h : hooks) {
    if (!h.eagerly || h.remove) continue;
    const bool input = std::any_of(inputs_.begin(), inputs_.end(), [&](const Tensor& x) { return x.same(h.handle); });
    if (h.handle.is_traced() && !input) continue;
    Operation* op = find_hook(*this, h.id);
    if (!op) continue;
    op->erase();
    leaving.push_back(&h);
  }
  return leaving;
}

}  // namespace paddle::dispatch
