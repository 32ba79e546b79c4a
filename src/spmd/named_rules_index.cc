// Named rules of operators that read or write by index.

#include "spmd/named_rules.h"

namespace paddle::spmd::named {

// x[..., axis, ...], index -> x.shape with the axis replaced by index.shape. The gathered axis is whole.
RuleInstance gather(const CallInfo& call) {
  if (!one_to_one(call) || !has(call.inputs, 1)) return replicate_all(call, "gather takes a tensor and an index");
  int n = rank(call.inputs, 0), k = rank(call.inputs, 1);
  int axis = static_cast<int>(call.int_attr("axis", 0));
  if (axis < 0) axis += n;
  if (n + k - 1 != rank(call.outputs, 0) || axis < 0 || axis >= n) return replicate_all(call, "the ranks do not fit");
  RuleBuilder builder(call);
  for (int d = 0; d < n; ++d) {
    if (d == axis) continue;
    int f = builder.factor(shape(call.inputs, 0)[d]);
    builder.input(0, 0, d, {f});
    builder.output(0, 0, d < axis ? d : d + k - 1, {f});
  }
  for (int d = 0; d < k; ++d) {
    int f = builder.factor(shape(call.inputs, 1)[d]);
    builder.input(1, 0, d, {f});
    builder.output(0, 0, axis + d, {f});
  }
  builder.pass(PartialPass::kMoves, {0});
  return builder.finish();
}

// x, index[..., k] -> index.shape[:-1] + x.shape[k:].
RuleInstance gather_nd(const CallInfo& call) {
  if (!one_to_one(call) || !has(call.inputs, 1) || rank(call.inputs, 1) < 1)
    return replicate_all(call, "gather_nd takes a tensor and an index");
  int n = rank(call.inputs, 0), k = rank(call.inputs, 1) - 1;
  int64_t depth = shape(call.inputs, 1)[k];
  if (depth < 0 || depth > n || k + n - depth != rank(call.outputs, 0))
    return replicate_all(call, "the ranks do not fit");
  RuleBuilder builder(call);
  for (int d = 0; d < k; ++d) {
    int f = builder.factor(shape(call.inputs, 1)[d]);
    builder.input(1, 0, d, {f});
    builder.output(0, 0, d, {f});
  }
  for (int d = static_cast<int>(depth); d < n; ++d) {
    int f = builder.factor(shape(call.inputs, 0)[d]);
    builder.input(0, 0, d, {f});
    builder.output(0, 0, k + d - static_cast<int>(depth), {f});
  }
  builder.pass(PartialPass::kMoves, {0});
  return builder.finish();
}

// x, index, updates -> x with rows along `axis` written or added to: that dimension is whole, the index too.
RuleInstance scatter(const CallInfo& call) {
  if (!one_to_one(call) || !has(call.inputs, 2))
    return replicate_all(call, "scatter takes a tensor, an index and updates");
  int n = rank(call.inputs, 0);
  int axis = static_cast<int>(call.int_attr("axis", 0));
  if (axis < 0) axis += n;
  if (rank(call.inputs, 2) != n || rank(call.outputs, 0) != n) return replicate_all(call, "the ranks do not fit");
  RuleBuilder builder(call);
  for (int d = 0; d < n; ++d) {
    if (d == axis) continue;
    int f = builder.factor(shape(call.inputs, 0)[d]);
    builder.input(0, 0, d, {f});
    builder.input(2, 0, d, {f});
    builder.output(0, 0, d, {f});
  }
  if (call.op.find("add") != std::string::npos)
    builder.pass(PartialPass::kLinear, {builder.input_index(0), builder.input_index(2)});
  return builder.finish();
}

// (x,) index[..., k], updates -> x with places added to. Dimensions that the index does not name are shared.
RuleInstance scatter_nd(const CallInfo& call) {
  size_t inputs = call.inputs.size();
  if (inputs < 2 || !has(call.inputs, inputs - 2) || !has(call.inputs, inputs - 1) || !has(call.outputs, 0) ||
      rank(call.inputs, inputs - 2) < 1)
    return replicate_all(call, "scatter_nd takes an index and updates");
  int index = static_cast<int>(inputs) - 2, updates = index + 1;
  int n = rank(call.outputs, 0), k = rank(call.inputs, index) - 1;
  int64_t depth = shape(call.inputs, index)[k];
  if (depth < 0 || depth > n || rank(call.inputs, updates) != k + n - depth)
    return replicate_all(call, "the ranks do not fit");
  RuleBuilder builder(call);
  std::vector<int> added{builder.input_index(updates)};
  for (int d = static_cast<int>(depth); d < n; ++d) {
    int f = builder.factor(shape(call.outputs, 0)[d]);
    builder.input(updates, 0, k + d - static_cast<int>(depth), {f});
    builder.output(0, 0, d, {f});
    if (index > 0) builder.input(0, 0, d, {f});
  }
  if (index > 0) added.push_back(builder.input_index(0));
  builder.pass(PartialPass::kLinear, added);
  return builder.finish();
}

// arr, indices, values (of one shape) -> arr with places along an axis written. Other dimensions are shared where
// indices cover them wholly; shorter ones name the first places of arr, which a shard would take for its own first.
RuleInstance put_along_axis(const CallInfo& call) {
  if (!one_to_one(call) || !has(call.inputs, 2))
    return replicate_all(call, "the rule takes a tensor, indices and values");
  int n = rank(call.inputs, 0);
  int64_t axis = call.int_attr("axis", 0);
  if (axis < 0) axis += n;
  RuleBuilder builder(call);
  if (rank(call.inputs, 1) != n || rank(call.inputs, 2) != n) return builder.finish();
  for (int d = 0; d < n; ++d) {
    int64_t size = shape(call.inputs, 0)[d];
    if (d == axis || shape(call.inputs, 1)[d] != size || shape(call.inputs, 2)[d] != size) continue;
    int f = builder.factor(size);
    for (int s = 0; s < 3; ++s) builder.input(s, 0, d, {f});
    builder.output(0, 0, d, {f});
  }
  return builder.finish();
}

// A sequence (one for all, or one for each row), values -> positions.
RuleInstance searchsorted(const CallInfo& call) {
  if (!one_to_one(call)) return replicate_all(call, "searchsorted takes a sequence and values");
  return by_string(call, rank(call.inputs, 0) == 1 ? "n, ... -> ...; whole n" : "...n, ...m -> ...m; whole n");
}

}  // namespace paddle::spmd::named
