#include "autograd/round_again.h"

#include <algorithm>

#include "api/ops.h"
#include "autograd/differentiation.h"
#include "autograd/earlier_rounds.h"
#include "autograd/region_slice.h"
#include "pir/dominance.h"
#include "pir/effects.h"
#include "pir/recompute.h"
#include "pir/sizes.h"

namespace paddle::autograd {

using pir::Operation;
using pir::Type;
using pir::TypeKind;
using pir::Value;

namespace {

constexpr const char* kOpenLoop = "[grad] inside a loop whose number of rounds depends on a tensor, ";
constexpr const char* kTwice =
    "{}a gradient that goes back through rounds that draw random numbers, or take such gradients, in a branch or an "
    "inner loop can't be captured{}";

}  // namespace

// What of the body a round's gradient follows from.
struct KeptRounds::Slice {
  const std::function<bool(Value)>& relevant;
  const pir::ValueMap& given;
  const std::string& where;
  RoundAgain& again;
  std::unordered_set<Operation*> operations;
  std::unordered_map<Operation*, RegionSlice> regions;
  std::vector<Value> reads;  // arguments and kept values, in order of need
  std::unordered_set<Value> seen;
};

bool KeptRounds::inside(Value v) const {
  const pir::Block* home = v.owner_block();
  return home == &block_ || (home && home->parent_op() && block_.is_ancestor_of(home->parent_op()));
}

Value KeptRounds::rounds() {
  if (!rounds_) {
    rounds_ = block_.add_arg(Type::tensor(DType::kInt64, {}));
    rounds_.set_stop_gradient(true);
  }
  return rounds_;
}

std::vector<Value> KeptRounds::captures() const {
  std::vector<Value> out;
  std::unordered_set<Value> seen;
  for (Operation& op : block_)
    op.walk([&](Operation& inner) {
      for (Value v : inner.operands())
        if (v && v.type().has_shape() && !inside(v) && seen.insert(v).second) out.push_back(v);
    });
  return out;
}

// Running it again gives something else, or goes through the rounds before once more.
bool KeptRounds::once_only(const Operation& op) const {
  bool once = false;
  const_cast<Operation&>(op).walk([&](Operation& inner) {
    once |= inner.is(kEarlierRounds) || inner.has(kRandom) || (inner.has(kSideEffect) && inner.num_results());
    for (Value v : inner.results_vector()) once |= gradients_.count(v) > 0;
  });
  return once;
}

Value KeptRounds::list_of(Value v, const std::string& where) {
  for (auto& [of, list] : lists_)
    if (of == v) return list;
  check(v.type().kind() == TypeKind::kTensor, ErrorKind::kNotImplemented,
        "{}a gradient that goes back through rounds that use a list can't be captured{}", kOpenLoop, where);
  Shape shape = v.type().shape();
  for (Dim& d : shape)
    if (d.is_symbolic() && !has_hint(d)) d = new_symbol();
  Value list = block_.add_arg(Type::tensor_like(TypeKind::kTensorArray, v.type().dtype(), shape));
  list.set_stop_gradient(stopped(v));
  lists_.emplace_back(v, list);
  return list;
}

Value KeptRounds::variable_of(Value list) const {
  for (auto& [of, argument] : lists_)
    if (argument == list && of.is_argument()) return of;
  return {};
}

void KeptRounds::need(Slice& slice, Value v) {
  if (!v || !inside(v) || slice.given.count(v) || !slice.seen.insert(v).second) return;
  if (v.is_argument()) {
    if (v.owner_block() == &block_) slice.reads.push_back(v);  // else it comes with its operation
    return;
  }
  Operation& op = *pir::ancestor_in(block_, v.defining_op());
  if (op.is("pd_op.if") || op.is("pd_op.while")) {
    if (slice.relevant(v) || !once_only(op)) return need_result(slice, op, v);
  } else if (!once_only(op)) {
    return need_operation(slice, op);
  }
  const bool gradient = op.is(kEarlierRounds) || gradients_.count(v);
  if (slice.relevant(v) && op.has(kRandom) && !op.num_regions()) {
    // Its gradient is that of the operator; what it drew is kept.
    if (!slice.operations.insert(&op).second) return;
    slice.again.drawn.emplace_back(&op, nullptr);
    for (Value u : op.operands()) need(slice, u);
    return;
  }
  check(gradient || !slice.relevant(v), ErrorKind::kNotImplemented, kTwice, kOpenLoop, slice.where);
  slice.reads.push_back(v);
  if (gradient && slice.relevant(v)) slice.again.lost.push_back(v);
}

// Of a branch or loop only what leads to the result.
void KeptRounds::need_result(Slice& slice, Operation& op, Value v) {
  slice.operations.insert(&op);
  RegionSlice& region = slice.regions.try_emplace(&op, op).first->second;
  const std::vector<Value> outside = region.want(v);
  for (Operation* inner : region.live())
    check(inner->num_regions() || !once_only(*inner), ErrorKind::kNotImplemented, kTwice, kOpenLoop, slice.where);
  for (Value u : outside) {
    if (u.is_result() && u.defining_op()->is("cf.stack_create") && u.owner_block() == &block_)
      need_operation(slice, *u.defining_op());
    else
      need(slice, u);
  }
}

void KeptRounds::need_operation(Slice& slice, Operation& op) {
  if (!slice.operations.insert(&op).second) return;
  op.walk([&](Operation& inner) {
    for (Value u : inner.operands())
      if (u && !(u.owner_block() && u.owner_block()->parent_op() && op.is_ancestor_of(u.owner_block()->parent_op())))
        need(slice, u);
  });
  // What is popped from a stack was pushed by operations that give no results.
  if (!op.is("cf.stack_create")) return;
  for (Value v : op.results_vector())
    for (Operation* user : v.users())
      if (Operation* top = pir::ancestor_in(block_, user)) need_operation(slice, *top);
}

Value KeptRounds::read(Value v, const RoundAgain& again, const std::string& where) {
  const Value list = list_of(v, where);
  Tensor item =
      dispatch::array_read(trace_, trace_.tensor_of(list, list.stop_gradient()), trace_.tensor_of(again.index, true));
  return trace_.value_of(item);
}

std::unordered_set<Value> KeptRounds::arguments_behind(Value v, const std::function<bool(Value)>& relevant) const {
  std::unordered_set<Value> seen, found;
  std::vector<Value> todo{v};
  while (!todo.empty()) {
    const Value u = todo.back();
    todo.pop_back();
    if (!u || !inside(u) || !relevant(u) || gradients_.count(u) || !seen.insert(u).second) continue;
    if (u.is_argument()) {
      if (u.owner_block() == &block_) found.insert(u);
      continue;
    }
    Operation& op = *u.defining_op();
    if (op.is("pd_op.if") || op.is("pd_op.while")) {
      RegionSlice region(op);
      for (Value outside : region.want(u)) todo.push_back(outside);
    } else {
      for (Value operand : op.operands()) todo.push_back(operand);
      if (op.num_regions())
        for (Value captured : pir::captured_values(op)) todo.push_back(captured);
    }
  }
  return found;
}

RoundAgain KeptRounds::again(const Tensor& index, const std::vector<Value>& wanted, const pir::ValueMap& given,
                             const std::function<bool(Value)>& relevant, const std::string& where) {
  RoundAgain again;
  again.index = trace_.value_of(index);
  again.map = given;
  Slice slice{relevant, given, where, again, {}, {}, {}, {}};
  for (Value v : wanted) need(slice, v);
  for (Value v : slice.reads) again.map[v] = read(v, again, where);
  for (Value& v : again.lost) v = again.map.at(v);
  std::vector<Operation*> copies;
  for (Operation* op : block_.ops()) {
    if (!slice.operations.count(op)) continue;
    Operation* copy = pir::clone_op(*op, again.map);
    trace_.builder().block()->push_back(copy);
    if (auto part = slice.regions.find(op); part != slice.regions.end()) part->second.prune(*copy);
    copy->walk([](Operation& inner) { inner.erase_attr(pir::kRecompute); });
    for (auto& [original, drawn] : again.drawn)
      if (original == op) drawn = copy;
    copies.push_back(copy);
  }
  // What is given keeps its name also where an operation that made it was copied for another result.
  for (auto [from, to] : given) again.map[from] = to;
  rename_sizes(again, given, copies);
  trace_.edited();
  return again;
}

// Sizes that differ between rounds have other names in the round that is run again: this round's are in use.
void KeptRounds::rename_sizes(const RoundAgain& again, const pir::ValueMap& given,
                              const std::vector<Operation*>& copies) const {
  std::vector<std::pair<Dim, Dim>> to;
  auto note = [&](Dim from, Dim now) {
    if (from == now || from.is_const() || node_of(from).op != DimOp::kSymbol) return;
    for (auto& [known, _] : to)
      if (known == from) return;
    to.emplace_back(from, now);
  };
  for (auto [from, now] : again.map) {
    const bool stands_in = from.is_argument() ? from.owner_block() == &block_ : given.count(from) > 0;
    if (!stands_in || now.type().kind() != TypeKind::kTensor) continue;
    for (size_t i = 0; i < from.shape().size(); ++i) note(from.shape()[i], now.shape()[i]);
  }
  for (Operation* op : copies)
    op->walk([&](Operation& inner) {
      for (Dim d : pir::sizes_told_by(inner))
        if (d.is_symbolic() && !has_hint(d)) note(d, new_symbol());
    });
  if (to.empty()) return;
  auto renamed = [&](Dim d) {
    if (d.is_const()) return d;
    return substitute(d, [&](Dim symbol) {
      for (auto& [from, now] : to)
        if (from == symbol) return now;
      return symbol;
    });
  };
  for (Operation* op : copies)
    op->walk([&](Operation& inner) {
      pir::map_sizes(inner, renamed);
      for (size_t r = 0; r < inner.num_regions(); ++r)
        for (size_t b = 0; b < inner.region(r).size(); ++b)
          for (Value v : inner.region(r).block(b).args())
            if (v.type()) v.set_type(pir::map_dims(v.type(), renamed));
    });
}

void KeptRounds::settle(RoundAgain& again) {
  for (auto& [original, copy] : again.drawn) {
    pir::InsertionGuard guard(trace_.builder());
    trace_.builder().before(copy);
    for (size_t i = 0; i < original->num_results(); ++i) {
      if (copy->result(i).use_empty()) continue;
      Value kept = read(original->result(i), again, "");
      copy->result(i).replace_all_uses_with(kept);
    }
    copy->erase();
  }
}

void KeptRounds::replaced(Value old, Value now) {
  replaced_[old] = now;
  gradients_.insert(now);
}

void KeptRounds::carry(Tensors& inits, Tensors& next) {
  if (!rounds_ && lists_.empty()) return;
  // In the order of the arguments that were added.
  std::vector<std::pair<Value, Value>> added = lists_;
  if (rounds_) added.emplace_back(Value(), rounds_);
  std::sort(added.begin(), added.end(), [](auto& a, auto& b) { return a.second.index() < b.second.index(); });
  for (auto& [of, argument] : added)
    inits.push_back(of ? dispatch::array_create(trace_, argument.type().dtype(), {}, argument.type().shape())
                       : ops::full({}, Scalar(0), DType::kInt64));
  body_.enter();
  for (auto& [of, argument] : added) {
    Tensor before = trace_.tensor_of(argument, argument.stop_gradient());
    if (!of) {
      next.push_back(ops::add(before, ops::full({}, Scalar(1), DType::kInt64)));
      continue;
    }
    const Value v = now(of);
    next.push_back(dispatch::array_write(trace_, before, dispatch::array_length(trace_, before),
                                         trace_.tensor_of(v, argument.stop_gradient())));
  }
  body_.exit();
}

}  // namespace paddle::autograd
