#include "compile/decompose.h"

#include <unordered_map>

#include "api/op_call.h"
#include "cinn/group/translate.h"
#include "device/default_place.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "passes/match.h"
#include "phi/kernels/registry.h"
#include "pir/op_args.h"
#include "pir/sizes.h"

namespace paddle::compile {
namespace {

using pir::Operation;
using pir::Value;

bool wanted(const Operation& op, DecomposeWhat what) {
  const OpInfo* info = op.info();
  if (what == DecomposeWhat::kEvaluating) return info && info->decompose && passes::evaluates(op);
  if (!info || !info->decompose || info->has(kPrimitive | kRandom | kInplaceOnly | kControlFlow | kDataDependentShape))
    return false;
  if (what == DecomposeWhat::kAll) return true;
  const bool kernel = kernels::find_kernel(*info, Place::cpu().kind);
  if (what == DecomposeWhat::kContractions) return info->has(kMatmulLike) && !kernel;
  // Contractions and the like have kernels that no composition of loops beats; what the compiler takes as it is stays.
  return !(info->has(kMatmulLike) && kernel) && !info->has(kNeedsKernel) && !info->expr && !info->has(kReduction) &&
         !info->has(kView | kIndexMap) && !cinn::translatable(op);
}

// Sizes that only running tells have one name in the operation's result and, from the operations of its composition,
// another: those take the names that the users know.
class Renaming {
 public:
  void result(pir::Type made, pir::Type known) {
    if (!made.has_shape() || !known.has_shape() || made.rank() != known.rank()) return;
    for (size_t i = 0; i < made.shape().size(); ++i) {
      const Dim from = made.shape()[i], to = known.shape()[i];
      if (from == to || !from.is_symbolic() || node_of(from).op != DimOp::kSymbol) continue;
      if (!has_hint(from)) to_.emplace_back(from, to);
    }
  }

  void apply(Operation& op) const {
    if (to_.empty()) return;
    pir::map_sizes(op, [&](Dim d) { return renamed(d); });
  }

 private:
  Dim renamed(Dim d) const {
    if (d.is_const()) return d;
    return substitute(d, [&](Dim symbol) {
      for (const auto& [from, to] : to_)
        if (from == symbol) return to;
      return symbol;
    });
  }

  std::vector<std::pair<Dim, Dim>> to_;
};

// Writes the composition in front of `op`, then replaces it.
bool expand(dispatch::Trace& trace, Operation& op) {
  pir::InsertionGuard guard(trace.builder());
  trace.builder().before(&op);
  Operation* before = op.prev();
  auto undo = [&] {
    while (op.prev() != before) {
      Operation* last = op.prev();
      last->erase();
    }
    return false;
  };
  std::vector<Value> results;
  try {
    dispatch::GradMode off(false);
    pir::BoundArgs bound(op, [&](Value v) {
      OutSlot s;
      if (!v.type().is_vector()) {
        s.tensor = trace.tensor_of(v, true);
      } else if (v.is_result() && v.defining_op()->is("builtin.combine")) {
        for (Value item : v.defining_op()->operands()) s.list.push_back(item ? trace.tensor_of(item, true) : Tensor());
      }
      return s;
    });
    OpCall c(*op.info(), bound.args());
    op.info()->decompose(c);
    for (size_t i = 0; i < op.num_results(); ++i) {
      Value v = op.result(i);
      if (!v.type() || v.use_empty()) {
        results.emplace_back();
        continue;
      }
      if (v.type().is_vector()) return undo();
      Tensor t = c.out(i);
      if (!t.defined() || t.dtype() != v.dtype()) return undo();
      results.push_back(trace.value_of(t));
    }
  } catch (const Error&) {
    return undo();  // needs a value, or a size it can't know
  }
  Renaming renaming;
  for (size_t i = 0; i < op.num_results(); ++i)
    if (results[i]) renaming.result(results[i].type(), op.result(i).type());
  bool stop = true;
  for (Value v : op.results_vector()) stop &= !v.type() || v.stop_gradient();
  for (Operation* fresh = op.prev(); fresh != before; fresh = fresh->prev()) {
    renaming.apply(*fresh);
    // What is between is differentiated as the operator would have been.
    for (Value v : fresh->results_vector())
      if (!stop && v.type()) v.set_stop_gradient(false);
  }
  for (size_t i = 0; i < op.num_results(); ++i) {
    if (!results[i]) continue;
    if (results[i].type() != op.result(i).type()) {
      // Another name for the same sizes: users keep the one they know.
      results[i].set_type(op.result(i).type());
    }
    op.result(i).replace_all_uses_with(results[i]);
  }
  op.erase();
  return true;
}

size_t decompose_once(pir::Program& program, DecomposeWhat what) {
  std::vector<Operation*> ops;
  program.walk([&](Operation& op) {
    if (op.block() && wanted(op, what)) ops.push_back(&op);
  });
  if (ops.empty()) return 0;
  dispatch::Trace trace("decompose", std::move(program));
  size_t n = 0;
  {
    dispatch::StackScope scope(&trace);
    for (Operation* op : ops) n += expand(trace, *op);
  }
  program = trace.take_program();
  return n;
}

}  // namespace

// A composition may hold composites in turn: layer_norm is made of means.
size_t decompose(pir::Program& program, DecomposeWhat what) {
  size_t total = 0;
  for (int depth = 0; depth < 8; ++depth) {
    const size_t n = decompose_once(program, what);
    total += n;
    if (n == 0) break;
  }
  return total;
}

}  // namespace paddle::compile
