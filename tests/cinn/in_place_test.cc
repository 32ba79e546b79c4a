// Which results may be written where an operand lies. That what may be comes out the same is checked for every group of
// the other tests (reference.h).
#include <gtest/gtest.h>

#include "reference.h"

namespace paddle::cinn {
namespace {

using scalar::Fn;
using testing::Sizes;

constexpr DType f32 = DType::kFloat32;

// Checks the values too; the answer for input i and output o.
bool may(const Group& g, int i = 0, int o = 0, const Sizes& symbols = {}) {
  Target target = host_target();
  target.threads = 2;
  const auto compiled = compile(g, target, nullptr);
  testing::check_group(g, *compiled, symbols, testing::random_inputs(g, symbols));
  return may_overwrite(compiled->module(), i, o);
}

TEST(InPlace, ElementByElement) {
  Group g;
  const int x = g.input(f32, {40, 96}), y = g.input(f32, {40, 96});
  g.output(g.pointwise(Fn::add, {g.pointwise(Fn::tanh, {x}, f32), y}, f32));
  EXPECT_TRUE(may(g, 0));
  EXPECT_TRUE(may(g, 1));
}

TEST(InPlace, BothResultsOfOneOperand) {
  Group g;
  const int x = g.input(f32, {1000});
  g.output(g.pointwise(Fn::exp, {x}, f32));
  g.output(g.pointwise(Fn::sin, {x}, f32));
  EXPECT_TRUE(may(g, 0, 0));
  EXPECT_TRUE(may(g, 0, 1));
}

Group softmax(const Shape& shape, Group g = {}) {
  const int x = g.input(f32, shape);
  const int most = g.reduce(ReduceKind::kMax, x, {1}, true, f32);
  const int e = g.pointwise(Fn::exp, {g.pointwise(Fn::sub, {x, most}, f32)}, f32);
  g.output(g.pointwise(Fn::div, {e, g.reduce(ReduceKind::kSum, e, {1}, true, f32)}, f32));
  return g;
}

TEST(InPlace, RowsThatAreReadSeveralTimes) {
  EXPECT_TRUE(may(softmax({33, 130})));
  Group g;
  const Index rows = g.symbol(0);
  EXPECT_TRUE(may(softmax({rows, 64}, std::move(g)), 0, 0, {19}));
}

TEST(InPlace, GradientOfCrossEntropy) {
  Group g;
  const int log_p = g.input(f32, {24, 100}), label = g.input(DType::kInt64, {24, 1}), weight = g.input(f32, {24, 1});
  const int hit = g.pointwise(Fn::eq, {g.iota(DType::kInt64, {24, 100}, 1), label}, DType::kBool);
  const int p = g.pointwise(Fn::exp, {log_p}, f32);
  g.output(g.pointwise(Fn::mul, {weight, g.pointwise(Fn::sub, {p, g.cast(hit, f32)}, f32)}, f32));
  EXPECT_TRUE(may(g, 0));
  EXPECT_FALSE(may(g, 2));  // of another size
}

TEST(InPlace, NotWhereElementsMove) {
  Group turned;
  turned.output(turned.pointwise(Fn::exp, {turned.transpose(turned.input(f32, {32, 32}), {1, 0})}, f32));
  EXPECT_FALSE(may(turned));
  Group reversed;
  const int x = reversed.input(f32, {512});
  reversed.output(reversed.pointwise(Fn::add, {x, reversed.slice(x, {511}, {-1}, {512})}, f32));
  EXPECT_FALSE(may(reversed));
  Group shifted;
  const int y = shifted.input(f32, {512});
  const int next = shifted.pad(shifted.slice(y, {1}, {1}, {511}), {0}, {512}, 0);
  shifted.output(shifted.pointwise(Fn::sub, {next, y}, f32));
  EXPECT_FALSE(may(shifted));
}

TEST(InPlace, NotWhereAnElementServesSeveral) {
  Group g;
  const int x = g.input(f32, {16, 64});
  const int all = g.reduce(ReduceKind::kSum, x, {0}, true, f32);
  g.output(all);  // a sum over columns, and what the columns are without it
  g.output(g.pointwise(Fn::sub, {x, all}, f32));
  Group table;
  const int rows = table.input(f32, {64, 8}), index = table.input(DType::kInt64, {64});
  table.output(table.pointwise(Fn::neg, {table.gather(rows, index, 0)}, f32));
  Target target = host_target();
  EXPECT_FALSE(may_overwrite(compile(table, target, nullptr)->module(), 0, 0));
  EXPECT_FALSE(may(g, 0, 0));
}

TEST(InPlace, NotInAnotherType) {
  Group g;
  g.output(g.cast(g.input(f32, {256}), DType::kInt32));
  EXPECT_FALSE(may(g));
}

}  // namespace
}  // namespace paddle::cinn
