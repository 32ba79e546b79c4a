// What follows from weights alone moves into a builtin.hold: it is computed at the first run, and again when a weight
// was changed.
#include <algorithm>
#include <unordered_map>

#include "passes/passes.h"
#include "passes/weights.h"
#include "pir/builder.h"
#include "pir/clone.h"
#include "pir/effects.h"

namespace paddle::passes {

using pir::Operation;
using pir::Value;

namespace {

int64_t bytes_of(Value v) {
  if (!v.type().is_tensor() || !is_static(view(v.shape()))) return -1;
  int64_t n = static_cast<int64_t>(size_of(v.dtype()));
  for (Dim d : v.shape()) n *= d.value();
  return n;
}

class Holder {
 public:
  explicit Holder(pir::Block& block) : block_(block), weights_(block) {}

  size_t run() {
    std::vector<Operation*> ops = block_.ops();
    for (Operation* op : ops) see(*op);
    choose(ops);
    drop_views();
    if (held_.empty()) return 0;
    parameters_first(ops);
    move(ops);
    return held_.size();
  }

 private:
  void see(Operation& op) {
    if (op.is("builtin.parameter")) {
      if (weights_.has(op.result())) made_of_[&op] = {op.result()};
      return;
    }
    std::vector<Value> from;
    for (Value v : op.operands()) {
      auto it = v && v.is_result() ? made_of_.find(v.defining_op()) : made_of_.end();
      if (it == made_of_.end()) continue;
      for (Value w : it->second)
        if (std::find(from.begin(), from.end(), w) == from.end()) from.push_back(w);
    }
    bool stays = !from.empty() && op.num_results() > 0;
    for (Value v : op.results_vector()) stays = stays && v.type() && weights_.has(v);
    if (!stays) return;
    made_of_[&op] = from;
    held_.insert(&op);
  }

  // What is used outside must be no larger than what it is made of; and all that an operation reads must be there.
  void choose(const std::vector<Operation*>& ops) {
    for (bool changed = true; changed;) {
      changed = false;
      auto drop = [&](Operation* op) {
        held_.erase(op);
        changed = true;
      };
      for (size_t i = ops.size(); i-- > 0;)
        if (held_.count(ops[i]) && !may_stay(*ops[i])) drop(ops[i]);
      for (Operation* op : ops)
        if (held_.count(op) && !can_read(*op)) drop(op);
    }
  }

  bool can_read(const Operation& op) const {
    for (Value v : op.operands()) {
      if (!v || !v.is_result()) continue;
      Operation* maker = v.defining_op();
      if (made_of_.count(maker) && !held_.count(maker) && !maker->is("builtin.parameter")) return false;
    }
    return true;
  }

  bool may_stay(Operation& op) const {
    int64_t from = 0;
    for (Value w : made_of_.at(&op)) from += std::max<int64_t>(bytes_of(w), 0);
    for (Value v : op.results_vector()) {
      if (!used_outside(v)) continue;
      if (escapes(v)) return false;
      const int64_t size = bytes_of(v);
      if (size < 0 || size > from) return false;
    }
    return true;
  }

  // May somebody outside of the program come to hold this memory, and write there?
  static bool escapes(Value v) {
    for (Operation* user : v.users()) {
      if (user->has(pir::kGraphOutput | pir::kTerminator) || user->num_regions()) return true;
      if (!user->has(kView) && !pir::is_identity(*user) && !user->is("builtin.combine")) continue;
      for (Value r : user->results_vector())
        if (r.type() && escapes(r)) return true;
    }
    return false;
  }

  bool used_outside(Value v) const {
    for (Operation* user : v.users())
      if (!held_.count(user)) return true;
    return false;
  }

  // Another look at a weight costs nothing to make again; only what something is computed from is worth it.
  void drop_views() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Operation* op : std::vector<Operation*>(held_.begin(), held_.end())) {
        if (!op->has(kView) && !op->is("builtin.combine")) continue;
        bool computes = false, feeds = false;
        for (Value v : op->operands()) computes |= v && v.is_result() && held_.count(v.defining_op());
        for (Operation* user : op->result().users()) feeds |= held_.count(user) > 0;
        if (computes || feeds) continue;
        held_.erase(op);
        changed = true;
      }
    }
  }

  void move(const std::vector<Operation*>& ops) {
    std::vector<Value> inputs, outputs;
    std::vector<pir::Type> types;
    Operation* last = nullptr;
    for (Operation* op : ops) {
      if (!held_.count(op)) continue;
      last = op;
      for (Value w : made_of_.at(op))
        if (std::find(inputs.begin(), inputs.end(), w) == inputs.end()) inputs.push_back(w);
      for (Value v : op->results_vector())
        if (used_outside(v)) outputs.push_back(v), types.push_back(v.type());
    }
    pir::Builder b;
    b.after(last_parameter_);
    b.set_loc(pir::Location::derived("hold_weights", last->loc()));
    Operation* hold = b.create(pir::op_def("builtin.hold"), inputs, {}, types, 1);
    pir::Block& body = hold->region(0).ensure_block();
    pir::ValueMap map;
    for (Operation* op : ops) {
      if (!held_.count(op)) continue;
      for (Value v : op->operands())  // constants are made there too
        if (v && v.is_result() && !made_of_.count(v.defining_op()) && !map.count(v)) bring(*v.defining_op(), body, map);
      op->move_to_end(&body);
      for (size_t k = 0; k < op->num_operands(); ++k)
        if (Value v = op->operand(k)) op->set_operand(k, pir::mapped(map, v));
    }
    pir::Builder(&body).yield(outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Value result = hold->result(i);
      result.set_stop_gradient(outputs[i].stop_gradient());
      outputs[i].replace_uses_if(result, [&](pir::OpOperand& use) { return !hold->is_ancestor_of(use.owner()); });
    }
  }

  void bring(Operation& op, pir::Block& body, pir::ValueMap& map) {
    for (Value v : op.operands())
      if (v && v.is_result() && !made_of_.count(v.defining_op()) && !map.count(v)) bring(*v.defining_op(), body, map);
    body.push_back(pir::clone_op(op, map));
  }

  void parameters_first(const std::vector<Operation*>& ops) {
    std::vector<Operation*> parameters;
    for (Operation* op : ops)
      if (op->is("builtin.parameter")) parameters.push_back(op);
    for (size_t i = parameters.size(); i-- > 0;)
      if (block_.front() != parameters[i]) parameters[i]->move_before(block_.front());
    last_parameter_ = parameters.back();
  }

  pir::Block& block_;
  WeightValues weights_;
  std::unordered_map<Operation*, std::vector<Value>> made_of_;  // the parameters
  std::unordered_set<Operation*> held_;
  Operation* last_parameter_ = nullptr;
};

}  // namespace

size_t hold_weights(Operation& root) {
  if (root.num_regions() == 0 || root.region(0).empty()) return 0;
  return Holder(root.region(0).front()).run();
}

}  // namespace paddle::passes
