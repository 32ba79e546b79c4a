#include <algorithm>
#include <unordered_set>

#include "passes/passes.h"
#include "pir/effects.h"

namespace paddle::passes {

using pir::Block;
using pir::Operation;
using pir::Region;
using pir::Value;

namespace {

// The sizes that operations which stay speak of. What only tells such a size (a tensor of sizes made a shape, whose
// elements nobody reads) stays too.
class Sizes {
 public:
  void read(const Operation& op) {
    found_.clear();
    pir::sizes_in(op, found_);
    for (Dim d : found_) needed_.insert(d.bits());
  }

  bool told_by(const Operation& op) const {
    if (needed_.empty()) return false;
    const std::vector<Dim> told = pir::sizes_told_by(op);
    return std::any_of(told.begin(), told.end(),
                       [&](Dim d) { return needed_.contains(d.bits()) && !told_elsewhere(op, d); });
  }

 private:
  // By an operation that stays anyway and stands before; inputs, in whatever order, all stand before.
  static bool told_elsewhere(const Operation& op, Dim symbol) {
    for (const Operation& other : *op.block()) {
      if (&other == &op && op.num_operands()) return false;
      if (&other == &op || pir::is_dead(other) || (!op.num_operands() && other.num_operands())) continue;
      for (Value v : other.results_vector())
        if (v && v.type().is_tensor() && std::find(v.shape().begin(), v.shape().end(), symbol) != v.shape().end())
          return true;
    }
    return false;
  }

  std::unordered_set<int64_t> needed_;
  std::vector<Dim> found_;
};

// Backwards: users stand below definitions, so one sweep removes whole chains.
size_t sweep(Block& block, Sizes& sizes) {
  size_t removed = 0;
  for (Operation* op = block.back(); op;) {
    Operation* previous = op->prev();
    if (pir::is_dead(*op) && !sizes.told_by(*op)) {
      op->erase();
      ++removed;
    } else {
      sizes.read(*op);
      for (size_t r = 0; r < op->num_regions(); ++r)
        for (size_t b = op->region(r).size(); b-- > 0;) removed += sweep(op->region(r).block(b), sizes);
    }
    op = previous;
  }
  return removed;
}

// Loops whose results nobody uses and whose only effect is that they pop what others pushed for them, and what is
// pushed for nobody.
size_t remove_unread_stacks(Operation& root) {
  size_t removed = 0;
  std::vector<Operation*> unused, stacks;
  root.walk([&](Operation& op) {
    if (op.is("cf.stack_create") || op.is("cf.stack_copy")) stacks.push_back(&op);
    if (op.num_regions() && op.num_results() && op.results_unused()) unused.push_back(&op);
  });
  if (stacks.empty()) return 0;
  for (Operation* op : unused) {
    bool only_pops = true;
    op->walk([&](Operation& inner) {
      if (&inner != op && inner.has(pir::kKeep & ~uint64_t{pir::kTerminator})) only_pops &= inner.is("cf.tuple_pop");
    });
    bool shared = false;
    op->walk([&](Operation& inner) {
      if (!inner.is("cf.tuple_pop")) return;
      for (const pir::OpOperand& use : inner.operand(0).uses()) {
        Operation* user = use.owner();
        // A loop's first look at whether there is a round to go back through.
        bool first = op->num_operands() && op->operand(0).is_result() && op->operand(0).defining_op() == user;
        shared |= !op->is_ancestor_of(user) && !first;
      }
    });
    if (!only_pops || shared) continue;
    Operation* first = op->num_operands() && op->operand(0).is_result() ? op->operand(0).defining_op() : nullptr;
    op->erase();
    if (first && first->is("cf.tuple_pop") && first->results_unused()) first->erase();
    return 1;  // the others in the lists may have been inside
  }
  for (Operation* op : stacks) {
    Value inlet = op->result(1), outlet = op->result(2);
    if (!outlet.use_empty()) continue;
    for (Operation* push : inlet.users()) push->erase(), ++removed;
    op->erase();
    ++removed;
  }
  return removed;
}

}  // namespace

size_t remove_dead_code(Operation& root) {
  size_t removed = 0;
  for (bool again = true; again;) {
    Sizes sizes;
    for (size_t r = 0; r < root.num_regions(); ++r)
      for (size_t b = root.region(r).size(); b-- > 0;) removed += sweep(root.region(r).block(b), sizes);
    size_t more = remove_unread_stacks(root);
    removed += more;
    again = more > 0;
  }
  return removed;
}

}  // namespace paddle::passes
