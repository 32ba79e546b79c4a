#include "autograd/differentiate.h"

#include <algorithm>
#include <unordered_set>

#include "api/ops.h"
#include "autograd/node.h"
#include "autograd/replay.h"
#include "dispatch/state.h"
#include "pir/dominance.h"
#include "pir/effects.h"
#include "pir/op_args.h"

namespace paddle::autograd {
namespace {

using dispatch::Trace;
using pir::Operation;
using pir::Value;

bool stopped(Value v) {
  pir::Attribute a = v.attr("stop_gradient");
  return a && a.kind() == pir::AttrKind::kBool && a.as_bool();
}

class Differentiation {
 public:
  Differentiation(Trace& trace, const DifferentiateOptions& options)
      : trace_(trace), options_(options), replay_(trace) {
    // Outer blocks first: what they hold so far comes before anything inside.
    for (pir::Block* b : trace.blocks())
      for (Operation& op : *b) ops_.push_back(&op);
    for (const Tensor& t : options.stops) stops_.insert(trace.value_of(t));
  }

  // Which values change with the inputs.
  void mark(const std::vector<Value>& ins) {
    relevant_.insert(ins.begin(), ins.end());
    for (Operation* op : ops_) {
      bool reached = false;
      for (Value v : op->operands()) reached |= v && relevant_.count(v);
      if (op->num_regions())
        for (Value v : pir::captured_values(*op)) reached |= relevant_.count(v) > 0;
      if (!reached) continue;
      for (Value v : op->results_vector())
        if (v.type() && (v.type().is_vector() || !stopped(v)) && !stops_.count(v)) relevant_.insert(v);
    }
  }
  bool relevant(Value v) const { return v && relevant_.count(v); }

  void seed(Value v, Tensor g) { add(v, std::move(g)); }

  void run() {
    for (size_t i = ops_.size(); i-- > 0;) {
      Operation& op = *ops_[i];
      bool any = false;
      for (Value v : op.results_vector()) any |= v.type() && has_grad(v);
      if (any && reaches(op)) visit(op);
    }
  }

  Tensor grad(Value v) const {
    auto it = grads_.find(v);
    return it == grads_.end() ? Tensor() : it->second;
  }

 private:
  bool has_grad(Value v) const {
    auto it = grads_.find(v);
    if (it != grads_.end()) return it->second.defined();
    auto l = list_grads_.find(v);
    if (l != list_grads_.end())
      for (const Tensor& t : l->second)
        if (t.defined()) return true;
    return false;
  }

  bool reaches(const Operation& op) const {
    for (Value v : op.operands())
      if (relevant(v)) return true;
    if (op.num_regions())
      for (Value v : pir::captured_values(op))
        if (relevant(v)) return true;
    return false;
  }

  void add(Value v, Tensor g) {
    if (!g.defined() || !relevant(v)) return;
    Tensor& slot = grads_[v];
    slot = slot.defined() ? ops::add(slot, g) : std::move(g);
  }
  void add_list(Value v, size_t size, size_t k, Tensor g) {
    if (!g.defined()) return;
    Tensors& list = list_grads_[v];
    list.resize(size);
    list[k] = list[k].defined() ? ops::add(list[k], g) : std::move(g);
  }

  Tensor tensor_of(Value v) {
    // Without create_graph nothing that is computed here needs a history.
    return trace_.tensor_of(v, !options_.create_graph || stopped(v));
  }

  void visit(Operation& op) {
    if (!op.info() && pir::is_identity(op)) return add(op.operand(0), grad(op.result()));
    if (op.is("builtin.combine")) {
      Tensors g = list_grads_[op.result()];
      for (size_t k = 0; k < g.size(); ++k)
        if (op.operand(k)) add(op.operand(k), g[k]);
      return;
    }
    if (op.is("builtin.split")) {
      for (size_t k = 0; k < op.num_results(); ++k)
        if (has_grad(op.result(k))) add_list(op.operand(0), op.num_results(), k, grad(op.result(k)));
      return;
    }
    if (op.is("builtin.slice")) {
      add_list(op.operand(0), op.operand(0).type().elements().size(), static_cast<size_t>(op.attr("index").as_int()),
               grad(op.result()));
      return;
    }
    check(op.info() != nullptr, ErrorKind::kNotImplemented, "[{}] has no gradient inside a program", op.name());
    if (op.info()->has(kNondifferentiable)) return;
    if (!op.info()->vjp) return through_composition(op);
    std::vector<OutSlot> out_grads(op.num_results());
    for (size_t i = 0; i < op.num_results(); ++i) {
      Value v = op.result(i);
      if (!v.type()) continue;
      if (v.type().is_vector())
        out_grads[i].list = list_grads_.count(v) ? list_grads_[v] : Tensors();
      else
        out_grads[i].tensor = grad(v);
    }
    auto needs = [&](size_t i) { return relevant(op.operand(i)) && !op_nondifferentiable(op, i); };
    std::vector<OutSlot> in_grads = dispatch::call_vjp(
        op, [&](Value v) { return tensor_of(reads(op, v) ? replay_.value_for(op, v) : v); }, out_grads, needs);
    for (size_t i = 0; i < in_grads.size(); ++i) {
      Value v = op.operand(i);
      if (!relevant(v) || op_nondifferentiable(op, i)) continue;
      if (v.type().is_vector()) {
        for (size_t k = 0; k < in_grads[i].list.size(); ++k)
          add_list(v, in_grads[i].list.size(), k, fitted(in_grads[i].list[k], v.type().elements()[k]));
      } else {
        add(v, fitted(in_grads[i].tensor, v.type()));
      }
    }
  }

  // Whether the gradient of `op` reads the elements of v, or only its shape and dtype.
  static bool reads(const Operation& op, Value v) {
    const OpInfo& info = *op.info();
    auto same = [v](Value u) {
      if (u == v) return true;
      if (!u || !u.type().is_vector() || !u.is_result() || !u.defining_op()->is("builtin.combine")) return false;
      const std::vector<Value> items = u.defining_op()->operands();
      return std::find(items.begin(), items.end(), v) != items.end();
    };
    for (size_t i = 0; i < op.num_operands() && i < op.def().operands.size(); ++i) {
      const int arg = op.def().operands[i].arg;
      const bool tensor = arg >= 0 && is_tensor_kind(info.args[static_cast<size_t>(arg)].kind);
      if (same(op.operand(i)) && (!tensor || info.args[static_cast<size_t>(arg)].saved == SaveKind::kValue))
        return true;
    }
    // What is no operand is a result, or an item of one; those are asked for only where they are saved.
    return v.is_result() && (v.defining_op() == &op || v.defining_op()->is("builtin.split"));
  }

  static Tensor fitted(Tensor g, pir::Type t) {
    if (g.defined() && g.dtype() != t.dtype()) return ops::cast(g, t.dtype());
    return g;
  }

  static bool op_nondifferentiable(const Operation& op, size_t operand) {
    int arg = operand < op.def().operands.size() ? op.def().operands[operand].arg : -1;
    return arg < 0 || op.info()->args[static_cast<size_t>(arg)].nondifferentiable;
  }

  // No vjp of its own: the composition is written out and differentiated.
  void through_composition(Operation& op) {
    const OpInfo& info = *op.info();
    check(info.decompose != nullptr, ErrorKind::kNotImplemented, "[{}] has no gradient", info.name);
    std::vector<Tensor> ins;
    std::unordered_map<Value, Tensor> made;
    auto operand = [&](Value v) {
      auto it = made.find(v);
      if (it != made.end()) return it->second;
      Tensor t = trace_.tensor_of(replay_.value_for(op, v), !relevant(v));
      made.emplace(v, t);
      return t;
    };
    pir::BoundArgs bound(op, [&](Value v) {
      OutSlot s;
      if (v.type().is_vector()) {
        PD_INVARIANT(v.is_result() && v.defining_op()->is("builtin.combine"));
        for (Value item : v.defining_op()->operands()) s.list.push_back(item ? operand(item) : Tensor());
      } else {
        s.tensor = operand(v);
      }
      return s;
    });
    OpCall c(info, bound.args());
    {
      dispatch::GradMode on(true);
      info.decompose(c);
    }
    Tensors outs, gs;
    for (size_t i = 0; i < op.num_results(); ++i) {
      Value v = op.result(i);
      if (!v.type() || !has_grad(v)) continue;
      if (v.type().is_vector()) {
        for (size_t k = 0; k < c.out_list(i).size(); ++k)
          if (list_grads_[v][k].defined()) outs.push_back(c.out_list(i)[k]), gs.push_back(list_grads_[v][k]);
      } else {
        outs.push_back(c.out(i));
        gs.push_back(grad(v));
      }
    }
    std::vector<Value> values;
    for (auto& [v, t] : made)
      if (relevant(v)) values.push_back(v), ins.push_back(t);
    Tensors in_grads = differentiate(trace_, outs, gs, ins, {options_.create_graph, {}});
    for (size_t i = 0; i < values.size(); ++i) add(values[i], in_grads[i]);
  }

  Trace& trace_;
  const DifferentiateOptions& options_;
  Replay replay_;
  std::vector<Operation*> ops_;
  std::unordered_set<Value> relevant_, stops_;
  std::unordered_map<Value, Tensor> grads_;
  std::unordered_map<Value, Tensors> list_grads_;
};

}  // namespace

Tensors differentiate(Trace& trace, const Tensors& outs, const Tensors& out_grads, const Tensors& ins,
                      const DifferentiateOptions& options) {
  check(out_grads.empty() || out_grads.size() == outs.size(), ErrorKind::kValue,
        "[grad] expected as many grad_outputs as outputs ({}), got {}", outs.size(), out_grads.size());
  std::vector<Value> in_values, out_values;
  for (const Tensor& t : ins) in_values.push_back(trace.value_of(t));
  for (const Tensor& t : outs) out_values.push_back(trace.value_of(t));
  dispatch::GradMode mode(options.create_graph);
  Differentiation d(trace, options);
  d.mark(in_values);
  for (size_t i = 0; i < outs.size(); ++i) {
    if (!d.relevant(out_values[i])) continue;
    Tensor g = i < out_grads.size() ? out_grads[i] : Tensor();
    if (!g.defined()) g = ops::full_like(outs[i], Scalar(1.0));
    check(g.shape() == outs[i].shape(), ErrorKind::kValue,
          "[grad] expected a gradient of shape {} for output {}, got {}", to_string(view(outs[i].shape())), i,
          to_string(view(g.shape())));
    d.seed(out_values[i], g);
  }
  d.run();
  Tensors result;
  for (size_t i = 0; i < ins.size(); ++i) result.push_back(d.grad(in_values[i]));
  return result;
}

Tensors traced_grad(Trace& trace, const Tensors& outs, const Tensors& ins, const Tensors& out_grads, bool create_graph,
                    bool allow_unused, const Tensors& no_grad_vars) {
  for (const Tensor& t : ins)
    check(!t.stop_gradient(), ErrorKind::kRuntime,
          "[grad] expected inputs that need a gradient (stop_gradient=False), got one of shape {} that does not",
          to_string(view(t.shape())));
  Tensors grads = differentiate(trace, outs, out_grads, ins, {create_graph, no_grad_vars});
  for (size_t i = 0; i < grads.size(); ++i)
    check(grads[i].defined() || allow_unused, ErrorKind::kValue,
          "[grad] input {} was not used to compute the outputs; pass allow_unused=True to get None for it", i);
  return grads;
}

void traced_backward(Trace& trace, const Tensors& outs, const Tensors& out_grads) {
  std::vector<Tensor> leaves = trace.leaves();
  Tensors grads = differentiate(trace, outs, out_grads, leaves, {});
  dispatch::GradMode off(false);
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!grads[i].defined()) continue;
    Tensor old = trace.grad_of(leaves[i]);
    Tensor now = old.defined() ? ops::add(old, grads[i]) : grads[i];
    trace.set_grad(leaves[i], now);
  }
}

namespace {
[[maybe_unused]] const bool installed = [] {
  dispatch::leaf_grad = [](const Tensor& leaf) -> Tensor& { return meta_of(leaf).grad; };
  return true;
}();
}  // namespace

}  // namespace paddle::autograd
