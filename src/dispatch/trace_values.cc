// What a handle means in a program under construction: values, views, writes in place.
#include <algorithm>

#include "api/ops.h"
#include "dispatch/leaf.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"

namespace paddle::dispatch {

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

void Trace::log_write(const Tensor& handle) {
  for (const Written& w : writes_.back())
    if (w.handle.same(handle)) return;
  writes_.back().push_back({handle, payload_of(handle), handle.dtype(), handle.shape(), handle->bits});
}

Tensor Trace::alias(const Tensor& handle) {
  pir::Value v = value_of(handle);
  return tensor_of(v, handle.stop_gradient(), handle.place());
}

void Trace::rebind(const Tensor& handle, const Tensor& value) {
  log_write(handle);
  pir::Value v = value_of(value);
  bool stop = value.stop_gradient();
  Ref<TracedPayload> now = new_payload(v);
  now->version = payload_of(handle)->version + 1;
  set_payload(handle, std::move(now));
  if (handle.is_traced() && !stop) handle->bits |= kNeedsGrad;
}

void Trace::write(const Tensor& handle, const Tensor& value) {
  if (payload_of(handle)->view_op)
    write_through(handle, value);
  else
    rebind(handle, value);
}

// The base becomes: where the view looks, `value`; elsewhere what it was. The view operator is linear and picks each
// element at most once, so its transpose (the gradient) puts elements back where they came from.
void Trace::write_through(const Tensor& view, const Tensor& value) {
  refreshed(view);
  Ref<TracedPayload> p = payload_of(view);
  Tensor base = p->base;
  const OpInfo& info = *p->view_op->info();
  Tensor base_now = alias(base);
  auto put_back = [&](const Tensor& v) { return transpose_of_view(*this, *p->view_op, p->view_operand, base_now, v); };
  GradMode mode(state().grad_enabled);
  Tensor fresh;
  bool whole = paddle::numel(base_now.shape()) == paddle::numel(value.shape());
  check(info.vjp != nullptr, ErrorKind::kNotImplemented, "[{}] writing through this view can't be captured", info.name);
  if (whole) {
    fresh = put_back(value);
  } else {
    Tensor ones = ops::full_like(value, Scalar(1.0));
    Tensor mask = ops::cast(put_back(ones), DType::kBool);
    fresh = ops::where(mask, put_back(value), base_now);
  }
  write(base, fresh);
  log_write(view);
  Ref<TracedPayload> now = new_payload(value_of(value));
  now->version = p->version + 1;
  now->base = base;
  now->base_payload = payload_of(base);
  now->view_op = p->view_op;
  now->view_operand = p->view_operand;
  set_payload(view, now);
  if (view.is_traced() && !value.stop_gradient()) view->bits |= kNeedsGrad;
}

pir::Value Trace::refreshed(const Tensor& t) {
  Ref<TracedPayload> p = payload_of(t);
  if (!p->view_op) return p->value;
  refreshed(p->base);
  Ref<TracedPayload> base = payload_of(p->base);
  if (base == p->base_payload) return p->value;
  std::vector<pir::Value> operands = p->view_op->operands();
  operands[p->view_operand] = base->value;
  std::vector<pir::Type> types;
  for (pir::Value r : p->view_op->results_vector()) types.push_back(r.type());
  pir::Operation* op = emit(p->view_op->def(), operands, p->view_op->attrs(), types);
  bool stop = p->base.stop_gradient();
  for (pir::Value r : op->results_vector())
    if (r.type()) r.set_stop_gradient(stop);
  Ref<TracedPayload> now = new_payload(op->result(p->value.index()));
  now->base = p->base;
  now->base_payload = base;
  now->view_op = op;
  now->view_operand = p->view_operand;
  log_write(t);
  set_payload(t, now);
  if (t.is_traced() && !stop) t->bits |= kNeedsGrad;
  return now->value;
}

pir::Value Trace::value_of(const Tensor& t) {
  PD_INVARIANT(t.defined());
  pir::Value v = refreshed(t);
  if (!v.type().has_shape() || v.type().kind() == pir::TypeKind::kTensorArray) return v;
  if (t.stop_gradient() == v.stop_gradient()) return v;
  if (!t.stop_gradient()) {  // made a leaf by hand
    v.set_stop_gradient(false);
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
  return tensor_of(refreshed(t), t.stop_gradient(), t.place());
}

}  // namespace paddle::dispatch
