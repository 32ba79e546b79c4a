// Named rules of neural-network operators.
#include <algorithm>

#include "spmd/named_rules.h"

namespace paddle::spmd::named {

// logits, label -> (softmax,) loss. Soft labels have the class dimension, hard ones lack it or have it with size 1. A
// vocabulary-sharded form needs the operator's `local` form, which sums over the ranks itself.
RuleInstance cross_entropy(const CallInfo& call) {
  bool soft = call.bool_attr("soft_label", false), both = call.outputs.size() == 2;
  if (soft)
    return by_string(call, both ? "i..., i... -> i..., ...; whole i(axis)" : "i..., i... -> ...; whole i(axis)");
  return by_string(call,
                   both ? "i..., ... -> i..., ...; at i(axis); local i" : "i..., ... -> ...; at i(axis); local i");
}

// q[b,s,h,d], k[b,t,g,d], v[b,t,g,e], mask -> out[b,s,h,e], softmax[b,h,s,t], lse[b,h,s]. Heads shard in groups (h is
// g * r); the query's length only without a causal mask, whose offset a shard would not know.
RuleInstance attention(const CallInfo& call) {
  for (size_t s = 0; s < 3; ++s)
    if (!has(call.inputs, s) || rank(call.inputs, s) != 4)
      return replicate_all(call, "attention takes q, k, v of 4 dimensions");
  const Shape &q = shape(call.inputs, 0), &k = shape(call.inputs, 1), &v = shape(call.inputs, 2);
  if (k[2] <= 0 || q[2] % k[2] != 0 || v[2] != k[2])
    return replicate_all(call, "heads are not a multiple of key heads");
  bool causal = call.bool_attr("causal", false) || call.bool_attr("is_causal", false);
  RuleBuilder builder(call);
  int b = builder.factor(q[0]), s = causal ? builder.whole(q[1]) : builder.factor(q[1]), t = builder.whole(k[1]);
  int g = builder.factor(k[2]), d = builder.whole(q[3]), e = builder.whole(v[3]);
  std::vector<int> h{g};
  if (q[2] != k[2]) h.push_back(builder.factor(q[2] / k[2]));
  auto set = [&](bool input, int slot, const std::vector<std::vector<int>>& dims) {
    for (int i = 0; i < static_cast<int>(dims.size()); ++i)
      input ? builder.input(slot, 0, i, dims[i]) : builder.output(slot, 0, i, dims[i]);
  };
  set(true, 0, {{b}, {s}, h, {d}});
  set(true, 1, {{b}, {t}, {g}, {d}});
  set(true, 2, {{b}, {t}, {g}, {e}});
  if (has(call.inputs, 3) && rank(call.inputs, 3) == 4) set(true, 3, {{b}, h, {s}, {t}});
  for (int o = 0; o < static_cast<int>(call.outputs.size()); ++o) {
    if (!has(call.outputs, o)) continue;
    int n = rank(call.outputs, o);
    if (o == 0 && n == 4)
      set(false, o, {{b}, {s}, h, {e}});
    else if (n == 4 && shape(call.outputs, o)[3] == k[1])
      set(false, o, {{b}, h, {s}, {t}});
    else if (n == 3)
      set(false, o, {{b}, h, {s}});
    else
      builder.leave_out(builder.output_index(o));
  }
  return builder.finish();
}

namespace {

int channel_of(const CallInfo& call, int rank) {
  std::string layout = call.string_attr("data_format", "NCHW");
  return rank > 1 && layout.size() > 1 && layout[1] != 'C' ? rank - 1 : std::min(1, rank - 1);
}

}  // namespace

// input (layout by data_format), filter [O, I/groups, k...] ([I, O/groups, k...] if transposed), optional bias [O].
// Input channels are summed over; with groups both kinds of channels are whole.
RuleInstance conv(const CallInfo& call) {
  bool transposed = call.op.find("transpose") != std::string::npos;
  if (!one_to_one(call) || !has(call.inputs, 1)) return replicate_all(call, "conv takes an input and a filter");
  int n = rank(call.inputs, 0);
  if (n < 3 || rank(call.inputs, 1) != n || rank(call.outputs, 0) != n)
    return replicate_all(call, "the ranks do not fit");
  int channel = channel_of(call, n);
  bool grouped = call.int_attr("groups", 1) != 1;
  RuleBuilder builder(call);
  int batch = builder.factor(shape(call.inputs, 0)[0], "n");
  int in = builder.factor(shape(call.inputs, 0)[channel], "i"),
      out = builder.factor(shape(call.outputs, 0)[channel], "o");
  builder.input(0, 0, 0, {batch});
  builder.output(0, 0, 0, {batch});
  builder.input(0, 0, channel, {in});
  builder.output(0, 0, channel, {out});
  if (grouped) {
    builder.set_whole(in), builder.set_whole(out);
  } else {
    builder.input(1, 0, transposed ? 1 : 0, {out});
    builder.input(1, 0, transposed ? 0 : 1, {in});
    std::vector<int> bias;
    if (has(call.inputs, 2)) bias.push_back(builder.input_index(2));
    builder.set_reduce(in, PartialKind::kSum, bias);
  }
  if (has(call.inputs, 2) && rank(call.inputs, 2) == 1) builder.input(2, 0, 0, {out});
  if (!has(call.inputs, 2)) builder.pass(PartialPass::kLinear, {0}), builder.pass(PartialPass::kLinear, {1});
  leave_out_rest(call, builder, 1);
  return builder.finish();
}

// out_grad [n, O, ...], filter [O, I, ...] -> input_grad [n, I, ...]: output channels are summed over.
RuleInstance conv_input_grad(const CallInfo& call) {
  if (!one_to_one(call) || !has(call.inputs, 1)) return replicate_all(call, "the rule takes a gradient and a filter");
  int channel = channel_of(call, rank(call.inputs, 0));
  RuleBuilder builder(call);
  int n = builder.factor(shape(call.inputs, 0)[0], "n");
  builder.input(0, 0, 0, {n});
  builder.output(0, 0, 0, {n});
  if (call.int_attr("groups", 1) == 1) {
    int o = builder.factor(shape(call.inputs, 0)[channel], "o"),
        i = builder.factor(shape(call.outputs, 0)[channel], "i");
    builder.input(0, 0, channel, {o});
    builder.input(1, 0, 0, {o});
    builder.input(1, 0, 1, {i});
    builder.output(0, 0, channel, {i});
    builder.set_reduce(o, PartialKind::kSum);
  }
  builder.pass(PartialPass::kLinear, {0}), builder.pass(PartialPass::kLinear, {1});
  return builder.finish();
}

// input [n, I, ...], out_grad [n, O, ...] -> filter_grad [O, I, ...]: the batch is summed over.
RuleInstance conv_filter_grad(const CallInfo& call) {
  if (!one_to_one(call) || !has(call.inputs, 1)) return replicate_all(call, "the rule takes an input and a gradient");
  int channel = channel_of(call, rank(call.inputs, 0));
  RuleBuilder builder(call);
  int n = builder.factor(shape(call.inputs, 0)[0], "n");
  builder.input(0, 0, 0, {n});
  builder.input(1, 0, 0, {n});
  builder.set_reduce(n, PartialKind::kSum);
  if (call.int_attr("groups", 1) == 1) {
    int i = builder.factor(shape(call.inputs, 0)[channel], "i"),
        o = builder.factor(shape(call.inputs, 1)[channel], "o");
    builder.input(0, 0, channel, {i});
    builder.input(1, 0, channel, {o});
    builder.output(0, 0, 0, {o});
    builder.output(0, 0, 1, {i});
  }
  builder.pass(PartialPass::kLinear, {0}), builder.pass(PartialPass::kLinear, {1});
  return builder.finish();
}

// x -> out (, mask): batch and channel pass, space is whole.
RuleInstance pool(const CallInfo& call) {
  if (!one_to_one(call) || rank(call.inputs, 0) < 2)
    return replicate_all(call, "pool takes a tensor of a batch and channels");
  int n = rank(call.inputs, 0), channel = channel_of(call, n);
  RuleBuilder builder(call);
  for (int d : {0, channel}) {
    int f = builder.factor(shape(call.inputs, 0)[d]);
    for (int i = 0; i < static_cast<int>(call.inputs.size()); ++i)
      if (has(call.inputs, i) && rank(call.inputs, i) == n) builder.input(i, 0, d, {f});
    for (int o = 0; o < static_cast<int>(call.outputs.size()); ++o)
      if (has(call.outputs, o) && rank(call.outputs, o) == n) builder.output(o, 0, d, {f});
  }
  return builder.finish();
}

// x and vectors of channels -> out and vectors of channels. In training the statistics need the whole batch.
RuleInstance batch_norm(const CallInfo& call) {
  if (!one_to_one(call) || rank(call.inputs, 0) < 2)
    return replicate_all(call, "batch_norm takes a tensor of a batch and channels");
  int n = rank(call.inputs, 0), channel = channel_of(call, n);
  bool frozen = (call.bool_attr("is_test", false) && !call.bool_attr("trainable_statistics", false)) ||
                call.bool_attr("use_global_stats", false);
  RuleBuilder builder(call);
  int c = builder.factor(shape(call.inputs, 0)[channel], "c");
  for (int d = 0; d < n; ++d) {
    int f = d == channel ? c : builder.factor(shape(call.inputs, 0)[d]);
    if (d != channel && !frozen) builder.set_whole(f);
    builder.input(0, 0, d, {f});
    builder.output(0, 0, d, {f});
  }
  auto vector_of_channels = [&](const std::vector<Slot>& slots, size_t s) {
    return has(slots, s) && rank(slots, s) == 1 && shape(slots, s)[0] == shape(call.inputs, 0)[channel];
  };
  for (size_t s = 1; s < call.inputs.size(); ++s)
    if (vector_of_channels(call.inputs, s)) builder.input(static_cast<int>(s), 0, 0, {c});
  for (size_t s = 1; s < call.outputs.size(); ++s) {
    if (!has(call.outputs, s)) continue;
    if (vector_of_channels(call.outputs, s)) builder.output(static_cast<int>(s), 0, 0, {c});
    // With frozen statistics these are copies of inputs: the same whatever part of the batch a rank has. The others are
    // scratch.
    builder.leave_out(builder.output_index(static_cast<int>(s)));
  }
  return builder.finish();
}

// x, scale, bias -> out, mean, variance. The dimensions that are normalised are whole; the statistics have the others,
// each on its own or all in one.
RuleInstance layer_norm(const CallInfo& call) {
  if (!one_to_one(call)) return replicate_all(call, "layer_norm takes a tensor");
  int n = rank(call.inputs, 0), begin = static_cast<int>(call.int_attr("begin_norm_axis", 1));
  if (begin < 0) begin += n;
  if (begin < 0 || begin > n) return replicate_all(call, "begin_norm_axis is outside the tensor");
  RuleBuilder builder(call);
  std::vector<int> rows;
  for (int d = 0; d < begin; ++d) {
    int f = builder.factor(shape(call.inputs, 0)[d]);
    builder.input(0, 0, d, {f});
    builder.output(0, 0, d, {f});
    if (shape(call.inputs, 0)[d] != 1) rows.push_back(f);
  }
  for (int o = 1; o < static_cast<int>(call.outputs.size()); ++o) {
    if (!has(call.outputs, o)) continue;
    int r = rank(call.outputs, o);
    if (r == 1 && begin != 1) {
      builder.output(o, 0, 0, rows);
    } else if (r == begin) {
      for (int d = 0, next = 0; d < begin; ++d)
        if (shape(call.inputs, 0)[d] != 1) builder.output(o, 0, d, {rows[next++]});
    }
  }
  return builder.finish();
}

// x, scale, mean, inverse_std, out_grad -> x_grad, scale_grad, bias_grad. With given statistics the batch may be cut
// and the channels' gradients are sums over it; else the statistics need it whole.
RuleInstance batch_norm_grad(const CallInfo& call) {
  constexpr int kMean = 2, kOutGrad = 4;
  if (!one_to_one(call) || rank(call.inputs, 0) < 2)
    return replicate_all(call, "batch_norm_grad takes a tensor of a batch and channels");
  int n = rank(call.inputs, 0), channel = channel_of(call, n);
  bool given = has(call.inputs, kMean);
  RuleBuilder builder(call);
  int c = builder.factor(shape(call.inputs, 0)[channel], "c");
  for (int d = 0; d < n; ++d) {
    int f = d == channel ? c : builder.factor(shape(call.inputs, 0)[d]);
    if (d != channel && given) builder.set_reduce(f, PartialKind::kSum);
    if (d != channel && !given) builder.set_whole(f);
    for (int slot : {0, kOutGrad}) builder.input(slot, 0, d, {f});
    builder.output(0, 0, d, {f});
  }
  for (int slot = 1; slot < kOutGrad; ++slot)
    if (has(call.inputs, slot) && rank(call.inputs, slot) == 1) builder.input(slot, 0, 0, {c});
  for (int o : {1, 2})
    if (has(call.outputs, o)) builder.output(o, 0, 0, {c});
  builder.pass(PartialPass::kLinear, {builder.input_index(kOutGrad)});
  return builder.finish();
}

// x, scale, out_grad -> x_grad, scale_grad, bias_grad. Rows may be cut; the gradients of scale and bias are sums over
// them.
RuleInstance layer_norm_grad(const CallInfo& call) {
  constexpr int kOutGrad = 2;
  if (!one_to_one(call)) return replicate_all(call, "layer_norm_grad takes a tensor");
  int n = rank(call.inputs, 0), begin = static_cast<int>(call.int_attr("begin_norm_axis", 1));
  if (begin < 0 || begin > n) return replicate_all(call, "begin_norm_axis is outside the tensor");
  RuleBuilder builder(call);
  for (int d = 0; d < begin; ++d) {
    int f = builder.factor(shape(call.inputs, 0)[d]);
    builder.set_reduce(f, PartialKind::kSum);
    for (int slot : {0, kOutGrad}) builder.input(slot, 0, d, {f});
    builder.output(0, 0, d, {f});
  }
  builder.pass(PartialPass::kLinear, {builder.input_index(kOutGrad)});
  return builder.finish();
}

// Two halves given apart work element by element; joined in one tensor their last dimension is whole.
RuleInstance swiglu(const CallInfo& call) {
  return by_string(call, has(call.inputs, 1) ? "..., ... -> ..." : "...i -> ...j; whole i j");
}

}  // namespace paddle::spmd::named
