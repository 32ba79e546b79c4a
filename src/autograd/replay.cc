#include "autograd/replay.h"

#include "pir/clone.h"
#include "pir/dominance.h"
#include "pir/effects.h"
#include "pir/op_args.h"
#include "pir/recompute.h"

namespace paddle::autograd {
namespace {

using pir::Operation;
using pir::Value;

size_t shared(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

bool known(Value v) { return v.is_result() && v.defining_op()->num_operands() == 0 && pir::known_value(v); }

}  // namespace

const Replay::Path& Replay::path_of(const Operation& op) {
  auto [it, fresh] = paths_.try_emplace(&op);
  if (fresh) it->second = pir::recompute_path(op);
  return it->second;
}

// Running it a second time changes nothing outside, and gives the same.
bool Replay::replayable(const Operation& op) const {
  bool ok = true;
  const_cast<Operation&>(op).walk([&](Operation& inner) {
    if (&inner != &op && inner.has(pir::kTerminator)) return;
    ok &= !inner.has(kSideEffect | kInplaceOnly | kDataDependentShape | pir::kGraphInput | pir::kInplaceForm);
    ok &= !inner.has(kRandom) || (&inner == &op && inner.attr(pir::kRandomKey));
  });
  return ok;
}

void Replay::append(Operation* op) {
  pir::Builder& b = trace_.builder();
  if (b.insertion_point())
    b.block()->insert(b.insertion_point(), op);
  else
    b.block()->push_back(op);
}

Value Replay::value_for(const Operation& reader, Value v) {
  if (!v.is_result()) return v;
  const Path& mine = path_of(reader);
  if (mine.empty()) return v;
  return at_level(v, shared(mine, path_of(*v.defining_op())));
}

Value Replay::at_level(Value v, size_t level) {
  if (level == 0 || !v.is_result() || !replayable(*v.defining_op())) return v;
  Operation& op = *v.defining_op();
  if (auto it = copies_.find({&op, level}); it != copies_.end()) return it->second->result(v.index());
  const Path path(path_of(op));
  const Path region(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(level));
  pir::ValueMap map;
  auto stand_in = [&](Value u) {
    if (!u || map.count(u)) return;
    bool inside = u.is_result() && shared(region, path_of(*u.defining_op())) == level;
    map[u] = inside ? at_level(u, level) : input(u, region, level);
  };
  for (Value u : op.operands()) stand_in(u);
  if (op.num_regions())
    for (Value u : pir::captured_values(op)) stand_in(u);
  Operation* copy = pir::clone_op(op, map);
  copy->erase_attr(pir::kRecompute);
  copy->walk([](Operation& inner) { inner.erase_attr(pir::kRecompute); });
  if (op.attr(pir::kRandomKey)) copy->set_attr(pir::kReplayed, pir::Attribute::boolean(true));
  append(copy);
  copies_[{&op, level}] = copy;
  return copy->result(v.index());
}

// A value from outside of the region, behind a barrier: without one, equal operations on it would be merged with those
// of the forward pass, and their results kept after all.
Value Replay::input(Value v, const Path& region, size_t level) {
  if (known(v)) return v;
  auto& known_inputs = inputs_[region];
  if (auto it = known_inputs.find(v); it != known_inputs.end()) return it->second;
  Value outer = v;
  if (v.is_result()) outer = at_level(v, std::min(level - 1, shared(region, path_of(*v.defining_op()))));
  Value result = outer;
  if (v.is_result() && v.defining_op()->is("builtin.combine")) {
    std::vector<Value> items;
    for (Value item : v.defining_op()->operands()) items.push_back(item ? input(item, region, level) : item);
    result = trace_.builder().combine(items);
  } else if (v.type().kind() == pir::TypeKind::kTensor) {
    result = trace_.builder().value("builtin.barrier", {outer});
    if (v.attr("stop_gradient")) result.set_stop_gradient(v.stop_gradient());
  }
  return inputs_[region][v] = result;
}

}  // namespace paddle::autograd
