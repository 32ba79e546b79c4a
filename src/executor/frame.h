// Frame: the values of one run, and what is prepared for runs with the same sizes: the arena's layout, tensors that
// stand for what lives there, the calls of kernels with their arguments. A step of such a run neither allocates nor
// looks anything up.
#pragma once
#include <algorithm>
#include <forward_list>
#include <memory>

#include "executor/arena.h"
#include "executor/instruction.h"
#include "executor/memory.h"
#include "executor/plan.h"
#include "phi/kernels/registry.h"

namespace paddle::executor {

// A kernel's call, kept from run to run.
struct PreparedCall {
  explicit PreparedCall(const Instruction& i) : args(i.args), call(*i.op, args) {}
  std::vector<Arg> args;
  OpCall call;
  std::forward_list<Ints> ints;  // sizes of this frame's runs, in the arguments
  std::forward_list<Scalar> scalars;
  struct Result {
    uint32_t slot;
    uint32_t index;
    bool in_arena;
  };
  std::vector<Result> results;
  // Weights that are kept in a form of the kernel's own: made at the first run, and again when one was changed.
  std::unique_ptr<kernels::HeldKernel> held;
  std::vector<SeenTensor> constants;
  bool refused = false;  // the kernel keeps nothing
};

// A compiled group's launch.
struct PreparedGroup {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  std::vector<int64_t> sizes;
  std::vector<Shape> shapes;  // of the results
  std::vector<bool> in_arena;
};

struct Frame {
  std::vector<Tensor> tensors;
  std::vector<Tensors> lists;
  std::vector<std::vector<std::vector<OutSlot>>> stacks;
  const std::unordered_map<int64_t, uint32_t>* symbol_index = nullptr;
  static constexpr int64_t kUntold = INT64_MIN;  // no tensor has said yet what a symbol stands for
  std::vector<int64_t> symbols;
  Generator* keys = nullptr;
  Place place;  // where the program runs
  DrawnKeys own_drawn;
  DrawnKeys* drawn = nullptr;

  // Prepared for these sizes of the inputs.
  std::vector<int64_t> input_sizes;
  std::vector<uint8_t> given_up;  // per item of MemoryModel::inputs: the run may have its memory; empty: none
  bool stale = true;
  std::vector<Interval> intervals;
  Layout layout;
  std::vector<Tensor> in_arena;                        // per tensor slot; undefined: elsewhere
  std::vector<std::unique_ptr<PreparedCall>> calls;    // by Instruction::id
  std::vector<std::unique_ptr<PreparedGroup>> groups;  // by Instruction::id
  Arena arena;
  bool placed = false;
  char* arena_base = nullptr;  // where in_arena looks
  // Memory of inputs that are given up, as Layout::lent counts. What nothing else lies in goes when the input dies.
  std::vector<uint32_t> lent_slots;  // of the inputs; kNone: nothing else lies there
  std::vector<Ref<Storage>> lent;
  std::vector<MemoryModel::Value> lent_values;

  int64_t value(Dim d) const {
    if (d.is_const()) return d.value();
    return evaluate(d, [this](int64_t id) {
      const int64_t v = symbols[symbol_index->at(id)];
      PD_INVARIANT(v != kUntold);
      return v;
    });
  }
  // Has a tensor said what its symbols stand for? Within a group only its own results may.
  bool told(Dim d) const {
    std::vector<Dim> used;
    if (d.is_symbolic()) symbols_of(d, used);
    return std::all_of(used.begin(), used.end(), [&](Dim s) {
      auto it = symbol_index->find(node_of(s).value);
      return it != symbol_index->end() && symbols[it->second] != kUntold;
    });
  }
  Shape values(std::span<const Dim> dims) const {
    Shape s;
    for (Dim d : dims) s.push_back(Dim(value(d)));
    return s;
  }

  // host: all that comes in is in host memory; else nothing is in the arena and every call is made anew.
  void prepare(const Code& code, const MemoryModel& memory, bool host);
  void enter(const MemoryModel& memory);  // takes an arena; the inputs are there
  size_t bytes_of(const MemoryModel::Buffer& b) const;
  size_t least_arena() const;  // no layout of what lies in the arena could do with less
  // Of a buffer of the arena; null where there is none.
  char* address_of(uint32_t buffer) const;
  void leave();  // drops what the run held

 private:
  void lay_out(const MemoryModel& memory);
  void look_at(const MemoryModel::Value& v, const Ref<Storage>& storage);
};

// Nobody but the frame can see its memory.
inline bool sole_owner(const Tensor& t) {
  return t.impl()->use_count() == 1 && t->storage && t->storage->use_count() == 1;
}

void run_code(const Code& code, Frame& frame);
// TypeError or ValueError, with the operation, where a tensor isn't what the program says.
void compare(const std::vector<TypeCheck>& checks, const Frame& frame, const pir::Operation* source);
// The first of the instruction's agreements that doesn't hold for the frame's sizes; null: all hold.
const SizeAgreement* disagreement(const Instruction& i, const Frame& frame);
void check_agreements(const Instruction& i, const Frame& frame);  // ValueError that names the operator

}  // namespace paddle::executor
