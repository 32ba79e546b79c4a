// TrainingProgram: a program with its gradients, cut into a forward and a backward part.
#include <algorithm>
#include <functional>
#include <unordered_set>

#include "base/flags.h"
#include "compile/recompute_cut.h"
#include "compile/training.h"
#include "distributed/partition/partition.h"
#include "passes/passes.h"
#include "pir/clone.h"

namespace paddle::compile {
namespace {

using pir::Operation;
using pir::Value;

constexpr const char* kInBackward = "in_backward";

bool is_out_grad(const Operation& op) {
  return op.is("pd_op.data") && op.attr("name").as_string().starts_with("out_grad_");
}

// What follows the forward part and can't stand elsewhere says so, since passes move and merge the rest.
void mark_backward(pir::Block& block, const Operation* last_forward) {
  bool after = false;
  for (Operation& op : block) {
    if (is_out_grad(op) || (after && (op.has(pir::kDistinct) || op.num_regions())))
      op.set_attr(kInBackward, pir::Attribute::boolean(true));
    after |= &op == last_forward;
  }
}

// What is marked and what follows from it. The marks go.
Operations only_backward(pir::Block& block) {
  Operations found;
  for (Operation& op : block) {
    bool own = static_cast<bool>(op.attr(kInBackward));
    op.erase_attr(kInBackward);
    for (Value v : values_read(op)) own |= v.is_result() && found.count(v.defining_op()) > 0;
    if (own) found.insert(&op);
  }
  return found;
}

// Each of `extra` goes right before the first that reads it: what is made again lives no longer than it must.
std::vector<Operation*> with_made_again(const std::vector<Operation*>& ops, const std::vector<Operation*>& extra) {
  std::unordered_set<Operation*> waiting(extra.begin(), extra.end());
  std::vector<Operation*> placed;
  std::function<void(Operation*)> place = [&](Operation* op) {
    for (Value v : values_read(*op)) {
      Operation* maker = v.is_result() ? v.defining_op() : nullptr;
      if (maker && waiting.erase(maker)) place(maker);
    }
    placed.push_back(op);
  };
  for (Operation* op : ops) place(op);
  return placed;
}

// Symbols that are sizes as they stand.
void note_pure(Value v, std::vector<Dim>& out) {
  if (!v.type() || !v.type().has_shape()) return;
  for (Dim d : v.shape())
    if (d.is_symbolic() && node_of(d).op == DimOp::kSymbol) out.push_back(d);
}

// A value of the forward part that has the size.
Value first_with(const std::vector<Operation*>& ops, Dim size) {
  for (Operation* op : ops)
    for (Value v : op->results_vector()) {
      if (!v.type() || v.type().kind() != pir::TypeKind::kTensor) continue;
      for (Dim d : v.shape())
        if (d == size) return v;
    }
  return {};
}

// Sizes that the backward part reads must follow from the shapes of what it gets.
void keep_sizes(const std::vector<Operation*>& forward, const std::vector<Operation*>& backward,
                std::vector<Value>& kept) {
  std::vector<Dim> symbols, known;
  for (Operation* op : backward)
    op->walk([&](Operation& inner) {
      for (Value v : inner.results_vector())
        if (v.type() && v.type().has_shape())
          for (Dim d : v.shape()) symbols_of(d, symbols);
    });
  for (Value v : kept) note_pure(v, known);
  for (Operation* op : backward)
    if (op->is("pd_op.data") || op->has(kDataDependentShape))
      for (Value v : op->results_vector()) note_pure(v, known);
  for (Dim s : symbols) {
    if (std::find(known.begin(), known.end(), s) != known.end()) continue;
    const Value v = first_with(forward, s);
    if (!v) continue;
    kept.push_back(v);
    note_pure(v, known);
  }
}

// Through views: is it made by something else than an operator?
bool made_outside(Value v) {
  while (v.is_result() && v.defining_op()->info() && v.defining_op()->info()->has(kView) &&
         v.defining_op()->num_operands())
    v = v.defining_op()->operand(size_t{0});
  return !v.is_result() || !v.defining_op()->info();
}

// What is kept comes first, then the gradients' inputs, whatever stood before them.
pir::Program backward_program(const std::vector<Value>& kept, const std::vector<Operation*>& ops) {
  pir::Program p;
  pir::ValueMap map;
  pir::Builder b(p);
  for (size_t k = 0; k < kept.size(); ++k) {
    pir::Type t = kept[k].type();
    const bool tensor = t.has_shape();  // else a stack
    Operation* in = b.create("pd_op.data", {},
                             {{"name", pir::Attribute::string("keep_" + std::to_string(k))},
                              {"shape", pir::Attribute::ints(tensor ? view(t.shape()) : std::span<const Dim>())},
                              {"dtype", pir::Attribute::dtype(tensor ? t.dtype() : DType::kUndefined)},
                              {"place", pir::Attribute::undefined_place()}},
                             {t});
    map[kept[k]] = in->result();
  }
  for (bool inputs : {true, false})
    for (Operation* op : ops)
      if (op->is("pd_op.data") == inputs) p.block().push_back(pir::clone_op(*op, map));
  return p;
}

}  // namespace

pir::Program TrainingProgram::in_parts(pir::Program joint, Operation*& last_forward) {
  if (inputs_.empty() && !distributed::is_distributed(joint)) return joint;
  distributed::PartitionOptions options;
  options.inputs = inputs_;
  options.stayed = &stayed_;
  for (size_t k = 0; k < grad_attrs_.size(); ++k)
    if (grad_attrs_[k]) options.results["in_grad_" + std::to_string(k)] = grad_attrs_[k];
  const Operation* mark = last_forward;
  options.mark = &mark;
  joint = distributed::partition(joint, options);
  last_forward = const_cast<Operation*>(mark);
  return joint;
}

Finished TrainingProgram::cut(pir::Program joint, Operation* last_forward) {
  passes::remove_dead_code(joint.module());
  // Cut after partitioning: what is kept for the backward part are this rank's parts.
  joint = in_parts(std::move(joint), last_forward);
  mark_backward(joint.block(), last_forward);
  // What operators are made of is cut, not the operators: of a softmax's gradient's operands it keeps which it will.
  const bool minimum = flags::get_bool("recompute_cut") && fuses(options_);
  if (minimum) {
    simplify(joint, options_);
    options_.simplified = true;
  }
  const Operations backward = only_backward(joint.block());
  std::optional<RecomputeCut> cut;
  if (minimum) cut = minimum_cut(joint.block(), backward, options_.place.is_cpu(), options_.cut);
  if (!cut) cut = plain_cut(joint.block(), backward);
  std::vector<Operation*> own, forward;
  for (Operation& op : joint.block()) (backward.count(&op) ? own : forward).push_back(&op);
  const std::vector<Operation*> all = with_made_again(own, cut->again);
  keep_sizes(forward, all, cut->kept);
  for (Value v : cut->kept) from_outside_.push_back(made_outside(v));
  backward_program_ = backward_program(cut->kept, all);
  for (auto& [name, tensor] : joint.parameters()) backward_program_.set_parameter(name, tensor);
  // Forward: what is left, with what is kept among its results.
  for (size_t i = own.size(); i-- > 0;) own[i]->erase();
  pir::Builder b(joint);
  for (size_t k = 0; k < cut->kept.size(); ++k) b.shadow_output("keep_" + std::to_string(k), cut->kept[k]);
  passes::remove_dead_code(joint.module());
  num_kept_ = cut->kept.size();
  return finish(std::move(joint), options_);
}

}  // namespace paddle::compile
