#include "cinn/group/list_rules.h"

namespace paddle::cinn {
namespace {

using pir::Operation;
using pir::Value;

Value first(const Operation& op) { return op.operand(size_t{0}); }

void combine_rule(Translator& t, const Operation& op) {
  std::vector<int> nodes;
  for (Value v : op.operands()) nodes.push_back(v ? t.node(v) : -1);
  t.set_list(op.result(0), std::move(nodes));
}

void builtin_split_rule(Translator& t, const Operation& op) {
  std::vector<int> nodes = t.nodes(first(op));
  for (size_t i = 0; i < op.num_results(); ++i)
    if (op.result(i).type() && i < nodes.size() && nodes[i] >= 0) t.set(op.result(i), nodes[i]);
}

void builtin_slice_rule(Translator& t, const Operation& op) {
  t.set(op.result(0), t.nodes(first(op)).at(static_cast<size_t>(op.attr("index").as_int())));
}

}  // namespace

IndexRule list_rule(const Operation& op) {
  if (op.is("builtin.combine")) return combine_rule;
  if (op.is("builtin.split")) return builtin_split_rule;
  return op.is("builtin.slice") ? builtin_slice_rule : nullptr;
}

}  // namespace paddle::cinn
