// Gradients of branches and loops. differentiation.h says how.
#include "api/ops.h"
#include "autograd/differentiation.h"
#include "dispatch/state.h"
#include "pir/dominance.h"

namespace paddle::autograd {
namespace {

using dispatch::Trace;
using dispatch::TraceRegion;
using pir::Block;
using pir::Operation;
using pir::Type;
using pir::TypeKind;
using pir::Value;

bool is_array_type(Type t) { return t.kind() == TypeKind::kTensorArray; }

}  // namespace

class Differentiation::Apart {
 public:
  explicit Apart(Differentiation& d) : d_(d), replay_(std::make_unique<Replay>(d.trace_)) {
    replay_.swap(d.replay_);
    grads_.swap(d.grads_);
    lists_.swap(d.list_grads_);
  }
  ~Apart() {
    replay_.swap(d_.replay_);
    grads_.swap(d_.grads_);
    lists_.swap(d_.list_grads_);
  }
  Apart(const Apart&) = delete;

 private:
  Differentiation& d_;
  std::unique_ptr<Replay> replay_;
  std::unordered_map<Value, Tensor> grads_;
  std::unordered_map<Value, Tensors> lists_;
};

// ---- what depends on the inputs

void Differentiation::mark_block(Block& b) {
  for (Operation& op : b) mark_op(op);
}

void Differentiation::mark_if(Operation& op) {
  for (size_t r = 0; r < op.num_regions(); ++r) {
    if (op.region(r).empty()) continue;
    Block& b = op.region(r).front();
    mark_block(b);
    Operation* yield = b.terminator();
    for (size_t k = 0; yield && k < op.num_results(); ++k)
      if (relevant(yield->operand(k)) && !stopped(op.result(k)) && !stops_.count(op.result(k)))
        relevant_.insert(op.result(k));
  }
}

void Differentiation::mark_rounds(Block& body, std::span<const Value> inits, std::span<const Value> next) {
  auto enters = [&](size_t k, Value from) {
    Value arg = body.arg(k);
    return relevant(from) && !relevant(arg) && !stopped(arg) && relevant_.insert(arg).second;
  };
  for (size_t k = 0; k < inits.size(); ++k) enters(k, inits[k]);
  for (bool again = true; again;) {  // a variable may depend on the inputs only after some rounds
    mark_block(body);
    again = false;
    for (size_t k = 0; k < inits.size(); ++k) again |= enters(k, next[k]);
  }
}

void Differentiation::mark_while(Operation& op) {
  Block& body = op.region(0).front();
  Operation* yield = body.terminator();
  const std::vector<Value> inits = op.operands(), next = yield->operands();
  mark_rounds(body, std::span(inits).subspan(1), std::span(next).subspan(1));
  for (size_t k = 0; k < op.num_results(); ++k) {
    Value v = op.result(k);
    bool reached = relevant(body.arg(k)) || relevant(yield->operand(k + 1)) || relevant(op.operand(k + 1));
    if (reached && !stopped(v) && !stops_.count(v)) relevant_.insert(v);
  }
}

// ---- walking backwards

void Differentiation::run_block(Block& b) {
  std::vector<Operation*> all = b.ops();
  for (size_t i = all.size(); i-- > 0;) {
    Operation& op = *all[i];
    // Every pop whose values count is matched by one push, whether or not a gradient came this time.
    bool pop = op.is("cf.tuple_pop");
    bool counts = false;
    for (Value v : op.results_vector()) counts |= pop && relevant(v);
    if (counts || wants_visit(op)) visit(op);
  }
}

// Does the operation, or one inside it, push values whose gradients were pushed in turn?
bool Differentiation::pops_expected(Operation& op) const {
  if (stack_grads_.empty() || !(op.num_regions() || op.is("cf.tuple_push"))) return false;
  bool found = false;
  op.walk([&](Operation& inner) {
    found |= inner.is("cf.tuple_push") && stack_grads_.count(inner.operand(0).defining_op()) > 0;
  });
  return found;
}

std::vector<Value> Differentiation::relevant_captures(const Operation& op) const {
  std::vector<Value> out;
  for (Value v : pir::captured_values(op))
    if (relevant(v) && v.type().has_shape()) out.push_back(v);
  return out;
}

Tensor Differentiation::zeros_like(Value v) {
  if (is_array_type(v.type())) return dispatch::array_zeros_like(trace_, trace_.tensor_of(v, true));
  if (is_static(view(v.shape()))) return ops::full(v.shape(), Scalar(0.0), v.dtype());
  return ops::full_like(trace_.tensor_of(v, true), Scalar(0.0));
}

void Differentiation::visit_if(Operation& op) {
  std::vector<Value> wanted = relevant_captures(op);
  std::unique_ptr<TraceRegion> regions[2];
  std::vector<Tensors> got(2);
  for (size_t r = 0; r < 2; ++r) {
    regions[r] =
        std::make_unique<TraceRegion>(trace_, std::span<const Tensor>(), std::span<const std::optional<Shape>>());
    got[r].resize(wanted.size());
    if (op.region(r).empty()) continue;
    Block& b = op.region(r).front();
    Tensors seeds;
    for (size_t k = 0; k < op.num_results(); ++k) seeds.push_back(grad(op.result(k)));
    regions[r]->enter();
    {
      Apart apart(*this);
      if (Operation* yield = b.terminator())
        for (size_t k = 0; k < seeds.size(); ++k) add(yield->operand(k), seeds[k]);
      run_block(b);
      for (size_t i = 0; i < wanted.size(); ++i) got[r][i] = grad(wanted[i]);
    }
    regions[r]->exit();
  }
  std::vector<Value> found;
  std::vector<Tensors> outs(2);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!got[0][i].defined() && !got[1][i].defined()) continue;
    found.push_back(wanted[i]);
    for (size_t r = 0; r < 2; ++r) {
      if (!got[r][i].defined()) {
        regions[r]->enter();
        got[r][i] = zeros_like(wanted[i]);
        regions[r]->exit();
      }
      outs[r].push_back(got[r][i]);
    }
  }
  Tensors results = build_if(trace_, trace_.tensor_of(op.operand(0), true), *regions[0], outs[0], *regions[1], outs[1]);
  Operation& made = *trace_.builder().block()->back();
  for (size_t r = 0; r < 2; ++r)
    if (!op.region(r).empty()) route(op, op.region(r).front(), made.region(r).front());
  for (size_t i = 0; i < found.size(); ++i) {
    made.result(i).set_type(found[i].type());
    add(found[i], trace_.tensor_of(made.result(i), results[i].stop_gradient()));
  }
}

void Differentiation::visit_while(Operation& op) {
  Block& body = op.region(0).front();
  Operation* yield = body.terminator();
  // Whether a round is left to go back through: what was pushed before the loop and after each round.
  Operation* top = outermost(op);
  Stack rounds = make_stack(top);
  auto flag = [&](bool value, Operation* before) {
    pir::Builder b;
    b.before(top);
    Value v = b.full({}, value, DType::kBool);
    b.before(before);
    b.create("cf.tuple_push", {rounds.inlet, v});
  };
  flag(false, &op);
  flag(true, yield);
  Value popped = readable(rounds.outlet);
  auto another_round = [&] {
    Type type = Type::tensor(DType::kBool, {});
    Operation* pop = trace_.emit(pir::op_def("cf.tuple_pop"), {&popped, 1}, {}, {&type, 1});
    pop->result().set_stop_gradient(true);
    return trace_.tensor_of(pop->result(), true);
  };

  // Carried: the gradients of the loop's variables, and those of what the body uses from outside, added up.
  std::vector<size_t> variables;
  std::vector<std::optional<Shape>> shapes;
  Tensors inits, nexts;
  for (size_t k = 0; k < body.num_args(); ++k) {
    if (!relevant(body.arg(k)) && !has_grad(op.result(k))) continue;
    variables.push_back(k);
    Tensor g = grad(op.result(k));
    inits.push_back(g.defined() ? g : zeros_like(op.result(k)));
    shapes.push_back(yield->operand(k + 1).type().shape());  // as the round left it; it leaves as the round got it
  }
  std::vector<Value> captures = relevant_captures(op), found;
  TraceRegion region(trace_, inits, shapes, std::vector<bool>(inits.size(), options_.create_graph));
  Tensors got;
  region.enter();
  {
    Apart apart(*this);
    for (size_t i = 0; i < variables.size(); ++i) add(yield->operand(variables[i] + 1), region.args()[i]);
    run_block(body);
    for (size_t k : variables) {
      apply_hooks(body.arg(k));
      Tensor g = grad(body.arg(k));
      nexts.push_back(g.defined() ? g : zeros_like(body.arg(k)));
    }
    for (Value v : captures) got.push_back(grad(v));
  }
  for (size_t i = 0; i < captures.size(); ++i) {
    if (!got[i].defined()) continue;
    Value sum = region.block().add_arg(captures[i].type());
    sum.set_stop_gradient(!options_.create_graph);
    Tensor before = trace_.tensor_of(sum, !options_.create_graph);
    found.push_back(captures[i]);
    nexts.push_back(dispatch::is_array(got[i]) ? dispatch::array_add(trace_, before, got[i])
                                               : ops::add(before, got[i]));
  }
  Tensor go_on = another_round();
  region.exit();
  for (Value v : found) inits.push_back(zeros_like(v));
  Tensor first = another_round();
  build_while(trace_, first, inits, region, go_on, nexts);
  Operation& made = *trace_.builder().block()->back();
  route(op, body, made.region(0).front());
  auto result = [&](size_t i, Value of) {
    made.result(i).set_type(of.type());
    made.result(i).set_stop_gradient(!options_.create_graph);
    add(of, trace_.tensor_of(made.result(i), !options_.create_graph));
  };
  for (size_t i = 0; i < variables.size(); ++i) result(i, op.operand(variables[i] + 1));
  for (size_t i = 0; i < found.size(); ++i) result(variables.size() + i, found[i]);
}

}  // namespace paddle::autograd
