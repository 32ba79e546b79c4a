#include "autograd/region_slice.h"

#include "base/error.h"
#include "pir/builder.h"

namespace paddle::autograd {

using pir::Block;
using pir::Operation;
using pir::Value;

namespace {

constexpr std::string_view kIf = "pd_op.if", kWhile = "pd_op.while";

bool is_list(Value v) { return v.type().kind() == pir::TypeKind::kTensorArray; }

}  // namespace

bool RegionSlice::within(Value v) const {
  if (v.is_result() && v.defining_op() == &op_) return true;
  const Block* home = v.owner_block();
  return home && home->parent_op() && op_.is_ancestor_of(home->parent_op());
}

// A live operation, and all that decides whether it runs.
void RegionSlice::keep(Operation& op) {
  if (!known_.insert(&op).second) return;
  live_.push_back(&op);
  if (&op != &op_ && op.parent_op()) keep(*op.parent_op());
  if (op.is(kIf)) {
    todo_.push_back(op.operand(0));
  } else if (op.is(kWhile)) {
    todo_.push_back(op.operand(0));
    todo_.push_back(op.region(0).front().terminator()->operand(0));
    for (size_t k = 1; k < op.num_operands(); ++k)
      if (!is_list(op.operand(k))) todo_.push_back(op.operand(k));
  } else {
    op.walk([&](Operation& inner) {
      if (&inner != &op && known_.insert(&inner).second) live_.push_back(&inner);
      for (Value v : inner.operands()) todo_.push_back(v);
    });
  }
  if (!op.is("cf.stack_create")) return;
  // What is popped from a stack was pushed by operations that give no results.
  for (Value v : op.results_vector())
    for (Operation* user : v.users())
      if (op_.is_ancestor_of(user)) keep(*user);
}

void RegionSlice::keep_result(Operation& op, size_t index) {
  keep(op);
  if (!wanted_[&op].insert(index).second) return;
  if (op.is(kWhile)) {
    todo_.push_back(op.operand(index + 1));
    todo_.push_back(op.region(0).front().terminator()->operand(index + 1));
  } else if (op.is(kIf)) {
    for (size_t r = 0; r < op.num_regions(); ++r)
      if (!op.region(r).empty() && op.region(r).front().terminator())
        todo_.push_back(op.region(r).front().terminator()->operand(index));
  }
}

std::vector<Value> RegionSlice::want(Value result) {
  std::vector<Value> outside;
  todo_.push_back(result);
  while (!todo_.empty()) {
    const Value v = todo_.back();
    todo_.pop_back();
    if (!v || !seen_.insert(v).second) continue;
    if (!within(v))
      outside.push_back(v);
    else if (v.is_result())
      keep_result(*v.defining_op(), v.index());
    else if (Operation* owner = v.owner_block()->parent_op(); owner->is(kWhile))
      keep_result(*owner, v.index());
    else
      keep(*owner);
  }
  return outside;
}

// A result that nobody wants: a variable that a loop's rounds leave alone, zeros from a branch.
void RegionSlice::pass_by(Operation& copy, size_t index) const {
  pir::Builder b;
  if (copy.is(kWhile)) {
    Block& body = copy.region(0).front();
    body.terminator()->set_operand(index + 1, body.arg(index));
    if (!is_list(copy.operand(index + 1))) return;
    b.before(&copy);
    const pir::Type type = copy.operand(index + 1).type();
    copy.set_operand(index + 1, b.create(pir::op_def("cf.array_create"), {}, {}, {&type, 1})->result());
    return;
  }
  for (size_t r = 0; r < copy.num_regions(); ++r) {
    if (copy.region(r).empty()) continue;
    Operation* yield = copy.region(r).front().terminator();
    const pir::Type type = yield->operand(index).type();
    b.before(yield);
    if (is_list(yield->operand(index))) {
      yield->set_operand(index, b.create(pir::op_def("cf.array_create"), {}, {}, {&type, 1})->result());
      continue;
    }
    check(type.is_tensor() && is_static(view(type.shape())), ErrorKind::kNotImplemented,
          "[grad] inside a loop whose number of rounds depends on a tensor, a gradient that goes back through rounds "
          "with a branch whose results have sizes of their own can't be captured");
    yield->set_operand(index, b.full(type.shape(), 0, type.dtype()));
  }
}

void RegionSlice::prune(Operation& original, Operation& copy) const {
  if (!original.is(kIf) && !original.is(kWhile)) return;
  auto wanted = wanted_.find(&original);
  for (size_t k = 0; k < original.num_results(); ++k)
    if (wanted == wanted_.end() || !wanted->second.count(k)) pass_by(copy, k);
  for (size_t r = 0; r < original.num_regions(); ++r) {
    if (original.region(r).empty()) continue;
    const std::vector<Operation*> from = original.region(r).front().ops();
    const std::vector<Operation*> to = copy.region(r).front().ops();  // and, before the yield, what pass_by() put there
    for (size_t i = from.size(); i-- > 0;) {
      if (from[i]->has(pir::kTerminator)) continue;
      if (known_.count(from[i]))
        prune(*from[i], *to[i]);
      else
        to[i]->erase();
    }
  }
}

}  // namespace paddle::autograd
