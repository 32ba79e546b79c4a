// Inside of lower(): one walk over a program makes its instructions. lower.cc walks, lower_operations.cc and
// lower_kernels.cc make one instruction each.
#pragma once
#include <unordered_set>

#include "executor/aliases.h"
#include "executor/group_code.h"
#include "executor/lower.h"
#include "executor/memory.h"
#include "pir/operation.h"

namespace paddle::executor {

class Lowering {
  using Block = pir::Block;
  using Operation = pir::Operation;
  using Value = pir::Value;

 public:
  Lowering(Executable& e, GroupCode* groups) : e_(e) {
    if (groups) groups_ = std::move(groups->of);
  }

  void run();

 private:
  static bool is_list(pir::Type t);

  void note_type(uint32_t slot, pir::Type t);
  bool follows_from_inputs(const Shape& shape) const;

  static Executable::Held held(pir::Type t);

  uint32_t slot_of(Value v);

  // All groups of a program are one batch: devices build them together.
  void compile_groups();

  void number_symbols();

  // ---- liveness: the operation of `block` after which a value defined in `block` is no longer needed
  std::unordered_map<Value, const Operation*> last_uses(const Block& block);

  // A parameter may be overwritten in place if the result of the operator that does it is what the parameter becomes.
  void find_written_parameters(Block& top);

  Code block(Block& b, bool top);

  // A list of sizes or a number that its users have as a constant already.
  bool only_known(const Operation& op) const;

  // Inputs, parameters, results of the program: no instructions.
  bool edge(Operation& op);

  void note_agreements(Operation& op, Instruction& i) const;
  void bind_shape(Value v, std::vector<SymbolBinding>& binds);
  void expect_type(Value v, std::string what, std::vector<TypeCheck>& checks);
  // Do its results have just the types that the program says, whatever the operands? Shape rules were asked when it was
  // built.
  static bool vouched(const Instruction& i);
  bool input_symbol(int64_t id) const;

  void frees(Operation& op, const Block& b, std::unordered_map<Value, const Operation*>& last, Instruction& i);

  // ---- operations
  void lower(Operation& op, Instruction& i, std::unordered_map<Value, const Operation*>& last);

  Tensor at_place(const Tensor& t) const;

  void list_flags(Operation& op, Instruction& i);

  void stack(Operation& op, Instruction& i);

  void branch(Operation& op, Instruction& i);

  void loop(Operation& op, Instruction& i);

  void hold(Operation& op, Instruction& i);
  void group(Operation& op, Instruction& i);

  // ---- operators with a record
  void kernel(Operation& op, Instruction& i, std::unordered_map<Value, const Operation*>& last);

  bool stays(Value v) const;
  // Each set of sizes has frames of its own, and a matrix is packed in little more time than it is multiplied with.
  bool worth_keeping(Value v) const { return v.shape().size() != 2 || e_.input_symbols_.empty(); }

  // Everything but the tensors is known once the sizes of the inputs are.
  bool can_be_prepared(const Instruction& i) const;

  void patch_operand(Value v, uint8_t arg, const OpInfo& info, Instruction& i);

  void patch_symbolic(uint8_t arg, Instruction& i);

  void static_metas(Operation& op, const OpInfo& info, Instruction& i);

  // An operator that overwrites arguments (statistics, optimiser states): in place where nobody reads the old value
  // afterwards and the memory is ours or the parameter becomes just this result; else a copy is overwritten.
  void targets(Operation& op, const OpInfo& info, Instruction& i, std::unordered_map<Value, const Operation*>& last);

  void partial_write(Operation& op, const OpInfo& info, Instruction& i);
  const Aliases& aliases();  // of the program's top block

  static Value item_of(Value list, size_t k);
  static Value operand_of_arg(Operation& op, int arg);
  bool last_use_is(Value v, const Operation& op, std::unordered_map<Value, const Operation*>& last);
  bool overwritable(Value v, Value result, const Operation& user, std::unordered_map<Value, const Operation*>& last);

  // Elementwise operators may write over an operand of the result's shape and dtype that dies here.
  void memory_reuse(Operation& op, const OpInfo& info, Instruction& i,
                    std::unordered_map<Value, const Operation*>& last);

  Executable& e_;
  std::unordered_map<Value, uint32_t> slots_;
  std::vector<SlotType> slot_types_;
  std::unordered_map<Value, Value> becomes_;         // a parameter or input: what is written to it in the end
  std::unordered_map<Value, Value> leads_to_write_;  // between a parameter or input and what it becomes: which
  std::unordered_set<Value> written_through_;        // made where a parameter or input lies
  std::unique_ptr<Aliases> aliases_;
  std::unordered_map<const Operation*, cinn::CompiledRegion> groups_;
  std::unordered_set<Value> group_inputs_;
  std::unordered_set<int64_t> bound_;
  std::vector<TypeCheck> input_checks_;
  std::unordered_map<Value, const Operation*>* last_ = nullptr;
};

}  // namespace paddle::executor
