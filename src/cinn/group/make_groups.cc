#include "cinn/group/make_groups.h"

#include <algorithm>

#include "pir/builder.h"

namespace paddle::cinn {
namespace {

using pir::Operation;
using pir::Value;

void make_group(pir::Block& block, const Units& units, int unit) {
  std::vector<Value> inputs, outputs;
  std::vector<pir::Type> types;
  for (int m : units.members(unit)) {
    for (Value v : units.op(m).operands()) {
      if (!v || std::find(inputs.begin(), inputs.end(), v) != inputs.end()) continue;
      const int maker = units.maker(v);
      if (maker < 0 || units.unit_of(maker) != unit) inputs.push_back(v);
    }
    for (size_t r = 0; r < units.op(m).num_results(); ++r) {
      Value v = units.op(m).result(r);
      if (!units.used_outside(v, unit)) continue;
      outputs.push_back(v);
      types.push_back(v.type());
    }
  }
  pir::Builder builder(&block, units.op(units.members(unit).back()).loc());
  Operation* group = builder.create(pir::op_def("cinn_op.group"), inputs, {}, types, 1);
  pir::Block& body = group->region(0).ensure_block();
  for (int m : units.members(unit)) units.op(m).move_to_end(&body);
  for (size_t i = 0; i < outputs.size(); ++i)
    outputs[i].replace_uses_if(group->result(i),
                               [&](pir::OpOperand& use) { return !group->is_ancestor_of(use.owner()); });
  pir::Builder(&body).yield(outputs);
}

}  // namespace

size_t make_groups(pir::Block& block, const Units& units, const std::vector<bool>& grouped) {
  const size_t groups = static_cast<size_t>(std::count(grouped.begin(), grouped.end(), true));
  if (groups == 0) return 0;
  Operation* terminator = block.terminator();
  for (int u : units.order()) {
    if (grouped[static_cast<size_t>(u)]) {
      make_group(block, units, u);
    } else {
      for (int m : units.members(u)) units.op(m).move_to_end(&block);
    }
  }
  if (terminator) terminator->move_to_end(&block);
  return groups;
}

}  // namespace paddle::cinn
