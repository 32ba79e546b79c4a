// From PIR programs with real records to compiled groups.
#include "cinn/group/fuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/call.h"
#include "pir/builder.h"
#include "pir/verifier.h"
#include "reference.h"

// Rules may name operators; on metadata alone none is called.
namespace paddle::dispatch {
void call(OpCall& c) { throw InternalError("no operator runs here: " + std::string(c.op.name)); }
}  // namespace paddle::dispatch

namespace paddle::cinn {
namespace {

using pir::Attribute;
using pir::Builder;
using pir::Operation;
using pir::Program;
using pir::Value;
using testing::Sizes;
using testing::Tensor;

pir::Type f32(std::initializer_list<Dim> shape) { return pir::Type::tensor(DType::kFloat32, paddle::Shape(shape)); }

class Fuse : public ::testing::Test {
 protected:
  void SetUp() override { pir::set_record_source(find_op, all_ops); }

  static Value axes(Builder& b, std::initializer_list<int64_t> v) { return b.full_int_array(std::vector<int64_t>(v)); }

  static std::vector<Operation*> groups(const Program& p) {
    std::vector<Operation*> out;
    p.walk([&](Operation& op) {
      if (op.is("cinn_op.group")) out.push_back(&op);
    });
    return out;
  }

  // The group's results against the oracle's, for the values that the symbols have.
  static void check(const Operation& group, const Sizes& sizes = {}) {
    std::vector<Operation*> ops = group.region(0).front().ops();
    std::vector<Value> results = ops.back()->operands();
    ops.pop_back();
    TranslatedGroup t = translate(ops, results);
    ASSERT_EQ(t.symbols.size(), sizes.size());
    testing::check_group(t.group, sizes, 0.1, 3);
  }
};

// x * rsqrt(mean(x * x, -1, keepdim) + eps) * w, as the sum and the quotient that mean is decomposed into.
Value rms_norm(Builder& b, Value x, Value w, double n) {
  Value square = b.value("pd_op.multiply", {x, x});
  Value sum = b.create("pd_op.sum", {square, b.full_int_array(std::vector<int64_t>{-1})},
                       {{"keepdim", Attribute::boolean(true)}})
                  ->result(0);
  Value mean = b.value("pd_op.divide", {sum, b.full({}, n, DType::kFloat32)});
  Value shifted = b.value("pd_op.add", {mean, b.full({}, 1e-6, DType::kFloat32)});
  return b.value("pd_op.multiply", {b.value("pd_op.multiply", {x, b.value("pd_op.rsqrt", {shifted})}), w});
}

TEST_F(Fuse, RmsNormBecomesOneKernel) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({6, 40})), w = b.data("w", f32({40}));
  b.fetch("out", rms_norm(b, x, w, 40), 0);
  EXPECT_EQ(fuse_groups(p.module()), 1u);
  pir::verify(p.module());
  ASSERT_EQ(groups(p).size(), 1u);
  Operation& group = *groups(p)[0];
  EXPECT_EQ(group.num_results(), 1u);
  CompiledRegion region = compile_region(group);
  EXPECT_EQ(region.code->module().kernels.size(), 1u);
  EXPECT_EQ(region.inputs.size(), 2u);
  check(group);
  dissolve_group(group);
  pir::verify(p.module());
  EXPECT_TRUE(groups(p).empty());
}

TEST_F(Fuse, OneKernelServesASymbolicBatch) {
  Program p;
  Builder b(p);
  Dim batch = new_symbol(8);
  Value x = b.data("x", f32({batch, 5, 16})), w = b.data("w", f32({16}));
  Value y = rms_norm(b, x, w, 16);
  Value flat = b.create("pd_op.reshape", {y, axes(b, {0, 80})})->result(0);
  b.fetch("out", b.value("pd_op.exp", {flat}), 0);
  EXPECT_EQ(fuse_groups(p.module()), 1u);
  Operation& group = *groups(p)[0];
  EXPECT_EQ(compile_region(group).code->module().kernels.size(), 1u);
  check(group, {3});
  check(group, {11});
}

// matmul reads what the first group made, and its result and another value of that group meet in the second.
TEST_F(Fuse, GroupsDoNotDependOnThemselves) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({8, 8}));
  Value a = b.value("pd_op.exp", {b.value("pd_op.tanh", {x})});
  Value m = b.value("pd_op.matmul", {a, a});
  Value c = b.value("pd_op.multiply", {b.value("pd_op.add", {m, a}), x});
  b.fetch("out", c, 0);
  EXPECT_EQ(fuse_groups(p.module()), 2u);
  pir::verify(p.module());
  for (Operation* g : groups(p)) check(*g);
}

TEST_F(Fuse, ListsAndViewsInside) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({2, 3, 8}));
  // rotate half: concat(-x[..., 4:], x[..., :4]) * x
  auto part = [&](int64_t from, int64_t to) {
    return b
        .create("pd_op.slice", {x, axes(b, {from}), axes(b, {to})},
                {{"axes", Attribute::i64s(std::vector<int64_t>{2})},
                 {"infer_flags", Attribute::i64s(std::vector<int64_t>{1})},
                 {"decrease_axis", Attribute::i64s({})}})
        ->result(0);
  };
  Value high = b.create("pd_op.scale", {part(4, 8), b.full({1}, -1, DType::kFloat32)})->result(0);
  Value both = b.combine(std::vector<Value>{high, part(0, 4)});
  Value rotated = b.value("pd_op.concat", {both, b.full({1}, 2, DType::kInt32)});
  Value y = b.value("pd_op.multiply", {rotated, x});
  b.fetch("out",
          b.create("pd_op.transpose", {y}, {{"perm", Attribute::i32s(std::vector<int64_t>{1, 0, 2})}})->result(0), 0);
  EXPECT_EQ(fuse_groups(p.module()), 1u) << p.str();
  pir::verify(p.module());
  check(*groups(p)[0]);
}

// What reads the same large tensor reads it once, also where nothing else connects it.
TEST_F(Fuse, SiblingsShareTheirInput) {
  for (int64_t rows : {int64_t{256}, int64_t{4}}) {
    Program p;
    Builder b(p);
    Value x = b.data("x", f32({rows, 128}));
    Value positive = b.value("pd_op.relu", {b.value("pd_op.tanh", {x})});
    Value sum = b.create("pd_op.sum", {b.value("pd_op.exp", {x}), b.full_int_array(std::vector<int64_t>{-1})},
                         {{"keepdim", Attribute::boolean(true)}})
                    ->result(0);
    b.fetch("a", positive, 0);
    b.fetch("b", sum, 1);
    EXPECT_EQ(fuse_groups(p.module()), rows == 256 ? 1u : 2u);  // small tensors are in the cache anyway
    pir::verify(p.module());
    for (Operation* g : groups(p)) check(*g);
    if (rows == 256) EXPECT_EQ(compile_region(*groups(p)[0]).code->module().kernels.size(), 1u);
  }
}

// The product needs the first branch and is needed by the second: all three in a circle.
TEST_F(Fuse, SiblingsThatDependOnEachOtherStayApart) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({128, 128}));
  Value a = b.value("pd_op.exp", {b.value("pd_op.tanh", {x})});
  Value m = b.value("pd_op.matmul", {a, a});
  b.fetch("out", b.value("pd_op.relu", {b.value("pd_op.multiply", {m, x})}), 0);
  EXPECT_EQ(fuse_groups(p.module()), 2u);
  pir::verify(p.module());
}

// "joined exp, sum: ..." for each decision, in order.
std::vector<std::string> told(const std::vector<FusionDecision>& decisions) {
  std::vector<std::string> out;
  for (const FusionDecision& d : decisions)
    out.push_back(std::string(d.joined ? "joined " : "apart ") + std::string(d.first->def().short_name()) + ", " +
                  std::string(d.second->def().short_name()) + ": " + d.why);
  return out;
}

TEST_F(Fuse, EveryDecisionHasItsReason) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({6, 40})), w = b.data("w", f32({40}));
  Value e = b.value("pd_op.exp", {x});
  Value sum = b.create("pd_op.sum", {e, axes(b, {-1})}, {{"keepdim", Attribute::boolean(true)}})->result(0);
  Value m = b.value("pd_op.matmul",
                    {b.value("pd_op.multiply", {b.value("pd_op.divide", {e, sum}), w}), b.data("y", f32({40, 40}))});
  b.fetch("out", b.value("pd_op.relu", {b.value("pd_op.tanh", {m})}), 0);
  std::vector<FusionDecision> decisions;
  EXPECT_EQ(fuse_groups(p.module(), {.decisions = &decisions}), 2u);
  EXPECT_THAT(
      told(decisions),
      ::testing::ElementsAre(
          "joined exp, sum: the reduction takes elements of [6, 40] as they are made",
          "joined exp, divide: same iteration space [6, 40]", "joined divide, multiply: same iteration space [6, 40]",
          "apart multiply, matmul: matmul stays outside: a product: its kernel's loops are its own",
          "apart matmul, tanh: matmul stays outside: a product: its kernel's loops are its own",
          "joined tanh, relu: same iteration space [6, 40]",
          "apart relu, fetch: fetch stays outside: write-back: it takes the value out of the program"));
}

TEST_F(Fuse, ReasonsForStayingApart) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({128, 128}));
  Value a = b.value("pd_op.exp", {b.value("pd_op.tanh", {x})});
  Value m = b.value("pd_op.matmul", {a, a});
  Value c = b.value("pd_op.multiply", {b.value("pd_op.add", {m, a}), x});
  Value rows = b.create("pd_op.gather", {x, b.data("i", pir::Type::tensor(DType::kInt64, paddle::Shape{5})),
                                         b.full({1}, 0, DType::kInt32)})
                   ->result(0);
  b.fetch("a", b.value("pd_op.relu", {b.value("pd_op.tanh", {rows})}), 0);
  b.fetch("b", c, 1);
  std::vector<FusionDecision> decisions;
  fuse_groups(p.module(), {.decisions = &decisions});
  const std::vector<std::string> all = told(decisions);
  EXPECT_THAT(all, ::testing::Contains("apart exp, add: one group would depend on itself by way of matmul"));
  EXPECT_THAT(all,
              ::testing::Contains("apart gather, tanh: gather stays outside: data-dependent: its kernel checks the "
                                  "indices, a group would not"));
  Program q;
  Builder d(q);
  Value y = d.data("y", f32({6}));
  d.fetch("out", d.value("pd_op.exp", {d.value("pd_op.tanh", {d.value("pd_op.relu", {y})})}), 0);
  decisions.clear();
  fuse_groups(q.module(), {.max_ops = 2, .decisions = &decisions});
  EXPECT_THAT(told(decisions), ::testing::Contains("apart tanh, exp: budget: a group has at most 2 operations"));
}

TEST_F(Fuse, SmallThingsStayOutside) {
  Program p;
  Builder b(p);
  Value x = b.data("x", f32({4, 4}));
  b.fetch("out", b.create("pd_op.reshape", {b.value("pd_op.exp", {x}), axes(b, {16})})->result(0), 0);
  EXPECT_EQ(fuse_groups(p.module()), 0u);
  EXPECT_TRUE(groups(p).empty());
}

}  // namespace
}  // namespace paddle::cinn
