#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "passes/passes.h"
#include "pir/constant.h"
#include "pir/verifier.h"
#include "test_ops.h"

namespace paddle::passes {
namespace {

using pir::Attribute;
using pir::Builder;
using pir::Operation;
using pir::Program;
using pir::Type;
using pir::Value;

Type f32(std::initializer_list<Dim> shape) { return Type::tensor(DType::kFloat32, Shape(shape)); }

class Passes : public ::testing::Test {
 protected:
  void SetUp() override { pir::testing::register_test_ops(); }
  std::string names() {
    std::string s;
    for (Operation& op : p.block()) s += (s.empty() ? "" : " ") + std::string(op.def().short_name());
    return s;
  }
  Program p;
  Builder b{p};
  Value x = b.data("x", f32({2, 3}));
};

TEST_F(Passes, DeadCodeGoesEffectsStay) {
  Value a = b.value("pd_op.relu", {x});
  b.value("pd_op.exp", {a});
  b.create("pd_op.print", {x});
  b.create("pd_op.dropout", {x, Value()}, {}, {x.type()});
  b.create("pd_op.relu_", {x});  // overwrites x
  EXPECT_EQ(remove_dead_code(p.module()), 3u);
  EXPECT_EQ(names(), "data print relu_");
  verify(p);
}

TEST_F(Passes, LoopsWithEffectsStay) {
  Value c = b.data("c", Type::tensor(DType::kBool, {1}));
  for (bool effect : {false, true}) {
    Operation* loop = b.while_op(c, std::vector<Value>{x});
    Builder inner(&loop->region(0).front());
    Value v = inner.value("pd_op.relu", {loop->region(0).front().arg(0)});
    if (effect) inner.create("pd_op.print", {v});
    inner.value("pd_op.exp", {v});
    inner.yield(std::vector<Value>{c, v});
  }
  EXPECT_EQ(remove_dead_code(p.module()), 2u);
  EXPECT_EQ(names(), "data data while");
  EXPECT_EQ(p.block().back()->region(0).front().size(), 3u);
}

TEST_F(Passes, CommonSubexpressionsMergeAlsoIntoRegions) {
  Value y = b.data("y", f32({2, 3}));
  Value c = b.data("c", Type::tensor(DType::kBool, {1}));
  Value s = b.value("pd_op.add", {x, y}), t = b.value("pd_op.add", {x, y});
  Value d1 = b.create("pd_op.dropout", {x, Value()}, {}, {x.type()})->result(),
        d2 = b.create("pd_op.dropout", {x, Value()}, {}, {x.type()})->result();
  Value m1 = b.value("pd_op.softmax", {t}), m2 = b.value("pd_op.softmax", {s}, {{"axis", Attribute::i32(0)}}),
        m3 = b.value("pd_op.softmax", {s});
  Operation* branch = b.if_op(c, std::vector<Type>{x.type()});
  Builder one(&branch->region(0).front()), two(&branch->region(1).front());
  one.yield(std::vector<Value>{one.value("pd_op.add", {x, y})});
  two.yield(std::vector<Value>{x});
  for (Value v : {d1, d2, m1, m2, m3, branch->result()}) b.shadow_output("o", v);
  EXPECT_EQ(merge_common_subexpressions(p.module()), 3u);
  verify(p);
  EXPECT_EQ(branch->region(0).front().size(), 1u);
  EXPECT_EQ(branch->region(0).front().front()->operand(0), s);
}

TEST_F(Passes, OverwrittenValuesAreNotMerged) {
  Value a = b.value("pd_op.exp", {x});
  Value w = b.value("pd_op.relu_", {x});
  Value c = b.value("pd_op.exp", {x});
  for (Value v : {a, w, c}) b.shadow_output("o", v);
  EXPECT_EQ(merge_common_subexpressions(p.module()), 0u);
}

TEST_F(Passes, CanonicaliseTakesKnownBranches) {
  for (double known : {1.0, 0.0}) {
    Program p;
    Builder b(p);
    Value x = b.data("x", f32({2}));
    Operation* branch = b.if_op(b.full({1}, known, DType::kBool), std::vector<Type>{x.type()});
    Builder one(&branch->region(0).front()), two(&branch->region(1).front());
    one.yield(std::vector<Value>{one.value("pd_op.exp", {x})});
    two.yield(std::vector<Value>{two.value("pd_op.relu", {x})});
    b.shadow_output("o", branch->result());
    EXPECT_GT(canonicalise(p.module()), 0u);
    EXPECT_EQ(p.num_ops(), 3u);
    EXPECT_EQ(p.block().back()->operand(0).defining_op()->name(), known ? "pd_op.exp" : "pd_op.relu");
    verify(p);
  }
}

TEST_F(Passes, CanonicaliseDropsUnusedBranchResults) {
  Value c = b.data("c", Type::tensor(DType::kBool, {1}));
  Operation* branch = b.if_op(c, std::vector<Type>{x.type(), x.type()});
  for (size_t i = 0; i < 2; ++i) {
    Builder inner(&branch->region(i).front());
    Value e = inner.value("pd_op.exp", {x}), r = inner.value("pd_op.relu", {x});
    inner.yield(std::vector<Value>{e, r});
  }
  b.shadow_output("o", branch->result(1));
  canonicalise(p.module());
  branch = p.block().back()->operand(0).defining_op();
  EXPECT_EQ(branch->num_results(), 1u);
  EXPECT_EQ(branch->region(0).front().size(), 2u);
  EXPECT_EQ(branch->region(0).front().front()->name(), "pd_op.relu");
  verify(p);
}

TEST_F(Passes, CanonicaliseReshapes) {
  Value a = b.value("pd_op.reshape", {x, b.full_int_array(std::vector<int64_t>{3, 2})});
  Value c = b.value("pd_op.reshape", {a, b.full_int_array(std::vector<int64_t>{6})});
  Value same = b.value("pd_op.reshape", {c, b.full_int_array(std::vector<int64_t>{-1})});
  b.shadow_output("o", same);
  canonicalise(p.module());
  EXPECT_EQ(names(), "data full_int_array reshape shadow_output");
  // 0 means the input's own size: that input must stay.
  Program q;
  Builder bq(q);
  Value y = bq.data("y", f32({2, 3, 4}));
  Value r = bq.value("pd_op.reshape", {y, bq.full_int_array(std::vector<int64_t>{6, 4})});
  bq.shadow_output("o", bq.value("pd_op.reshape", {r, bq.full_int_array(std::vector<int64_t>{0, 2, 2})}));
  canonicalise(q.module());
  EXPECT_EQ(q.num_ops(), 6u);
}

// Unknown sizes (-1) are not equal sizes.
TEST_F(Passes, UnknownSizesAreNotEqual) {
  Value u = b.data("u", f32({-1}));
  Operation* r = b.create("pd_op.reshape", {u, b.data("s", Type::tensor(DType::kInt64, {1}))}, {}, {u.type()});
  b.shadow_output("o", r->result());
  EXPECT_EQ(canonicalise(p.module()), 0u);
}

// An evaluator for add and full in float32.
std::vector<OutSlot> evaluate(const Operation& op, std::span<const OutSlot> in) {
  pir::DenseData d;
  d.dtype = DType::kFloat32;
  d.shape = static_sizes(view(op.result().shape()));
  size_t n = 1;
  for (int64_t s : d.shape) n *= static_cast<size_t>(s);
  std::vector<float> out(n);
  if (op.is("pd_op.full")) {
    std::fill(out.begin(), out.end(), static_cast<float>(op.attr("value").as_double()));
  } else if (op.is("pd_op.add")) {
    for (size_t i = 0; i < n; ++i) out[i] = in[0].tensor.data<float>()[i] + in[1].tensor.data<float>()[i];
  } else {
    throw std::runtime_error("can't");
  }
  d.bytes.resize(4 * n);
  std::memcpy(d.bytes.data(), out.data(), 4 * n);
  OutSlot s;
  s.tensor = pir::tensor_of(std::move(d));
  return {s};
}

TEST_F(Passes, FoldsConstants) {
  Value one = b.full({2, 3}, 1, DType::kFloat32), two = b.full({2, 3}, 2, DType::kFloat32);
  Value three = b.value("pd_op.add", {one, two});
  Value five = b.value("pd_op.add", {three, two});
  Value mixed = b.value("pd_op.add", {five, x});
  Value failing = b.value("pd_op.exp", {three});  // the evaluator refuses
  b.shadow_output("o", mixed);
  b.shadow_output("f", failing);
  EXPECT_EQ(fold_constants(p, evaluate), 2u);
  remove_dead_code(p.module());
  verify(p);
  EXPECT_EQ(names(), "data constant constant add exp shadow_output shadow_output");
  Value folded = p.block().back()->prev()->operand(0).defining_op()->operand(0);
  Tensor t = pir::constant_tensor(*folded.defining_op(), p);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(t.data<float>()[i], 5.0f);
}

TEST_F(Passes, FoldingRespectsLimitsAndParameters) {
  Value w = b.parameter("w", f32({100}));
  p.set_parameter("w", pir::constant_tensor(
                           *[&] {
                             pir::DenseData d{DType::kFloat32, {100}, std::vector<std::byte>(400)};
                             Builder loose;
                             return loose.constant(d).defining_op();
                           }(),
                           p));
  b.shadow_output("o", b.value("pd_op.add", {w, b.full({100}, 7, DType::kFloat32)}));
  b.shadow_output("p", b.value("pd_op.add", {b.full({100}, 7, DType::kFloat32), b.full({100}, 1, DType::kFloat32)}));
  EXPECT_EQ(fold_constants(p, evaluate, {.max_bytes = 399}), 0u);
  EXPECT_EQ(fold_constants(p, evaluate), 1u);  // parameters may change: training
  EXPECT_EQ(fold_constants(p, evaluate, {.parameters = true}), 1u);
  verify(p);
  // 400 bytes are more than stay inline: the value has a name.
  std::vector<float> values;
  for (Operation& op : p.block()) {
    if (!op.is("builtin.shadow_output")) continue;
    ASSERT_TRUE(op.operand(0).defining_op()->is("builtin.constant"));
    values.push_back(pir::constant_tensor(*op.operand(0).defining_op(), p).data<float>()[99]);
  }
  EXPECT_EQ(values, (std::vector<float>{7, 8}));
  EXPECT_EQ(p.parameters().size(), 3u);
}

}  // namespace
}  // namespace paddle::passes
