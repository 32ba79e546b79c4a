#include "executor/frame.h"

#include <utility>

#include "device/default_place.h"

namespace paddle::executor {
namespace {

class Preparation {
 public:
  Preparation(Frame& f, const MemoryModel& m) : f_(f), memory_(m) {}

  void run(const Code& code) {
    for (const Instruction& i : code.list) {
      if (f_.calls.size() <= i.end) f_.calls.resize(i.end + 1), f_.groups.resize(i.end + 1);
      // Where sizes don't agree, the instruction says so if it is run; it may stand in a branch that isn't taken.
      const bool prepared = i.prepared && !disagreement(i, f_);
      if (i.kind == Kind::kKernel && prepared) f_.calls[i.id] = call(i);
      if (i.kind == Kind::kGroup && prepared) f_.groups[i.id] = group(i);
      if (i.body) run(*i.body);
      if (i.otherwise) run(*i.otherwise);
    }
  }

 private:
  bool in_arena(uint32_t slot) const { return memory_.buffer_of[slot] != kNone; }

  std::unique_ptr<PreparedCall> call(const Instruction& i) {
    auto p = std::make_unique<PreparedCall>(i);
    for (const Patch& patch : i.patches) {
      Arg& a = p->args[patch.arg];
      if (patch.kind == Patch::kSymbolicInts)
        a = Arg(p->ints.emplace_front(f_.values(view(i.args[patch.arg].ints().values()))));
      if (patch.kind == Patch::kSymbolicScalar)
        a = Arg(p->scalars.emplace_front(f_.value(i.args[patch.arg].scalar().dim())));
    }
    OpCall& c = p->call;
    c.args = p->args;
    for (size_t k = 0; k < i.metas.size(); ++k) c.meta(k) = {i.metas[k].dtype, f_.values(view(i.metas[k].shape))};
    for (const auto& list : i.list_metas) {
      if (list.empty()) continue;
      c.list_metas.clear();
      for (const TensorMeta& m : list) c.list_metas.push_back({m.dtype, f_.values(view(m.shape))});
    }
    c.metas_ready = true;
    c.place = device::default_place();
    for (uint32_t k = 0; k < std::min(i.results.size(), c.num_outs()); ++k)
      if (i.results[k] != kNone && !i.result_lists[k]) p->results.push_back({i.results[k], k, in_arena(i.results[k])});
    return p;
  }

  std::unique_ptr<PreparedGroup> group(const Instruction& i) {
    auto p = std::make_unique<PreparedGroup>();
    p->inputs.resize(i.operands.size());
    p->outputs.resize(i.results.size());
    for (Dim d : i.group.symbols) p->sizes.push_back(f_.value(d));
    for (size_t k = 0; k < i.results.size(); ++k) {
      p->shapes.push_back(f_.values(view(i.metas[k].shape)));
      p->in_arena.push_back(i.results[k] != kNone && in_arena(i.results[k]));
    }
    return p;
  }

  Frame& f_;
  const MemoryModel& memory_;
};

}  // namespace

size_t Frame::bytes_of(const MemoryModel::Buffer& b) const {
  if (b.group) {
    std::vector<int64_t> sizes;
    for (Dim d : b.group->group.symbols) sizes.push_back(value(d));
    return static_cast<size_t>(b.group->group.code->workspace_bytes(sizes));
  }
  size_t n = size_of(b.dtype);
  for (Dim d : b.shape) n *= static_cast<size_t>(value(d));
  return n;
}

void Frame::prepare(const Code& code, const MemoryModel& memory, bool host) {
  in_arena.assign(tensors.size(), Tensor());
  tensors.assign(tensors.size(), Tensor());
  calls.clear();
  groups.clear();
  intervals.clear();
  layout = {};
  lent_slots.clear();
  lent.clear();
  lent_values.clear();
  if (!host) return;
  lay_out(memory);
  placed = false;
  for (const MemoryModel::Value& v : memory.values) {
    in_arena[v.slot] = Tensor::meta(view(values(view(v.shape))), memory.buffers[v.buffer].dtype, Place::cpu());
    if (layout.lent[v.buffer] >= 0) lent_values.push_back(v);
  }
  Preparation(*this, memory).run(code);
}

void Frame::lay_out(const MemoryModel& memory) {
  for (const MemoryModel::Buffer& b : memory.buffers)
    intervals.push_back({b.first == kNone ? 0 : bytes_of(b), b.first, b.last});
  std::vector<Lent> blocks;
  std::vector<uint32_t> begins;  // the buffer that each block is at first
  for (size_t k = 0; k < given_up.size(); ++k) {
    if (!given_up[k]) continue;
    const MemoryModel::Input& i = memory.inputs[k];
    blocks.push_back({bytes_of(memory.buffers[i.buffer]), memory.buffers[i.buffer].last});
    begins.push_back(i.buffer);
    lent_slots.push_back(i.slot);
    intervals[i.buffer].bytes = 0;
  }
  layout = assign_offsets(intervals, blocks);
  lent.resize(blocks.size());
  std::vector<bool> used(blocks.size());
  for (size_t b = 0; b < intervals.size(); ++b)
    if (layout.lent[b] >= 0) used[static_cast<size_t>(layout.lent[b])] = true;
  for (size_t k = 0; k < begins.size(); ++k) {
    layout.lent[begins[k]] = static_cast<int>(k);
    if (!used[k] && memory.buffers[begins[k]].first == kNone) lent_slots[k] = kNone;
  }
}

void Frame::look_at(const MemoryModel::Value& v, const Ref<Storage>& storage) {
  TensorImpl& t = *in_arena[v.slot].impl();
  t.storage = storage;
  t.strides = contiguous_strides(view(t.shape));
  t.offset = static_cast<int64_t>(layout.offsets[v.buffer] / size_of(t.dtype));
  tensors[v.slot] = in_arena[v.slot];
}

size_t Frame::least_arena() const {
  std::vector<Interval> here;
  for (size_t b = 0; b < intervals.size(); ++b)
    if (layout.lent[b] < 0) here.push_back(intervals[b]);
  return lower_bound(here);
}

char* Frame::address_of(uint32_t buffer) const {
  if (buffer == kNone || layout.offsets.empty()) return nullptr;
  const int block = layout.lent[buffer];
  char* base = block < 0 ? arena_base : static_cast<char*>(lent[static_cast<size_t>(block)]->data());
  return base ? base + layout.offsets[buffer] : nullptr;
}

void Frame::enter(const MemoryModel& memory) {
  for (size_t k = 0; k < lent.size(); ++k)
    if (lent_slots[k] != kNone) lent[k] = tensors[lent_slots[k]]->storage;
  for (const MemoryModel::Value& v : lent_values) look_at(v, lent[static_cast<size_t>(layout.lent[v.buffer])]);
  if (layout.bytes == 0 && memory.values.size() == lent_values.size()) return;
  arena = Arena(layout.bytes);
  if (std::exchange(placed, true) && arena.data() == arena_base) return;
  // Another block than last time: the tensors look there now.
  arena_base = arena.data();
  Ref<Storage> storage = Storage::wrap(arena_base, layout.bytes, Place::cpu(), {});
  for (const MemoryModel::Value& v : memory.values)
    if (layout.lent[v.buffer] < 0) look_at(v, storage);
}

void Frame::leave() {
  for (size_t s = 0; s < tensors.size(); ++s)
    if (!in_arena[s].defined()) tensors[s] = Tensor();
  for (Tensors& l : lists) l.clear();
  for (auto& s : stacks) s.clear();
  for (const MemoryModel::Value& v : lent_values) in_arena[v.slot]->storage = {};
  for (Ref<Storage>& s : lent) s = {};
  arena = Arena();
}

}  // namespace paddle::executor
