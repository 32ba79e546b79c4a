// Between operator calls and sharding rules: what a rule wants to know of a call, and the rule of a record.
#pragma once
#include "api/op_call.h"
#include "spmd/factor_rule.h"

namespace paddle::distributed {

// Shapes of a call's tensors and its attributes, from the call itself and from metas that its shape rule has set.
spmd::CallInfo describe(OpCall& c);

// The record's rule, parsed once. Null: the record has none.
const spmd::FactorRule* rule_of(const OpInfo& op);
spmd::RuleInstance instantiate(const OpInfo& op, const spmd::CallInfo& info);

// Calls f(arg, item, tensor) for each defined tensor among the tensor arguments, in the order of a rule's flat inputs.
template <class F>
void each_input(const OpCall& c, F&& f) {
  for (size_t a = 0; a < c.args.size(); ++a) {
    if (!is_tensor_kind(c.op.args[a].kind)) continue;
    auto list = c.args[a].tensors_or_empty();
    for (size_t k = 0; k < list.size(); ++k)
      if (list[k].defined()) f(a, k, list[k]);
  }
}

}  // namespace paddle::distributed
