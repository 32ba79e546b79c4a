#include "compile/interpret.h"

#include <unordered_map>

#include "api/call.h"
#include "api/ops.h"
#include "compile/written_gradient.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "executor/arrays.h"
#include "executor/executable.h"
#include "executor/host_call.h"
#include "executor/message.h"
#include "pir/constant.h"
#include "pir/custom_gradient.h"
#include "pir/effects.h"
#include "pir/op_args.h"
#include "pir/recompute.h"
#include "tensor/element.h"

namespace paddle::compile {
namespace {

using pir::Operation;
using pir::Value;

class Interpretation {
 public:
  Interpretation(const pir::Program& program, std::span<const Tensor> inputs, std::span<const Tensor> parameters,
                 Generator* keys)
      : program_(program), inputs_(inputs), parameters_(parameters), keys_(keys) {}

  std::vector<Tensor> run() {
    block(program_.block());
    outputs_.insert(outputs_.end(), writes_.begin(), writes_.end());
    return std::move(outputs_);
  }

 private:
  OutSlot& slot(Value v) { return env_[v]; }
  Tensor& tensor(Value v) { return env_[v].tensor; }

  void set(Value v, OutSlot s) {
    if (s.tensor.defined() && v.type().has_shape() && v.type().kind() == pir::TypeKind::kTensor) {
      for (size_t axis = 0; axis < v.shape().size(); ++axis) {
        Dim d = v.shape()[axis];
        if (d.is_symbolic() && node_of(d).op == DimOp::kSymbol)
          symbols_[node_of(d).value] = s.tensor.dim(static_cast<int64_t>(axis));
      }
    }
    env_[v] = std::move(s);
  }

  Dim value(Dim d) const {
    if (d.is_const()) return d;
    return substitute(d, [this](Dim s) {
      auto it = symbols_.find(node_of(s).value);
      return it == symbols_.end() ? s : it->second;
    });
  }

  void block(const pir::Block& b) {
    for (Operation& op : b) step(op);
  }

  bool truth(Value v) {
    Tensor t = tensor(v);
    dispatch::check_value_readable(t, "if");
    return Scalar(t).to_bool();
  }

  // Hooks that the program has on it are no hooks of the tensor that was given.
  static Tensor hookable(Value v, const Tensor& t) { return pir::gradient_hooks(v).empty() ? t : ops::assign(t); }

  void step(Operation& op) {
    if (op.is("pd_op.data") || op.is("pd_op.feed"))
      return set(op.result(), {hookable(op.result(), inputs_[next_input_++]), {}});
    if (op.is("builtin.parameter")) {
      size_t i = next_parameter_++;
      Tensor t = parameters_.empty() ? program_.parameter(op.attr("parameter_name").as_string()) : parameters_[i];
      return set(op.result(), {hookable(op.result(), t), {}});
    }
    if (op.is(pir::kCustomGrad)) return custom_gradient(op);
    if (op.is(pir::kGradHook)) return hook(op);
    if (op.is("builtin.shadow_output") || op.is("pd_op.fetch")) return outputs_.push_back(tensor(op.operand(0)));
    if (op.is("builtin.set_parameter")) return writes_.push_back(tensor(op.operand(0)));
    if (op.is("builtin.constant")) return set(op.result(), {pir::constant_tensor(op, program_), {}});
    if (op.is("builtin.combine") || op.is("cf.array_create")) {
      OutSlot s;
      for (Value v : op.operands()) s.list.push_back(v ? tensor(v) : Tensor());
      return set(op.result(), std::move(s));
    }
    if (op.is("builtin.split")) {
      Tensors items = slot(op.operand(0)).list;
      for (size_t k = 0; k < op.num_results(); ++k) set(op.result(k), {items[k], {}});
      return;
    }
    if (op.is("builtin.slice"))
      return set(op.result(), {slot(op.operand(0)).list[static_cast<size_t>(op.attr("index").as_int())], {}});
    if (op.is("pd_op.if")) return branch(op);
    if (op.is("pd_op.while")) return loop(op);
    if (op.is("cf.host_call")) {
      check(!dispatch::tracing(), ErrorKind::kNotImplemented,
            "[py_func] a program that calls back into Python can't be part of another");
      Tensors given;
      for (Value v : op.operands()) given.push_back(tensor(v));
      Tensors made = executor::call_host(op, given);
      for (size_t k = 0; k < made.size(); ++k) set(op.result(k), {std::move(made[k]), {}});
      return;
    }
    if (op.is("cf.stack_create") || op.is("cf.stack_copy") || op.is("cf.tuple_push") || op.is("cf.tuple_pop") ||
        op.is("pd_op.has_elements"))
      return stack_operation(op);
    if (op.def().dialect == "cf") return list_operation(op);
    if (op.has(pir::kTerminator)) return;
    if (!op.info() && pir::is_identity(op)) return set(op.result(), slot(op.operand(0)));
    check(op.info() != nullptr, ErrorKind::kNotImplemented, "[{}] can't be run operator by operator", op.name());
    call(op);
  }

  std::vector<OutSlot> yields(const pir::Block& b) {
    std::vector<OutSlot> out;
    if (Operation* y = b.terminator())
      for (Value v : y->operands()) out.push_back(v ? slot(v) : OutSlot());
    return out;
  }

  void branch(Operation& op) {
    pir::Region& r = op.region(truth(op.operand(0)) ? 0 : 1);
    if (r.empty()) return;
    block(r.front());
    std::vector<OutSlot> values = yields(r.front());
    for (size_t k = 0; k < op.num_results(); ++k) set(op.result(k), values[k]);
  }

  void loop(Operation& op) {
    pir::Block& body = op.region(0).front();
    std::vector<OutSlot> values(1);
    for (size_t k = 1; k < op.num_operands(); ++k) values.push_back(slot(op.operand(k)));
    bool go = truth(op.operand(0));
    while (go) {
      for (size_t k = 0; k < body.num_args(); ++k) set(body.arg(k), values[k + 1]);
      block(body);
      values = yields(body);
      dispatch::check_value_readable(values[0].tensor, "while");
      go = Scalar(values[0].tensor).to_bool();
    }
    for (size_t k = 0; k < op.num_results(); ++k) set(op.result(k), values[k + 1]);
  }

  // What a region reads from outside, and what it computes from that and its arguments.
  WrittenGradient written(Operation& op, size_t r) {
    WrittenGradient g(op, r);
    for (Value v : g.outside()) {
      check(slot(v).list.empty(), ErrorKind::kNotImplemented, "[{}] a gradient that reads a list of tensors",
            op.name());
      g.read.push_back(tensor(v));
    }
    return g;
  }

  void custom_gradient(Operation& op) {
    const size_t n = pir::num_inputs(op);
    Tensors inputs, results;
    for (size_t i = 0; i < n; ++i) inputs.push_back(tensor(op.operand(i)));
    for (size_t i = 0; i < op.num_results(); ++i) results.push_back(tensor(op.operand(n + i)));
    std::vector<WrittenGradient> regions;
    for (size_t r = 0; r < op.num_regions(); ++r) regions.push_back(written(op, r));
    results = with_written_gradient(op, inputs, results, std::move(regions));
    for (size_t i = 0; i < op.num_results(); ++i) set(op.result(i), {results[i], {}});
  }

  void hook(Operation& op) {
    const Tensor& t = tensor(op.operand(0));
    if (!t.stop_gradient()) add_written_hook(t, written(op, 0));
  }

  size_t index(Value v, size_t size) { return executor::list_index(number(v), size); }
  int64_t number(Value v) { return Scalar(tensor(v)).to_int(); }

  // What a loop keeps for its gradient; the inlet and the outlet name the operation that made the stack.
  using Stack = std::vector<std::vector<OutSlot>>;
  Stack& stack_of(Value end) { return stacks_[end.defining_op()]; }

  void stack_operation(Operation& op) {
    if (op.is("cf.stack_create")) return stacks_[&op].clear();
    Stack& stack = stack_of(op.operand(0));
    if (op.is("cf.stack_copy")) {
      Stack copy = stack;
      stacks_[&op] = std::move(copy);
    } else if (op.is("cf.tuple_push")) {
      std::vector<OutSlot> entry;
      for (size_t k = 1; k < op.num_operands(); ++k) entry.push_back(slot(op.operand(k)));
      stack.push_back(std::move(entry));
    } else if (op.is("pd_op.has_elements")) {
      set(op.result(), {ops::full({1}, Scalar(!stack.empty()), DType::kBool), {}});
    } else {
      PD_INVARIANT(!stack.empty());
      std::vector<OutSlot> entry = std::move(stack.back());
      stack.pop_back();
      for (size_t k = 0; k < op.num_results(); ++k) set(op.result(k), std::move(entry[k]));
    }
  }

  bool list_gradient(Operation& op) {
    auto list = [&](size_t k) -> Tensors& { return slot(op.operand(k)).list; };
    Tensors made;
    if (op.is("cf.array_zeros_like"))
      made = executor::array_zeros_like(list(0));
    else if (op.is("cf.array_add"))
      made = executor::array_add(list(0), list(1));
    else if (op.is("cf.array_add_at"))
      made = executor::array_add_at(list(0), number(op.operand(1)), tensor(op.operand(2)));
    else if (op.is("cf.array_insert"))
      made = executor::array_insert(list(0), number(op.operand(1)), tensor(op.operand(2)));
    else if (op.is("cf.array_unwrite"))
      made = executor::array_unwrite(list(0), number(op.operand(1)), number(op.operand(2)));
    else if (op.is("cf.array_unstack"))
      made = executor::array_unstack(tensor(op.operand(0)), op.attr("axis").as_int());
    else if (op.is("cf.array_split"))
      made = executor::array_split(tensor(op.operand(0)), list(1), op.attr("axis").as_int());
    else
      return false;
    set(op.result(), {{}, std::move(made)});
    return true;
  }

  void list_operation(Operation& op) {
    if (list_gradient(op)) return;
    if (op.is("cf.array_write")) {
      OutSlot s{{}, slot(op.operand(0)).list};
      int64_t k = Scalar(tensor(op.operand(1))).to_int();
      if (k == static_cast<int64_t>(s.list.size()))
        s.list.push_back(tensor(op.operand(2)));
      else
        s.list[index(op.operand(1), s.list.size())] = tensor(op.operand(2));
      return set(op.result(), std::move(s));
    }
    if (op.is("cf.array_read")) {
      Tensors& l = slot(op.operand(0)).list;
      return set(op.result(), {l[index(op.operand(1), l.size())], {}});
    }
    if (op.is("cf.array_length"))
      return set(op.result(),
                 {ops::full({}, Scalar(static_cast<int64_t>(slot(op.operand(0)).list.size())), DType::kInt64), {}});
    if (op.is("cf.array_pop")) {
      OutSlot s{{}, slot(op.operand(0)).list};
      s.list.erase(s.list.begin() + static_cast<std::ptrdiff_t>(index(op.operand(1), s.list.size())));
      return set(op.result(), std::move(s));
    }
    if (op.is("cf.array_stack"))
      return set(op.result(), {ops::stack(slot(op.operand(0)).list, op.attr("axis").as_int()), {}});
    if (op.is("cf.array_concat"))
      return set(op.result(), {ops::concat(slot(op.operand(0)).list, Scalar(op.attr("axis").as_int())), {}});
    if (op.is("cf.assert")) {
      Tensor t = tensor(op.operand(0));
      Tensors shown;
      for (size_t k = 1; k < op.num_operands(); ++k) shown.push_back(tensor(op.operand(k)));
      for (int64_t k = 0, n = t.numel(); k < n; ++k)
        if (read_element(t, k) == 0.0)
          throw executor::AssertionFailed(ErrorKind::kRuntime, executor::format_hook(*executor::message_of(op), shown));
      return;
    }
    if (op.is("cf.print")) return;  // said already, when the program ran
    if (op.has(pir::kTerminator)) return;
    fail(ErrorKind::kNotImplemented, "[{}] can't be run operator by operator", op.name());
  }

  void call(Operation& op) {
    const OpInfo& info = *op.info();
    pir::BoundArgs bound(op, [this](Value v) { return slot(v); });
    std::vector<Arg> args(bound.args().begin(), bound.args().end());
    OpCall c(info, args);
    for (Arg& a : c.args) {
      if (a.tag() == Arg::Tag::kInts && a.ints().resolved() && !is_static(view(a.ints().values()))) {
        Shape values;
        for (Dim d : a.ints().values()) values.push_back(value(d));
        a = Arg(c.kept_ints.emplace_front(values));
      }
      if (a.tag() == Arg::Tag::kScalar && a.scalar().kind() == Scalar::Kind::kDim)
        a = Arg(c.kept_scalars.emplace_front(value(a.scalar().dim())));
    }
    if (info.has(kInplaceOnly)) copy_targets(c);
    MarkScope marks(*this, op);
    if (info.has(kRandom)) draw(op, c);
    dispatch::GradMode mode(dispatch::state().grad_enabled && records(op));
    dispatch::call(c);
    for (size_t i = 0; i < op.num_results(); ++i) {
      Value v = op.result(i);
      if (v.type()) set(v, std::move(c.out_slot(i)));
    }
  }

  // A program that is captured as part of another keeps its recompute regions, under names of the other's.
  class MarkScope {
   public:
    MarkScope(Interpretation& in, const Operation& op) : trace_(dispatch::Trace::active()) {
      if (!trace_) return;
      before_ = trace_->marks;
      for (int64_t id : pir::recompute_path(op)) trace_->marks.path.push_back(in.mark(*trace_, id));
      if (pir::Attribute name = op.attr(pir::kRandomKey)) trace_->marks.key = in.mark(*trace_, name.as_int());
      trace_->marks.replayed = static_cast<bool>(op.attr(pir::kReplayed));
    }
    ~MarkScope() {
      if (trace_) trace_->marks = before_;
    }
    MarkScope(const MarkScope&) = delete;

   private:
    dispatch::Trace* trace_;
    dispatch::Trace::Marks before_;
  };
  int64_t mark(dispatch::Trace& trace, int64_t id) {
    auto [it, fresh] = marks_.try_emplace(id, 0);
    if (fresh) it->second = trace.fresh_mark();
    return it->second;
  }

  void draw(const Operation& op, OpCall& c) {
    if (dispatch::tracing()) return;
    const pir::Attribute name = op.attr(pir::kRandomKey);
    if (name && op.attr(pir::kReplayed)) {
      c.key = drawn_.at(name.as_int());
    } else if (keys_) {
      c.key = keys_->next();
    } else if (name) {
      c.key = generator().next();
    } else {
      return;
    }
    c.key_drawn = true;
    if (name) drawn_[name.as_int()] = c.key;
  }

  // What ran under no_grad does so again.
  static bool records(const Operation& op) {
    for (size_t i = 0; i < op.num_results(); ++i) {
      Value v = op.result(i);
      if (!v.type()) continue;
      pir::Attribute a = v.attr("stop_gradient");
      if (!a || a.kind() != pir::AttrKind::kBool || !a.as_bool()) return true;
    }
    return false;
  }

  void copy_targets(OpCall& c) {
    dispatch::GradMode off(false);
    for (const OutInfo& o : c.op.outs) {
      if (o.inplace_of < 0) continue;
      Arg& a = c.args[static_cast<size_t>(o.inplace_of)];
      if (a.tag() == Arg::Tag::kTensor) {
        a = Arg(c.kept_tensors.emplace_front(ops::assign(a.tensor())));
      } else if (a.tag() == Arg::Tag::kTensors) {
        Tensors copies;
        for (const Tensor& t : a.tensors()) copies.push_back(t.defined() ? ops::assign(t) : t);
        a = Arg(c.kept_lists.emplace_front(std::move(copies)));
      }
    }
  }

  const pir::Program& program_;
  std::span<const Tensor> inputs_, parameters_;
  Generator* keys_;
  size_t next_input_ = 0, next_parameter_ = 0;
  std::unordered_map<Value, OutSlot> env_;
  std::unordered_map<int64_t, Dim> symbols_;
  std::unordered_map<const Operation*, Stack> stacks_;
  std::unordered_map<int64_t, RandomKey> drawn_;  // by pir::kRandomKey
  std::unordered_map<int64_t, int64_t> marks_;    // names in this program: in the one being captured
  std::vector<Tensor> outputs_, writes_;
};

}  // namespace

std::vector<Tensor> interpret(const pir::Program& program, std::span<const Tensor> inputs,
                              std::span<const Tensor> parameters, Generator* keys) {
  return Interpretation(program, inputs, parameters, keys).run();
}

}  // namespace paddle::compile
