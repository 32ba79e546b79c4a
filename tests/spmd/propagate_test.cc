// Sharded equals unsharded: small operators are run on every rank's shards, for every combination of known placements.
#include "spmd/propagate.h"

#include <gtest/gtest.h>

#include "spmd/factor_rule.h"
#include "world.h"

namespace paddle::spmd::test {
namespace {

using Arrays = std::vector<Array>;

// An operator on paper: its rule and its value. Local shapes may differ from the global ones.
struct Op {
  std::string name, rule;
  std::vector<Shape> inputs;
  std::function<Arrays(const Arrays&)> run;
  std::vector<std::pair<std::string, AttrValue>> attrs;
  std::vector<PartialKind> kinds = {PartialKind::kSum};
  bool list = false;      // inputs are one list
  bool out_list = false;  // outputs are one list
};

Array broadcast(const Array& a, const Array& b, double (*f)(double, double)) {
  size_t n = std::max(a.shape.size(), b.shape.size());
  Shape shape(n, 1);
  for (const Array* x : {&a, &b})
    for (size_t d = 0; d < x->shape.size(); ++d) {
      int64_t& s = shape[n - x->shape.size() + d];
      if (x->shape[d] != 1) s = x->shape[d];
    }
  auto read = [&](const Array& x, const Shape& at) {
    Shape own(x.shape.size());
    for (size_t d = 0; d < own.size(); ++d) own[d] = x.shape[d] == 1 ? 0 : at[n - own.size() + d];
    return x[own];
  };
  Array r(shape);
  each(shape, [&](const Shape& at) { r[at] = f(read(a, at), read(b, at)); });
  return r;
}
double add(double a, double b) { return a + b; }
double multiply(double a, double b) { return a * b; }
double larger(double a, double b) { return std::max(a, b); }

Array matmul(const Array& x, const Array& y) {  // [..., i, k] x [k, j]
  Shape shape = x.shape;
  int64_t k = shape.back();
  shape.back() = y.shape[1];
  Array r(shape);
  each(shape, [&](const Shape& at) {
    for (int64_t i = 0; i < k; ++i) {
      Shape a = at;
      a.back() = i;
      r[at] += x[a] * y[{i, at.back()}];
    }
  });
  return r;
}

Array permute(const Array& a, const std::vector<int>& perm) {
  Shape shape;
  for (int p : perm) shape.push_back(a.shape[p]);
  Array r(shape);
  each(shape, [&](const Shape& at) {
    Shape from(at.size());
    for (size_t d = 0; d < at.size(); ++d) from[perm[d]] = at[d];
    r[at] = a[from];
  });
  return r;
}

Array fold(const Array& a, int axis, bool keep, double start, double (*f)(double, double)) {
  Shape shape = a.shape;
  if (keep)
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + axis);
  Array r(shape, start);
  each(a.shape, [&](const Shape& at) {
    Shape to = at;
    if (keep)
      to[axis] = 0;
    else
      to.erase(to.begin() + axis);
    r[to] = f(r[to], a[at]);
  });
  return r;
}

Arrays split3(const Array& a, int axis) {
  Arrays parts;
  int64_t piece = a.shape[axis] / 3;
  for (int64_t i = 0; i < 3; ++i) {
    Shape offset(a.shape.size(), 0), shape = a.shape;
    offset[axis] = i * piece;
    shape[axis] = piece;
    parts.push_back(cut(a, offset, shape));
  }
  return parts;
}

std::vector<Op> ops() {
  auto text = [](auto v) { return AttrValue(v); };
  std::vector<PartialKind> sum_avg{PartialKind::kSum, PartialKind::kAvg},
      extremes{PartialKind::kSum, PartialKind::kMax};
  const double kLowest = -1e30;
  return {
      {"add",
       "..., ... -> ...; linear 0 1",
       {{5, 4}, {5, 4}},
       [](const Arrays& x) { return Arrays{broadcast(x[0], x[1], add)}; },
       {},
       sum_avg},
      {"add_broadcast",
       "..., ... -> ...; linear 0 1",
       {{5, 4}, {1, 4}},
       [](const Arrays& x) { return Arrays{broadcast(x[0], x[1], add)}; }},
      {"add_row",
       "..., ... -> ...; linear 0 1",
       {{3, 7}, {7}},
       [](const Arrays& x) { return Arrays{broadcast(x[0], x[1], add)}; }},
      {"multiply",
       "..., ... -> ...; linear 0 | 1",
       {{5, 4}, {4}},
       [](const Arrays& x) { return Arrays{broadcast(x[0], x[1], multiply)}; },
       {},
       sum_avg},
      {"maximum",
       "..., ... -> ...; monotone 0 | 1",
       {{5, 4}, {5, 1}},
       [](const Arrays& x) { return Arrays{broadcast(x[0], x[1], larger)}; },
       {},
       extremes},
      {"matmul",
       "...ik^transpose_x, ...kj^transpose_y -> ...ij; sum k; linear 0 | 1",
       {{5, 4}, {4, 3}},
       [](const Arrays& x) { return Arrays{matmul(x[0], x[1])}; }},
      {"matmul_ty",
       "...ik^transpose_x, ...kj^transpose_y -> ...ij; sum k; linear 0 | 1",
       {{5, 4}, {3, 4}},
       [](const Arrays& x) {
         return Arrays{matmul(x[0], permute(x[1], {1, 0}))};
       },
       {{"transpose_y", text(true)}}},
      {"batched", "rule: matmul", {{2, 3, 5}, {5, 3}}, [](const Arrays& x) { return Arrays{matmul(x[0], x[1])}; }},
      {"linear",
       "...k, kj, j -> ...j; sum k + 2; linear 0 2 | 1 2",
       {{5, 4}, {4, 3}, {3}},
       [](const Arrays& x) { return Arrays{broadcast(matmul(x[0], x[1]), x[2], add)}; }},
      {"sum0",
       "i... -> ...; sum i(axis); linear 0",
       {{5, 4}},
       [](const Arrays& x) { return Arrays{fold(x[0], 0, false, 0, add)}; },
       {{"axis", text(int64_t{0})}},
       sum_avg},
      {"sum1_keep",
       "i... -> ...; sum i(axis); linear 0",
       {{5, 4}},
       [](const Arrays& x) { return Arrays{fold(x[0], 1, true, 0, add)}; },
       {{"axis", text(int64_t{-1})}}},
      {"max0",
       "i... -> ...; max i(axis); monotone 0",
       {{5, 4}},
       [=](const Arrays& x) { return Arrays{fold(x[0], 0, false, kLowest, larger)}; },
       {{"axis", text(int64_t{0})}},
       extremes},
      {"mean0",
       "i... -> ...; avg i(axis); linear 0",
       {{4, 6}},
       [](const Arrays& x) {
         Array r = fold(x[0], 0, false, 0, add);
         for (double& e : r.data) e /= static_cast<double>(x[0].shape[0]);
         return Arrays{r};
       },
       {{"axis", text(int64_t{0})}},
       sum_avg},
      {"minus_max",
       "i... -> i...; whole i(axis)",
       {{5, 4}},
       [=](const Arrays& x) {
         Array m = fold(x[0], 1, true, kLowest, larger);
         return Arrays{broadcast(x[0], m, [](double a, double b) { return a - b; })};
       },
       {{"axis", text(int64_t{1})}},
       extremes},
      {"transpose",
       "rule: transpose",
       {{2, 3, 5}},
       [](const Arrays& x) {
         return Arrays{permute(x[0], {2, 0, 1})};
       },
       {{"perm", text(std::vector<int64_t>{2, 0, 1})}},
       extremes},
      {"concat",
       "rule: concat",
       {{2, 4}, {3, 4}},
       [](const Arrays& x) { return Arrays{concat(x, 0)}; },
       {{"axis", text(int64_t{0})}},
       extremes,
       true},
      {"split",
       "rule: split",
       {{5, 6}},
       [](const Arrays& x) { return split3(x[0], 1); },
       {{"axis", text(int64_t{1})}},
       extremes,
       false,
       true},
      {"embedding",
       "rule: embedding",
       {{4}, {6, 3}},
       [](const Arrays& x) {
         Array r({x[0].shape[0], x[1].shape[1]});
         each(r.shape, [&](const Shape& at) { r[at] = x[1][{static_cast<int64_t>(std::abs(x[0][{at[0]}])), at[1]}]; });
         return Arrays{r};
       }},
      {"reshape", "rule: reshape", {{4, 6}}, nullptr, {{"to", text(std::vector<int64_t>{24})}}, extremes},
      {"reshape", "rule: reshape", {{24}}, nullptr, {{"to", text(std::vector<int64_t>{2, 12})}}, extremes},
      {"reshape", "rule: reshape", {{6, 4}}, nullptr, {{"to", text(std::vector<int64_t>{4, 6})}}},
      {"reshape", "rule: reshape", {{2, 6, 5}}, nullptr, {{"to", text(std::vector<int64_t>{12, 1, 5})}}},
      {"unknown",
       "rule: never_heard_of",
       {{5, 4}, {5, 4}},
       [](const Arrays& x) { return Arrays{broadcast(x[0], x[1], multiply)}; }},
  };
}

class Harness {
 public:
  explicit Harness(const Op& op) : op_(op) {
    for (size_t i = 0; i < op.inputs.size(); ++i) inputs_.push_back(numbers(op.inputs[i], static_cast<int>(i) + 3));
    if (op.run)
      expected_ = op.run(inputs_);
    else
      expected_ = {Array(std::get<std::vector<int64_t>>(op.attrs[0].second))}, expected_[0].data = inputs_[0].data;
    CallInfo call;
    call.attrs = op.attrs;
    add_slots(call.inputs, inputs_, op.list);
    add_slots(call.outputs, expected_, op.out_list);
    rule_ = FactorRule::parse(op.rule).instantiate(call);
  }

  // Runs one combination; unknown inputs are laid out as propagate asks.
  Resolved check(const ProcessMesh& mesh, const std::vector<Known>& in, const std::vector<Known>& out) {
    Resolved r = propagate(rule_, in, out, mesh);
    std::vector<Distributed> locals;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Placements& needed = r.inputs[i].placements;
      Distributed d = distribute(inputs_[i], mesh, in[i] ? *in[i] : needed, random_);
      EXPECT_EQ(r.inputs[i].reshard, in[i] && *in[i] != needed);
      locals.push_back(reshard(d, needed));
    }
    std::vector<Distributed> results;
    for (size_t o = 0; o < expected_.size(); ++o)
      results.push_back({expected_[o].shape, mesh, r.outputs[o].placements, {}});
    for (int64_t rank = 0; rank < mesh.size(); ++rank) run_rank(mesh, rank, locals, results);
    for (size_t o = 0; o < expected_.size(); ++o) {
      EXPECT_EQ(gather(results[o]), expected_[o]) << "output " << o << " lies " << to_string(r.outputs[o].placements);
      if (out[o]) {
        EXPECT_EQ(gather(reshard(results[o], *out[o])), expected_[o]);
      }
    }
    return r;
  }

  const std::vector<Array>& outputs() const { return expected_; }

 private:
  static void add_slots(std::vector<Slot>& slots, const std::vector<Array>& arrays, bool list) {
    for (const Array& a : arrays) {
      if (slots.empty() || !list) slots.emplace_back();
      slots.back().push_back({a.shape, 8});
    }
  }

  void run_rank(const ProcessMesh& mesh, int64_t rank, const std::vector<Distributed>& inputs,
                std::vector<Distributed>& results) {
    Arrays in;
    for (const Distributed& d : inputs) in.push_back(d.local[rank]);
    Arrays out;
    if (op_.run) {
      out = op_.run(in);
    } else {
      out = {in[0]};
      out[0].shape = local_shard(expected_[0].shape, mesh, results[0].placements, mesh.coordinate_at(rank)).shape;
      ASSERT_EQ(Array::count(out[0].shape), static_cast<int64_t>(out[0].data.size()));
    }
    for (size_t o = 0; o < out.size(); ++o) results[o].local.push_back(out[o]);
  }

  const Op& op_;
  std::vector<Array> inputs_, expected_;
  RuleInstance rule_;
  std::mt19937 random_{11};
};

std::vector<Known> choices(const Array& a, const Op& op, int axes, bool with_unknown, bool partial = true) {
  std::vector<Known> all;
  if (with_unknown) all.push_back(std::nullopt);
  for (auto& p : product(
           all_placements(static_cast<int>(a.shape.size()), partial ? op.kinds : std::vector<PartialKind>{}), axes)) {
    // Kinds that do not commute (a sum of maxima) have no one meaning.
    std::vector<PartialKind> kinds;
    for (auto& x : p)
      if (x.is_partial()) kinds.push_back(x.partial);
    if (kinds.size() == 2 && kinds[0] != kinds[1]) continue;
    all.push_back(p);
  }
  return all;
}

std::string show(const std::vector<Known>& list) {
  std::string s;
  for (auto& k : list) s += (k ? to_string(*k) : "?") + " ";
  return s;
}

// Every combination of the lists, or about `limit` of them picked at random.
void combine(const std::vector<std::vector<Known>>& lists, size_t limit,
             const std::function<void(std::vector<Known>)>& f) {
  size_t total = 1;
  for (auto& l : lists) total *= l.size();
  std::mt19937 random(5);
  for (size_t n = 0; n < std::min(total, limit); ++n) {
    size_t code = total <= limit ? n : random() % total;
    std::vector<Known> pick;
    for (auto& l : lists) pick.push_back(l[code % l.size()]), code /= l.size();
    f(pick);
  }
}

void sweep(const ProcessMesh& mesh, size_t limit) {
  for (const Op& op : ops()) {
    Harness harness(op);
    std::vector<std::vector<Known>> lists;
    for (size_t i = 0; i < op.inputs.size(); ++i)
      lists.push_back(choices(Array(op.inputs[i]), op, mesh.ndim(), true, op.name != "embedding" || i > 0));
    for (auto& o : harness.outputs()) lists.push_back(choices(o, op, mesh.ndim(), true));
    combine(lists, limit, [&](const std::vector<Known>& pick) {
      if (testing::Test::HasFailure()) return;
      SCOPED_TRACE(op.name + " " + mesh.to_string() + ": " + show(pick));
      std::vector<Known> in(pick.begin(), pick.begin() + static_cast<long>(op.inputs.size()));
      std::vector<Known> out(pick.begin() + static_cast<long>(op.inputs.size()), pick.end());
      harness.check(mesh, in, out);
    });
  }
}

TEST(Propagate, ShardedEqualsWholeOnOneAxis) {
  for (int64_t n : {1, 2, 3, 4}) sweep(mesh_of({n}), 1000);
}

TEST(Propagate, ShardedEqualsWholeOnTwoAxes) {
  for (const Shape& mesh : {Shape{2, 2}, Shape{2, 3}, Shape{3, 2}}) sweep(mesh_of(mesh), 600);
}

TEST(Propagate, ShardedEqualsWholeOnThreeAxes) { sweep(mesh_of({2, 2, 2}), 150); }

RuleInstance rule(const char* text, std::vector<Shape> in, std::vector<Shape> out,
                  std::vector<std::pair<std::string, AttrValue>> attrs = {}) {
  CallInfo c;
  for (auto& s : in) c.inputs.push_back({{s, 4}});
  for (auto& s : out) c.outputs.push_back({{s, 4}});
  c.attrs = std::move(attrs);
  return FactorRule::parse(text).instantiate(c);
}
constexpr const char* kMatmul = "...ik, ...kj -> ...ij; sum k; linear 0 | 1";

std::string resolve(const RuleInstance& r, std::vector<Known> in, std::vector<Known> out, Shape mesh = {2}) {
  Resolved x = propagate(r, in, out, mesh_of(std::move(mesh)));
  std::string s;
  for (auto& t : x.inputs) s += to_string(t.placements) + (t.reshard ? "! " : " ");
  s += "->";
  for (auto& t : x.outputs) s += " " + to_string(t.placements) + (t.reshard ? "!" : "");
  return s;
}

TEST(Propagate, InfersForwardBackwardAndSideways) {
  RuleInstance matmul = rule(kMatmul, {{8, 16}, {16, 4}}, {{8, 4}});
  EXPECT_EQ(resolve(matmul, {Placements{Replicate()}, Placements{Shard(1)}}, {std::nullopt}),
            "[Replicate()] [Shard(dim=1)] -> [Shard(dim=1)]");
  EXPECT_EQ(resolve(matmul, {Placements{Shard(1)}, Placements{Shard(0)}}, {std::nullopt}),
            "[Shard(dim=1)] [Shard(dim=0)] -> [Partial(reduce_type=sum)]");
  EXPECT_EQ(resolve(matmul, {std::nullopt, std::nullopt}, {Placements{Shard(0)}}),
            "[Shard(dim=0)] [Replicate()] -> [Shard(dim=0)]");
  EXPECT_EQ(resolve(matmul, {std::nullopt, Placements{Shard(0)}}, {std::nullopt}),
            "[Shard(dim=1)] [Shard(dim=0)] -> [Partial(reduce_type=sum)]");
  EXPECT_EQ(
      resolve(matmul, {Placements{Shard(0), Replicate()}, Placements{Replicate(), Shard(1)}}, {std::nullopt}, {2, 2}),
      "[Shard(dim=0), Replicate()] [Replicate(), Shard(dim=1)] -> [Shard(dim=0), Shard(dim=1)]");
}

TEST(Propagate, ConflictsMoveTheFewerBytes) {
  // x sharded by rows, y by columns, on one axis: one of them must be gathered, and it is the smaller.
  Placements rows{Shard(0)}, columns{Shard(1)};
  EXPECT_EQ(resolve(rule(kMatmul, {{8, 16}, {16, 4}}, {{8, 4}}), {rows, columns}, {std::nullopt}),
            "[Shard(dim=0)] [Replicate()]! -> [Shard(dim=0)]");
  EXPECT_EQ(resolve(rule(kMatmul, {{8, 16}, {16, 64}}, {{8, 64}}), {rows, columns}, {std::nullopt}),
            "[Replicate()]! [Shard(dim=1)] -> [Shard(dim=1)]");
}

TEST(Propagate, PartialPassesWhereItMay) {
  RuleInstance add = rule("..., ... -> ...; linear 0 1", {{4, 4}, {4}}, {{4, 4}});
  EXPECT_EQ(resolve(add, {Placements{Partial()}, Placements{Partial()}}, {std::nullopt}),
            "[Partial(reduce_type=sum)] [Partial(reduce_type=sum)] -> [Partial(reduce_type=sum)]");
  EXPECT_EQ(resolve(add, {Placements{Partial()}, Placements{Replicate()}}, {std::nullopt}),
            "[Partial(reduce_type=sum)] [Partial(reduce_type=sum)]! -> [Partial(reduce_type=sum)]");
  EXPECT_EQ(resolve(rule("... -> ...", {{4, 4}}, {{4, 4}}), {Placements{Partial()}}, {std::nullopt}),
            "[Replicate()]! -> [Replicate()]");
}

TEST(Propagate, UnevenMeansAndEmptyMaximaStayWhole) {
  auto axis0 = std::pair<std::string, AttrValue>("axis", int64_t{0});
  Placements cut{Shard(0)};
  RuleInstance mean = rule("i... -> ...; avg i(axis)", {{5, 4}}, {{4}}, {axis0});
  EXPECT_EQ(resolve(mean, {cut}, {std::nullopt}), "[Replicate()]! -> [Replicate()]");
  RuleInstance max = rule("i... -> ...; max i(axis)", {{5, 4}}, {{4}}, {axis0});
  EXPECT_EQ(resolve(max, {cut}, {std::nullopt}, {2}), "[Shard(dim=0)] -> [Partial(reduce_type=max)]");
  EXPECT_EQ(resolve(max, {cut}, {std::nullopt}, {4}), "[Replicate()]! -> [Replicate()]")
      << "the fourth rank has nothing";
}

TEST(Propagate, WithoutARuleAllIsReplicatedAndSaidSo) {
  Resolved r = propagate(rule("rule: none", {{4}}, {{4}}), std::vector<Known>{Placements{Shard(0)}}, {}, mesh_of({2}));
  EXPECT_TRUE(r.unknown_rule);
  EXPECT_TRUE(r.inputs[0].reshard);
  EXPECT_EQ(r.outputs[0].placements, Placements{Replicate()});
}

TEST(Propagate, SaysWhichFactorAnAxisShards) {
  CallInfo c;
  c.inputs = {{{{2, 7}, 8}}, {{{50, 8}, 4}}};
  c.outputs = {{{{2, 7, 8}, 4}}};
  c.has_local = true;
  Resolved r = propagate(FactorRule::parse("rule: embedding").instantiate(c),
                         std::vector<Known>{Placements{Replicate()}, Placements{Shard(0)}}, {}, mesh_of({2}));
  EXPECT_EQ(r.axes[0].label, "v");
  EXPECT_EQ(r.outputs[0].placements, Placements{Partial()});
}

}  // namespace
}  // namespace paddle::spmd::test
