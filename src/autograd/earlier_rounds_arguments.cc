// Gradients with respect to what the round before gave as a loop's variables. earlier_rounds.h says how.
#include <algorithm>

#include "api/ops.h"
#include "autograd/earlier_rounds_writer.h"

namespace paddle::autograd {

using dispatch::TraceRegion;
using pir::Value;

// The tensors that the round before gave as its variables: what it made others from after it made them.
std::vector<Tensor> EarlierRounds::last_round(const Parts& p, const std::vector<Value>& ins,
                                              const Differentiation& marks) {
  std::vector<Value> wanted;
  pir::ValueMap given;  // what the round before made is what the variable is now
  for (Value v : ins) given[next_[index_of(v)]] = v;
  for (Value arg : p.arguments)
    if (marks.relevant(next_[index_of(arg)])) wanted.push_back(next_[index_of(arg)]);
  Tensor index =
      ops::subtract(trace_.tensor_of(kept_.rounds(), true), ops::full({}, Scalar(int64_t{1}), DType::kInt64));
  RoundAgain again = kept_.again(
      index, wanted, given, [&](Value v) { return marks.relevant(v); }, where());
  Differentiation d(trace_, here_, Differentiation::Here());
  std::vector<Value> marked = ins;
  marked.insert(marked.end(), again.lost.begin(), again.lost.end());
  d.mark(marked);
  for (size_t i = 0; i < p.arguments.size(); ++i) {
    const Value made = next_[index_of(p.arguments[i])];
    if (marks.relevant(made)) d.add(again.value(made), tensor(p.argument_grads[i]));
  }
  d.run();
  kept_.settle(again);
  std::vector<Tensor> got;
  for (Value v : ins) got.push_back(d.result(v));
  return got;
}

// Inputs that are arguments: the round before gave them, or they come from before the loop.
std::vector<Tensor> EarlierRounds::of_arguments(const Parts& p, const std::vector<Value>& ins) {
  if (ins.empty()) return {};
  std::vector<Value> made, entered;
  for (Value v : ins) {
    made.push_back(next_[index_of(v)]);
    entered.push_back(inits_[index_of(v)]);
  }
  Differentiation marks(trace_, options_);
  marks.relevant_.insert(made.begin(), made.end());
  marks.mark_block(block_);
  auto among = [](const std::vector<Value>& all, Value v) { return std::find(all.begin(), all.end(), v) != all.end(); };
  bool later = false;
  std::vector<Value> from_outside = p.outer;
  for (Value arg : p.arguments) {
    later |= marks.relevant(next_[index_of(arg)]) && !among(made, next_[index_of(arg)]);
    if (!among(ins, arg)) from_outside.push_back(inits_[index_of(arg)]);
  }
  const std::unordered_set<Value> reached = marks.leading_to(from_outside);
  const bool first = std::any_of(entered.begin(), entered.end(), [&](Value v) { return reached.count(v) > 0; });
  std::vector<Tensor> seeds;
  for (Value v : ins) {
    auto at = std::find(p.arguments.begin(), p.arguments.end(), v);
    seeds.push_back(at == p.arguments.end() ? Tensor() : tensor(p.argument_grads[at - p.arguments.begin()]));
  }
  if (!first && !later) return seeds;
  for (Value v : made)
    check(v.is_result() && v.owner_block() == &block_, ErrorKind::kNotImplemented,
          "[grad] inside a loop whose number of rounds depends on a tensor, a gradient with respect to a tensor of an "
          "earlier round than the last can't be captured: its value is not kept{}",
          where());
  TraceRegion yes(trace_, std::span<const Tensor>(), std::span<const std::optional<Shape>>()),
      no(trace_, std::span<const Tensor>(), std::span<const std::optional<Shape>>());
  auto filled = [&](std::vector<Tensor> got) {
    for (size_t i = 0; i < ins.size(); ++i)
      if (!got[i].defined()) got[i] = marks.zeros_like(ins[i]);
    return got;
  };
  yes.enter();
  Tensors from_round = filled(last_round(p, ins, marks));
  yes.exit();
  no.enter();
  Differentiation outside(trace_, options_);
  outside.mark(entered);
  for (size_t i = 0; i < p.arguments.size(); ++i)
    outside.add(inits_[index_of(p.arguments[i])], tensor(p.argument_grads[i]));
  seed_outside(outside, p);
  outside.run();
  Tensors from_before;
  for (Value v : entered) from_before.push_back(outside.result(v));
  from_before = filled(std::move(from_before));
  no.exit();
  Tensor later_round =
      ops::greater_than(trace_.tensor_of(kept_.rounds(), true), ops::full({}, Scalar(int64_t{0}), DType::kInt64));
  return dispatch::build_if(trace_, later_round, yes, from_round, no, from_before);
}

}  // namespace paddle::autograd
