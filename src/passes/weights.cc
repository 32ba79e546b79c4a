#include "passes/weights.h"

#include <string>

#include "passes/match.h"
#include "passes/passes.h"
#include "pir/block.h"
#include "pir/effects.h"

namespace paddle::passes {

using pir::Operation;
using pir::Value;

WeightValues::WeightValues(const pir::Block& block) {
  std::unordered_set<std::string> written;
  for (const Operation& op : block)
    if (op.is("builtin.set_parameter")) written.insert(std::string(op.attr("parameter_name").as_string()));
  for (const Operation& op : block) {
    bool stays = false;
    if (op.is("builtin.parameter"))
      stays = !written.count(std::string(op.attr("parameter_name").as_string()));
    else if (op.has(pir::kGraphInput))
      stays = false;
    else if (op.has(pir::kConstantLike) || op.is("builtin.combine"))
      stays = true;
    else
      stays = op.info() && op.num_regions() == 0 && pir::is_mergeable(op) &&
              !op.has(kRandom | kDataDependentShape | kControlFlow | kInplaceOnly);
    for (Value v : op.operands()) stays = stays && has(v);
    if (!stays) continue;
    for (Value v : op.results_vector())
      if (v.type()) values_.insert(v);
  }
}

size_t drop_unchanged_writes(Operation& root) {
  size_t n = 0;
  std::vector<Operation*> writes;
  root.walk([&](Operation& op) {
    if (op.is("builtin.set_parameter")) writes.push_back(&op);
    if (!evaluates(op)) return;
    const OpInfo& info = *op.info();
    for (size_t i = 0; i < info.outs.size(); ++i)
      if (const int written = info.outs[i].inplace_of; written >= 0)
        op.result(i).replace_all_uses_with(op.operand(info.args[static_cast<size_t>(written)].name));
  });
  for (Operation* w : writes) {
    const Value v = w->operand(0);
    if (!v.is_result() || !v.defining_op()->is("builtin.parameter")) continue;
    if (v.defining_op()->attr("parameter_name") != w->attr("parameter_name")) continue;
    w->erase();
    ++n;
  }
  return n;
}

}  // namespace paddle::passes
