// When a loop's body is complete: gradients that left it go back through its rounds. earlier_rounds.h says how.
#include "autograd/earlier_rounds_writer.h"

#include <algorithm>

#include "api/ops.h"
#include "dispatch/complete_rounds.h"
#include "dispatch/state.h"

namespace paddle::autograd {

using dispatch::Trace;
using dispatch::TraceRegion;
using pir::Operation;
using pir::Value;

namespace {

Tensor number(int64_t n) { return ops::full({}, Scalar(n), DType::kInt64); }

}  // namespace

EarlierRounds::EarlierRounds(Trace& trace, TraceRegion& body, const Tensors& inits, const Tensors& next)
    : trace_(trace), body_(body), block_(body.block()), kept_(trace, body) {
  for (const Tensor& t : inits) inits_.push_back(trace.value_of(t));
  body.enter();
  for (const Tensor& t : next) next_.push_back(trace.value_of(t));
  body.exit();
}

// The rest of this round, now that the gradients which were waited for are written out.
void EarlierRounds::within_round(Operation& op, TraceRegion& scratch, Parts& p) {
  Differentiation d(trace_, here_, block_, op);
  {
    Differentiation outside(trace_, options_);
    std::vector<Value> ins = p.inputs;
    ins.insert(ins.end(), p.unreached.begin(), p.unreached.end());
    outside.mark(ins);
    d.relevant_ = std::move(outside.relevant_);
  }
  for (Value arg : block_.args())
    if (!stopped(arg)) d.relevant_.insert(arg);
  for (Operation* before : d.ops_) d.mark_op(*before);
  body_.enter();
  scratch.enter();
  auto seed = [&](const std::vector<Value>& values, const std::vector<Value>& grads) {
    for (size_t i = 0; i < values.size(); ++i) d.add(values[i], tensor(grads[i]));
  };
  seed(p.inner, p.inner_grads), seed(p.arguments, p.argument_grads), seed(p.outer, p.outer_grads);
  d.run();
  for (Value v : p.inputs)
    if (!is_argument(v) && kept_.inside(v)) inner_[v] = d.result(v);
  p.arguments.clear(), p.argument_grads.clear();
  for (Value arg : block_.args()) {
    d.apply_hooks(arg);
    if (!d.has_grad(arg)) continue;
    if (Value variable = kept_.variable_of(arg)) {
      lists_.emplace_back(variable, d.grad(arg));
    } else {
      p.arguments.push_back(arg);
      p.argument_grads.push_back(trace_.value_of(d.grad(arg)));
    }
  }
  std::vector<Value> outer = kept_.captures();
  for (Value v : p.outer)
    if (std::find(outer.begin(), outer.end(), v) == outer.end()) outer.push_back(v);
  p.outer.clear(), p.outer_grads.clear();
  for (Value v : outer)
    if (d.has_grad(v)) {
      p.outer.push_back(v);
      p.outer_grads.push_back(trace_.value_of(d.grad(v)));
    }
  scratch.exit();
  body_.exit();
}

// Gradients of what lies before the loop where the loop's gradient is nothing but what arrived in this round.
void EarlierRounds::seed_outside(Differentiation& d, const Parts& p) const {
  for (size_t i = 0; i < p.outer.size(); ++i) d.add(p.outer[i], tensor(p.outer_grads[i]));
}

// An input that this round knew nothing of, but that a round before used.
void EarlierRounds::check_unreached(const Parts& p) {
  if (p.unreached.empty()) return;
  Differentiation d(trace_, options_);
  std::vector<Value> marked;
  for (Value v : p.unreached)
    if (is_argument(v))
      marked.push_back(next_[index_of(v)]);
    else if (!kept_.inside(v))
      marked.push_back(v);
  d.mark(marked);
  d.mark_rounds(block_, inits_, next_);
  for (Value arg : p.arguments) {
    const Value before = next_[index_of(arg)];
    const bool itself = std::find(marked.begin(), marked.end(), before) != marked.end();
    check(itself || !d.relevant(before), ErrorKind::kNotImplemented,
          "[grad] inside a loop whose number of rounds depends on a tensor, a gradient with respect to a tensor that "
          "the first round's outputs don't depend on, but those of later rounds do, can't be captured{}",
          where());
  }
}

// The loop's variables that a gradient arrives at, in this round or in one before.
std::set<size_t> EarlierRounds::reached_by_gradients(const Parts& p, const std::function<bool(Value)>& relevant) const {
  std::vector<Value> todo = p.arguments;
  for (auto& [variable, list] : lists_) todo.push_back(variable);
  std::set<size_t> found;
  while (!todo.empty()) {
    const Value arg = todo.back();
    todo.pop_back();
    if (!relevant(arg) || !found.insert(index_of(arg)).second) continue;
    for (Value v : kept_.arguments_behind(next_[index_of(arg)], relevant)) todo.push_back(v);
  }
  return found;
}

// Back through all rounds, to what the loop's variables were before it and to what its body uses from outside.
void EarlierRounds::through_rounds(Differentiation& outside, const Parts& p) {
  outside.mark_rounds(block_, inits_, next_);
  auto relevant = [&](Value v) { return outside.relevant(v); };
  std::vector<size_t> variables;
  bool matters = !lists_.empty();
  for (size_t k : reached_by_gradients(p, relevant)) {
    variables.push_back(k);
    matters |= outside.relevant(next_[k]);
  }
  if (matters) return loop_back(outside, p, variables);
  check(!p.outer.empty(), ErrorKind::kNotImplemented,
        "[grad] inside a loop whose number of rounds depends on a tensor, a gradient with respect to a tensor that "
        "only the first round's outputs depend on can't be captured: later rounds have none{}",
        where());
  for (size_t k : variables) outside.add(inits_[k], seed(p, k));
}

Tensor EarlierRounds::seed(const Parts& p, size_t variable) const {
  for (size_t i = 0; i < p.arguments.size(); ++i)
    if (index_of(p.arguments[i]) == variable) return tensor(p.argument_grads[i]);
  return Tensor();
}

// Carried: the round that is next, the gradients of the loop's variables, and those of what the body uses from outside,
// added up.
void EarlierRounds::loop_back(Differentiation& outside, const Parts& p, const std::vector<size_t>& variables) {
  Tensor round = ops::subtract(trace_.tensor_of(kept_.rounds(), true), number(1));
  Tensors inits{round};
  std::vector<std::optional<Shape>> shapes{std::nullopt};
  for (size_t k : variables) {
    Tensor g = seed(p, k);
    inits.push_back(g.defined() ? g : outside.zeros_like(block_.arg(k)));
    shapes.push_back(next_[k].type().shape());
  }
  TraceRegion region(trace_, inits, shapes, std::vector<bool>(inits.size(), create_graph_));
  std::vector<Value> captures, found;
  for (Value v : kept_.captures())
    if (outside.relevant(v)) captures.push_back(v);
  region.enter();
  Tensors sums, next = round_back(outside, region, variables, captures, sums);
  for (size_t i = 0; i < captures.size(); ++i) {
    if (!sums[i].defined()) continue;
    Value sum = region.block().add_arg(captures[i].type());
    sum.set_stop_gradient(!create_graph_);
    Tensor before = trace_.tensor_of(sum, !create_graph_);
    found.push_back(captures[i]);
    next.push_back(dispatch::is_array(sums[i]) ? dispatch::array_add(trace_, before, sums[i])
                                               : ops::add(before, sums[i]));
  }
  Tensor go_on = ops::greater_equal(next[0], number(0));
  region.exit();
  for (Value v : found) inits.push_back(outside.zeros_like(v));
  Tensors results = dispatch::build_while(trace_, ops::greater_equal(round, number(0)), inits, region, go_on, next);
  auto give = [&](size_t i, Value to) {
    Value v = trace_.value_of(results[i]);
    v.set_type(to.type());
    v.set_stop_gradient(!create_graph_);
    outside.add(to, trace_.tensor_of(v, !create_graph_));
  };
  for (size_t i = 0; i < variables.size(); ++i) give(i + 1, inits_[variables[i]]);
  for (size_t i = 0; i < found.size(); ++i) give(variables.size() + 1 + i, found[i]);
}

// One round, run again and differentiated: what the loop back carries next; `sums` are the gradients of `captures`.
Tensors EarlierRounds::round_back(Differentiation& outside, TraceRegion& region, const std::vector<size_t>& variables,
                                  const std::vector<Value>& captures, Tensors& sums) {
  auto relevant = [&](Value v) { return outside.relevant(v); };
  const Tensor round = region.args()[0];
  std::vector<Value> wanted, ins = captures;
  for (size_t k : variables)
    if (relevant(next_[k])) wanted.push_back(next_[k]);
  RoundAgain again = kept_.again(round, wanted, {}, relevant, where());
  for (size_t k : variables)
    if (again.known(block_.arg(k))) ins.push_back(again.value(block_.arg(k)));
  ins.insert(ins.end(), again.lost.begin(), again.lost.end());
  Differentiation d(trace_, here_, Differentiation::Here());
  d.mark(ins);
  for (size_t i = 0; i < variables.size(); ++i)
    if (relevant(next_[variables[i]])) d.add(again.value(next_[variables[i]]), region.args()[i + 1]);
  d.run();
  kept_.settle(again);
  for (Value v : again.lost)
    check(!d.has_grad(v), ErrorKind::kNotImplemented,
          "[grad] a loop variable is made from a gradient with create_graph=True that goes back through all rounds: "
          "the order of derivative grows with each round, which can't be captured{}",
          where());
  Tensors next{ops::subtract(round, number(1))};
  for (size_t k : variables) {
    Tensor g = again.known(block_.arg(k)) ? d.result(again.value(block_.arg(k))) : Tensor();
    for (auto& [variable, list] : lists_) {
      if (variable != block_.arg(k)) continue;
      Tensor read = dispatch::array_read(trace_, list, round);
      g = g.defined() ? ops::add(g, read) : read;
    }
    next.push_back(g.defined() ? g : outside.zeros_like(block_.arg(k)));
  }
  for (Value v : captures) sums.push_back(d.grad(v));
  return next;
}

// Inputs that lie before the loop: through all rounds, then on through what stands before it.
std::vector<Tensor> EarlierRounds::before_the_loop(const Parts& p, const std::vector<Value>& ins) {
  if (ins.empty()) return {};
  Differentiation outside(trace_, options_);
  outside.mark(ins);
  through_rounds(outside, p);
  seed_outside(outside, p);
  outside.run();
  std::vector<Tensor> got;
  for (Value v : ins) got.push_back(outside.result(v));
  return got;
}

void EarlierRounds::write_out(Operation& op) {
  Parts p = Parts::of(op);
  create_graph_ = op.attr("create_graph").as_bool();
  at_ = op.loc();
  lists_.clear(), inner_.clear();
  options_ = {create_graph_, {}, true};
  for (Value v : p.stops) options_.stops.push_back(trace_.tensor_of(v, stopped(v)));
  here_ = {create_graph_, options_.stops, false};
  dispatch::GradMode mode(create_graph_);
  TraceRegion scratch(trace_, std::span<const Tensor>(), std::span<const std::optional<Shape>>());
  if (!p.inner.empty()) within_round(op, scratch, p);
  scratch.enter();
  {
    check_unreached(p);
    std::vector<Value> arguments, before;
    for (Value v : p.inputs)
      if (is_argument(v))
        arguments.push_back(v);
      else if (!kept_.inside(v))
        before.push_back(v);
    std::vector<Tensor> a = of_arguments(p, arguments), b = before_the_loop(p, before);
    size_t next_a = 0, next_b = 0;
    for (size_t i = 0; i < p.inputs.size(); ++i) {
      Tensor g = is_argument(p.inputs[i]) ? a[next_a++] : kept_.inside(p.inputs[i]) ? inner_[p.inputs[i]] : b[next_b++];
      check(g.defined(), ErrorKind::kNotImplemented,
            "[grad] inside a loop whose number of rounds depends on a tensor, no gradient of input {} comes from the "
            "rounds before{}",
            i, where());
      Value v = trace_.value_of(g);
      kept_.replaced(op.result(i), v);
    }
  }
  scratch.exit();
  for (Operation* made : scratch.block().ops()) made->move_before(&op);
  for (size_t i = 0; i < op.num_results(); ++i) op.result(i).replace_all_uses_with(kept_.now(op.result(i)));
  for (Value& v : next_) v = kept_.now(v);
  trace_.edited();
}

void EarlierRounds::finish(Tensors& inits, Tensors& next) {
  const size_t given = next_.size();
  body_.enter();
  for (size_t i = 0; i < given; ++i) next[i] = trace_.tensor_of(next_[i], next[i].stop_gradient(), next[i].place());
  body_.exit();
  kept_.carry(inits, next);
}

namespace {

void complete_rounds(Trace& trace, TraceRegion& body, Tensors& inits, Tensors& next) {
  std::vector<Operation*> waiting;
  for (Operation& op : body.block())
    op.walk([&](Operation& inner) {
      if (!inner.is(kEarlierRounds)) return;
      if (EarlierRoundsParts::of(inner).body.owner_block() == &body.block()) waiting.push_back(&inner);
    });
  if (waiting.empty()) return;
  EarlierRounds rounds(trace, body, inits, next);
  for (Operation* op : waiting) rounds.write_out(*op);
  rounds.finish(inits, next);
  for (Operation* op : waiting) op->erase();
}

[[maybe_unused]] const bool installed = [] {
  dispatch::complete_rounds = complete_rounds;
  return true;
}();

}  // namespace

}  // namespace paddle::autograd
