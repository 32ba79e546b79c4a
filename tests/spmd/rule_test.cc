// What a rule makes of a call: factors of each dimension, as text.
#include <gtest/gtest.h>

#include "base/error.h"
#include "spmd/factor_rule.h"

namespace paddle::spmd {
namespace {

CallInfo call(std::vector<Shape> inputs, std::vector<Shape> outputs,
              std::vector<std::pair<std::string, AttrValue>> attrs = {}) {
  CallInfo c;
  for (auto& s : inputs) c.inputs.push_back({{s, 4}});
  for (auto& s : outputs) c.outputs.push_back({{s, 4}});
  c.attrs = std::move(attrs);
  return c;
}

// "[a b][] -> [b]": factors by order of appearance, whole ones in capitals.
std::string show(const RuleInstance& r) {
  if (r.replicate_all) return "replicate: " + r.reason;
  std::vector<int> seen;
  auto name = [&](int f) {
    auto it = std::find(seen.begin(), seen.end(), f);
    if (it == seen.end()) seen.push_back(f), it = seen.end() - 1;
    return static_cast<char>((r.factors[f].whole ? 'A' : 'a') + (it - seen.begin()));
  };
  std::string s;
  auto tensors = [&](const std::vector<TensorFactors>& list) {
    for (auto& t : list) {
      s += '[';
      for (size_t d = 0; d < t.dims.size(); ++d) {
        s += d ? " " : "";
        if (t.dims[d].empty()) s += '-';
        for (int f : t.dims[d]) s += name(f);
      }
      s += ']';
    }
  };
  tensors(r.inputs);
  s += "->";
  tensors(r.outputs);
  return s;
}

std::string apply(const char* rule, const CallInfo& c) { return show(FactorRule::parse(rule).instantiate(c)); }
AttrValue ints(std::vector<int64_t> v) { return v; }
AttrValue num(int64_t v) { return v; }

TEST(Rule, Broadcast) {
  EXPECT_EQ(apply("..., ... -> ...", call({{4, 1, 3}, {5, 1}}, {{4, 5, 3}})), "[a - b][c -]->[a c b]");
  EXPECT_EQ(apply("..., ... -> ...", call({{}, {5}}, {{5}})), "[][a]->[a]");
  EXPECT_EQ(apply("... -> ...", call({{1, 3}}, {{4, 3}})), "[- a]->[B a]")
      << "a broadcast dimension is only the output's";
}

TEST(Rule, Matmul) {
  const char* rule = "...ik^transpose_x, ...kj^transpose_y -> ...ij; sum k";
  EXPECT_EQ(apply(rule, call({{2, 3, 4}, {4, 5}}, {{2, 3, 5}})), "[a b c][c d]->[a b d]");
  EXPECT_EQ(apply(rule, call({{4, 3}, {5, 4}}, {{3, 5}}, {{"transpose_x", true}, {"transpose_y", true}})),
            "[a b][c a]->[b c]");
  EXPECT_EQ(apply(rule, call({{4}, {2, 4, 5}}, {{2, 5}})), "[a][b a c]->[b c]");
  EXPECT_EQ(apply(rule, call({{2, 3, 4}, {4}}, {{2, 3}})), "[a b c][c]->[a b]");
  EXPECT_EQ(apply(rule, call({{4}, {4}}, {{}})), "[a][a]->[]");
}

TEST(Rule, BoundFactors) {
  const char* sum = "i... -> ...; sum i(axis)";
  EXPECT_EQ(apply(sum, call({{2, 3, 4}}, {{2, 4}}, {{"axis", num(1)}})), "[a b c]->[a c]");
  EXPECT_EQ(apply(sum, call({{2, 3, 4}}, {{3}}, {{"axis", ints({-1, 0})}})), "[a b c]->[b]");
  EXPECT_EQ(apply(sum, call({{2, 3, 4}}, {{2, 1, 4}}, {{"axis", num(-2)}})), "[a b c]->[a - c]") << "keepdim";
  EXPECT_EQ(apply(sum, call({{2, 3}}, {{}}, {{"axis", ints({})}})), "[a b]->[]") << "no axis means all";
  EXPECT_EQ(apply(sum, call({{2, 3}}, {{1, 1}})), "[a b]->[- -]");
  EXPECT_EQ(apply("i... -> i...; whole i(axis)", call({{2, 3}}, {{2, 3}}, {{"axis", num(-1)}})), "[a B]->[a B]");
  EXPECT_EQ(apply("[...] -> i...; at i(axis)", call({{2, 3}}, {{2, 7, 3}}, {{"axis", num(-2)}})), "[a b]->[a C b]");
  EXPECT_EQ(apply("i..., w, w -> i..., ..., ...; whole i(begin_norm_axis:) w",
                  call({{2, 3, 4, 5}, {20}, {20}}, {{2, 3, 4, 5}, {2, 3}, {2, 3}}, {{"begin_norm_axis", num(2)}})),
            "[a b C D][E][E]->[a b C D][a b][a b]");
  EXPECT_EQ(apply("nc..., c -> nc...; whole ...; at c(data_format)",
                  call({{2, 6, 7, 3}, {3}}, {{2, 5, 5, 3}}, {{"data_format", std::string("NHWC")}})),
            "[a B C d][d]->[a B C d]");
  EXPECT_EQ(
      apply("i..., j... -> j...; whole i(axis); at j(axis)", call({{4, 3}, {2, 3}}, {{2, 3}}, {{"axis", num(0)}})),
      "[A b][c b]->[c b]");
}

TEST(Rule, Lists) {
  CallInfo c = call({}, {{9, 3}}, {{"axis", num(0)}});
  c.inputs.push_back({{{4, 3}, 4}, {{5, 3}, 4}});
  EXPECT_EQ(apply("[i...] -> i...; whole i(axis)", c), "[A b][A b]->[A b]");
}

TEST(Rule, Reshape) {
  auto reshape = [](Shape a, Shape b) { return apply("rule: reshape", call({a}, {b})); };
  EXPECT_EQ(reshape({6, 4}, {24}), "[a b]->[ab]");
  EXPECT_EQ(reshape({24}, {2, 12}), "[ab]->[a b]");
  EXPECT_EQ(reshape({6, 4}, {4, 6}), "[aB -]->[aC D]") << "only the outer 2 is common";
  EXPECT_EQ(reshape({2, 3, 5}, {6, 1, 5}), "[a b c]->[ab - c]");
  EXPECT_EQ(reshape({-1, 8}, {-1, 2, 4}), "[a bc]->[a b c]");
  EXPECT_EQ(reshape({-1, 8}, {8, -1}), "[- -]->[- -]");
  EXPECT_EQ(reshape({0, 3}, {3, 0}), "[- -]->[- -]");
  EXPECT_EQ(reshape({1}, {}), "[-]->[]");
}

TEST(Rule, Named) {
  EXPECT_EQ(apply("rule: transpose", call({{2, 3, 4}}, {{4, 2, 3}}, {{"perm", ints({2, 0, 1})}})), "[a b c]->[c a b]");
  EXPECT_EQ(apply("rule: slice", call({{6, 4, 3}}, {{2, 3}}, {{"axes", ints({0, 1})}, {"decrease_axis", ints({1})}})),
            "[- - a]->[- a]");
  EXPECT_EQ(apply("rule: gather", call({{6, 4}, {5}}, {{6, 5}}, {{"axis", num(1)}})), "[a -][b]->[a b]");
  EXPECT_EQ(apply("rule: conv", call({{2, 3, 8, 8}, {5, 3, 3, 3}, {5}}, {{2, 5, 6, 6}})),
            "[a b - -][c b - -][c]->[a c - -]");
  EXPECT_EQ(apply("rule: conv", call({{2, 8, 8, 6}, {6, 3, 3, 3}}, {{2, 6, 6, 6}},
                                     {{"data_format", std::string("NHWC")}, {"groups", num(2)}})),
            "[a - - B][- - - -]->[a - - C]");
  EXPECT_EQ(apply("rule: attention", call({{2, 9, 8, 16}, {2, 7, 4, 16}, {2, 7, 4, 16}}, {{2, 9, 8, 16}})),
            "[a b cd E][a F c E][a F c G]->[a b cd G]");
  EXPECT_EQ(apply("rule: attention",
                  call({{2, 9, 4, 16}, {2, 9, 4, 16}, {2, 9, 4, 16}}, {{2, 9, 4, 16}}, {{"causal", true}})),
            "[a B c D][a E c D][a E c F]->[a B c F]");
  EXPECT_EQ(apply("rule: cross_entropy", call({{4, 10}, {4, 1}}, {{4, 10}, {4, 1}}, {{"axis", num(-1)}})),
            "[a B][a -]->[a B][a -]");
  EXPECT_EQ(apply("rule: expand", call({{3, 1}}, {{2, 3, 5}})), "[a -]->[B a C]");
}

TEST(Rule, NamedByIndexAndShape) {
  EXPECT_EQ(apply("rule: scatter", call({{6, 4}, {5}, {5, 4}}, {{6, 4}}, {{"axis", num(0)}})), "[- a][-][- a]->[- a]");
  EXPECT_EQ(apply("rule: scatter_nd", call({{6, 4, 3}, {5, 1}, {5, 4, 3}}, {{6, 4, 3}})),
            "[- a b][- -][- a b]->[- a b]");
  EXPECT_EQ(apply("rule: reduce_as", call({{2, 3, 4}, {1, 4}}, {{1, 4}})), "[a b c][- c]->[- c]");
  EXPECT_EQ(apply("rule: expand_as", call({{3, 1}, {2, 3, 5}}, {{2, 3, 5}})), "[a -][b a c]->[b a c]");
  EXPECT_EQ(apply("rule: expand_as", call({{3, 1}}, {{2, 3, 5}}, {{"target_shape", ints({2, 3, 5})}})),
            "[a -]->[B a C]");
  EXPECT_EQ(apply("rule: strided_slice", call({{6, 4}}, {{6, 4}}, {{"axes", ints({0})}})), "[- a]->[- a]")
      << "it may have turned the order round";
  EXPECT_EQ(apply("rule: searchsorted", call({{2, 9}, {2, 3}}, {{2, 3}})), "[a B][a c]->[a c]");
  EXPECT_EQ(
      apply("rule: layer_norm", call({{2, 3, 4}, {4}, {4}}, {{2, 3, 4}, {2, 3}, {6}}, {{"begin_norm_axis", num(2)}})),
      "[a b -][-][-]->[a b -][a b][ab]");
  EXPECT_EQ(apply("rule: batch_norm", call({{2, 3, 5, 5}, {3}, {3}}, {{2, 3, 5, 5}, {3}, {3}})),
            "[A b C D][b][b]->[A b C D][b][b]");
  EXPECT_EQ(apply("rule: batch_norm", call({{2, 3, 5, 5}, {3}, {3}}, {{2, 3, 5, 5}, {3}, {3}}, {{"is_test", true}})),
            "[a b c d][b][b]->[a b c d][b][b]");
  EXPECT_EQ(
      apply("rule: pool", call({{2, 6, 6, 3}}, {{2, 5, 5, 3}, {2, 5, 5, 3}}, {{"data_format", std::string("NHWC")}})),
      "[a - - b]->[a - - b][a - - b]");
  EXPECT_EQ(apply("rule: swiglu", call({{2, 8}}, {{2, 4}})), "[a B]->[a C]");
  CallInfo grid;
  grid.inputs = {{{{2}, 4}, {{3}, 4}}};
  grid.outputs = {{{{2, 3}, 4}, {{2, 3}, 4}}};
  EXPECT_EQ(apply("rule: meshgrid", grid), "[a][b]->[a b][a b]");
}

TEST(Rule, ClausesMayBeSeparatedByCommas) {
  EXPECT_EQ(apply("...ij -> ...ij; whole i, whole j", call({{2, 3, 4}}, {{2, 3, 4}})), "[a B C]->[a B C]");
  EXPECT_EQ(apply("-> i j; whole i, whole j", call({}, {{3, 4}})), "->[A B]");
}

TEST(Rule, LinearInIsOneGroupUnlessTheRuleSpeaks) {
  FactorRule add = FactorRule::parse("..., ... -> ..."), matmul = FactorRule::parse("ik, kj -> ij; linear 0 | 1");
  add.add_linear_in({"x", "y"});
  matmul.add_linear_in({"x", "y"});
  CallInfo c = call({{2, 2}, {2, 2}}, {{2, 2}});
  c.input_names = {"x", "y"};
  ASSERT_EQ(add.instantiate(c).passes.size(), 1u);
  EXPECT_EQ(add.instantiate(c).passes[0].inputs, (std::vector<int>{0, 1}));
  EXPECT_EQ(matmul.instantiate(c).passes.size(), 2u);
}

TEST(Rule, CompoundSizesFollow) {
  EXPECT_EQ(apply("a(bc), b -> abc", call({{2, 12}, {3}}, {{2, 3, 4}})), "[a bc][b]->[a b c]");
  EXPECT_EQ(apply("a(bc), b -> abc", call({{2, 12}, {5}}, {{2, 5, 3}})),
            "replicate: a dimension of 12 is not a multiple of 15");
}

TEST(Rule, LocalFormsUnlockFactors) {
  CallInfo c = call({{2, 7}, {50, 8}}, {{2, 7, 8}});
  EXPECT_EQ(apply("rule: embedding", c), "[a b][C d]->[a b d]");
  c.has_local = true;
  EXPECT_EQ(apply("rule: embedding", c), "[a b][c d]->[a b d]");
}

TEST(Rule, WhatDoesNotFitIsReplicated) {
  EXPECT_EQ(apply("ij -> i", call({{2, 3, 4}}, {{2}})), "replicate: expected a tensor of 2 dimensions, got 3");
  EXPECT_EQ(apply("rule: nothing", call({}, {})), "replicate: no sharding rule is called 'nothing'");
  EXPECT_EQ(apply("... -> ...", call({{2}}, {{2}, {2}})), "replicate: the rule has 1 outputs, the operator 2");
  EXPECT_EQ(apply("i... -> i...; whole i(axis)", call({{2}}, {{2}}, {{"axis", num(5)}})),
            "replicate: axis 5 is outside a tensor of 1 dimensions");
}

TEST(Rule, BadRulesAreRefusedWithTheColumn) {
  auto error = [](const char* text) -> std::string {
    try {
      FactorRule::parse(text);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(error("ik, kj * ij"), "[spmd] expected '->' at column 8 of \"ik, kj * ij\"");
  EXPECT_EQ(error("i -> i; sum k"), "[spmd] no tensor has the factor 'k' in \"i -> i; sum k\"");
  EXPECT_EQ(error("ii -> i"), "[spmd] a tensor has one factor twice in \"ii -> i\"");
  EXPECT_EQ(error("i -> i; often i"),
            "[spmd] expected a known clause before this, got 'often', at column 14 of \"i -> i; often i\"");
  EXPECT_EQ(error("i -> i; linear"), "[spmd] expected an input at column 15 of \"i -> i; linear\"");
  EXPECT_EQ(error("......i -> i"), "[spmd] expected one '...' at column 7 of \"......i -> i\"");
}

}  // namespace
}  // namespace paddle::spmd
