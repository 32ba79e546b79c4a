#include "dispatch/dispatch.h"

#include <algorithm>

#include "api/call.h"
#include "api/ops.h"
#include "base/profile.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"

namespace paddle::dispatch {

thread_local constinit ThreadState thread_state;

void (*record_call)(OpCall& c) = nullptr;
void (*dist_call)(OpCall& c) = nullptr;

namespace {

uint8_t input_bits(const OpCall& c) {
  uint8_t bits = 0;
  c.for_each_tensor([&](const Tensor& t) {
    bits |= t->bits;
    // Somebody may have written into the base in place since this view was made.
    if (t->base) [[unlikely]]
      bits |= t->base->bits & kNeedsGrad;
  });
  return bits;
}

// The meaning of a call when nothing is pushed: autograd over dist over eager, each only where an input asks for it.
void default_call(OpCall& c) {
  uint8_t bits = input_bits(c);
  if (bits & kOverwritten) [[unlikely]]
    fail(ErrorKind::kRuntime,
         "[{}] a gradient needs a tensor that was saved in the forward pass and has since been overwritten by an "
         "in-place "
         "operator; use the out-of-place operator, or a copy",
         c.op.name);
  if (bits & kTraced) [[unlikely]]
    fail(ErrorKind::kRuntime, "[{}] got a tensor of a captured program outside of that program's capture", c.op.name);
  if ((bits & kNeedsGrad) && state().grad_enabled)
    record_call(c);
  else if (bits & kDist) [[unlikely]]
    dist_call(c);
  else
    run_eager(c);
}

// `reshape_` and its like move no element: the handle takes on the view's geometry, and its place in the graph.
void default_view_inplace(OpCall& c) {
  Tensor target = c.args[c.op.outs[0].inplace_of].tensor();
  check(
      target.stop_gradient() || target->grad_fn || !state().grad_enabled, ErrorKind::kValue,
      "[{}_] a leaf tensor that needs a gradient can't be changed in place; use no_grad() or the out-of-place operator",
      c.op.name);
  OpCall plain(c.op, c.args);
  default_call(plain);
  TensorImpl& a = *target.impl();
  const TensorImpl& b = *plain.out(0).impl();
  a.shape = b.shape;
  a.strides = b.strides;
  a.offset = b.offset;
  a.storage = b.storage;
  a.grad_fn = b.grad_fn;
  a.grad_index = b.grad_index;
  c.out(0) = target;
}

void default_meaning(OpCall& c) {
  if (c.inplace && c.op.has(kView)) [[unlikely]]
    return default_view_inplace(c);
  default_call(c);
}

int kind_of(DType t) { return is_complex(t) ? 3 : is_float(t) ? 2 : t == DType::kBool ? 0 : 1; }

// Where tensors differ: one without axes counts like a number, so within a kind (integers, floats, complex) the dtype
// of those with axes stands.
DType common_dtype(const OpCall& c) {
  DType with_axes = DType::kUndefined, without = DType::kUndefined;
  for (size_t i = 0; i < c.args.size(); ++i) {
    if (!c.op.args[i].promotes) continue;
    for (const Tensor& t : c.args[i].tensors_or_empty()) {
      if (!t.defined()) continue;
      DType& d = t.rank() ? with_axes : without;
      d = d == DType::kUndefined ? t.dtype() : promote(d, t.dtype());
    }
  }
  if (with_axes == DType::kUndefined) return without;
  if (without == DType::kUndefined || kind_of(with_axes) == kind_of(without)) return with_axes;
  return promote(with_axes, without);
}

// Arguments that take part in type promotion get their common dtype; the casts are calls of their own, so gradients
// flow.
void promote_inputs(OpCall& c) {
  DType first = DType::kUndefined;
  bool differ = false;
  for (size_t i = 0; i < c.args.size(); ++i) {
    if (!c.op.args[i].promotes) continue;
    for (const Tensor& t : c.args[i].tensors_or_empty()) {
      if (!t.defined()) continue;
      if (first == DType::kUndefined) first = t.dtype();
      differ |= t.dtype() != first;
    }
  }
  if (!differ) [[likely]]
    return;
  const DType common = common_dtype(c);
  for (size_t i = 0; i < c.args.size(); ++i) {
    if (!c.op.args[i].promotes) continue;
    Arg& a = c.args[i];
    if (a.tag() == Arg::Tag::kTensor) {
      bool target = c.inplace && c.op.outs[0].inplace_of == static_cast<int>(i);
      if (a.tensor().dtype() != common && !target) a = Arg(c.kept_tensors.emplace_front(ops::cast(a.tensor(), common)));
    } else if (a.tag() == Arg::Tag::kTensors) {
      Tensors list;
      for (const Tensor& t : a.tensors())
        list.push_back(!t.defined() || t.dtype() == common ? t : ops::cast(t, common));
      a = Arg(c.kept_lists.emplace_front(std::move(list)));
    }
  }
}

// A rule and a kernel may rely on every tensor that their record does not call optional.
void check_present(const OpCall& c) {
  for (size_t i = 0; i < c.args.size(); ++i) {
    const Arg& a = c.args[i];
    const ArgKind kind = c.op.args[i].kind;
    const bool absent = a.none()
                            ? kind == ArgKind::kTensor
                            : kind == ArgKind::kTensors && std::any_of(a.tensors().begin(), a.tensors().end(),
                                                                       [](const Tensor& t) { return !t.defined(); });
    check(!absent, ErrorKind::kType, "[{}] expected a tensor for {}, got None", c.op.name, c.op.args[i].name);
  }
}

}  // namespace

static void call_unprofiled(OpCall& c) {
  ThreadState& s = state();
  check_present(c);
  if (c.op.promotes) promote_inputs(c);
  if (c.op.has(kRandom) && !c.key_drawn) {
    c.key = generator().next();
    c.key_drawn = true;
  }
  if (s.depth == 0) [[likely]]
    return default_meaning(c);
  size_t at = s.depth - 1;
  s.stack[at]->call(c, at);
}

// Shapes and dtypes of the inputs, for the profiler.
static std::string inputs_text(const OpCall& c) {
  std::string text;
  c.for_each_tensor([&](const Tensor& t) {
    text += (text.empty() ? "" : ", ") + std::string(name_of(t.dtype())) + to_string(view(t.shape()));
  });
  return text;
}

static void call_profiled(OpCall& c) {
  const std::string inputs = inputs_text(c);
  const int64_t begin = profile::now();
  call_unprofiled(c);
  profile::add(profile::Kind::kOperator, c.op.name, begin, inputs);
}

void call(OpCall& c) {
  if (profile::recording()) [[unlikely]]
    return call_profiled(c);
  call_unprofiled(c);
}

void call_below(OpCall& c, size_t next) {
  if (next == 0) return default_meaning(c);
  state().stack[next - 1]->call(c, next - 1);
}

void push(Interpreter* interpreter) {
  ThreadState& s = state();
  PD_INVARIANT(s.depth < s.stack.size());
  s.stack[s.depth++] = interpreter;
}

void pop(Interpreter* interpreter) {
  ThreadState& s = state();
  PD_INVARIANT(s.depth > 0 && s.stack[s.depth - 1] == interpreter);
  --s.depth;
}

size_t depth() { return state().depth; }

Interpreter* top() {
  ThreadState& s = state();
  return s.depth ? s.stack[s.depth - 1] : nullptr;
}

}  // namespace paddle::dispatch
