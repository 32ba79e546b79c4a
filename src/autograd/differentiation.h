// Inside of differentiate(): one walk backwards over the operations of a program, into their regions too.
//
// A branch's gradient is a branch on the same condition, a loop's a loop that runs the rounds backwards. What they need
// of values that only exist inside goes through stacks: the forward region pushes at its end, the backward one pops at
// its start. Stacks are made before the outermost operation that holds the region: since the backward part runs
// everything in the opposite order, one stack serves all rounds of the loops around. A loop also pushes "false" before
// it starts and "true" after each round, so that what its gradient pops says whether a round is left.
//
// The gradient of a popped value goes the same way back: what differentiates the popping region pushes it, what
// differentiates the pushing region pops it. So every order of derivative exists.
#pragma once
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "autograd/differentiate.h"
#include "autograd/earlier_rounds.h"
#include "autograd/replay.h"

namespace paddle::autograd {

class Differentiation {
 public:
  Differentiation(dispatch::Trace& trace, const DifferentiateOptions& options);
  // Of the block that is open alone.
  struct Here {};
  Differentiation(dispatch::Trace& trace, const DifferentiateOptions& options, Here);
  // Of what stands in `body` before `end`, which may lie deeper.
  Differentiation(dispatch::Trace& trace, const DifferentiateOptions& options, pir::Block& body, pir::Operation& end);

  // Which values change with the inputs.
  void mark(const std::vector<pir::Value>& ins);
  bool relevant(pir::Value v) const { return v && relevant_.count(v); }
  void seed(pir::Value v, Tensor g) { add(v, std::move(g)); }
  void run();
  Tensor grad(pir::Value v) const;
  Tensor result(pir::Value v);  // the gradient when everything has run

 private:
  friend class EarlierRounds;
  using Operation = pir::Operation;
  using Value = pir::Value;

  // ---- differentiate.cc
  void mark_op(Operation& op);
  bool wants_visit(Operation& op) const;
  bool has_grad(Value v) const;
  bool reaches(const Operation& op) const;
  void add(Value v, Tensor g);
  void add_list(Value v, size_t size, size_t k, Tensor g);
  Tensor tensor_of(Value v);
  void visit(Operation& op);
  void visit_record(Operation& op);
  void through_composition(Operation& op);

  // ---- differentiate_rounds.cc
  bool leave_round(size_t open);  // true: the walk ends here, the rest waits until the loop is complete
  void wait_for(const Operation& op, size_t index);
  void leave_rest(pir::Block& body, EarlierRoundsParts& p);
  void take_lists_apart(size_t end);
  void sort_input(Value v, bool known, EarlierRoundsParts& p) const;
  bool lies_within(Value v, size_t open) const;
  std::unordered_set<Value> known_before(const EarlierRoundsParts& p) const;
  std::vector<Value> outer_values(size_t open) const;
  std::unordered_set<Value> leading_to(std::vector<Value> values) const;

  // ---- differentiate_regions.cc
  void mark_block(pir::Block& b);
  void mark_if(Operation& op);
  void mark_while(Operation& op);
  // A loop's body: what its variables are at first and what a round makes of them.
  void mark_rounds(pir::Block& body, std::span<const Value> inits, std::span<const Value> next);
  void run_block(pir::Block& b);
  void visit_if(Operation& op);
  void visit_while(Operation& op);
  bool pops_expected(Operation& op) const;
  std::vector<Value> relevant_captures(const Operation& op) const;
  Tensor zeros_like(Value v);

  // ---- differentiate_stacks.cc
  void visit_push(Operation& op);
  void visit_pop(Operation& op);
  struct Stack {
    Value inlet, outlet;
  };
  Stack make_stack(Operation* before);        // null: where operations are appended outside of the new regions
  Operation* outermost(Operation& op) const;  // that holds op, in a block under construction
  // The outlet, or a copy where it would be popped more than once; before `user`, where that is built already.
  Value readable(Value outlet, Operation* user = nullptr);
  // Values of `from` that operations of `to` use.
  void route(Operation& forward, pir::Block& from, pir::Block& to);
  void add_values_for_sizes(pir::Block& from, pir::Block& to, std::vector<Value>& values) const;

  // Gradients of values outside of a region, collected while the region is walked, are kept apart.
  class Apart;
  friend class Apart;

  // ---- differentiate_custom.cc
  void visit_custom(Operation& op);
  void apply_hooks(Value v);
  std::vector<Value> write_out(const Operation& op, pir::Block& region, const std::vector<Value>& args);

  // ---- differentiate_arrays.cc
  bool visit_array(Operation& op);  // false: not an operation on lists

  dispatch::Trace& trace_;
  const DifferentiateOptions& options_;
  std::unique_ptr<Replay> replay_;  // of the region that is being built: what is computed anew there is seen only there
  std::vector<Operation*> ops_;
  std::vector<std::pair<pir::Block*, size_t>> open_;  // blocks under construction, and where their operations start
  std::unordered_set<Value> relevant_, stops_;
  std::vector<Value> ins_;
  std::unordered_set<Value> open_arguments_;  // of loops under construction: what they were before may matter
  std::unordered_map<Value, Tensor> grads_;
  std::unordered_map<Value, Tensors> list_grads_;
  std::unordered_set<Value> hooked_;                      // whose hooks have run
  std::map<std::pair<Operation*, size_t>, bool> pushed_;  // (stack_create, position): a relevant value
  std::unordered_map<Operation*, Stack> stack_grads_;     // per stack_create whose popped values have gradients
};

bool stopped(pir::Value v);
Tensor fitted(Tensor g, pir::Type t);  // in the dtype of what it is the gradient of

}  // namespace paddle::autograd
