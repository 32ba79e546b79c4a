#include "autograd/op_node.h"

#include "base/pool.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"

namespace paddle::autograd {

thread_local constinit SavedTensorHooks* saved_tensor_hooks = nullptr;

namespace {
struct NodeTag {};
using NodePool = Pool<NodeTag, sizeof(OpNode)>;

template <class List, class Span>
auto keep_list(List& lists, Span items) {
  auto& kept = lists.emplace_front(items.begin(), items.end());
  return Span(kept.data(), kept.size());
}
}  // namespace

void OpNode::free() noexcept {
  this->~OpNode();
  NodePool::put(this);
}

OpNode::Saved OpNode::save(const Tensor& t, SaveKind kind) const {
  Saved s;
  s.kind = kind;
  if (!t.defined()) return s;
  if (kind != SaveKind::kValue) {
    s.tensor = Tensor::meta(t.shape(), t.dtype(), t.place());
    return s;
  }
  s.tensor = t;
  s.grad_fn = t->grad_fn;
  s.grad_index = t->grad_index;
  s.version = t->storage ? t->storage->version() : 0;
  if (saved_tensor_hooks) [[unlikely]]
    pack(s);
  return s;
}

// The tensor itself goes: only its size stays, for whoever asks without reading.
void OpNode::pack(Saved& s) {
  dispatch::GradMode off(false);
  s.hooks = Ref<SavedTensorHooks>(saved_tensor_hooks);
  s.packed = s.hooks->pack(s.tensor);
  s.tensor = Tensor::meta(s.tensor.shape(), s.tensor.dtype(), s.tensor.place());
}

Arg OpNode::keep(const Arg& a, SaveKind) {
  switch (a.tag()) {
    case Arg::Tag::kScalar:
      return Arg(scalars_.emplace_front(a.scalar()));
    case Arg::Tag::kInts:
      return Arg(ints_.emplace_front(a.ints()));
    case Arg::Tag::kString: {
      const std::string& s = strings_.emplace_front(a.str());
      return Arg(std::string_view(s));
    }
    case Arg::Tag::kIntList:
      return Arg(keep_list(int_lists_, a.int_list()));
    case Arg::Tag::kFloatList:
      return Arg(keep_list(float_lists_, a.float_list()));
    case Arg::Tag::kBoolList: {
      auto items = a.bool_list();
      auto& kept = bool_lists_.emplace_front(new bool[items.size()]);
      std::copy(items.begin(), items.end(), kept.get());
      return Arg(std::span<const bool>(kept.get(), items.size()));
    }
    case Arg::Tag::kStringList:
      return Arg(keep_list(string_lists_, a.string_list()));
    case Arg::Tag::kScalarList:
      return Arg(keep_list(scalar_lists_, a.scalar_list()));
    default:
      return a;
  }
}

namespace {

// Whether the call is about to overwrite argument i.
bool writes(const OpCall& c, size_t i) {
  if (!c.inplace) return false;
  for (const OutInfo& o : c.op.outs)
    if (o.inplace_of == static_cast<int>(i)) return true;
  return false;
}

// The elements as they are now, with the history of the tensor.
Tensor copy_before_write(const Tensor& t) {
  Tensor kept = Tensor::empty(t.shape(), t.dtype(), t.place());
  dispatch::copy_into(kept, t);
  kept->grad_fn = t->grad_fn;
  kept->grad_index = t->grad_index;
  kept.set_stop_gradient(t.stop_gradient());
  return kept;
}

}  // namespace

Ref<OpNode> OpNode::make(const OpCall& c) {
  Ref<OpNode> node(new (NodePool::get()) OpNode(c.op));
  size_t n = c.args.size();
  node->args_.reserve(n);
  node->slots_.resize(n);
  size_t tensors = 0;
  for (const Arg& a : c.args) tensors += a.tensors_or_empty().size();
  node->saved_.reserve(tensors);
  node->edges.reserve(tensors);
  for (size_t i = 0; i < n; ++i) {
    const Arg& a = c.args[i];
    TensorSlot& slot = node->slots_[i];
    if (!is_tensor_kind(c.op.args[i].kind)) {
      node->args_.push_back(node->keep(a, SaveKind::kNo));
      continue;
    }
    slot.first = static_cast<uint32_t>(node->saved_.size());
    slot.edge = static_cast<uint32_t>(node->edges.size());
    slot.list = a.tag() == Arg::Tag::kTensors;
    slot.present = !a.none();
    for (const Tensor& t : a.tensors_or_empty()) {
      SaveKind kind = c.op.args[i].saved;
      bool copy = kind == SaveKind::kValue && t.defined() && t.is_dense() && writes(c, i);
      node->saved_.push_back(node->save(copy ? copy_before_write(t) : t, kind));
      node->edges.push_back(t.defined() && !c.op.args[i].nondifferentiable ? edge_of(t) : Edge{});
      ++slot.count;
    }
    node->args_.emplace_back();
  }
  return node;
}

void OpNode::save_outputs(OpCall& c) {
  size_t n = c.num_outs();
  num_outputs = 0;
  saved_outs_.resize(n);
  out_is_list_.resize(n);
  uint32_t index = 0;
  Ref<Node> self(this);
  auto take = [&](const Tensor& t, size_t i) {
    SaveKind kind = c.op.outs[i].saved;
    Saved s;
    if (t.defined()) {
      output_metas.push_back({t.dtype(), t.shape()});
      if (kind == SaveKind::kValue) {
        // Without history: the tensor itself would keep this node alive, and the node the tensor.
        Tensor alias(TensorImpl::make());
        alias.become(t);
        alias->grad_fn = nullptr;
        alias->bits &= static_cast<uint8_t>(~kNeedsGrad);
        s.tensor = std::move(alias);
        s.version = t->storage ? t->storage->version() : 0;
        if (saved_tensor_hooks) [[unlikely]]
          pack(s);
      } else if (kind == SaveKind::kMeta) {
        s.tensor = Tensor::meta(t.shape(), t.dtype(), t.place());
      }
      s.kind = kind;
      s.own_output = true;
      bool differentiable = is_inexact(t.dtype()) && !c.op.outs[i].nondifferentiable;
      if (differentiable) set_history(t, self, index);
    } else {
      output_metas.emplace_back();
    }
    saved_outs_[i].push_back(std::move(s));
    ++index;
  };
  for (size_t i = 0; i < n; ++i) {
    out_is_list_[i] = c.op.outs[i].kind == ArgKind::kTensors;
    if (out_is_list_[i]) {
      for (const Tensor& t : c.out_list(i)) take(t, i);
    } else {
      take(c.out(i), i);
    }
  }
  num_outputs = index;
}

Tensor OpNode::unpack(const Saved& s, uint32_t out_index, bool create_graph) const {
  if (s.kind != SaveKind::kValue || !s.tensor.defined()) return s.tensor;
  if (s.hooks) [[unlikely]] {
    Saved plain = s;
    plain.hooks = {};
    {
      dispatch::GradMode off(false);
      plain.tensor = s.hooks->unpack(*s.packed);
    }
    plain.version = plain.tensor->storage ? plain.tensor->storage->version() : 0;
    return unpack(plain, out_index, create_graph);
  }
  if (s.tensor->storage && s.tensor->storage->version() != s.version) {
    // Not an error yet: this gradient may not need it. An operator that reads it raises (dispatch).
    Tensor gone = Tensor::meta(s.tensor.shape(), s.tensor.dtype(), s.tensor.place());
    gone->bits |= kOverwritten;
    return gone;
  }
  if (!create_graph) return s.tensor;
  if (s.own_output) {
    Tensor alias(TensorImpl::make());
    alias.become(s.tensor);
    if (is_inexact(alias.dtype())) set_history(alias, Ref<Node>(const_cast<OpNode*>(this)), out_index);
    return alias;
  }
  if (s.tensor->grad_fn == s.grad_fn) return s.tensor;
  Tensor alias(TensorImpl::make());
  alias.become(s.tensor);
  alias->grad_fn = s.grad_fn;
  alias->grad_index = s.grad_index;
  if (s.grad_fn) alias->bits |= kNeedsGrad;  // a hook may have given it back without
  return alias;
}

void OpNode::visit_held(HeldVisitor& visitor) const {
  auto see = [&](const std::vector<Saved>& list) {
    for (const Saved& s : list) {
      visitor.object(s.tensor.impl());
      visitor.object(s.grad_fn.get());
      visitor.object(s.hooks.get());
      visitor.object(s.packed.get());
    }
  };
  see(saved_);
  for (const std::vector<Saved>& list : saved_outs_) see(list);
}

Tensors OpNode::apply(Tensors&& out_grads, bool create_graph) {
  check(!released_, ErrorKind::kRuntime,
        "[{}] this part of the graph was run backward already and its saved tensors are freed; pass retain_graph=True "
        "to the "
        "first backward to go through it again",
        op_.name);
  // Everything the vjp may read, unpacked into stable storage.
  Tensors values(saved_.size());
  for (size_t i = 0; i < saved_.size(); ++i) values[i] = unpack(saved_[i], 0, create_graph);
  std::vector<Arg> args(args_);
  for (size_t i = 0; i < args.size(); ++i) {
    const TensorSlot& slot = slots_[i];
    if (!slot.present) continue;
    args[i] =
        slot.list ? Arg(std::span<const Tensor>(values.data() + slot.first, slot.count)) : Arg(values[slot.first]);
  }
  std::vector<Tensors> outs(saved_outs_.size());
  std::vector<Arg> out_args, grad_args;
  uint32_t index = 0;
  for (size_t i = 0; i < saved_outs_.size(); ++i) {
    uint32_t first = index;
    for (const Saved& s : saved_outs_[i]) outs[i].push_back(unpack(s, index++, create_graph));
    size_t count = saved_outs_[i].size();
    out_args.push_back(out_is_list_[i] ? Arg(outs[i]) : Arg(outs[i][0]));
    if (out_is_list_[i]) {
      bool any = false;
      for (size_t k = 0; k < count; ++k) any |= out_grads[first + k].defined();
      grad_args.push_back(any ? Arg(std::span<const Tensor>(out_grads.data() + first, count)) : Arg());
    } else {
      grad_args.push_back(Arg(out_grads[first]));
    }
  }
  VjpCall v{op_, args, out_args, grad_args, std::vector<uint8_t>(args.size()), std::vector<OutSlot>(args.size())};
  for (size_t i = 0; i < args.size(); ++i) {
    const TensorSlot& slot = slots_[i];
    for (uint32_t k = 0; k < slot.count; ++k) v.needs[i] |= edges[slot.edge + k].node ? 1 : 0;
  }
  {
    dispatch::GradMode mode(create_graph);
    op_.vjp(v);
  }
  Tensors grads(edges.size());
  for (size_t i = 0; i < args.size(); ++i) {
    const TensorSlot& slot = slots_[i];
    if (!slot.present || slot.count == 0) continue;
    if (slot.list) {
      PD_INVARIANT(v.in_grads[i].list.empty() || v.in_grads[i].list.size() == slot.count);
      for (uint32_t k = 0; k < v.in_grads[i].list.size(); ++k) grads[slot.edge + k] = std::move(v.in_grads[i].list[k]);
    } else {
      grads[slot.edge] = std::move(v.in_grads[i].tensor);
    }
  }
  return grads;
}

void OpNode::release_saved() {
  released_ = true;
  saved_.clear();
  saved_outs_.clear();
}

}  // namespace paddle::autograd
