// Whole programs: what is written back, what may be overwritten, how much memory a run takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "executor/executable.h"
#include "pir/builder.h"
#include "pir/recompute.h"

namespace paddle::executor {
namespace {

using pir::Attribute;
using pir::Builder;
using pir::Type;
using pir::Value;

Type f32(Shape s) { return Type::tensor(DType::kFloat32, s); }

Tensor filled(Shape shape, float v) {
  Tensor t = Tensor::empty(view(shape), DType::kFloat32, Place::cpu());
  std::fill_n(t.data<float>(), t.numel(), v);
  return t;
}
float first(const Tensor& t) { return *t.data<float>(); }

TEST(Run, AChainTakesTwoBuffersOrOne) {
  pir::Program p;
  Builder b(p);
  Value x = b.data("x", f32({64, 64}));
  for (int k = 0; k < 10; ++k) x = b.value("pd_op.matmul", {x, x});  // can't write over what it reads
  b.shadow_output("y", x);
  EXPECT_EQ(Executable(p.clone()).memory_use().arena, 2u * 64 * 64 * 4);
  pir::Program q;
  Builder c(q);
  Value y = c.data("x", f32({64, 64}));
  for (int k = 0; k < 10; ++k) y = c.value("pd_op.tanh", {y});  // can
  c.shadow_output("z", c.value("pd_op.matmul", {y, y}));
  EXPECT_EQ(Executable(q.clone()).memory_use().arena, 1u * 64 * 64 * 4);
  c.shadow_output("y", y);
  EXPECT_EQ(Executable(std::move(q)).memory_use().arena, 0u);  // all in the memory that leaves as y
}

// The memory of what is given up is written over, lent, or freed, whoever reads it last; and leaves with a result.
TEST(Run, InputsThatAreGivenUp) {
  pir::Program p;
  Builder b(p);
  Value x = b.data("x", f32({64, 64})), y = b.data("y", f32({64, 64}));
  Value t = b.value("pd_op.matmul", {x, y});                           // x dies, y doesn't
  Value u = b.value("pd_op.matmul", {t, y});                           // lies where x was; y dies
  Value v = b.value("pd_op.tanh", {b.value("pd_op.matmul", {u, t})});  // lies where y was, as does what it is made of
  b.shadow_output("z", b.value("pd_op.matmul", {v, v}));
  Executable e(std::move(p));
  const size_t one = 64 * 64 * 4;
  EXPECT_EQ(e.memory_use().arena, 3 * one);
  EXPECT_EQ(e.memory_use({}, true).arena, one);
  const Tensor mine = filled({64, 64}, 0.01f);
  const float want = first(e.run(std::vector<Tensor>{mine, filled({64, 64}, 0.02f)})[0]);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(first(e.consume({filled({64, 64}, 0.01f), filled({64, 64}, 0.02f)})[0]), want);
    EXPECT_EQ(first(e.consume({mine, filled({64, 64}, 0.02f)})[0]), want);
    EXPECT_EQ(first(mine), 0.01f);
  }
}

TEST(Run, AResultLeavesInWhatIsGivenUp) {
  pir::Program p;
  Builder b(p);
  Value x = b.data("x", f32({64, 64}));
  b.shadow_output("y", b.value("pd_op.tanh", {x}));
  Executable e(std::move(p));
  Tensor in = filled({64, 64}, 0.5f);
  const void* memory = in.data();
  std::vector<Tensor> inputs;
  inputs.push_back(std::move(in));
  const std::vector<Tensor> out = e.consume(std::move(inputs));
  EXPECT_EQ(out[0].data(), memory);
  EXPECT_NEAR(first(out[0]), std::tanh(0.5f), 1e-6);
}

TEST(Run, InputsAndParametersAreNeverOverwritten) {
  pir::Program p;
  Builder b(p);
  Value x = b.data("x", f32({8})), w = b.parameter("w", f32({8}));
  p.set_parameter("w", filled({8}, 2));
  Value y = b.value("pd_op.tanh", {x});
  b.shadow_output("y", b.value("pd_op.multiply", {y, b.value("pd_op.tanh", {w})}));
  Executable e(std::move(p));
  Tensor in = filled({8}, 3);
  e.run(std::vector<Tensor>{in});
  EXPECT_EQ(first(in), 3);
  EXPECT_EQ(first(e.program().parameter("w")), 2);
}

TEST(Run, AParameterIsWrittenBackOnceItIsRead) {
  pir::Program p;
  Builder b(p);
  Value x = b.data("x", f32({8})), w = b.parameter("w", f32({8}));
  p.set_parameter("w", filled({8}, 2));
  Value next = b.value("pd_op.add", {w, x});
  b.set_parameter("w", next);
  b.shadow_output("old", b.value("pd_op.multiply", {w, w}));
  b.shadow_output("new", b.value("pd_op.multiply", {next, next}));
  Executable e(std::move(p));
  const std::vector<Tensor> out = e.run(std::vector<Tensor>{filled({8}, 1)});
  ASSERT_EQ(e.results()[0].name, "w");
  EXPECT_EQ(e.results()[0].parameter, 0);
  EXPECT_EQ(first(out[0]), 3);
  EXPECT_EQ(first(out[1]), 4);
  EXPECT_EQ(first(out[2]), 9);
}

TEST(Run, ReplayedDrawsAreEqual) {
  pir::Program p;
  Builder b(p);
  Value x = b.data("x", f32({1000}));
  Value shape = b.full_int_array(std::vector<int64_t>{1000});
  auto draw = [&](bool replayed) {
    pir::AttrMap attrs{{"dtype", Attribute::dtype(DType::kFloat32)},
                       {"seed", Attribute::i32(0)},
                       {"place", Attribute::undefined_place()}};
    Value low = b.full(Shape{1}, 0, DType::kFloat32), high = b.full(Shape{1}, 1, DType::kFloat32);
    pir::Operation* op = b.create(pir::op_def("pd_op.uniform"), std::vector<Value>{shape, low, high}, attrs);
    op->set_attr(pir::kRandomKey, Attribute::i64(1));
    if (replayed) op->set_attr(pir::kReplayed, Attribute::boolean(true));
    return op->result();
  };
  Value one = draw(false), two = draw(true);
  b.shadow_output("difference", b.value("pd_op.subtract", {one, two}));
  b.shadow_output("one", one);
  b.shadow_output("x", b.value("pd_op.tanh", {x}));
  Executable e(std::move(p));
  Generator keys;
  keys.seed(5);
  std::vector<Tensor> a = e.run(std::vector<Tensor>{filled({1000}, 0)}, {}, &keys);
  for (int k = 0; k < 1000; ++k) ASSERT_EQ(a[0].data<float>()[k], 0);
  std::vector<Tensor> c = e.run(std::vector<Tensor>{filled({1000}, 0)}, {}, &keys);
  EXPECT_NE(first(a[1]), first(c[1]));
  EXPECT_EQ(keys.state().draw, 2u);  // replaying draws nothing
}

TEST(Run, RunsMayOverlap) {
  pir::Program p;
  Builder b(p);
  Value x = b.data("x", f32({64, 64}));
  Value y = x;
  for (int k = 0; k < 20; ++k) y = b.value("pd_op.tanh", {b.value("pd_op.matmul", {y, x})});
  b.shadow_output("y", y);
  Executable e(std::move(p));
  auto input = [](int k) { return std::vector<Tensor>{filled({64, 64}, 0.001f * static_cast<float>(k + 1))}; };
  std::vector<float> alone, together(8);
  for (int k = 0; k < 8; ++k) alone.push_back(first(e.run(input(k))[0]));
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k)
    threads.emplace_back([&, k] {
      for (int round = 0; round < 5; ++round) together[static_cast<size_t>(k)] = first(e.run(input(k))[0]);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(alone, together);
}

}  // namespace
}  // namespace paddle::executor
