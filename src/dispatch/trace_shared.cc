// Tensors from outside of a program that share memory. The program must know, or a write to one wouldn't be seen in the
// other.
//
// Captured tensors keep their places in memory from call to call, so one that lies within another is a view of that.
// Arguments may lie otherwise in each call. A program that is captured whole first takes them to be apart, and is
// captured again where a call shows that this would be wrong (Runner::fits); then views among them are views, too.
// Where the capture may be interrupted, a write to memory that others look at is left to eager.
#include <algorithm>

#include "api/ops.h"
#include "dispatch/overlap.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"

namespace paddle::dispatch {
namespace {

TracedPayload& payload(const Tensor& t) { return *static_cast<TracedPayload*>(t->payload.get()); }

bool lies_within(const Tensor& part, const Tensor& whole) {
  if (part.dtype() != whole.dtype() || !whole.is_contiguous() || part.numel() == 0) return false;
  int64_t first = part->offset, last = part->offset;
  for (size_t i = 0; i < part.shape().size(); ++i) {
    const int64_t reach = (part.shape()[i].value() - 1) * part.strides()[i];
    (reach < 0 ? first : last) += reach;
  }
  return first >= whole->offset && last < whole->offset + whole.numel();
}

// Does eager's graph know that they share elements?
bool one_history(const Tensor& a, const Tensor& b) {
  const TensorImpl *x = a->base ? a->base.get() : a.impl(), *y = b->base ? b->base.get() : b.impl();
  const bool one_leaf = x->autograd && x->autograd == y->autograd && !x->grad_fn && !y->grad_fn;  // two handles of one
  return x == y || one_leaf;
}

}  // namespace

std::vector<size_t> Trace::share_memory(const Tensors& given, const Tensors& known) {
  PD_INVARIANT(given.size() == inputs_.size());
  given_ = given;
  std::vector<size_t> stands_for;
  for (size_t i = 0; i < given.size(); ++i) {
    size_t k = 0;
    while (!given[k].same(given[i])) ++k;
    stands_for.push_back(k);
    if (k < i) same_inputs_.emplace_back(k, i);
  }
  if (run_segment_) return stands_for;
  related_ = true;
  for (size_t i = 0; i < given.size(); ++i)
    if (stands_for[i] == i && given[i].is_dense()) note_shared(outside(i));
  for (const Tensor& t : known) capture(t);
  return stands_for;
}

Trace::Outside Trace::outside(size_t input) const { return {given_[input], inputs_[input], input_payloads_[input]}; }

void Trace::note_shared(const Outside& t) {
  for (size_t i = 0; related_ && i < given_.size(); ++i) {
    if (!t.handle.same(inputs_[i]) && given_[i].is_dense() && relate(t, outside(i))) return;
    if (t.handle.same(inputs_[i])) break;  // those after it come yet
  }
  if (t.handle.is_traced()) return;
  for (size_t i = 0; i < capture_order_.size(); ++i) {
    const Capture& c = captures_.at(capture_order_[i]);
    const Outside other{c.handle, c.handle, c.original};
    if (other.handle.same(t.handle) || !other.actual.is_dense()) continue;
    if (relate(t, other)) return;
    // Both lie within a third one, that the program doesn't know yet.
    if (other.actual->storage == t.actual->storage && t.actual->base && !captures_.count(t.actual->base.get()))
      return static_cast<void>(capture(Tensor(t.actual->base)));
  }
}

// Makes one a view of the other where it lies within; true: `a` is one now.
bool Trace::relate(const Outside& a, const Outside& b) {
  if (a.actual->storage != b.actual->storage || !overlap(a.actual, b.actual)) return false;
  const bool given = a.handle.is_traced() || b.handle.is_traced();
  if (lies_within(a.actual, b.actual)) {
    look_into(a, b);
    return true;
  }
  if (lies_within(b.actual, a.actual))
    look_into(b, a);
  else if (given)
    entangled_.insert({a.handle.impl(), b.handle.impl()});
  return false;
}

void Trace::set_outside(const Outside& t, Ref<TracedPayload> now) {
  if (t.handle.is_traced())
    t.handle->payload = std::move(now);
  else
    captures_.at(t.handle.impl()).now = std::move(now);
}

void Trace::look_into(const Outside& part, const Outside& whole) {
  Ref<TracedPayload> now = payload_of(part.handle);
  if (now->is_view()) return;
  const bool late = now != part.original || written_aside(part.handle);  // written before the whole was known
  check(!late || (blocks_.size() == 1 && now != part.original), ErrorKind::kNotImplemented,
        "[to_static] tensors that share memory are written and read in a branch or loop: use one of them, or a copy "
        "(clone())");
  const bool known = one_history(part.actual, whole.actual);
  Tensor base = whole.handle;
  Ref<TracedPayload> from = whole.original;
  const bool stop = !known || part.handle.stop_gradient() || whole.handle.stop_gradient();
  if (!known) {  // its elements, without its history
    base = tensor_of(whole.original->value, true, whole.actual.place());
    from = Ref<TracedPayload>(&payload(base));
    from->home = blocks_.front();
    from->base = whole.handle;
    from->base_payload = whole.original;
    from->layout = layout_of(whole.actual);
  }
  std::vector<int64_t> dims, strides(part.actual.strides().begin(), part.actual.strides().end());
  for (Dim d : part.actual.shape()) dims.push_back(d.value());
  pir::AttrMap attrs{{"dims", pir::Attribute::i64s(dims)},
                     {"stride", pir::Attribute::i64s(strides)},
                     {"offset", pir::Attribute::i64(part.actual->offset - whole.actual->offset)}};
  pir::Type type = pir::Type::tensor(part.actual.dtype(), part.actual.shape());
  const pir::Value source = whole.original->value;
  pir::Operation* op =
      pir::Operation::create(pir::op_def("pd_op.as_strided"), {&source, 1}, std::move(attrs), {&type, 1}, 0, {});
  blocks_.front()->insert(last_capture_->next(), op);
  op->result().set_stop_gradient(stop);
  Ref<TracedPayload> view = new_payload(op->result());
  view->home = blocks_.front();
  view->base = base;
  view->base_payload = from;
  view->view_op = op;
  view->layout = layout_of(part.actual);
  if (!part.handle.stop_gradient() && stop) view->history = part.original;
  set_outside(part, view);
  if (now == part.original) return;
  const bool unrecorded = now->history ? now->history->value == part.original->value : now->value.stop_gradient();
  Tensor written = tensor_of(now->value, now->value.stop_gradient(), part.actual.place());
  if (!unrecorded) payload(written).history = now->history;
  if (!unrecorded) written.set_stop_gradient(false);
  GradMode mode(!unrecorded);
  write(part.handle, written, !unrecorded);
}

// In a branch that is complete, or is left for the moment.
bool Trace::written_aside(const Tensor& t) const {
  return std::any_of(regions_.begin(), regions_.end(), [&](const TraceRegion* r) {
    return std::any_of(r->writes().begin(), r->writes().end(), [&](const auto& w) { return w.handle.same(t); });
  });
}

// What a tensor from outside means now, if its gradient goes through what wrote it; else undefined.
Tensor Trace::rewritten(const Tensor& handle, const Ref<TracedPayload>& original) {
  pir::Value v = refreshed(handle);
  Ref<TracedPayload> now = payload_of(handle);
  if (v == original->value || !is_inexact(v.type().dtype())) return {};
  auto actual = [&](const Tensor& t) {
    for (size_t i = 0; i < given_.size(); ++i)
      if (inputs_[i].same(t)) return given_[i];
    return t;
  };
  if (now->is_view() && one_history(actual(handle), actual(root_of(handle)))) return {};  // that of its base
  const bool unrecorded = now->history && now->history->value == original->value;
  // A handle that needs a gradient and whose value has none was given one without history: no gradient goes further.
  if (unrecorded || (!now->history && v.stop_gradient() && handle.stop_gradient())) return {};
  GradMode on(true);
  return tensor_of(now->history ? with_history(handle) : v, false);
}

const TracedPayload* Trace::meaning_of(const Tensor& t) const {
  if (t.is_traced()) return &payload(t);
  auto it = captures_.find(t.impl());
  return it == captures_.end() ? nullptr : it->second.now.get();
}

Tensor Trace::root_of(Tensor t) const {
  for (const TracedPayload* p = meaning_of(t); p && p->is_view(); p = meaning_of(t)) t = p->base;
  return t;
}

void Trace::check_apart(const Tensor& handle) const {
  check(
      !entangled_.count(handle.impl()), ErrorKind::kNotImplemented,
      "[to_static] an argument is written whose memory is partly another argument's or captured tensor's; neither "
      "lies within the other, which can't be captured: expected tensors that are apart, or one within the other; write "
      "to a copy (clone())");
}

// Where the capture may be interrupted: does a write go to an argument's memory that others look at, too?
bool Trace::shares_input(const Tensor& written) const {
  if (!run_segment_ || given_.empty() || !written.defined()) return false;
  const Tensor root = root_of(written);
  if (const TracedPayload* p = meaning_of(root); p && p->choice && chooses_shared_input(*p)) return true;
  for (size_t i = 0; i < given_.size(); ++i) {
    const Tensor& given = given_[i];
    if (!given.is_dense()) continue;
    if (root.same(inputs_[i]) ? given->base || given->storage->use_count() > 1
                              : !root.is_traced() && root.is_dense() && root->storage == given->storage)
      return true;
  }
  return false;
}

bool Trace::writes_shared_input(const OpCall& c) const {
  if (!run_segment_ || (!c.inplace && !c.op.has(kInplaceOnly))) return false;
  for (const OutInfo& out : c.op.outs) {
    if (out.inplace_of < 0) continue;
    const auto targets = c.args[static_cast<size_t>(out.inplace_of)].tensors_or_empty();
    if (std::any_of(targets.begin(), targets.end(), [&](const Tensor& t) { return shares_input(t); })) return true;
  }
  return false;
}

// Ends the segment; then the tensors are eager's.
void Trace::write_eagerly(const Tensor& handle, const Tensor& value, bool recorded) {
  const Tensor elements = value;  // alive, so that the segment gives it elements
  break_here("a write to memory that several tensors share");
  StackScope eager;
  GradMode mode(recorded && state().grad_enabled);
  Tensor target = handle;
  ops::set_value_with_tensor_(target, elements, Ints{}, Ints{}, Ints{}, {}, {}, {});
}

}  // namespace paddle::dispatch
