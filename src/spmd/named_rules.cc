// The rules that strings can't say, or that several records share.
#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "spmd/factor_rule.h"

namespace paddle::spmd {
namespace {

bool has(const std::vector<Slot>& slots, size_t slot) { return slot < slots.size() && !slots[slot].empty(); }
const Shape& shape(const std::vector<Slot>& slots, size_t slot) { return slots[slot][0].shape; }
int rank(const std::vector<Slot>& slots, size_t slot) { return static_cast<int>(shape(slots, slot).size()); }

// A rule with one tensor in and one out; more outputs are scratch (Paddle 2.x's XShape).
bool one_to_one(const CallInfo& call) { return has(call.inputs, 0) && has(call.outputs, 0); }

void leave_out_rest(const CallInfo& call, RuleBuilder& b, size_t first_slot) {
  for (size_t s = first_slot; s < call.outputs.size(); ++s)
    for (size_t n = 0; n < call.outputs[s].size(); ++n)
      b.leave_out(b.output_index(static_cast<int>(s), static_cast<int>(n)));
}

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
RuleInstance same_sizes(const CallInfo& call) {
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
    bool same = in[d] == out[o] && (in[d] >= 0 || !in_list(touched, d));
    if (same) {
      int f = builder.factor(in[d]);
      builder.input(0, 0, static_cast<int>(d), {f});
      builder.output(0, 0, static_cast<int>(o), {f});
    }
    ++o;
  }
  return builder.finish();
}

RuleInstance slice(const CallInfo& call) {
  RuleInstance instance = same_sizes(call);
  if (!instance.replicate_all) instance.passes.push_back({PartialPass::kMoves, {0}});
  return instance;
}

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

RuleInstance by_string(const CallInfo& call, const char* text) { return FactorRule::parse(text).instantiate(call); }

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

// input (layout by data_format), filter [O, I/groups, k...] ([I, O/groups, k...] if transposed), optional bias [O].
// Input channels are summed over; with groups both kinds of channels are whole.
RuleInstance convolution(const CallInfo& call, bool transposed) {
  if (!one_to_one(call) || !has(call.inputs, 1)) return replicate_all(call, "conv takes an input and a filter");
  int n = rank(call.inputs, 0);
  if (n < 3 || rank(call.inputs, 1) != n || rank(call.outputs, 0) != n)
    return replicate_all(call, "the ranks do not fit");
  std::string layout = call.string_attr("data_format", "NCHW");
  int channel = layout.size() > 1 && layout[1] != 'C' ? n - 1 : 1;
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

RuleInstance replicate(const CallInfo& call) { return RuleBuilder(call).finish(); }

struct Registry {
  std::mutex mutex;
  std::map<std::string, RuleFunction, std::less<>> rules{
      {"reshape", reshape},
      {"flatten", reshape},
      {"squeeze", reshape},
      {"unsqueeze", reshape},
      {"transpose", transpose},
      {"permute", transpose},
      {"slice", slice},
      {"pad", same_sizes},
      {"tile", same_sizes},
      {"gather", gather},
      {"index_select", gather},
      {"gather_nd", gather_nd},
      {"cross_entropy", cross_entropy},
      {"attention", attention},
      {"conv", [](const CallInfo& c) { return convolution(c, false); }},
      {"conv_transpose", [](const CallInfo& c) { return convolution(c, true); }},
      {"replicate", replicate},
      {"elementwise", [](const CallInfo& c) { return by_string(c, "..., ... -> ..."); }},
      {"matmul",
       [](const CallInfo& c) {
         return by_string(c, "...ik^transpose_x, ...kj^transpose_y -> ...ij; sum k; linear 0 | 1");
       }},
      {"concat", [](const CallInfo& c) { return by_string(c, "[i...] -> i...; whole i(axis); moves 0"); }},
      {"split", [](const CallInfo& c) { return by_string(c, "i... -> [i...]; whole i(axis); moves 0"); }},
      {"stack", [](const CallInfo& c) { return by_string(c, "[...] -> i...; at i(axis); moves 0"); }},
      {"unstack", [](const CallInfo& c) { return by_string(c, "i... -> [...]; whole i(axis); moves 0"); }},
      {"expand", [](const CallInfo& c) { return by_string(c, "... -> ...; moves 0"); }},
      {"embedding", [](const CallInfo& c) { return by_string(c, "..., vd -> ...d; sum v; local v; linear 1"); }},
      {"take_along_axis",
       [](const CallInfo& c) { return by_string(c, "i..., j... -> j...; whole i(axis); at j(axis)"); }},
      {"batch_norm",
       [](const CallInfo& c) {
         return by_string(c, "nc..., c, c, c, c -> nc..., c, c, c, c, _; whole n ...; at c(data_format)");
       }},
      {"pool", [](const CallInfo& c) { return by_string(c, "nc... -> nc...; whole ...; at c(data_format)"); }},
  };
};

Registry& registry() {
  static Registry* r = new Registry;  // never destroyed: rules may be asked for at exit
  return *r;
}

}  // namespace

void register_rule(std::string name, RuleFunction function) {
  std::lock_guard lock(registry().mutex);
  registry().rules[std::move(name)] = function;
}

RuleFunction find_rule(std::string_view name) {
  std::lock_guard lock(registry().mutex);
  auto it = registry().rules.find(name);
  return it == registry().rules.end() ? nullptr : it->second;
}

}  // namespace paddle::spmd
