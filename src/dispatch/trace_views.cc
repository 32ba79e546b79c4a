// Views and writes in place in a program under construction, whose operations are pure.
//
// A view's payload says how it follows from its base. A write through a view writes the base; whoever reads another
// view of a base that was written since gets it computed anew (refreshed). Which results are views and which are copies
// is what eager's kernels say, asked with layouts in place of tensors.
#include <algorithm>
#include <forward_list>

#include "api/ops.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "dispatch/trace_gradients.h"
#include "phi/kernels/registry.h"
#include "pir/op_args.h"

namespace paddle::dispatch {
namespace {

TracedPayload& payload(const Tensor& t) { return *static_cast<TracedPayload*>(t->payload.get()); }

// Sizes of this call; stand-ins where none was seen.
Shape seen(const Shape& shape) {
  Shape out;
  for (Dim d : shape) out.push_back(d.is_const() ? d : Dim(d.hint()));
  return out;
}

// Strides over memory that isn't there.
Tensor bare_layout(const Shape& shape, const Strides& strides, int64_t offset, DType dtype) {
  Tensor t = Tensor::meta(view(shape), dtype, Place::cpu());
  t->strides = strides;
  t->offset = offset;
  t->storage = Storage::wrap(nullptr, 0, Place::cpu(), {});
  return t;
}

TensorMeta seen_meta(pir::Type type) { return {type.dtype(), seen(Shape(type.shape()))}; }

bool known(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](Dim d) { return d.is_const() || has_hint(d); });
}

// The arguments of a view operator, numbers that only running tells as 1: strides don't depend on where a slice begins.
struct LayoutCall {
  LayoutCall(const pir::Operation& op, size_t operand, const Tensor& base)
      : bound(op, [&, source = op.operand(operand)](pir::Value v) { return slot(v, source, base); }),
        args(bound.args().begin(), bound.args().end()) {
    for (Arg& a : args) {
      if (a.tag() == Arg::Tag::kInts) {
        Shape values = a.ints().values();
        const Tensors& tensors = a.ints().tensors();
        for (size_t i = 0; i < values.size(); ++i) {
          const bool told = i < tensors.size() && tensors[i].defined();
          values[i] = told ? Dim(1) : values[i].is_const() ? values[i] : Dim(values[i].hint());
        }
        if (a.ints().whole().defined()) values = Shape(static_cast<size_t>(a.ints().whole().numel()), Dim(1));
        a = Arg(ints.emplace_front(values));
      } else if (a.tag() == Arg::Tag::kScalar && a.scalar().kind() == Scalar::Kind::kDim) {
        a = Arg(scalars.emplace_front(a.scalar().dim().hint()));
      } else if (a.tag() == Arg::Tag::kScalar && a.scalar().kind() == Scalar::Kind::kTensor) {
        a = Arg(scalars.emplace_front(int64_t{1}));
      }
    }
  }

  static OutSlot slot(pir::Value v, pir::Value source, const Tensor& base) {
    auto meta = [](pir::Type t) {
      TensorMeta m = seen_meta(t);
      return Tensor::meta(view(m.shape), m.dtype, Place::cpu());
    };
    OutSlot s;
    if (v == source)
      s.tensor = base;
    else if (v.type().is_vector())
      for (pir::Type t : v.type().elements()) s.list.push_back(meta(t));
    else
      s.tensor = meta(v.type());
    return s;
  }

  pir::BoundArgs bound;
  std::vector<Arg> args;
  std::forward_list<Ints> ints;
  std::forward_list<Scalar> scalars;
};

}  // namespace

void TracedPayload::forget_base() {
  base = {};
  base_payload = {};
  view_op = nullptr;
  layout = {};
}

void TracedPayload::look_as(const TracedPayload& view, const Tensor& into, Ref<TracedPayload> meant) {
  base = into;
  base_payload = std::move(meant);
  if (!view_op) view_op = view.view_op;
  view_operand = view.view_operand;
  view_result = view.view_result;
  view_item = view.view_item;
  layout = view.layout;
}

// A view whose gradient isn't its base's: somewhere on the way there it is detached.
bool Trace::own_history(const Tensor& t) const {
  if (t.stop_gradient()) return false;
  for (Tensor at = t;;) {
    const TracedPayload* p = meaning_of(at);
    if (!p || !p->is_view()) return false;
    if (!p->view_op) return true;
    at = p->base;
  }
}

Tensor Trace::layout_of(const Tensor& t) {
  if (!t.is_traced() && t.is_dense()) return bare_layout(t.shape(), t.strides(), t->offset, t.dtype());
  TracedPayload* p = t.is_traced() ? &payload(t) : nullptr;
  if (p && p->layout.defined()) return p->layout;
  Shape shape = seen(t.shape());
  Tensor layout = bare_layout(shape, contiguous_strides(view(shape)), 0, t.dtype());
  if (p) p->layout = layout;
  return layout;
}

void Trace::note_view(const Tensor& view, const Tensor& base, const ViewResult& from) {
  const OpInfo& info = *from.made->info();
  const bool told = !info.has(kCollective) && known(base.shape()) && known(view.shape());
  RunFn kernel = told ? kernels::find_kernel(info, Place::cpu().kind) : nullptr;
  Tensor layout;
  if (kernel) {
    Tensor source = layout_of(base);
    LayoutCall arguments(*from.made, from.operand, source);
    OpCall c(info, arguments.args);
    c.place = Place::cpu();
    for (size_t i = 0; i < c.num_outs(); ++i) {
      pir::Type type = from.made->result(i).type();
      if (type && type.is_vector())
        for (pir::Type t : type.elements()) c.list_metas.push_back(seen_meta(t));
      else if (type)
        c.meta(i) = seen_meta(type);
    }
    c.metas_ready = true;
    kernel(c);
    layout = from.item < 0 ? c.out(from.result) : c.out_list(from.result)[static_cast<size_t>(from.item)];
    if (layout->storage != source->storage) return;  // a copy
    layout->shape = seen(view.shape());
  }
  TracedPayload& p = payload(view);
  p.base = base;
  p.base_payload = payload_of(base);
  p.view_op = from.made;
  p.view_operand = from.operand;
  p.view_result = from.result;
  p.view_item = from.item;
  p.layout = layout;
}

Tensor Trace::detached(const Tensor& t) {
  refreshed(t);
  Ref<TracedPayload> from = payload_of(t);
  Tensor same = tensor_of(from->value, true, t.place());
  const bool link = from->is_view() && !from->view_op;  // of a chain of such the last sees the first's base
  TracedPayload& p = payload(same);
  p.base = link ? from->base : t;
  p.base_payload = link ? from->base_payload : from;
  p.layout = layout_of(t);
  return same;
}

void Trace::write(const Tensor& handle, const Tensor& value, bool recorded) {
  if (!recorded && !value.stop_gradient())
    return write(handle, tensor_of(value_of(value), true, handle.place()), recorded);
  if (shares_input(handle)) return write_eagerly(handle, value, recorded);
  refreshed(handle);
  check_apart(handle);
  Ref<TracedPayload> before = payload_of(handle);
  if (before->choice)
    write_choice(handle, value, recorded);
  else if (before->is_view())
    write_through(handle, value, recorded);
  else
    rebind(handle, value);
  if (!lasting_ && !recorded && !handle.stop_gradient())
    payload_of(handle)->history = before->history ? before->history : before;
}

// The base becomes: where the view looks, `value`; elsewhere what it was. The view operator is linear and picks each
// element at most once, so its transpose (the gradient) puts elements back where they came from.
void Trace::write_through(const Tensor& view, const Tensor& value, bool recorded) {
  Ref<TracedPayload> p = payload_of(view);
  Tensor base = p->base;
  if (!p->view_op) {
    write(base, value, false);
  } else {
    // What goes into a view of something without history gives that one.
    recorded &= !view.stop_gradient() || !value.stop_gradient();
    GradMode mode(recorded);
    Tensor base_now = alias(base);
    auto put_back = [&](const Tensor& v) { return transpose_of_view(*this, *p, base_now, v); };
    const OpInfo& info = *p->view_op->info();
    check(info.vjp != nullptr, ErrorKind::kNotImplemented, "[{}] writing through this view can't be captured",
          info.name);
    auto bytes = [](const Tensor& t) {
      return paddle::numel(t.shape()) * Dim(static_cast<int64_t>(size_of(t.dtype())));
    };
    bool whole = bytes(base_now) == bytes(value);
    Tensor fresh = put_back(value);
    if (!whole) {
      Tensor mask = ops::cast(put_back(ops::full_like(value, Scalar(1.0))), DType::kBool);
      fresh = ops::where(mask, fresh, base_now);
    }
    write(base, fresh, recorded);
  }
  log_write(view);
  Ref<TracedPayload> now = new_payload(value_of(value));
  now->version = p->version + 1;
  now->look_as(*p, base, payload_of(base));
  set_payload(view, now);
  if (!value.stop_gradient()) set_needs_grad(view);
}

namespace {

void set_stops(pir::Operation* op, bool stop) {
  for (pir::Value r : op->results_vector())
    if (r.type()) r.set_stop_gradient(stop);
}

}  // namespace

// The view operator on what `base` is now, its other operands as given.
Ref<TracedPayload> Trace::computed_again(const TracedPayload& view, std::vector<pir::Value> operands,
                                         const Tensor& base) {
  GradMode recorded(true);
  operands[view.view_operand] = value_of(base);
  std::vector<pir::Type> types;
  for (pir::Value r : view.view_op->results_vector()) types.push_back(r.type());
  pir::Operation* op = emit(view.view_op->def(), operands, view.view_op->attrs(), types);
  set_stops(op, base.stop_gradient());
  pir::Value v = op->result(view.view_result);
  if (view.view_item >= 0) {
    std::vector<pir::Type> items(v.type().elements().begin(), v.type().elements().end());
    pir::Operation* split = emit(pir::op_def("builtin.split"), {&v, 1}, {}, items);
    set_stops(split, base.stop_gradient());
    v = split->result(static_cast<size_t>(view.view_item));
  }
  Ref<TracedPayload> now = new_payload(v);
  now->view_op = op;
  now->look_as(view, base, payload_of(base));
  return now;
}

// Before the handle means something else: who looks at its elements goes on with `elements`. Not for handles from
// outside of the block, or of the program, whose views are left as they are.
bool Trace::move_elements(const Tensor& handle, Tensor& elements) {
  log_write(handle);
  auto logged = std::find_if(writes_.back().begin(), writes_.back().end(),
                             [&](const Written& w) { return w.handle.same(handle); });
  if (!handle.is_traced() || logged->before->home != blocks_.back()) return false;
  Ref<TracedPayload> before = payload_of(handle);
  elements = tensor_of(before->value, handle.stop_gradient(), handle.place());
  elements->payload = before;
  moved_[handle.impl()].push_back({handle, elements, before->version});
  return true;
}

void Trace::replace(const Tensor& handle, const Tensor& value) {
  Tensor elements;
  move_elements(handle, elements);
  rebind(handle, value);
  payload_of(handle)->choice = nullptr;
}

void Trace::view_in_place(const Tensor& handle, const Tensor& value, const ViewResult& from) {
  pir::Value v = value_of(value);
  if (!handle.stop_gradient()) v.set_stop_gradient(false);
  Tensor elements;
  if (!move_elements(handle, elements)) return rebind(handle, value);
  Ref<TracedPayload> now = new_payload(v);
  now->version = payload_of(handle)->version + 1;
  set_payload(handle, std::move(now));
  note_view(handle, elements, from);
}

void Trace::follow(TracedPayload& view) const {
  for (auto at = moved_.find(view.base.impl()); at != moved_.end(); at = moved_.find(view.base.impl())) {
    auto moved = std::find_if(at->second.begin(), at->second.end(),
                              [&](const Moved& m) { return m.version >= view.base_payload->version; });
    if (moved == at->second.end()) return;
    view.base = moved->elements;
  }
}

pir::Value Trace::refreshed(const Tensor& t) {
  Ref<TracedPayload> p = payload_of(t);
  if (p->choice) {
    refresh_choice(t);
    return payload_of(t)->value;
  }
  if (!p->is_view()) return p->value;
  if (!moved_.empty()) follow(*p);
  refreshed(p->base);
  Ref<TracedPayload> base = payload_of(p->base);
  if (base == p->base_payload) return p->value;
  Ref<TracedPayload> now;
  if (p->view_op) {
    now = computed_again(*p, p->view_op->operands(), p->base);
    if (p->base.stop_gradient() && !t.stop_gradient()) now->history = p->history ? p->history : p;
  } else {
    now = new_payload(base->value);
    if (!t.stop_gradient()) {  // it was given a history of its own
      GradMode off(false);
      now->value = value_of(tensor_of(base->value, true, t.place()));
      now->history = p->history ? p->history : p;
    }
  }
  now->version = p->version + 1;
  now->look_as(*p, p->base, payload_of(p->base));
  log_write(t);
  set_payload(t, now);
  if (p->view_op && !p->base.stop_gradient()) set_needs_grad(t);
  return now->value;
}

// The elements as they are, with the gradient of what the handle meant before it was written where nothing is recorded.
pir::Value Trace::with_history(const Tensor& t) {
  Ref<TracedPayload> p = payload_of(t);
  const pir::Value old = p->history->value;
  const pir::Type now_type = p->value.type();
  if (old.type().dtype() != now_type.dtype() || old.type().rank() != now_type.rank()) return p->value;
  const pir::Type type = old.type();
  TraceRegion region(*this, std::span<const pir::Type>(&type, 1));
  GradientRegion passes_on{1, &region, {region.args()[0]}};
  Tensor now = tensor_of(p->value, true, t.place());
  pir::Value v =
      payload(build_custom_grad(*this, "in-place write", {&old, 1}, {now}, {false}, {&passes_on, 1})[0]).value;
  if (p->home == blocks_.back()) p->value = v;
  return v;
}

pir::Value Trace::differentiated_value(const Tensor& t) {
  refreshed(t);
  Ref<TracedPayload> p = payload_of(t);
  return !t.stop_gradient() && p->history ? p->history->value : value_of(t);
}

}  // namespace paddle::dispatch
