// Named rules of operators that rearrange: reshape, transpose, slice, pad, expand and their like.
#include <algorithm>
#include <numeric>

#include "spmd/named_rules.h"

namespace paddle::spmd::named {
namespace {
// Dimensions of a reshape and what is still to be matched of the current one.
struct Cursor {
  const Shape& shape;
  size_t dim = 0;
  int64_t left = 1;
  std::vector<std::vector<int>> factors;

  explicit Cursor(const Shape& s) : shape(s), factors(s.size()) { settle(); }
  bool done() const { return dim >= shape.size(); }
  void settle() {  // to the next dimension that is not 1
    while (!done() && shape[dim] == 1) ++dim;
    left = done() ? 1 : shape[dim];
  }
  void take(int factor, int64_t size) {
    factors[dim].push_back(factor);
    left /= size;
    if (left == 1) ++dim, settle();
  }
};

// Nothing lines up from here to where both have passed the same number of elements: those dimensions are whole.
void skip_to_common_point(Cursor& a, Cursor& b, RuleBuilder& builder) {
  int64_t na = 1, nb = 1;
  do {
    Cursor& c = na <= nb ? a : b;
    (na <= nb ? na : nb) *= c.left;
    c.factors[c.dim].push_back(builder.whole(c.left));
    ++c.dim, c.settle();
  } while (na != nb && !a.done() && !b.done());
}

}  // namespace

// Reads both shapes from the outermost dimension on and cuts them into common factors: [6, 4] -> [24] gives 6 and 4,
// [24] -> [2, 12] gives 2 and 12, [6, 4] -> [4, 6] gives 2 and then nothing common.
RuleInstance reshape(const CallInfo& call) {
  if (!one_to_one(call)) return replicate_all(call, "reshape takes one tensor");
  const Shape& in = shape(call.inputs, 0);
  const Shape& out = shape(call.outputs, 0);
  RuleBuilder builder(call);
  Cursor a(in), b(out);
  auto unknowns = [](const Shape& s) { return std::count_if(s.begin(), s.end(), [](int64_t n) { return n <= 0; }); };
  bool countable = unknowns(in) == 0 && unknowns(out) == 0;
  bool one_each = unknowns(in) == 1 && unknowns(out) == 1;
  while (!a.done() && !b.done()) {
    int64_t common = a.left == b.left ? a.left : std::gcd(a.left, b.left);
    if (a.left <= 0 || b.left <= 0) {
      // An unknown size is the same one if it is the only one on both sides and nothing else moved past it.
      if (!one_each || a.left != b.left) break;
      int f = builder.factor(a.left);
      a.take(f, a.left), b.take(f, b.left);
    } else if (common > 1) {
      int f = builder.factor(common);
      a.take(f, common), b.take(f, common);
    } else {
      if (!countable) break;
      skip_to_common_point(a, b, builder);
    }
  }
  for (size_t d = 0; d < in.size(); ++d) builder.input(0, 0, static_cast<int>(d), a.factors[d]);
  for (size_t d = 0; d < out.size(); ++d) builder.output(0, 0, static_cast<int>(d), b.factors[d]);
  builder.pass(PartialPass::kMoves, {0});
  leave_out_rest(call, builder, 1);
  return builder.finish();
}

RuleInstance transpose(const CallInfo& call) {
  if (!one_to_one(call)) return replicate_all(call, "transpose takes one tensor");
  std::vector<int64_t> perm = call.ints_attr("perm");
  if (perm.empty()) perm = call.ints_attr("axis");
  int n = rank(call.inputs, 0);
  if (static_cast<int>(perm.size()) != n || rank(call.outputs, 0) != n)
    return replicate_all(call, "perm does not name every dimension");
  RuleBuilder builder(call);
  for (int d = 0; d < n; ++d) {
    int64_t from = perm[d] < 0 ? perm[d] + n : perm[d];
    if (from < 0 || from >= n) return replicate_all(call, "perm names a dimension that is not there");
    int f = builder.factor(shape(call.outputs, 0)[d]);
    builder.output(0, 0, d, {f});
    builder.input(0, 0, static_cast<int>(from), {f});
  }
  builder.pass(PartialPass::kMoves, {0});
  leave_out_rest(call, builder, 1);
  return builder.finish();
}

// slice, pad, tile: dimensions whose size stays are passed through, the others are whole. `decrease_axis` takes sliced
// dimensions away.
namespace {
RuleInstance keep_sizes(const CallInfo& call, bool touched_are_whole) {
  if (!one_to_one(call)) return replicate_all(call, "the rule takes one tensor");
  const Shape& in = shape(call.inputs, 0);
  const Shape& out = shape(call.outputs, 0);
  std::vector<int64_t> gone = call.ints_attr("decrease_axis");
  std::vector<int64_t> touched = call.ints_attr("axes");
  for (auto* axes : {&gone, &touched})
    for (int64_t& axis : *axes) axis += axis < 0 ? static_cast<int64_t>(in.size()) : 0;
  auto in_list = [](const std::vector<int64_t>& v, size_t d) {
    return std::find(v.begin(), v.end(), static_cast<int64_t>(d)) != v.end();
  };
  RuleBuilder builder(call);
  size_t o =
      out.size() - std::min(out.size(), in.size() - std::min(in.size(), gone.size()));  // tile may add leading ones
  for (size_t d = 0; d < in.size(); ++d) {
    if (in_list(gone, d)) continue;
    if (o >= out.size()) return replicate_all(call, "the output has too few dimensions");
    bool same = in[d] == out[o] && ((in[d] >= 0 && !touched_are_whole) || !in_list(touched, d));
    if (same) {
      int f = builder.factor(in[d]);
      builder.input(0, 0, static_cast<int>(d), {f});
      builder.output(0, 0, static_cast<int>(o), {f});
    }
    ++o;
  }
  return builder.finish();
}

RuleInstance moving(RuleInstance instance) {
  if (!instance.replicate_all) instance.passes.push_back({PartialPass::kMoves, {0}});
  return instance;
}
}  // namespace

RuleInstance same_sizes(const CallInfo& call) { return keep_sizes(call, false); }
RuleInstance slice(const CallInfo& call) { return moving(keep_sizes(call, false)); }
// A negative stride may keep the size and yet turn the order round.
RuleInstance strided_slice(const CallInfo& call) { return moving(keep_sizes(call, true)); }

// x with a slice overwritten, by numbers or by a tensor (slot 1) that is broadcast to the slice. Sliced dimensions are
// whole.
RuleInstance set_value(const CallInfo& call) {
  if (!one_to_one(call)) return replicate_all(call, "the rule takes one tensor");
  int n = rank(call.inputs, 0);
  std::vector<int64_t> axes = call.ints_attr("axes");
  bool plain = call.ints_attr("decrease_axes").empty() && call.ints_attr("none_axes").empty();
  bool values = has(call.inputs, 1);
  RuleBuilder builder(call);
  if (values ? !plain : call.ints_attr("shape").size() > 1) return builder.finish();
  int lead = values ? n - rank(call.inputs, 1) : n;
  for (int d = 0; d < n; ++d) {
    bool touched = std::any_of(axes.begin(), axes.end(), [&](int64_t a) { return (a < 0 ? a + n : a) == d; });
    if (touched) continue;
    int f = builder.factor(shape(call.inputs, 0)[d]);
    builder.input(0, 0, d, {f});
    builder.output(0, 0, d, {f});
    if (values && d >= lead) builder.input(1, 0, d - lead, {f});
  }
  return builder.finish();
}

// Lists of one length (optimizers' parameters, gradients, moments): what has the shape of the item is cut alike.
RuleInstance optimizer(const CallInfo& call) {
  if (!one_to_one(call)) return replicate_all(call, "the rule takes lists");
  RuleBuilder builder(call);
  for (size_t k = 0; k < call.inputs[0].size(); ++k) {
    const Shape& whole = call.inputs[0][k].shape;
    for (size_t d = 0; d < whole.size(); ++d) {
      int f = builder.factor(whole[d]);
      auto alike = [&](const std::vector<Slot>& slots, size_t s) {
        return slots[s].size() > k && slots[s][k].shape == whole;
      };
      for (size_t s = 0; s < call.inputs.size(); ++s)
        if (alike(call.inputs, s)) builder.input(static_cast<int>(s), static_cast<int>(k), static_cast<int>(d), {f});
      for (size_t s = 0; s < call.outputs.size(); ++s)
        if (alike(call.outputs, s)) builder.output(static_cast<int>(s), static_cast<int>(k), static_cast<int>(d), {f});
    }
  }
  for (size_t s = 0; s < call.outputs.size(); ++s)
    for (size_t k = 0; k < call.outputs[s].size(); ++k)
      builder.leave_out(builder.output_index(static_cast<int>(s), static_cast<int>(k)));
  return builder.finish();
}

// x -> a target's shape, summing what was broadcast.
RuleInstance reduce_as(const CallInfo& call) {
  if (!one_to_one(call) || !has(call.inputs, 1)) return replicate_all(call, "reduce_as takes a tensor and a target");
  const Shape& in = shape(call.inputs, 0);
  const Shape& out = shape(call.outputs, 0);
  if (out.size() > in.size() || shape(call.inputs, 1) != out) return replicate_all(call, "the shapes do not fit");
  RuleBuilder builder(call);
  size_t lead = in.size() - out.size();
  for (size_t d = 0; d < in.size(); ++d) {
    int f = builder.factor(in[d]);
    builder.input(0, 0, static_cast<int>(d), {f});
    if (d >= lead && out[d - lead] == in[d]) {
      builder.input(1, 0, static_cast<int>(d - lead), {f});
      builder.output(0, 0, static_cast<int>(d - lead), {f});
    } else {
      builder.set_reduce(f, PartialKind::kSum);
    }
  }
  builder.pass(PartialPass::kLinear, {0});
  return builder.finish();
}

// x broadcast to the shape of y, whose values don't matter. Where x is repeated the size comes from y, or from an
// attribute that a shard would not fit; then that dimension is whole.
RuleInstance expand_as(const CallInfo& call) {
  if (!one_to_one(call)) return replicate_all(call, "expand_as takes a tensor");
  const Shape& in = shape(call.inputs, 0);
  const Shape& out = shape(call.outputs, 0);
  if (in.size() > out.size()) return replicate_all(call, "the output has too few dimensions");
  bool like = has(call.inputs, 1) && shape(call.inputs, 1) == out;
  bool fixed = !like || !call.ints_attr("target_shape").empty();
  RuleBuilder builder(call);
  size_t lead = out.size() - in.size();
  for (size_t d = 0; d < out.size(); ++d) {
    bool repeated = d < lead || in[d - lead] != out[d];
    int f = repeated && fixed ? builder.whole(out[d]) : builder.factor(out[d]);
    if (!repeated) builder.input(0, 0, static_cast<int>(d - lead), {f});
    if (like) builder.input(1, 0, static_cast<int>(d), {f});
    builder.output(0, 0, static_cast<int>(d), {f});
  }
  builder.pass(PartialPass::kMoves, {0});
  return builder.finish();
}

// n vectors -> n tensors of n dimensions; vector i runs along dimension i of all.
RuleInstance meshgrid(const CallInfo& call) {
  if (!one_to_one(call) || call.inputs[0].size() != call.outputs[0].size())
    return replicate_all(call, "meshgrid takes a list of vectors");
  int n = static_cast<int>(call.inputs[0].size());
  RuleBuilder builder(call);
  for (int i = 0; i < n; ++i) {
    int f = builder.factor(call.outputs[0][0].shape.at(i));
    if (call.inputs[0][i].shape.size() == 1) builder.input(0, i, 0, {f});
    for (int o = 0; o < n; ++o) builder.output(0, o, i, {f});
  }
  return builder.finish();
}

}  // namespace paddle::spmd::named
