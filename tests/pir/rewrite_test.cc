// Patterns, DRR, pass manager.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pir/printer.h"
#include "pir/rewrite/drr.h"
#include "pir/rewrite/pass.h"
#include "pir/verifier.h"
#include "test_ops.h"

namespace paddle::pir {
namespace {

using ::testing::HasSubstr;

class Rewrite : public ::testing::Test {
 protected:
  void SetUp() override { testing::register_test_ops(); }
  // Operations of the main block by name, without dialects.
  std::string names(const Program& p) {
    std::string s;
    for (Operation& op : p.block()) s += (s.empty() ? "" : " ") + std::string(op.def().short_name());
    return s;
  }
};

std::string body(const std::string& lines) {
  return "{\n (%x) = \"pd_op.data\" () {name: \"x\", shape: [2, 3], dtype: float32, place: Place(cpu)} : () -> "
         "tensor<2x3xf32>\n"
         " (%y) = \"pd_op.data\" () {name: \"y\", shape: [2, 3], dtype: float32, place: Place(cpu)} : () -> "
         "tensor<2x3xf32>\n" +
         lines + "}";
}
// T one = unary operation, etc., all of type 2x3.
std::string unary(const char* out, const char* name, const char* in, const char* attrs = "") {
  return fmt::format(" (%{}) = \"pd_op.{}\" (%{}) {{{}}} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n", out, name, in,
                     attrs);
}
std::string binary(const char* out, const char* name, const char* a, const char* b) {
  return fmt::format(" (%{}) = \"pd_op.{}\" (%{}, %{}) {{}} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n",
                     out, name, a, b);
}
std::string fetch(const char* x) {
  return fmt::format(" () = \"builtin.shadow_output\" (%{}) {{output_name: \"o\"}} : (tensor<2x3xf32>) ->\n", x);
}

TEST_F(Rewrite, GreedyGoesToTheEndAndCleansUp) {
  Program p = parse_program(body(unary("a", "relu", "x") + unary("b", "relu", "a") + unary("c", "relu", "b") +
                                 unary("d", "exp", "c") + fetch("c")));
  PatternSet set;
  set.add("relu_relu", "pd_op.relu", [](Operation& op, Rewriter& r) {
    if (!op.operand(0).is_result() || !op.operand(0).defining_op()->is("pd_op.relu")) return false;
    r.replace(&op, op.operand(0));
    return true;
  });
  GreedyResult r = apply_greedily(p, set);
  EXPECT_EQ(names(p), "data data relu shadow_output");
  EXPECT_EQ(r.by_pattern["relu_relu"], 2u);
  EXPECT_TRUE(r.converged);
  verify(p);
}

TEST_F(Rewrite, GreedyReachesRegionsAndFoldsLists) {
  Program p = parse_program(
      body(" (%c) = \"pd_op.data\" () {name: \"c\", shape: [1], dtype: bool, place: Place(cpu)} : () -> tensor<1xb>\n"
           " (%r) = \"pd_op.if\" (%c) {} : (tensor<1xb>) -> tensor<2x3xf32> {\n"
           " (%l) = \"builtin.combine\" (%x, %y) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> vec[tensor<2x3xf32>, "
           "tensor<2x3xf32>]\n"
           " (%s, %t) = \"builtin.split\" (%l) {} : (vec[tensor<2x3xf32>, tensor<2x3xf32>]) -> tensor<2x3xf32>, "
           "tensor<2x3xf32>\n" +
           binary("q", "add", "t", "s") +
           " () = \"cf.yield\" (%q) {} : (tensor<2x3xf32>) ->\n } {\n () = \"cf.yield\" (%x) {} : (tensor<2x3xf32>) "
           "->\n }\n" +
           fetch("r")));
  apply_greedily(p, {});
  Operation* branch = p.block().back()->operand(0).defining_op();
  Block& inner = branch->region(0).front();
  EXPECT_EQ(inner.size(), 2u);
  EXPECT_EQ(inner.front()->operand(0), p.block().front()->next()->result());
  verify(p);
}

TEST_F(Rewrite, EndlessPatternsStop) {
  Program p = parse_program(body(unary("a", "relu", "x") + fetch("a")));
  PatternSet set;
  auto to = [](const char* name) {
    return [name](Operation& op, Rewriter& r) {
      r.replace(&op, r.value(name, {op.operand(0)}));
      return true;
    };
  };
  set.add("there", "pd_op.relu", to("pd_op.exp"));
  set.add("back", "pd_op.exp", to("pd_op.relu"));
  GreedyResult r = apply_greedily(p, set, {.max_rewrites = 100});
  EXPECT_FALSE(r.converged);
  EXPECT_EQ(r.rewrites, 100u);
  verify(p);
}

TEST_F(Rewrite, NewOperationsKeepTheSourceLine) {
  Program p;
  Builder b(p, Location::at("net.py", 9));
  Value x = b.data("x", Type::tensor(DType::kFloat32, {2}));
  b.shadow_output("o", b.value("pd_op.relu", {x}));
  PatternSet set;
  set.add("relu_to_exp", "pd_op.relu", [](Operation& op, Rewriter& r) {
    r.replace(&op, r.value("pd_op.exp", {op.operand(0)}));
    return true;
  });
  apply_greedily(p, set);
  Location loc = p.block().front()->next()->loc();
  EXPECT_EQ(loc.str(), "net.py:9");
  EXPECT_EQ(loc.pass(), "relu_to_exp");
}

// ---- DRR ---------------------------------------------------------------------------------------------------------

Drr mul_add() {
  Drr d("mul_add");  // relu(x * y + z) -> add(exp(x), z), say
  d.source("pd_op.multiply", {"x", "y"}, {"m"});
  d.source("pd_op.add", {"m", "z"}, {"s"});
  d.source("pd_op.relu", {"s"}, {"out"});
  d.result("pd_op.exp", {"x"}, {"e"});
  d.result("pd_op.add", {"e", "z"}, {"out"});
  return d;
}

TEST_F(Rewrite, DrrMatchesAChainWithCommutedOperands) {
  for (const char* order : {"mx", "xm"}) {
    std::string add = order[0] == 'm' ? binary("s", "add", "m", "x") : binary("s", "add", "x", "m");
    Program p = parse_program(body(binary("m", "multiply", "x", "y") + add + unary("o", "relu", "s") + fetch("o")));
    PatternSet set;
    set.add(mul_add().build());
    EXPECT_EQ(apply_greedily(p, set).by_pattern["mul_add"], 1u) << order;
    EXPECT_EQ(names(p), "data data exp add shadow_output");
    verify(p);
  }
}

TEST_F(Rewrite, DrrLeavesValuesThatAreUsedElsewhere) {
  Program p = parse_program(body(binary("m", "multiply", "x", "y") + binary("s", "add", "m", "x") +
                                 unary("o", "relu", "s") + fetch("o") + fetch("m")));
  std::string before = p.str();
  PatternSet set;
  set.add(mul_add().build());
  EXPECT_FALSE(apply_greedily(p, set));
  EXPECT_EQ(p.str(), before);
}

TEST_F(Rewrite, DrrCapturesAttributesAndChecksConstraints) {
  Drr d("softmax_softmax");
  d.source("pd_op.softmax", {"x"}, {"t"}, {Drr::capture("axis", "a")});
  d.source("pd_op.softmax", {"t"}, {"y"}, {Drr::capture("axis", "a")});  // the same axis
  d.where([](const DrrMatch& m) { return m.attr("a").as_int() >= 0 && m.value("x").shape().size() == 2; });
  d.result("pd_op.scale", {"x", "one"}, {"y"}, {Drr::compute("bias", [](const DrrMatch& m) {
             return Attribute::f32(static_cast<float>(m.attr("a").as_int()));
           })});
  EXPECT_THROW(d.build(), Error);  // "one" is unknown
  Drr e("softmax_softmax");
  e.source("pd_op.softmax", {"x"}, {"t"}, {Drr::capture("axis", "a")});
  e.source("pd_op.softmax", {"t"}, {"y"}, {Drr::capture("axis", "a")});
  e.where([](const DrrMatch& m) { return m.attr("a").as_int() >= 0; });
  e.result("pd_op.softmax", {"x"}, {"y"}, {Drr::compute("axis", [](const DrrMatch& m) {
             return Attribute::i32(static_cast<int32_t>(m.attr("a").as_int() - 2));
           })});
  PatternSet set;
  set.add(e.build());
  auto run = [&](const char* first, const char* second) {
    Program p =
        parse_program(body(unary("a", "softmax", "x", first) + unary("b", "softmax", "a", second) + fetch("b")));
    apply_greedily(p, set);
    return names(p) + " " + p.block().back()->operand(0).defining_op()->attr("axis").str();
  };
  EXPECT_EQ(run("axis: (Int32)1", "axis: (Int32)1"), "data data softmax shadow_output (Int32)-1");
  EXPECT_EQ(run("axis: (Int32)0", "axis: (Int32)1"), "data data softmax softmax shadow_output (Int32)1");
  EXPECT_EQ(run("axis: (Int32)-1", "axis: (Int32)-1"), "data data softmax softmax shadow_output (Int32)-1");
}

TEST_F(Rewrite, DrrHasSeveralOutputsAndReplacements) {
  // Two results of one input: found from the anchor through the users of x.
  Drr d("pair");
  d.source("pd_op.exp", {"x"}, {"e"});
  d.source("pd_op.relu", {"x"}, {"r"});
  d.result("pd_op.scale", {"x", "x"}, {"e"}, {},
           [](const DrrMatch& m) { return std::vector<Type>{m.value("x").type()}; });
  d.replace("r", "x");
  PatternSet set;
  set.add(d.build());
  Program p =
      parse_program(body(unary("e", "exp", "x") + unary("r", "relu", "x") + binary("s", "add", "e", "r") + fetch("s")));
  EXPECT_TRUE(apply_greedily(p, set));
  EXPECT_EQ(names(p), "data data scale add shadow_output");
  EXPECT_EQ(p.block().back()->prev()->operand(1), p.block().front()->result());
  // Not if one output is used before the last matched operation stands.
  Program q = parse_program(body(unary("e", "exp", "x") + unary("u", "exp", "e") + unary("r", "relu", "u") +
                                 unary("r2", "relu", "x") + binary("s", "add", "r", "r2") + fetch("s")));
  EXPECT_FALSE(apply_greedily(q, set));
}

TEST_F(Rewrite, DrrAbsentOperands) {
  Drr d("dropout");
  d.source("pd_op.dropout", {"x", ""}, {"y"});
  d.result("pd_op.relu", {"x"}, {"y"});
  PatternSet set;
  set.add(d.build());
  std::string with =
      " (%o) = \"pd_op.dropout\" (%x, %y) {p: (Float)0.5} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n";
  std::string without =
      " (%o) = \"pd_op.dropout\" (%x, <<NULL VALUE>>) {p: (Float)0.5} : (tensor<2x3xf32>, none) -> tensor<2x3xf32>\n";
  Program p = parse_program(body(with + fetch("o"))), q = parse_program(body(without + fetch("o")));
  EXPECT_FALSE(apply_greedily(p, set));
  EXPECT_TRUE(apply_greedily(q, set));
}

TEST_F(Rewrite, DrrRefusesNonsense) {
  Drr none("none");
  EXPECT_THROW(none.build(), Error);
  Drr apart("apart");
  apart.source("pd_op.relu", {"a"}, {"b"});
  apart.source("pd_op.relu", {"c"}, {"d"});
  apart.replace("d", "c");
  EXPECT_THROW(apart.build(), Error);
  Drr name("name");
  name.source("pd_op.rellu", {"a"}, {"b"});
  name.replace("b", "a");
  EXPECT_THROW(name.build(), Error);
  Drr nothing("nothing");
  nothing.source("pd_op.relu", {"a"}, {"b"});
  nothing.result("pd_op.exp", {"a"}, {"c"});
  EXPECT_THROW(nothing.build(), Error);
}

// ---- pass manager ------------------------------------------------------------------------------------------------

bool rename_relu(Operation& root, PassContext& context) {
  PatternSet set;
  set.add("relu_to_exp", "pd_op.relu", [](Operation& op, Rewriter& r) {
    r.replace(&op, r.value("pd_op.exp", {op.operand(0)}));
    return true;
  });
  GreedyResult r = apply_greedily(root, set);
  context.count("renamed", static_cast<int64_t>(r.rewrites));
  return static_cast<bool>(r);
}

TEST_F(Rewrite, PipelinesRunByNameAndReport) {
  register_pass("test_rename", "for this test", [](const PassOptions& o) {
    EXPECT_EQ(o, (PassOptions{{"a", "1"}, {"b", "x"}}));
    return make_pass("test_rename", rename_relu);
  });
  Program p = parse_program(body(unary("a", "relu", "x") + fetch("a")));
  std::string printed;
  PassManager pm({.verify = true, .print = [&](std::string_view s) { printed += s; }});
  pm.add_pipeline("test_rename{a=1, b=x}").add("idle", [](Operation&, PassContext&) { return false; });
  EXPECT_TRUE(pm.run(p));
  EXPECT_THAT(printed, HasSubstr("// after test_rename"));
  EXPECT_THAT(printed, HasSubstr("+     (%2) = \"pd_op.exp\""));
  EXPECT_THAT(printed, Not(HasSubstr("idle")));
  ASSERT_EQ(pm.records().size(), 2u);
  EXPECT_EQ(pm.records()[0].statistics.at("renamed"), 1);
  EXPECT_FALSE(pm.records()[1].changed);
  EXPECT_THAT(pm.report(), HasSubstr("test_rename"));
  EXPECT_THROW(create_pass("test_renam"), Error);
  for (const char* bad : {"test_rename{a}", "test_rename{a=1", "test_rename{a=1}x", "{a=1}", "no_such_pass"})
    EXPECT_THROW(PassManager().add_pipeline(bad), Error) << bad;
  unregister_pass("test_rename");
  EXPECT_THROW(create_pass("test_rename"), Error);
}

TEST_F(Rewrite, VerificationNamesThePassThatBroke) {
  Program p = parse_program(body(unary("a", "relu", "x") + fetch("a")));
  PassManager pm({.verify = true, .print = {}});
  pm.add("breaks", [](Operation& root, PassContext&) {
    root.region(0).front().front()->move_to_end(&root.region(0).front());
    return true;
  });
  try {
    pm.run(p);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("after pass breaks: [pd_op.relu]"));
  }
}

TEST_F(Rewrite, NestedPipelinesAndInstrumentation) {
  struct Log : PassInstrumentation {
    std::vector<std::string> lines;
    void before(const Pass& p, Operation& root) override {
      lines.push_back("before " + p.name() + " on " + std::string(root.name()));
    }
    void failed(const Pass& p, Operation&, std::string_view m) override {
      lines.push_back("failed " + p.name() + ": " + std::string(m));
    }
  };
  Program p = parse_program(body(unary("k", "relu", "x") +
                                 " (%r) = \"cinn_op.group\" (%x) {} : (tensor<2x3xf32>) -> tensor<2x3xf32> {\n" +
                                 unary("q", "relu", "x") + " () = \"cf.yield\" (%q) {} : (tensor<2x3xf32>) ->\n }\n" +
                                 binary("z", "add", "k", "r") + fetch("z")));
  auto log = std::make_shared<Log>();
  PassManager pm;
  pm.instrument(log);
  pm.nest("cinn_op.group").add("rename", rename_relu);
  EXPECT_TRUE(pm.run(p));
  EXPECT_EQ(log->lines, (std::vector<std::string>{"before rename on cinn_op.group"}));
  EXPECT_EQ(names(p), "data data relu group add shadow_output");  // outside nothing changed
  EXPECT_EQ(pm.records()[0].name, "cinn_op.group/rename");
  PassManager failing;
  failing.instrument(log);
  failing.add("throws", [](Operation&, PassContext&) -> bool { throw std::runtime_error("no"); });
  EXPECT_THROW(failing.run(p), std::runtime_error);
  EXPECT_EQ(log->lines.back(), "failed throws: no");
}

}  // namespace
}  // namespace paddle::pir
