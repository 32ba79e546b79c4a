#include "dispatch/eager.h"

#include <algorithm>

#include "device/default_place.h"
#include "dispatch/check_numbers.h"
#include "dispatch/numbers.h"
#include "dispatch/op_stats.h"
#include "dispatch/overlap.h"
#include "dispatch/state.h"
#include "phi/kernels/registry.h"
#include "tensor/shown_shape.h"

namespace paddle::dispatch {
namespace {

// Where the outputs go: where the tensor inputs are; an explicit place argument; the default place.
Place place_of(const OpCall& c) {
  bool found = false;
  Place place;
  auto see = [&](const Tensor& t) {
    if (!found) {
      place = t.place();
      found = true;
    } else if (t.place() != place) [[unlikely]] {
      // A 0-d CPU tensor meets a device tensor as a number would.
      if (place.is_cpu() && t.rank() > 0) place = t.place();
      check(t.place() == place || (t.place().is_cpu() && t.rank() == 0) || c.op.has(kHostCopy), ErrorKind::kValue,
            "[{}] expected all inputs on one device, got {} and {}", c.op.name, to_string(place), to_string(t.place()));
    }
  };
  for (const Arg& a : c.args) {
    if (a.tag() == Arg::Tag::kTensor) {
      see(a.tensor());
    } else if (a.tag() == Arg::Tag::kTensors) {
      for (const Tensor& t : a.tensors())
        if (t.defined()) see(t);
    } else if (a.tag() == Arg::Tag::kPlace) {
      return a.place();
    }
  }
  return found ? place : device::default_place();
}

// Beyond this no size and no index into a tensor can lie, and sums of a few can't overflow.
constexpr int64_t kFar = int64_t{1} << 56;

bool far(const Arg& a) {
  if (a.tag() != Arg::Tag::kInts || !a.ints().resolved()) return false;
  for (Dim d : a.ints().values())
    if (d.bits() > kFar || d.bits() < -kFar) return true;
  return false;
}

// Numbers that are too large to be sizes mean the same nearer by: `x[:2**63 - 1]` is legal.
Ints nearer(const Ints& v) {
  Shape values;
  for (Dim d : v.values()) values.push_back(Dim(std::clamp(d.bits(), -kFar, kFar)));
  return Ints(values);
}

bool resolved(const Arg& a) {
  if (a.tag() == Arg::Tag::kInts) return a.ints().resolved();
  if (a.tag() == Arg::Tag::kScalar) return a.scalar().kind() != Scalar::Kind::kTensor;
  return true;
}

void allocate_outputs(OpCall& c) {
  for (size_t i = 0; i < c.num_outs(); ++i) {
    const OutInfo& o = c.op.outs[i];
    if (c.inplace && o.inplace_of >= 0) continue;
    if (o.kind == ArgKind::kTensors) {
      if (o.inplace_of >= 0 && c.op.has(kInplaceOnly)) continue;
      Tensors& list = c.out_list(i);
      if (!list.empty()) continue;
      for (const TensorMeta& m : c.list_metas) list.push_back(Tensor::empty(m.shape, m.dtype, c.place));
    } else if (!c.out(i).defined() && c.meta(i).dtype != DType::kUndefined) {
      c.out(i) = Tensor::empty(c.meta(i).shape, c.meta(i).dtype, c.place);
    }
  }
}

// The in-place form writes its argument. The kernel may compute straight into it where dtype and shape agree.
void bind_inplace_outputs(OpCall& c) {
  for (size_t i = 0; i < c.num_outs(); ++i) {
    const OutInfo& o = c.op.outs[i];
    if (o.inplace_of < 0) continue;
    if (o.kind == ArgKind::kTensors) {
      auto list = c.args[o.inplace_of].tensors();
      c.out_list(i).assign(list.begin(), list.end());
      for (Tensor& t : c.out_list(i))
        if (t.defined()) t->storage->bump_version();
      continue;
    }
    const Tensor& target = c.args[o.inplace_of].tensor();
    if (!target.defined()) continue;
    const TensorMeta& m = c.meta(i);
    if (m.dtype != DType::kUndefined) {
      if (m.shape != target.shape()) [[unlikely]]
        fail(ErrorKind::kValue,
             "[{}_] expected a result of the target's shape {}, got {}: an in-place operator can't change it",
             c.op.name, to_string(target.shape()), to_string(m.shape));
      if (m.dtype != target.dtype()) [[unlikely]]
        fail(ErrorKind::kType,
             "[{}_] expected a result of the target's dtype {}, got {}: an in-place operator can't change it",
             c.op.name, name_of(target.dtype()), name_of(m.dtype));
    }
    c.out(i) = target;
    target->storage->bump_version();
  }
}

}  // namespace

void run_composition(OpCall& c) {
  GradMode off(false);
  if (!c.inplace) return c.op.decompose(c);
  // A composition makes a fresh result, which is then copied into the target.
  OpCall fresh(c.op, c.args);
  c.op.decompose(fresh);
  for (size_t i = 0; i < c.num_outs(); ++i) {
    if (c.op.outs[i].inplace_of < 0) {
      c.out_slot(i) = fresh.out_slot(i);
      continue;
    }
    Tensor target = c.args[c.op.outs[i].inplace_of].tensor();
    copy_into(target, fresh.out(i));
    c.out(i) = target;
  }
}

// A view knows the tensor whose storage it looks into; autograd needs it when somebody writes in place.
void note_views(OpCall& c) {
  for (size_t i = 0; i < c.num_outs(); ++i) {
    if (c.op.outs[i].view_of < 0) continue;
    const Tensor& source = c.args[c.op.outs[i].view_of].tensor();
    auto note = [&](const Tensor& view) {
      if (!view.defined() || view->storage != source->storage || view.same(source)) return;
      view->base = source->base ? source->base : Ref<TensorImpl>(source.impl());
      view->base_generation = view->base->generation;
    };
    note(c.out(i));
    for (const Tensor& t : c.out_list(i)) note(t);
  }
}

void copy_into(const Tensor& dst, const Tensor& src) {
  if (dst.shape() != src.shape() || dst.dtype() != src.dtype()) [[unlikely]]
    fail(ErrorKind::kValue, "expected a source of shape {} and dtype {}, got {} and {}", to_string(dst.shape()),
         name_of(dst.dtype()), to_string(src.shape()), name_of(src.dtype()));
  dst->storage->bump_version();
  if (!overlap(dst, src)) [[likely]]
    return kernels::copy_elements(dst, src);
  if (coincide(dst, src)) return;
  Tensor apart = Tensor::empty(src.shape(), src.dtype(), src.place());
  kernels::copy_elements(apart, src);
  kernels::copy_elements(dst, apart);
}

Scalar read_number(const Scalar& tensor) {
  const DType d = tensor.tensor().dtype();
  if (is_complex(d)) return tensor.to_complex();
  if (is_float(d)) return tensor.to_double();
  if (d == DType::kBool) return tensor.to_bool();
  return tensor.to_int();
}

void resolve_arguments(OpCall& c) {
  for (Arg& a : c.args) {
    if (resolved(a)) [[likely]]
      continue;
    if (a.tag() == Arg::Tag::kInts) {
      a = Arg(c.kept_ints.emplace_front(a.ints().read()));
    } else {
      const Tensor& t = a.scalar().tensor();
      check(t.numel() == 1, ErrorKind::kType, "[{}] expected a tensor of one element as a number, got shape {}",
            c.op.name, shown(t.shape()));
      a = Arg(c.kept_scalars.emplace_front(read_number(a.scalar())));
    }
  }
}

void infer(OpCall& c) {
  for (Arg& a : c.args)
    if (far(a)) [[unlikely]]
      a = Arg(c.kept_ints.emplace_front(nearer(a.ints())));
  c.place = place_of(c);
  if (c.op.meta && !c.metas_ready) c.op.meta(c);
  c.metas_ready = true;
}

// Whether an in-place call gives its target another dtype: a comparison, say. A view can't take on memory of its own,
// since its base would not know.
bool changes_dtype(OpCall& c) {
  if (!c.inplace || c.num_outs() != 1 || c.op.outs[0].inplace_of < 0) return false;
  if (c.op.outs[0].kind != ArgKind::kTensor) return false;
  const Tensor& t = c.args[c.op.outs[0].inplace_of].tensor();
  const TensorMeta& m = c.meta(0);
  return t.defined() && m.dtype != DType::kUndefined && m.dtype != t.dtype() && m.shape == t.shape() && !t->base &&
         t.stop_gradient();
}

// The target takes on the result's memory and dtype; views of it keep the old elements.
void replace_target(OpCall& c) {
  Tensor target = c.args[c.op.outs[0].inplace_of].tensor();
  OpCall plain(c.op, c.args);
  run_eager(plain);
  TensorImpl& a = *target.impl();
  const TensorImpl& b = *plain.out(0).impl();
  a.dtype = b.dtype;
  a.strides = b.strides;
  a.offset = b.offset;
  a.storage = b.storage;
  c.out(0) = target;
}

void run_kernel(OpCall& c) {
  if (changes_dtype(c)) [[unlikely]]
    return replace_target(c);
  if (c.inplace || c.op.has(kInplaceOnly)) {
    bind_inplace_outputs(c);
    set_operands_apart(c);
  }
  RunFn kernel = kernels::find_kernel(c.op, c.place.kind);
  bool compose = c.op.decompose && (!kernel || (state().decompose && !c.op.has(kPrimitive)));
  if (compose) return run_composition(c);
  if (!kernel) [[unlikely]]
    fail(ErrorKind::kNotImplemented, "[{}] has no kernel for {}", c.op.name, to_string(c.place));
  if (!(c.op.traits & (kView | kDataDependentShape)) || c.inplace) allocate_outputs(c);
  kernel(c);
  if (c.op.has(kView)) note_views(c);
}

void run_eager(OpCall& c) {
  resolve_arguments(c);
  infer(c);
  run_kernel(c);
  if (count_ops.load(std::memory_order_relaxed)) [[unlikely]]
    note_op(c);
  // Empty memory holds anything.
  if (check_nan_inf.load(std::memory_order_relaxed) && !c.op.has(kFactory)) [[unlikely]]
    check_outputs(c);
}

}  // namespace paddle::dispatch
