// The built-in named rules, and what they share. Not for others: they come by name through find_rule().
#pragma once
#include "spmd/factor_rule.h"

namespace paddle::spmd::named {

inline bool has(const std::vector<Slot>& slots, size_t slot) { return slot < slots.size() && !slots[slot].empty(); }
inline const Shape& shape(const std::vector<Slot>& slots, size_t slot) { return slots[slot][0].shape; }
inline int rank(const std::vector<Slot>& slots, size_t slot) { return static_cast<int>(shape(slots, slot).size()); }

// A rule with one tensor in and one out; more outputs are scratch (Paddle 2.x's XShape).
inline bool one_to_one(const CallInfo& call) { return has(call.inputs, 0) && has(call.outputs, 0); }

inline void leave_out_rest(const CallInfo& call, RuleBuilder& b, size_t first_slot) {
  for (size_t s = first_slot; s < call.outputs.size(); ++s)
    for (size_t n = 0; n < call.outputs[s].size(); ++n)
      b.leave_out(b.output_index(static_cast<int>(s), static_cast<int>(n)));
}

inline RuleInstance by_string(const CallInfo& call, const char* text) {
  return FactorRule::parse(text).instantiate(call);
}

RuleInstance reshape(const CallInfo& call);
RuleInstance transpose(const CallInfo& call);
RuleInstance slice(const CallInfo& call);
RuleInstance strided_slice(const CallInfo& call);
RuleInstance same_sizes(const CallInfo& call);
RuleInstance gather(const CallInfo& call);
RuleInstance gather_nd(const CallInfo& call);
RuleInstance scatter(const CallInfo& call);
RuleInstance put_along_axis(const CallInfo& call);
RuleInstance scatter_nd(const CallInfo& call);
RuleInstance reduce_as(const CallInfo& call);
RuleInstance expand_as(const CallInfo& call);
RuleInstance meshgrid(const CallInfo& call);
RuleInstance set_value(const CallInfo& call);
RuleInstance optimizer(const CallInfo& call);
RuleInstance searchsorted(const CallInfo& call);

RuleInstance cross_entropy(const CallInfo& call);
RuleInstance attention(const CallInfo& call);
RuleInstance conv(const CallInfo& call);
RuleInstance conv_input_grad(const CallInfo& call);
RuleInstance conv_filter_grad(const CallInfo& call);
RuleInstance pool(const CallInfo& call);
RuleInstance batch_norm(const CallInfo& call);
RuleInstance batch_norm_grad(const CallInfo& call);
RuleInstance layer_norm(const CallInfo& call);
RuleInstance layer_norm_grad(const CallInfo& call);
RuleInstance swiglu(const CallInfo& call);

}  // namespace paddle::spmd::named
