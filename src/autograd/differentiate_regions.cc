// Gradients of branches and loops. differentiation.h says how.
#include "api/ops.h"
#include "autograd/differentiation.h"
#include "dispatch/state.h"
#include "pir/clone.h"
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

// Made from nothing and always the same: made again rather than kept.
bool is_constant(const Operation& op) {
  return op.num_operands() == 0 && op.num_regions() == 0 && !op.has(kRandom | pir::kKeep);
}

void add_symbols(Type t, std::vector<Dim>& out) {
  if (!t) return;
  if (t.is_vector()) {
    for (Type e : t.elements()) add_symbols(e, out);
  } else if (t.has_shape()) {
    for (Dim d : t.shape()) symbols_of(d, out);
  }
}
void add_symbols(const Operation& op, std::vector<Dim>& out) {
  for (Value v : op.results_vector()) add_symbols(v.type(), out);
  for (const pir::NamedAttr& a : op.attrs()) {
    if (a.value.kind() == pir::AttrKind::kDim) symbols_of(a.value.as_dim(), out);
    if (a.value.kind() == pir::AttrKind::kIntArray)
      for (Dim d : a.value.as_ints()) symbols_of(d, out);
  }
}
// Running tells a symbol's value where a tensor has it as a size.
bool tells(Value v, Dim symbol) {
  Type t = v.type();
  if (!t || t.kind() != TypeKind::kTensor) return false;
  for (Dim d : t.shape())
    if (d == symbol) return true;
  return false;
}
bool block_tells(const Block& b, Dim symbol) {
  for (Value v : b.args())
    if (tells(v, symbol)) return true;
  for (Operation& op : b)
    for (Value v : op.results_vector())
      if (tells(v, symbol)) return true;
  return false;
}

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

void Differentiation::mark_while(Operation& op) {
  Block& body = op.region(0).front();
  Operation* yield = body.terminator();
  auto enters = [&](size_t k, Value from) {
    Value arg = body.arg(k);
    return relevant(from) && !relevant(arg) && !stopped(arg) && relevant_.insert(arg).second;
  };
  for (size_t k = 0; k < body.num_args(); ++k) enters(k, op.operand(k + 1));
  for (bool again = true; again;) {  // a variable may depend on the inputs only after some rounds
    mark_block(body);
    again = false;
    for (size_t k = 0; k < body.num_args(); ++k) again |= enters(k, yield->operand(k + 1));
  }
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

// ---- stacks

Operation* Differentiation::outermost(Operation& op) const {
  const std::vector<Block*>& open = trace_.blocks();
  Operation* at = &op;
  while (std::find(open.begin(), open.end(), at->block()) == open.end()) at = at->parent_op();
  return at;
}

Differentiation::Stack Differentiation::make_stack(Operation* before) {
  pir::Builder b;
  if (before)
    b.before(before);
  else
    b.to_end(open_.back().first);
  Operation* op = b.create("cf.stack_create", {});
  return {op->result(1), op->result(2)};
}

Value Differentiation::readable(Value outlet) {
  pir::Block* here = open_.back().first;
  if (outlet.owner_block() == here) return outlet;
  // Popped inside of a loop under construction, pushed outside of it: each round pops a copy.
  pir::Builder b(here);
  return b.create("cf.stack_copy", {outlet})->result(2);
}

void Differentiation::visit_pop(Operation& op) {
  Operation* stack = op.operand(0).defining_op();
  Stack& grads = stack_grads_[stack];
  check(stack->is("cf.stack_create"), ErrorKind::kNotImplemented,
        "[grad] a gradient taken in a loop's body of a loop before it can't be differentiated again inside a program");
  if (!grads.inlet) grads = make_stack(nullptr);
  std::vector<Value> values{grads.inlet};
  for (size_t k = 0; k < op.num_results(); ++k) {
    Value v = op.result(k);
    if (!pushed_.count({stack, k})) continue;
    Tensor g = grad(v);
    values.push_back(trace_.value_of(g.defined() ? g : zeros_like(v)));
  }
  trace_.emit(pir::op_def("cf.tuple_push"), values, {}, {});
}

void Differentiation::visit_push(Operation& op) {
  auto it = stack_grads_.find(op.operand(0).defining_op());
  if (it == stack_grads_.end()) return;
  std::vector<Value> of;
  std::vector<Type> types;
  for (size_t k = 1; k < op.num_operands(); ++k) {
    if (!pushed_.count({it->first, k - 1})) continue;
    of.push_back(op.operand(k));
    types.push_back(op.operand(k).type());
  }
  Operation* pop = trace_.emit(pir::op_def("cf.tuple_pop"), {&it->second.outlet, 1}, {}, types);
  for (size_t k = 0; k < of.size(); ++k) {
    pop->result(k).set_stop_gradient(!options_.create_graph);
    add(of[k], trace_.tensor_of(pop->result(k), !options_.create_graph));
  }
}

void Differentiation::route(Operation& forward, Block& from, Block& to) {
  std::vector<Value> values;
  std::vector<Operation*> again;  // operations made again instead of keeping their results
  std::unordered_set<Value> seen;
  auto need = [&](Value v) {
    if (!v || v.owner_block() != &from || !seen.insert(v).second) return;
    bool combine = v.is_result() && v.defining_op()->is("builtin.combine");
    if (v.is_result() && (combine || is_constant(*v.defining_op())))
      again.push_back(v.defining_op());
    else
      values.push_back(v);
  };
  for (Operation& op : to)
    op.walk([&](Operation& inner) {
      for (Value v : inner.operands()) need(v);
    });
  for (size_t i = 0; i < again.size(); ++i)
    for (Value v : again[i]->operands()) need(v);
  add_values_for_sizes(from, to, values);
  pir::ValueMap map;
  pir::Builder b;
  b.to_start(&to);
  if (!values.empty()) {
    Stack stack = make_stack(outermost(forward));
    std::vector<Value> operands{stack.inlet};
    operands.insert(operands.end(), values.begin(), values.end());
    pir::Builder inside;
    inside.before(from.terminator());
    inside.create(pir::op_def("cf.tuple_push"), operands, {}, std::span<const Type>());
    std::vector<Type> types;
    for (Value v : values) types.push_back(v.type());
    Value outlet = readable(stack.outlet);
    Operation* pop = b.create(pir::op_def("cf.tuple_pop"), {&outlet, 1}, {}, types);
    for (size_t k = 0; k < values.size(); ++k) {
      pop->result(k).set_stop_gradient(stopped(values[k]));
      map[values[k]] = pop->result(k);
    }
  }
  for (size_t i = again.size(); i-- > 0;) {
    Operation* copy = pir::clone_op(*again[i], map);
    if (b.insertion_point())
      to.insert(b.insertion_point(), copy);
    else
      to.push_back(copy);
  }
  for (Operation& op : to)
    op.walk([&](Operation& inner) {
      for (pir::OpOperand& o : inner.op_operands())
        if (Value v = pir::mapped(map, o.get()); v != o.get()) o.set(v);
    });
}

// Sizes that differ between rounds are known in the backward part from what it pops: something that has each must be
// there.
void Differentiation::add_values_for_sizes(Block& from, Block& to, std::vector<Value>& values) const {
  std::vector<Dim> symbols;
  for (Value v : to.args()) add_symbols(v.type(), symbols);
  for (Operation& op : to) op.walk([&](Operation& inner) { add_symbols(inner, symbols); });
  for (Dim s : symbols) {
    bool known = std::any_of(values.begin(), values.end(), [&](Value v) { return tells(v, s); });
    for (Value v : to.args()) known |= tells(v, s);
    for (const Operation* at = from.parent_op(); at && at->block() && !known; at = at->parent_op())
      known = block_tells(*at->block(), s);
    if (known) continue;
    for (Value v : from.args())
      if (!known && tells(v, s)) values.push_back(v), known = true;
    for (Operation& op : from)
      for (Value v : op.results_vector())
        if (!known && tells(v, s)) values.push_back(v), known = true;
  }
}

}  // namespace paddle::autograd
