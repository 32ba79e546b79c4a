#include "executor/memory.h"

#include <algorithm>
#include <set>

#include "cinn/loop/in_place.h"

namespace paddle::executor {
namespace {

using Roots = std::set<uint32_t>;  // slots whose memory a value may look into

void merge(Roots& to, const Roots& from) { to.insert(from.begin(), from.end()); }

// Makes its results in memory that is given to it. All others may return what they were given, or a view of it.
bool fills_memory(const Instruction& i) {
  if (i.kind == Kind::kGroup) return true;
  if (i.kind != Kind::kKernel || !i.kernel || !i.targets.empty()) return false;
  if (i.op->has(kView | kInplaceOnly | kDataDependentShape | kCollective | kSideEffect)) return false;
  for (uint8_t list : i.result_lists)
    if (list) return false;
  return true;
}

// Operands may be seen by somebody after the instruction, in a way that isn't followed here.
bool lets_escape(Kind k) {
  switch (k) {
    case Kind::kKernel:
    case Kind::kGroup:
    case Kind::kCombine:
    case Kind::kSplit:
    case Kind::kListItem:
    case Kind::kAlias:
    case Kind::kConstant:
    case Kind::kAssert:
      return false;
    default:
      return true;
  }
}

class Analysis {
 public:
  Analysis(std::span<const SlotType> slots, size_t num_lists) : slots_(slots) {
    tensor_.resize(slots.size());
    list_.resize(num_lists);
    own_.resize(slots.size());
    escaped_.resize(slots.size());
    first_.resize(slots.size());
    last_.resize(slots.size());
  }

  MemoryModel run(Code& code, std::span<const uint32_t> results, std::span<const uint32_t> inputs) {
    for (uint32_t s : inputs)
      if (s != kNone && slots_[s].sized) {
        own_[s] = true;
        tensor_[s] = {s};
      }
    number(code);
    for (uint32_t s : results) escape(tensor_[s]);
    lifetimes(code);
    hand_on(code);
    MemoryModel model;
    model.buffer_of.assign(slots_.size(), kNone);
    place_inputs(inputs, model);
    place(code, model);
    return model;
  }

 private:
  // Operands of an instruction, as (slot, is a list).
  template <class F>
  static void for_operands(const Instruction& i, F&& f) {
    if (i.kind == Kind::kKernel) {
      for (const Patch& p : i.patches) {
        if (p.kind == Patch::kSymbolicInts || p.kind == Patch::kSymbolicScalar) continue;
        f(p.slot, (p.kind == Patch::kTensors && !p.one) || p.kind == Patch::kListInts);
      }
      return;
    }
    for (size_t k = 0; k < i.operands.size(); ++k) {
      if (i.operands[k] == kNone) continue;
      bool list = false;
      for (const Patch& p : i.patches) list |= p.arg == k;
      f(i.operands[k], list);
    }
  }

  Roots& roots(uint32_t slot, bool list) { return list ? list_[slot] : tensor_[slot]; }
  void escape(const Roots& r) {
    for (uint32_t s : r) escaped_[s] = true;
  }

  // ---- numbers, and which memory values look into
  void number(Code& code) {
    for (Instruction& i : code.list) {
      i.id = next_++;
      Roots all;
      for_operands(i, [&](uint32_t s, bool list) { merge(all, roots(s, list)); });
      if (lets_escape(i.kind)) escape(all);
      if (i.body) number(*i.body);
      if (i.otherwise) number(*i.otherwise);
      i.end = i.body || i.otherwise ? next_++ : i.id;
      const bool fills = fills_memory(i);
      for (size_t k = 0; k < i.results.size(); ++k) {
        const uint32_t s = i.results[k];
        if (s == kNone) continue;
        if (k < i.result_lists.size() && i.result_lists[k]) {
          list_[s] = all;
        } else if (fills && slots_[s].sized) {
          own_[s] = true;
          tensor_[s] = {s};
          first_[s] = last_[s] = i.id;
        } else {
          tensor_[s] = all;
        }
      }
    }
    for (size_t k = 0; k < code.yields.size(); ++k)
      if (code.yields[k] != kNone) escape(roots(code.yields[k], code.yield_is_list[k]));
  }

  // ---- when each is needed last. A loop's body runs again: what it reads from outside is needed to the loop's end.
  void lifetimes(const Code& code) {
    std::vector<std::pair<uint32_t, bool>> defined;  // slots of this block
    for (const Instruction& i : code.list) note_uses(i, i.end);
    static_cast<void>(defined);
  }
  void touch(const Roots& r, uint32_t at) {
    for (uint32_t s : r) last_[s] = std::max(last_[s], at);
  }
  void note_uses(const Instruction& i, uint32_t at) {
    for_operands(i, [&](uint32_t s, bool list) { touch(roots(s, list), at); });
    for (const SymbolBinding& b : i.binds) touch(tensor_[b.slot], at);
    for (const Code* inner : {i.body.get(), i.otherwise.get()}) {
      if (!inner) continue;
      for (const Instruction& j : inner->list) {
        note_uses(j, j.end);
        // From outside of this instruction: to its end. What is made inside is untouched by that: it is made anew.
        note_outer(j, i, at);
      }
    }
  }
  void note_outer(const Instruction& j, const Instruction& outer, uint32_t at) {
    for_operands(j, [&](uint32_t s, bool list) {
      for (uint32_t r : roots(s, list))
        if (first_[r] < outer.id) last_[r] = std::max(last_[r], at);
    });
    for (const Code* inner : {j.body.get(), j.otherwise.get()})
      if (inner)
        for (const Instruction& k : inner->list) note_outer(k, outer, at);
  }

  // ---- results that leave the run in the memory of an operand that dies: that operand isn't in the arena either. Last
  // ones first, so that whole chains live in one piece of memory.
  void hand_on(Code& code) {
    for (size_t n = code.list.size(); n-- > 0;) {
      Instruction& i = code.list[n];
      if (i.kind == Kind::kKernel && i.reuse >= 0 && leaves(i.results[0])) {
        const uint32_t from = i.patches[static_cast<size_t>(i.reuse)].slot;
        if (may_go(i, from)) escaped_[from] = true;
      }
      if (i.kind == Kind::kGroup && i.group.code) hand_on_in_group(i);
    }
  }

  void hand_on_in_group(Instruction& i) {
    i.takes.assign(i.results.size(), kNone);
    for (size_t k = 0; k < i.results.size(); ++k) {
      if (!leaves(i.results[k])) continue;
      for (size_t o = 0; o < i.operands.size(); ++o) {
        if (!may_go(i, i.operands[o]) || std::count(i.takes.begin(), i.takes.end(), static_cast<uint32_t>(o))) continue;
        if (!cinn::may_overwrite(i.group.code->module(), static_cast<int>(o), static_cast<int>(k))) continue;
        i.takes[k] = static_cast<uint32_t>(o);
        escaped_[i.operands[o]] = true;
        break;
      }
    }
  }

  bool leaves(uint32_t slot) const { return slot != kNone && own_[slot] && escaped_[slot]; }
  // It dies here, and nobody else looks at it.
  bool may_go(const Instruction& i, uint32_t from) {
    if (!planned(from) || last_[from] != i.id) return false;
    bool alone = true;
    for_operands(i, [&](uint32_t s, bool list) {
      if (list || s != from) alone &= roots(s, list).count(from) == 0;
    });
    return alone;
  }

  // ---- buffers
  bool planned(uint32_t slot) const { return own_[slot] && !escaped_[slot]; }

  void place_inputs(std::span<const uint32_t> inputs, MemoryModel& model) {
    for (uint32_t k = 0; k < inputs.size(); ++k) {
      const uint32_t s = inputs[k];
      if (s == kNone || !planned(s) || model.buffer_of[s] != kNone) continue;
      const auto buffer = static_cast<uint32_t>(model.buffers.size());
      model.buffers.push_back({kNone, last_[s], slots_[s].dtype, slots_[s].shape, nullptr, k});
      model.buffer_of[s] = buffer;
      model.inputs.push_back({k, s, last_[s], buffer});
    }
  }

  void place(Code& code, MemoryModel& model) {
    for (Instruction& i : code.list) {
      for (size_t k = 0; k < i.results.size(); ++k) {
        const uint32_t s = i.results[k];
        if (s == kNone || (k < i.result_lists.size() && i.result_lists[k]) || !planned(s)) continue;
        uint32_t buffer = i.kind == Kind::kGroup ? written_over(i, k, model) : k == 0 ? taken_over(i, model) : kNone;
        if (buffer == kNone) {
          buffer = static_cast<uint32_t>(model.buffers.size());
          model.buffers.push_back({first_[s], last_[s], slots_[s].dtype, slots_[s].shape, nullptr});
        } else {
          MemoryModel::Buffer& b = model.buffers[buffer];
          b.first = std::min(b.first, first_[s]);
          b.last = std::max(b.last, last_[s]);
        }
        model.buffer_of[s] = buffer;
        model.values.push_back({s, buffer, slots_[s].shape});
      }
      if (i.kind == Kind::kGroup && i.group.code && i.prepared) {  // else only running tells how much it is
        i.workspace = static_cast<uint32_t>(model.buffers.size());
        model.buffers.push_back({i.id, i.id, DType::kUndefined, {}, &i});
      }
      if (i.body) place(*i.body, model);
      if (i.otherwise) place(*i.otherwise, model);
      const bool result_planned = !i.results.empty() && i.results[0] != kNone && model.buffer_of[i.results[0]] != kNone;
      if (i.kind == Kind::kKernel && result_planned) i.reuse = -1;  // settled here
      // What was given up leaves the run where it dies.
      std::erase_if(i.frees, [&](uint32_t s) { return model.buffer_of[s] != kNone && first_[s] != 0; });
    }
  }

  // The buffer of an operand that dies here, where the operator may write over it element by element.
  uint32_t taken_over(const Instruction& i, const MemoryModel& model) {
    if (i.kind != Kind::kKernel || i.reuse < 0) return kNone;
    const uint32_t from = i.patches[static_cast<size_t>(i.reuse)].slot;
    const uint32_t buffer = model.buffer_of[from];
    if (buffer == kNone || model.buffers[buffer].last != i.id) return kNone;
    return alone(i, from, model) ? buffer : kNone;
  }

  // The same for result k of a compiled group, whose loops say what is read before it is overwritten.
  uint32_t written_over(const Instruction& i, size_t k, const MemoryModel& model) {
    if (!i.group.code) return kNone;
    for (size_t o = 0; o < i.operands.size(); ++o) {
      const uint32_t from = i.operands[o];
      const uint32_t buffer = model.buffer_of[from];
      if (buffer == kNone || model.buffers[buffer].last != i.id || is_result_before(i, k, buffer, model)) continue;
      if (!alone(i, from, model)) continue;
      if (cinn::may_overwrite(i.group.code->module(), static_cast<int>(o), static_cast<int>(k))) return buffer;
    }
    return kNone;
  }

  // An earlier result of the same group lies there, and dies at once.
  static bool is_result_before(const Instruction& i, size_t k, uint32_t buffer, const MemoryModel& model) {
    for (size_t before = 0; before < k; ++before)
      if (i.results[before] != kNone && model.buffer_of[i.results[before]] == buffer) return true;
    return false;
  }

  // Nobody else looks at it in another order while it is written.
  bool alone(const Instruction& i, uint32_t from, const MemoryModel& model) {
    const uint32_t buffer = model.buffer_of[from];
    if (model.buffers[buffer].dtype != slots_[from].dtype) return false;
    bool alone = true;
    for_operands(i, [&](uint32_t s, bool list) {
      if (list || s != from)
        for (uint32_t r : roots(s, list)) alone &= model.buffer_of[r] != buffer;
    });
    return alone;
  }

  std::span<const SlotType> slots_;
  uint32_t next_ = 1;
  std::vector<Roots> tensor_, list_;
  std::vector<bool> own_, escaped_;
  std::vector<uint32_t> first_, last_;
};

}  // namespace

MemoryModel plan_memory(Code& code, std::span<const SlotType> slots, size_t num_lists,
                        std::span<const uint32_t> results, std::span<const uint32_t> inputs) {
  return Analysis(slots, num_lists).run(code, results, inputs);
}

}  // namespace paddle::executor
