// Compiled groups and kernels: prepared ones, whose outputs have their place in the arena, and all others.
#include "api/ops.h"
#include "device/default_place.h"
#include "dispatch/eager.h"
#include "executor/runner.h"

namespace paddle::executor {
namespace {

Tensor copy_of(const Tensor& t, Place place) {
  Tensor c = Tensor::empty(t.shape(), t.dtype(), place);
  dispatch::copy_into(c, t);
  return c;
}

constexpr size_t kMaxArgs = 40;

}  // namespace

// ---- groups

void Runner::group(const Instruction& i) {
  if (i.id < f_.groups.size() && f_.groups[i.id]) return launch(i, *f_.groups[i.id]);
  check_agreements(i, f_);
  PreparedGroup p;
  p.inputs.resize(i.operands.size());
  p.outputs.resize(i.results.size());
  for (Dim d : i.group.symbols) p.sizes.push_back(f_.value(d));
  for (const TensorMeta& m : i.metas) p.shapes.push_back(f_.values(view(m.shape)));
  p.in_arena.assign(i.results.size(), false);
  launch(i, p);
}

void Runner::launch(const Instruction& i, PreparedGroup& p) {
  Tensors copies;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const Tensor& t = f_.tensors[i.operands[k]];
    if (t.is_contiguous() && t.place() == f_.place) {
      p.inputs[k] = t.data();
      continue;
    }
    copies.push_back(copy_of(t, f_.place));
    p.inputs[k] = copies.back().data();
  }
  Tensors unused;
  for (size_t k = 0; k < i.results.size(); ++k) {
    if (!p.in_arena[k]) {
      Tensor made = taken(i, k, p);
      if (!made.defined()) made = Tensor::empty(view(p.shapes[k]), i.metas[k].dtype, f_.place);
      p.outputs[k] = made.data();
      (i.results[k] == kNone ? unused.emplace_back() : result(i, k)) = std::move(made);
    } else {
      p.outputs[k] = result(i, k).data();
    }
  }
  if (i.group.device) return i.group.device->run(p.inputs, p.outputs, p.sizes);
  i.group.code->run(p.inputs, p.outputs, p.sizes, f_.address_of(i.workspace));
}

// Result k in the memory of an operand that dies here; undefined: somebody else holds that.
Tensor Runner::taken(const Instruction& i, size_t k, const PreparedGroup& p) {
  if (k >= i.takes.size() || i.takes[k] == kNone || !f_.place.is_cpu()) return {};
  const Tensor& from = f_.tensors[i.operands[i.takes[k]]];
  if (!sole_owner(from) || from->offset != 0 || !from.is_contiguous()) return {};
  Tensor made = Tensor::meta(view(p.shapes[k]), i.metas[k].dtype, f_.place);
  made->strides = contiguous_strides(view(made.shape()));
  made->storage = from->storage;
  return made;
}

// ---- operators

void Runner::kernel(const Instruction& i) {
  if (i.id < f_.calls.size() && f_.calls[i.id]) return prepared_kernel(i, *f_.calls[i.id]);
  any_kernel(i);
}

void Runner::prepared_kernel(const Instruction& i, PreparedCall& p) {
  OpCall& c = p.call;
  for (const Patch& patch : i.patches) {
    if (patch.kind == Patch::kTensor)
      p.args[patch.arg] = Arg(operand(patch, i, c));
    else if (patch.kind == Patch::kTensors)
      p.args[patch.arg] =
          patch.one ? Arg(std::span<const Tensor>(&f_.tensors[patch.slot], 1)) : Arg(f_.lists[patch.slot]);
  }
  if (i.random) {
    c.key = draw(i);
    c.key_drawn = true;
  }
  bool taken = false;
  if (i.reuse >= 0) {
    Tensor& t = f_.tensors[i.patches[static_cast<size_t>(i.reuse)].slot];
    taken = sole_owner(t) && t.is_contiguous() && t.shape() == c.first_meta.shape;
    if (taken) c.out0.tensor = t;
  }
  if (!i.view)
    for (const PreparedCall::Result& r : p.results)
      if (r.in_arena)
        c.out(r.index) = f_.tensors[r.slot];
      else if (!(taken && r.index == 0))
        c.out(r.index) = Tensor::empty(view(c.meta(r.index).shape), c.meta(r.index).dtype, c.place);
  ShardScope shard(i.shard.get());
  if (!i.constant_args || !held_kernel(i, p)) i.kernel(c);
  if (i.view) dispatch::note_views(c);
  for (const PreparedCall::Result& r : p.results) {
    Tensor& out = c.out(r.index);
    Tensor& slot = f_.tensors[r.slot];
    if (!r.in_arena)
      slot = std::move(out);
    else if (!out.same(slot))  // the kernel made a tensor of its own
      dispatch::copy_into(slot, out);
    out = Tensor();
  }
  c.kept_ints.clear();
  c.kept_scalars.clear();
  c.kept_tensors.clear();
  c.kept_lists.clear();
}

// By a kernel that has kept what it made of the weights; false: there is none.
bool Runner::held_kernel(const Instruction& i, PreparedCall& p) {
  if (p.refused) return false;
  bool fresh = p.held != nullptr;
  size_t at = 0;
  for (size_t a = 0; fresh && a < p.args.size(); ++a) {
    if (!(i.constant_args >> a & 1)) continue;
    fresh = p.constants[at++].still(p.args[a].tensor());
  }
  if (!fresh) {
    p.constants.clear();
    for (size_t a = 0; a < p.args.size(); ++a)
      if (i.constant_args >> a & 1) p.constants.emplace_back(p.args[a].tensor());
    p.held = kernels::find_hold(*i.op, Place::cpu().kind)(p.call, i.constant_args);
    p.refused = !p.held;
    if (p.refused) return false;
  }
  p.held->run(p.call);
  return true;
}

void Runner::any_kernel(const Instruction& i) {
  Arg args[kMaxArgs];
  const size_t n = i.args.size();
  PD_INVARIANT(n <= kMaxArgs);
  std::copy(i.args.begin(), i.args.end(), args);
  OpCall c(*i.op, std::span<Arg>(args, n));
  for (const Patch& p : i.patches) patch(p, args[p.arg], i, c);
  ShardScope shard(i.shard.get());
  if (i.random) {
    c.key = draw(i);
    c.key_drawn = true;
  }
  if (i.static_metas) {
    c.first_meta = i.metas.empty() ? TensorMeta{} : i.metas[0];
    for (size_t k = 1; k < i.metas.size(); ++k) c.meta(k) = i.metas[k];
    for (const auto& l : i.list_metas)
      if (!l.empty()) c.list_metas = l;
    c.metas_ready = true;
    c.place = place_of(i);
  } else {
    dispatch::resolve_arguments(c);
    dispatch::infer(c);
  }
  if (!i.targets.empty()) protect(i, args);
  c.inplace = !i.targets.empty() && !i.op->has(kInplaceOnly);
  dispatch::run_kernel(c);
  // Programs of the official release may have surplus results that nobody uses (batch_norm's reserve space).
  for (size_t k = 0; k < std::min(i.results.size(), c.num_outs()); ++k) {
    if (i.results[k] == kNone) continue;
    OutSlot& out = c.out_slot(k);
    if (i.result_lists[k])
      f_.lists[i.results[k]] = std::move(out.list);
    else if (const Tensor& there = f_.in_arena[i.results[k]]; there.defined() && !out.tensor.same(there))
      dispatch::copy_into(there, out.tensor);
    else
      f_.tensors[i.results[k]] = std::move(out.tensor);
  }
}

RandomKey Runner::draw(const Instruction& i) {
  if (i.replayed) {
    auto it = f_.drawn->find(*i.named_key);
    PD_INVARIANT(it != f_.drawn->end());
    return it->second;
  }
  RandomKey key = f_.keys->next();
  if (i.named_key) (*f_.drawn)[*i.named_key] = key;
  return key;
}

const Tensor& Runner::operand(const Patch& p, const Instruction& i, OpCall& c) const {
  const Tensor& t = f_.tensors[p.slot];
  if (!i.in_order || t.is_contiguous()) return t;
  return c.kept_tensors.emplace_front(copy_of(t, t.place()));
}

Place Runner::place_of(const Instruction& i) const {
  for (const Patch& p : i.patches)
    if (p.kind == Patch::kTensor) return f_.tensors[p.slot].place();
  return device::default_place();
}

void Runner::patch(const Patch& p, Arg& a, const Instruction& i, OpCall& c) {
  switch (p.kind) {
    case Patch::kTensor:
      a = Arg(operand(p, i, c));
      return;
    case Patch::kTensors:
      a = p.one ? Arg(std::span<const Tensor>(&f_.tensors[p.slot], 1)) : Arg(f_.lists[p.slot]);
      return;
    case Patch::kScalar:
      a = Arg(c.kept_scalars.emplace_front(f_.tensors[p.slot]));
      return;
    case Patch::kWholeInts:
      a = Arg(c.kept_ints.emplace_front(Ints(f_.tensors[p.slot])));
      return;
    case Patch::kListInts: {
      Shape zeros(f_.lists[p.slot].size(), Dim(0));
      a = Arg(c.kept_ints.emplace_front(view(zeros), f_.lists[p.slot]));
      return;
    }
    case Patch::kSymbolicInts:
      a = Arg(c.kept_ints.emplace_front(f_.values(view(i.args[p.arg].ints().values()))));
      return;
    case Patch::kSymbolicScalar:
      a = Arg(c.kept_scalars.emplace_front(f_.value(i.args[p.arg].scalar().dim())));
      return;
  }
}

// Arguments that the operator overwrites: copies, unless the memory may be given up.
void Runner::protect(const Instruction& i, Arg* args) {
  for (const Instruction::Target& t : i.targets) {
    if (t.in_place) continue;
    Arg& a = args[t.arg];
    if (a.tag() == Arg::Tag::kTensor) {
      copies_.push_front(Tensors{copy_of(a.tensor(), a.tensor().place())});
      a = Arg(copies_.front()[0]);
    } else if (a.tag() == Arg::Tag::kTensors) {
      Tensors list;
      for (const Tensor& x : a.tensors()) list.push_back(x.defined() ? copy_of(x, x.place()) : x);
      copies_.push_front(std::move(list));
      a = Arg(copies_.front());
    }
  }
}

}  // namespace paddle::executor
