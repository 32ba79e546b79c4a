// Building, use lists, cloning, verification, fingerprints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pir/clone.h"
#include "pir/dominance.h"
#include "pir/dot.h"
#include "pir/hash.h"
#include "pir/printer.h"
#include "pir/verifier.h"
#include "test_ops.h"

namespace paddle::pir {
namespace {

using ::testing::HasSubstr;

Type f32(std::initializer_list<Dim> shape) { return Type::tensor(DType::kFloat32, Shape(shape)); }

class Ir : public ::testing::Test {
 protected:
  void SetUp() override { testing::register_test_ops(); }
};

TEST_F(Ir, TypesAndAttributesAreUnique) {
  EXPECT_EQ(f32({2, 3}), f32({2, 3}));
  EXPECT_NE(f32({2, 3}), f32({3, 2}));
  EXPECT_NE(f32({2}), Type::tensor(DType::kFloat32, {2}, Layout::kNHWC));
  std::vector<Type> items = {f32({1}), f32({2})};
  EXPECT_EQ(Type::vector(items), Type::vector(items));
  EXPECT_EQ(Attribute::i32(1), Attribute::i32(1));
  EXPECT_NE(Attribute::i32(1), Attribute::i64(1));
  EXPECT_NE(Attribute::f64(0.0), Attribute::f64(-0.0));
  EXPECT_EQ(Attribute::f64(NAN), Attribute::f64(NAN));
  DenseData a{DType::kUInt8, {2}, {std::byte{1}, std::byte{2}}}, b = a;
  EXPECT_EQ(Attribute::dense(a), Attribute::dense(b));
  b.bytes[1] = std::byte{3};
  EXPECT_NE(Attribute::dense(a), Attribute::dense(b));
  EXPECT_THROW(Attribute::i32(1).as_string(), InternalError);
}

TEST_F(Ir, UseListsFollowEveryChange) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({2})), y = b.data("y", f32({2}));
  Operation* add = b.create("pd_op.add", {x, x});
  EXPECT_EQ(x.num_uses(), 2u);
  EXPECT_EQ(x.users().size(), 1u);
  add->set_operand(1, y);
  EXPECT_TRUE(x.has_one_use());
  x.replace_all_uses_with(y);
  EXPECT_TRUE(x.use_empty());
  EXPECT_EQ(y.num_uses(), 2u);
  Operation* yield = b.yield(std::vector<Value>{x});
  for (int i = 0; i < 20; ++i) yield->append_operand(y);  // moves the operands to memory of their own
  EXPECT_EQ(y.num_uses(), 22u);
  yield->erase_operand(0);
  EXPECT_TRUE(x.use_empty());
  EXPECT_EQ(yield->num_operands(), 20u);
  EXPECT_EQ(yield->op_operand(7).index(), 7u);
  EXPECT_THROW(y.defining_op()->erase(), InternalError);
  EXPECT_EQ(p.block().size(), 4u);  // nothing was undone
  yield->erase();
  EXPECT_EQ(y.num_uses(), 2u);
}

TEST_F(Ir, OrderAndMoves) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({2}));
  Operation *first = b.create("pd_op.relu", {x}), *second = b.create("pd_op.exp", {x});
  EXPECT_TRUE(first->is_before(second));
  first->move_after(second);
  EXPECT_TRUE(second->is_before(first));
  b.before(second);
  Operation* third = b.create("pd_op.relu", {x});
  EXPECT_TRUE(third->is_before(second));
  EXPECT_FALSE(third->is_before(x.defining_op()));
}

TEST_F(Ir, BuilderInfersTypesAndNamesTheUsersLine) {
  Program p;
  Builder b(p, Location::at("model.py", 31, "forward"));
  Value x = b.data("x", f32({4, 8}));
  Value w = b.data("w", f32({8, 3}));
  Value y = b.value("pd_op.matmul", {x, w});
  EXPECT_EQ(y.type(), f32({4, 3}));
  EXPECT_EQ(y.defining_op()->attr("transpose_y"), Attribute::boolean(false));
  EXPECT_EQ(b.value("pd_op.softmax", {y}).defining_op()->attr("axis"), Attribute::i32(-1));
  try {
    b.create("pd_op.matmul", {w, x});
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("model.py:31"));
    EXPECT_EQ(e.kind(), ErrorKind::kValue);
  }
  EXPECT_THROW(b.create("pd_op.matmull", {x, w}), Error);
  try {
    op_def("pd_op.matmull");
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("pd_op.matmul\""));
  }
}

TEST_F(Ir, SymbolicSizesFlowThroughShapeRules) {
  Program p;
  Builder b(p);
  Dim s = new_symbol(7);
  Value x = b.data("x", f32({s, 4, 6}));
  Value shape = b.full_int_array(std::vector<int64_t>{0, -1});
  Value y = b.value("pd_op.reshape", {x, shape});
  EXPECT_EQ(y.shape(), (Shape{s, 24}));
  // A list that mixes a constant with a value made at run time.
  Value two = b.full({}, 2, DType::kInt64);
  Value n = b.data("n", Type::tensor(DType::kInt64, {}));
  Value mixed = b.combine(std::vector<Value>{two, n});
  EXPECT_EQ(b.value("pd_op.reshape", {x, mixed}).shape().size(), 2u);
  EXPECT_EQ(known_value(mixed), Attribute());
  EXPECT_EQ(known_value(b.combine(std::vector<Value>{two, two})), Attribute::ints({2, 2}));
}

TEST_F(Ir, ListsAreOneOperand) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({2, 3})), y = b.data("y", f32({5, 3}));
  Value axis = b.full({1}, 0, DType::kInt32);
  Value both = b.combine(std::vector<Value>{x, y});
  EXPECT_EQ(b.value("pd_op.concat", {both, axis}).type(), f32({7, 3}));
  auto parts = b.split(both);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].type(), y.type());
  verify(p);
}

TEST_F(Ir, ControlFlowVerifies) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({2}));
  Value zero = b.full({}, 0, DType::kFloat32);
  Value cond = b.value("pd_op.less_than", {zero, b.full({}, 1, DType::kFloat32)});
  std::vector<Type> types = {x.type()};
  Operation* branch = b.if_op(cond, types);
  for (int i = 0; i < 2; ++i) {
    Builder inner(&branch->region(static_cast<size_t>(i)).front());
    Value v = inner.value(i ? "pd_op.relu" : "pd_op.exp", {x});
    inner.yield(std::vector<Value>{v});
  }
  std::vector<Value> vars = {branch->result()};
  Operation* loop = b.while_op(cond, vars);
  {
    Builder inner(&loop->region(0).front());
    Value v = inner.value("pd_op.add", {loop->region(0).front().arg(0), x});
    inner.yield(std::vector<Value>{cond, v});
  }
  b.shadow_output("out", loop->result());
  verify(p, {.infer = true});
  EXPECT_EQ(captured_values(*loop), (std::vector<Value>{x, cond}));

  // Each break is found, and says where.
  loop->region(0).front().terminator()->erase_operand(1);
  EXPECT_THAT(problems_of(p.module())[0], HasSubstr("[pd_op.while] expected the body to yield 2 values, got 1"));
  Value inside = branch->region(0).front().front()->result();
  b.shadow_output("leak", inside);
  EXPECT_THAT(problems_of(p.module()).back(), HasSubstr("is not defined before its use"));
}

TEST_F(Ir, VerifierNamesOperandsAndAttributes) {
  Program p;
  Builder b(p, Location::at("net.py", 5));
  Value x = b.data("x", f32({2}));
  const OpDef& add = op_def("pd_op.add");
  std::vector<Value> one = {x}, null = {x, Value()};
  std::vector<Type> t = {x.type()};
  b.create(add, one, {}, t);
  b.create(add, null, {}, t);
  b.create(op_def("pd_op.softmax"), one, {{"axis", Attribute::string("last")}}, t);
  b.create(op_def("pd_op.matmul"), std::vector<Value>{x, x}, {}, std::vector<Type>{});
  auto problems = problems_of(p.module());
  ASSERT_EQ(problems.size(), 4u);
  EXPECT_EQ(problems[0], "[pd_op.add] (net.py:5) expected 2 operands, got 1");
  EXPECT_EQ(problems[1], "[pd_op.add] (net.py:5) operand 1 \"y\" is missing");
  EXPECT_EQ(problems[2],
            "[pd_op.softmax] (net.py:5) attribute \"axis\": expected Int32 or Int64 or Dim, got String (\"last\")");
  EXPECT_EQ(problems[3], "[pd_op.matmul] (net.py:5) expected 1 results, got 0");
  try {
    verify(p, {}, "after pass fold");
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("after pass fold: [pd_op.add] (net.py:5)"));
    EXPECT_THAT(e.what(), HasSubstr("and 3 more"));
  }
}

TEST_F(Ir, InferenceCheckFindsWrongTypes) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({2}));
  std::vector<Value> in = {x};
  std::vector<Type> wrong = {f32({3})};
  b.create(op_def("pd_op.relu"), in, {}, wrong);
  verify(p);
  EXPECT_THAT(problems_of(p.module(), {.infer = true}).at(0), HasSubstr("expected tensor<2xf32>, got tensor<3xf32>"));
}

TEST_F(Ir, StopGradientIsPerValue) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({2}));
  EXPECT_TRUE(x.stop_gradient());
  x.set_stop_gradient(false);
  EXPECT_FALSE(x.stop_gradient());
  EXPECT_EQ(x.defining_op()->attr("stop_gradient"), Attribute::array({Attribute::boolean(false)}));
  auto parts = b.split(b.combine(std::vector<Value>{x, x}));
  parts[1].set_stop_gradient(false);
  EXPECT_TRUE(parts[0].stop_gradient());
  EXPECT_FALSE(parts[1].stop_gradient());
}

Program two_layers(const char* name, Dim rows) {
  Program p;
  Builder b(p, Location::at(name, 1));
  Value x = b.data("x", f32({rows, 4}));
  Value y = b.value("pd_op.relu", {b.value("pd_op.add", {x, x})});
  b.fetch("out", y, 0);
  return p;
}

TEST_F(Ir, FingerprintsIgnoreNamesAndSeeMeaning) {
  Program a = two_layers("a.py", new_symbol()), b = two_layers("b.py", new_symbol());
  EXPECT_EQ(fingerprint(a), fingerprint(b));
  EXPECT_NE(fingerprint(a), fingerprint(two_layers("a.py", 5)));
  Program c = a.clone();
  EXPECT_EQ(fingerprint(a), fingerprint(c));
  c.block().back()->set_attr("col", Attribute::i32(1));
  EXPECT_NE(fingerprint(a), fingerprint(c));
  // Two different symbols are not one symbol twice.
  auto two = [](Dim r, Dim c) {
    Program p;
    Builder(p).data("x", f32({r, c}));
    return fingerprint(p);
  };
  Dim s = new_symbol(), t = new_symbol();
  EXPECT_EQ(two(s, t), two(t, s));
  EXPECT_NE(two(s, t), two(s, s));
}

TEST_F(Ir, FingerprintIsTheSameInEveryProcess) {
  // Written down from one run; a change of the algorithm must change the caches' version too.
  EXPECT_EQ(fingerprint(two_layers("x", 3)).str(), "2911e04a8a543758b248de42d7632eee");
}

TEST_F(Ir, ClonesAreIndependent) {
  Program a = two_layers("a.py", 3);
  Program b = a.clone();
  EXPECT_EQ(a.str(), b.str());
  while (!b.block().empty()) b.block().back()->erase();
  EXPECT_EQ(a.num_ops(), 4u);
  verify(a);
}

TEST_F(Ir, TopologicalSortRestoresOrder) {
  Program p = two_layers("a.py", 3);
  std::string before = p.str();
  p.block().front()->move_to_end(&p.block());
  EXPECT_FALSE(problems_of(p.module()).empty());
  EXPECT_TRUE(sort_topologically(p.block()));
  verify(p);
  EXPECT_EQ(p.str(), before);
}

TEST_F(Ir, DotHasAllNodes) {
  std::string dot = to_dot(two_layers("a.py", 3));
  EXPECT_THAT(dot, HasSubstr("pd_op.relu"));
  EXPECT_THAT(dot, HasSubstr("n1 -> n"));
}

TEST_F(Ir, TenThousandOperations) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({2, 3}));
  for (int i = 0; i < 10000; ++i) x = b.value("pd_op.relu", {x});
  EXPECT_EQ(p.num_ops(), 10001u);
  verify(p);
}

}  // namespace
}  // namespace paddle::pir
