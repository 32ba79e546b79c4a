// What a handle means in a program under construction. Views and writes in place are in trace_views.cc.
#include <algorithm>

#include "api/ops.h"
#include "dispatch/leaf.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"

namespace paddle::dispatch {

namespace {

TracedPayload& payload(const Tensor& t) { return *static_cast<TracedPayload*>(t->payload.get()); }

}  // namespace

Ref<TracedPayload> Trace::payload_of(const Tensor& t) {
  if (!t.is_traced()) return capture(t).now;
  auto* p = static_cast<TracedPayload*>(t->payload.get());
  check(!lasting_ || p->trace == id_, ErrorKind::kValue,
        "[static] a variable of shape {} belongs to another program than the one that is being built",
        to_string(view(t.shape())));
  if (std::find(blocks_.rbegin(), blocks_.rend(), p->home) == blocks_.rend()) [[unlikely]] {
    pir::Location at = current_location();
    throw GraphBreak(
        ErrorKind::kRuntime,
        fmt::format("[to_static] a tensor of shape {} that was made inside of a branch or loop whose condition "
                    "depends on a tensor is used outside of it, and not as a variable of this function{}",
                    to_string(view(t.shape())), at ? " (at " + at.str() + ")" : std::string()));
  }
  return Ref<TracedPayload>(p);
}

void Trace::set_payload(const Tensor& handle, Ref<TracedPayload> payload) {
  ++edits_;
  if (!handle.is_traced()) {
    capture(handle).now = std::move(payload);
    return;
  }
  pir::Type type = payload->value.type();
  handle->dtype = type.dtype();
  handle->shape = type.shape();
  handle->payload = payload;
}

void Trace::set_needs_grad(const Tensor& handle) {
  if (!handle.is_traced()) {
    if (lasting_ || !handle.stop_gradient()) return;
    capture(handle).learns = true;
  }
  handle->bits |= kNeedsGrad;
}

void Trace::forget_needs() {
  for (auto& [impl, c] : captures_)
    if (c.learns) c.handle->bits &= static_cast<uint8_t>(~kNeedsGrad);
}

bool Trace::is_leaf(const Tensor& t) {
  if (t.stop_gradient()) return true;
  if (!t.is_traced()) {
    auto it = captures_.find(t.impl());
    return it != captures_.end() && it->second.learns ? false : !t->grad_fn;
  }
  const pir::Value v = refreshed(t);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].same(t) || v != input_payloads_[i]->value) continue;
    input_infos_[i].leaf_asked = true;
    return input_infos_[i].leaf;
  }
  return v.is_result() && v.defining_op()->num_operands() == 0;
}

void Trace::log_write(const Tensor& handle) {
  for (const Written& w : writes_.back())
    if (w.handle.same(handle)) return;
  writes_.back().push_back({handle, payload_of(handle), handle.dtype(), handle.shape(), handle->bits});
}

Tensor Trace::alias(const Tensor& handle) {
  pir::Value v = value_of(handle);
  Tensor same = tensor_of(v, handle.stop_gradient(), handle.place());
  payload(same).history = payload_of(handle)->history;
  return same;
}

void Trace::rebind(const Tensor& handle, const Tensor& value, bool stays_view) {
  log_write(handle);
  pir::Value v = value_of(value);
  bool stop = value.stop_gradient();
  Ref<TracedPayload> now = new_payload(v);
  now->version = payload_of(handle)->version + 1;
  now->choice = payload_of(handle)->choice;
  if (Ref<TracedPayload> before = payload_of(handle); stays_view && before->is_view())
    now->look_as(*before, before->base, payload_of(before->base));
  set_payload(handle, std::move(now));
  if (!stop) set_needs_grad(handle);
}

pir::Value Trace::value_of(const Tensor& t) {
  PD_INVARIANT(t.defined());
  pir::Value v = refreshed(t);
  if (!v.type().has_shape() || v.type().kind() == pir::TypeKind::kTensorArray) return v;
  if (t.stop_gradient() == v.stop_gradient()) return v;
  if (!t.stop_gradient()) {
    if (payload_of(t)->history) return state().grad_enabled ? with_history(t) : v;
    v.set_stop_gradient(false);  // made a leaf by hand
    return v;
  }
  // Detached: the same elements, but gradients end here.
  auto it = detached_.find(v);
  // A pass that erased the operation may have made another at its address: then the copy reads something else.
  if (it != detached_.end() && it->second.owner_block() == blocks_.front() && it->second.defining_op()->operand(0) == v)
    return it->second;
  pir::Type type = v.type();
  pir::Operation* op = emit(pir::op_def("pd_op.assign"), {&v, 1}, {}, {&type, 1});
  op->result().set_stop_gradient(true);
  detached_[v] = op->result();
  return op->result();
}

void make_leaf(Trace& trace, Tensor& t) {
  auto* payload = static_cast<TracedPayload*>(t->payload.get());
  if (payload->trace != trace.id() || payload->home != trace.blocks().back() || payload->view_op) {
    t.set_stop_gradient(false);
    return;
  }
  const pir::Value history = trace.value_of(t);
  t.set_stop_gradient(false);
  if (history.is_result() && history.defining_op()->num_operands() == 0) return;  // it has none
  const pir::Type type = history.type();
  pir::Operation* op = trace.emit(pir::op_def("pd_op.assign"), {&history, 1}, {}, {&type, 1});
  op->result().set_stop_gradient(false);
  t->payload = trace.tensor_of(op->result(), false)->payload;
}

Tensor Trace::traced(const Tensor& t) {
  if (t.is_traced()) {
    refreshed(t);
    return t;
  }
  const pir::Value v = refreshed(t);
  Tensor stand_in = tensor_of(v, t.stop_gradient(), t.place());
  payload(stand_in).history = payload_of(t)->history;
  return stand_in;
}

}  // namespace paddle::dispatch
