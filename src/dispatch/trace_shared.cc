// Tensors from outside of a program that share memory. The program must know, or a write to one wouldn't be seen in the
// other.
#include "dispatch/state.h"
#include "dispatch/trace.h"

namespace paddle::dispatch {
namespace {

bool lies_within(const Tensor& part, const Tensor& whole) {
  if (part.dtype() != whole.dtype() || !whole.is_contiguous() || part.numel() == 0) return false;
  int64_t first = part->offset, last = part->offset;
  for (size_t i = 0; i < part.shape().size(); ++i) {
    const int64_t reach = (part.shape()[i].value() - 1) * part.strides()[i];
    (reach < 0 ? first : last) += reach;
  }
  return first >= whole->offset && last < whole->offset + whole.numel();
}

}  // namespace

void Trace::note_shared(const Tensor& t) {
  for (size_t i = 0; i < capture_order_.size(); ++i) {
    Tensor other = captures_.at(capture_order_[i]).handle;
    if (other.same(t) || !other.is_dense() || other->storage != t->storage) continue;
    if (lies_within(t, other)) return look_into(t, other);
    if (lies_within(other, t))
      look_into(other, t);
    else if (t->base && !captures_.count(t->base.get()))
      return static_cast<void>(capture(Tensor(t->base)));  // both lie within that
  }
}

void Trace::look_into(const Tensor& part, const Tensor& whole) {
  Ref<TracedPayload> from = captures_.at(whole.impl()).original;
  Ref<TracedPayload> now = captures_.at(part.impl()).now, original = captures_.at(part.impl()).original;
  if (now->is_view()) return;
  std::vector<int64_t> dims, strides(part.strides().begin(), part.strides().end());
  for (Dim d : part.shape()) dims.push_back(d.value());
  pir::AttrMap attrs{{"dims", pir::Attribute::i64s(dims)},
                     {"stride", pir::Attribute::i64s(strides)},
                     {"offset", pir::Attribute::i64(part->offset - whole->offset)}};
  pir::Type type = pir::Type::tensor(part.dtype(), part.shape());
  const pir::Value source = from->value;
  pir::Operation* op =
      pir::Operation::create(pir::op_def("pd_op.as_strided"), {&source, 1}, std::move(attrs), {&type, 1}, 0, {});
  blocks_.front()->insert(last_capture_->next(), op);
  op->result().set_stop_gradient(part.stop_gradient() || whole.stop_gradient());
  Ref<TracedPayload> view = new_payload(op->result());
  view->home = blocks_.front();
  view->base = whole;
  view->base_payload = from;
  view->view_op = op;
  if (!part.stop_gradient()) view->history = original;
  captures_.at(part.impl()).now = view;
  if (now == original) return;
  // It was written before the whole was known.
  check(blocks_.size() == 1, ErrorKind::kNotImplemented,
        "[to_static] tensors that share memory are written and read in a branch or loop: use one of them");
  write(part, tensor_of(now->value, now->value.stop_gradient(), part.place()), false);
}

}  // namespace paddle::dispatch
