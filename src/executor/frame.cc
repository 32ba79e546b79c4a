#include "executor/frame.h"

#include <utility>

#include "device/default_place.h"

namespace paddle::executor {
namespace {

size_t bytes_of(const MemoryModel::Buffer& b, const Frame& f) {
  if (b.group) {
    std::vector<int64_t> sizes;
    for (Dim d : b.group->group.symbols) sizes.push_back(f.value(d));
    return static_cast<size_t>(b.group->group.code->workspace_bytes(sizes));
  }
  size_t n = size_of(b.dtype);
  for (Dim d : b.shape) n *= static_cast<size_t>(f.value(d));
  return n;
}

class Preparation {
 public:
  Preparation(Frame& f, const MemoryModel& m) : f_(f), memory_(m) {}

  void run(const Code& code) {
    for (const Instruction& i : code.list) {
      if (f_.calls.size() <= i.end) f_.calls.resize(i.end + 1), f_.groups.resize(i.end + 1);
      if (i.kind == Kind::kKernel && i.prepared) f_.calls[i.id] = call(i);
      if (i.kind == Kind::kGroup && i.prepared) f_.groups[i.id] = group(i);
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

void Frame::prepare(const Code& code, const MemoryModel& memory, bool host) {
  in_arena.assign(tensors.size(), Tensor());
  tensors.assign(tensors.size(), Tensor());
  calls.clear();
  groups.clear();
  intervals.clear();
  layout = {};
  if (!host) return;
  for (const MemoryModel::Buffer& b : memory.buffers) intervals.push_back({bytes_of(b, *this), b.first, b.last});
  layout = assign_offsets(intervals);
  placed = false;
  for (const MemoryModel::Value& v : memory.values) {
    const MemoryModel::Buffer& b = memory.buffers[v.buffer];
    in_arena[v.slot] = Tensor::meta(view(values(view(b.shape))), b.dtype, Place::cpu());
  }
  Preparation(*this, memory).run(code);
}

void Frame::enter(const MemoryModel& memory) {
  if (layout.bytes == 0 && memory.values.empty()) return;
  arena = Arena(layout.bytes);
  if (std::exchange(placed, true) && arena.data() == arena_base) return;
  // Another block than last time: the tensors look there now.
  arena_base = arena.data();
  Ref<Storage> storage = Storage::wrap(arena_base, layout.bytes, Place::cpu(), {});
  for (const MemoryModel::Value& v : memory.values) {
    TensorImpl& t = *in_arena[v.slot].impl();
    t.storage = storage;
    t.strides = contiguous_strides(view(t.shape));
    t.offset = static_cast<int64_t>(layout.offsets[v.buffer] / size_of(t.dtype));
    tensors[v.slot] = in_arena[v.slot];
  }
}

void Frame::leave() {
  for (size_t s = 0; s < tensors.size(); ++s)
    if (!in_arena[s].defined()) tensors[s] = Tensor();
  for (Tensors& l : lists) l.clear();
  for (auto& s : stacks) s.clear();
  arena = Arena();
}

}  // namespace paddle::executor
