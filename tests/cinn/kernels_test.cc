// Compiled groups against the oracle of reference.h.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/flags.h"
#include "reference.h"

namespace paddle::cinn {
namespace {

using scalar::Fn;
using testing::check_group;
using testing::Sizes;

constexpr DType f32 = DType::kFloat32;

// Negative sizes are symbols: -1 is the first, -2 the second.
Shape sizes(Group& g, const Sizes& dims) {
  Shape out;
  for (int64_t d : dims) out.push_back(d < 0 ? g.symbol(static_cast<int>(-1 - d)) : Index(d));
  return out;
}

// Mean over a constant extent.
int mean_of(Group& g, int x, int dim, int64_t n, DType t = f32) {
  int sum = g.reduce(ReduceKind::kSum, x, {dim}, true, t);
  return g.pointwise(Fn::div, {sum, g.constant(t, static_cast<double>(n))}, t);
}

Group rmsnorm(int64_t rows, int64_t columns, DType t = f32) {
  Group g;
  int x = g.input(t, sizes(g, {rows, columns})), w = g.input(t, {columns});
  int m = mean_of(g, g.pointwise(Fn::square, {x}, t), 1, columns, t);
  int r = g.pointwise(Fn::rsqrt, {g.pointwise(Fn::add, {m, g.constant(t, 1e-6)}, t)}, t);
  g.output(g.pointwise(Fn::mul, {g.pointwise(Fn::mul, {x, r}, t), w}, t));
  return g;
}

Group softmax(const Sizes& shape, int axis, DType t = f32) {
  Group g;
  int x = g.input(t, sizes(g, shape));
  int shifted = g.pointwise(Fn::sub, {x, g.reduce(ReduceKind::kMax, x, {axis}, true, t)}, t);
  int e = g.pointwise(Fn::exp, {shifted}, t);
  g.output(g.pointwise(Fn::div, {e, g.reduce(ReduceKind::kSum, e, {axis}, true, t)}, t));
  return g;
}

Group layer_norm_gelu(int64_t rows, int64_t n, DType t = f32) {
  Group g;
  int x = g.input(t, {rows, n}), residual = g.input(t, {rows, n}), w = g.input(t, {n}), b = g.input(t, {n});
  int centred = g.pointwise(Fn::sub, {x, mean_of(g, x, 1, n, t)}, t);
  int variance = mean_of(g, g.pointwise(Fn::mul, {centred, centred}, t), 1, n, t);
  int r = g.pointwise(Fn::rsqrt, {g.pointwise(Fn::add, {variance, g.constant(t, 1e-5)}, t)}, t);
  int y = g.pointwise(Fn::fma,
                      {g.pointwise(Fn::mul, {centred, r}, t), g.broadcast(w, {rows, n}), g.broadcast(b, {rows, n})}, t);
  int inner = g.pointwise(Fn::erf, {g.pointwise(Fn::mul, {y, g.constant(t, 0.7071067811865476)}, t)}, t);
  int half = g.pointwise(Fn::mul, {y, g.constant(t, 0.5)}, t);
  int gelu = g.pointwise(Fn::mul, {half, g.pointwise(Fn::add, {inner, g.constant(t, 1)}, t)}, t);
  g.output(g.pointwise(Fn::add, {gelu, residual}, t));
  return g;
}

TEST(Kernels, RmsNormIsOneKernel) {
  Group g = rmsnorm(5, 2048);
  auto compiled = compile(g);
  EXPECT_EQ(compiled->module().kernels.size(), 1u);
  check_group(g);
}

// What the steps make of it, as text: a reduction and a second pass over the row, the mean and its root once per row.
TEST(Kernels, RmsNormAsText) {
  std::vector<std::string> steps;
  Target target;
  Module m = lower(rmsnorm(6, 64), target,
                   [&](std::string_view step, const std::string&, double) { steps.emplace_back(step); });
  EXPECT_EQ(steps, (std::vector<std::string>{"group", "align axes", "plan kernels", "build loops"}));
  EXPECT_EQ(m.str(), R"(in0: float32[384]
in1: float32[64]
out0: float32[384]
kernel kernel0: parallel i0 < 6
  acc0: float32 = sum of nothing
  for i1 < 64 vectorize unroll 4
    v0: float32 = in0[64*i0 + i1]
    v1: float32 = mul(v0, v0)
    acc0 = sum(acc0, v1)
  v2: float32 = acc0
  v4: float32 = 64
  v5: float32 = div(v2, v4)
  v6: float32 = 9.999999974752427e-07
  v7: float32 = add(v5, v6)
  v8: float32 = rsqrt(v7)
  for i2 < 64 vectorize unroll 4
    v3: float32 = in0[64*i0 + i2]
    v9: float32 = mul(v3, v8)
    v10: float32 = in1[i2]
    v11: float32 = mul(v9, v10)
    out0[64*i0 + i2] = v11
)");
}

// Not by the oracle of the other tests, so that the oracle itself is checked once.
TEST(Kernels, RmsNormByHand) {
  Group g = rmsnorm(1, 4);
  auto out = testing::run_compiled(g, *compile(g), {}, {{1, 2, 3, 4}, {1, 1, 2, 0.5}});
  const double r = 1 / std::sqrt(7.5 + 1e-6);
  testing::expect_close(out[0], {r, 2 * r, 6 * r, 2 * r}, {}, "rmsnorm");
}

TEST(Kernels, SoftmaxIsOneKernel) {
  Group g = softmax({7, 100}, 1);
  EXPECT_EQ(compile(g)->module().kernels.size(), 1u);
  check_group(g);
  check_group(softmax({9, 33, 40}, 1));
  check_group(softmax({300, 70}, 0));
}

// Rows that come from memory are fetched while the row before is computed; results as ever, also in the last row.
TEST(Kernels, NextRowIsPrefetched) {
  Target target = host_target();
  target.streaming_bytes = 4096;
  for (DType t : {f32, DType::kBFloat16}) {
    Group g = softmax({9, 1024}, 1, t);
    EXPECT_NE(lower(g, target).str().find("prefetch in0[1024 + 1024*i0 + i2]"), std::string::npos) << name_of(t);
    auto compiled = compile(g, target, nullptr);
    check_group(g, *compiled, {}, testing::random_inputs(g, {}));
  }
  EXPECT_EQ(lower(softmax({9, 1024}, 1), Target{}).str().find("prefetch"), std::string::npos);  // fits the cache
}

// One module, two codes: small calls keep their results in the cache, large ones store around it.
TEST(Kernels, SizesOfACallChooseTheStores) {
  Target target = host_target();
  target.streaming_bytes = 1 << 16;
  Group g = softmax({-1, 256}, 1);
  EXPECT_NE(lower(g, target).str().find("(streaming)"), std::string::npos);
  auto codes = [] { return compile_counts().compiled + compile_counts().loaded; };  // other processes share the disk
  const int64_t before = codes();
  forget_compiled();
  auto compiled = compile(g, target, nullptr);
  for (int64_t n : {2, 3, 63}) check_group(g, *compiled, {n}, testing::random_inputs(g, {n}));
  EXPECT_EQ(codes(), before + 1);
  for (int64_t n : {64, 100, 5}) check_group(g, *compiled, {n}, testing::random_inputs(g, {n}));
  EXPECT_EQ(codes(), before + 2);
}

TEST(Kernels, DearGroupsAreRefused) {
  const int64_t budget = flags::get_int("cinn_compile_budget_ms");
  flags::set("cinn_compile_budget_ms", int64_t{0});
  forget_compiled();
  EXPECT_THROW(compile(softmax({7, 100}, 1)), paddle::Error);
  flags::set("cinn_compile_budget_ms", budget);
  check_group(softmax({7, 100}, 1));
}

TEST(Kernels, LayerNormGeluResidual) {
  Group g = layer_norm_gelu(6, 768);
  EXPECT_EQ(compile(g)->module().kernels.size(), 1u);
  check_group(g);
}

TEST(Kernels, EveryOddLength) {
  for (int64_t n = 1; n <= 70; ++n) {
    SCOPED_TRACE(n);
    check_group(rmsnorm(3, n));
    check_group(softmax({2, n}, 1));
    check_group(softmax({n, 3}, 0));
    if (HasFailure()) return;
  }
}

TEST(Kernels, EmptyTensors) {
  check_group(rmsnorm(0, 16));
  check_group(softmax({4, 0}, 1));
  Group g;
  g.output(g.reduce(ReduceKind::kSum, g.input(f32, {3, 0}), {1}, false, f32));
  g.output(g.reduce(ReduceKind::kProd, g.input(f32, {0, 3}), {0}, false, f32));
  check_group(g);
}

TEST(Kernels, OneKernelForEverySize) {
  Group g = rmsnorm(-1, 96);
  auto compiled = compile(g);
  for (int64_t n : {1, 2, 3, 17, 64}) check_group(g, *compiled, {n}, testing::random_inputs(g, {n}));

  Group s = softmax({-1, -2}, 1);
  compiled = compile(s);
  for (int64_t n : {1, 2, 15, 16, 17, 70, 300}) check_group(s, *compiled, {5, n}, testing::random_inputs(s, {5, n}));

  Group c;
  int x = c.input(f32, {c.symbol(0), c.symbol(1)});
  c.output(c.reduce(ReduceKind::kSum, x, {0}, false, f32));
  c.output(c.reduce(ReduceKind::kMax, x, {0, 1}, false, f32));
  compiled = compile(c);
  for (int64_t n : {1, 2, 7, 8, 9, 100})
    for (int64_t m : {1, 15, 33, 700}) check_group(c, *compiled, {n, m}, testing::random_inputs(c, {n, m}));
}

TEST(Kernels, ColumnReduction) {
  Group g;
  int x = g.input(f32, {201, 130});
  g.output(g.reduce(ReduceKind::kSum, x, {0}, false, f32));
  g.output(g.reduce(ReduceKind::kMax, g.pointwise(Fn::abs, {x}, f32), {0}, false, f32));
  check_group(g);
  Group middle;
  middle.output(middle.reduce(ReduceKind::kSum, middle.input(f32, {3, 50, 77}), {1}, false, f32));
  check_group(middle);
}

TEST(Kernels, ReducesOverSeveralAxes) {
  Group g;  // batch norm's statistics
  int x = g.input(f32, {4, 10, 6, 7});
  g.output(g.reduce(ReduceKind::kSum, x, {0, 2, 3}, false, f32));
  g.output(g.reduce(ReduceKind::kSum, g.pointwise(Fn::square, {x}, f32), {0, 2, 3}, true, f32));
  check_group(g);
}

TEST(Kernels, FewLongRowsAreSplit) {
  Group g;
  int x = g.input(f32, {2, 100001});
  int centred = g.pointwise(Fn::sub, {x, mean_of(g, x, 1, 100001)}, f32);
  g.output(mean_of(g, g.pointwise(Fn::square, {centred}, f32), 1, 100001));
  g.output(centred);
  Target target = host_target();
  target.threads = 2;
  auto compiled = compile(g, target, nullptr);
  const int64_t none = 0;
  EXPECT_GE(compiled->module().pool.evaluate(compiled->module().kernels[0].parallel_extent, &none), 4);
  check_group(g);
  check_group(softmax({1, 50000}, 1));
  check_group(softmax({40000, 3}, 0));
  Group all;
  all.output(all.reduce(ReduceKind::kSum, all.input(f32, {300, 300}), {0, 1}, false, f32));
  check_group(all);
}

TEST(Kernels, AxesAlignThroughReshapeAndTranspose) {
  Group g;  // group norm: the statistics of [2, 8, 4, 5] over 4 groups, scaled per channel
  int x = g.input(f32, {2, 8, 4, 5}), w = g.input(f32, {8});
  int folded = g.reshape(x, {2, 4, 40});
  int centred = g.pointwise(Fn::sub, {folded, mean_of(g, folded, 2, 40)}, f32);
  int variance = mean_of(g, g.pointwise(Fn::square, {centred}, f32), 2, 40);
  int normal = g.pointwise(Fn::mul, {centred, g.pointwise(Fn::rsqrt, {variance}, f32)}, f32);
  g.output(g.pointwise(Fn::mul, {g.reshape(normal, {2, 8, 4, 5}), g.reshape(w, {8, 1, 1})}, f32));
  EXPECT_EQ(compile(g)->module().kernels.size(), 1u);
  check_group(g);

  Group t;
  int y = t.input(f32, {37, 53}), z = t.input(f32, {53, 37});
  t.output(t.pointwise(Fn::add, {t.transpose(y, {1, 0}), z}, f32));
  check_group(t);

  Group self;  // axes that can't align
  int q = self.input(f32, {45, 45});
  self.output(self.pointwise(Fn::add, {q, self.transpose(q, {1, 0})}, f32));
  int r = self.input(f32, {4, 6});
  self.output(self.pointwise(Fn::add, {self.reshape(self.transpose(r, {1, 0}), {4, 6}), r}, f32));
  check_group(self);
}

TEST(Kernels, RowsStayAlignedThroughSlicesOfColumns) {
  Group g;  // a normalised row, its halves swapped
  int x = g.input(f32, {7, 40});
  int centred = g.pointwise(Fn::sub, {x, mean_of(g, x, 1, 40)}, f32);
  int low = g.slice(centred, {0, 0}, {1, 1}, {7, 20}), high = g.slice(centred, {0, 20}, {1, 1}, {7, 20});
  g.output(g.concat({g.pointwise(Fn::neg, {high}, f32), low}, 1));
  EXPECT_EQ(compile(g)->module().kernels.size(), 1u);
  check_group(g);
}

TEST(Kernels, TakesOneElementOfEachRow) {
  Group g;  // log-softmax at the label
  int x = g.input(f32, {9, 33}), label = g.input(DType::kInt64, {9, 1});
  int shifted = g.pointwise(Fn::sub, {x, g.reduce(ReduceKind::kMax, x, {1}, true, f32)}, f32);
  int total =
      g.pointwise(Fn::log, {g.reduce(ReduceKind::kSum, g.pointwise(Fn::exp, {shifted}, f32), {1}, true, f32)}, f32);
  g.output(g.pointwise(Fn::sub, {g.take(shifted, label, 1), total}, f32));
  EXPECT_EQ(compile(g)->module().kernels.size(), 1u);
  auto inputs = testing::random_inputs(g, {});
  inputs[1] = {0, 32, 5, 1, 2, 3, 31, 30, 16};
  check_group(g, *compile(g), {}, inputs);
}

TEST(Kernels, ReductionReadAtOtherIndices) {
  Group g;  // row sums of the transpose, added to the rows: another kernel and a temporary
  int x = g.input(f32, {30, 30});
  int s = g.reduce(ReduceKind::kSum, x, {0}, false, f32), r = g.reduce(ReduceKind::kSum, x, {1}, true, f32);
  g.output(g.pointwise(Fn::add, {g.pointwise(Fn::sub, {x, r}, f32), s}, f32));
  check_group(g);
  Group h;
  int y = h.input(f32, {6, 20});
  int m = h.reduce(ReduceKind::kMax, y, {1}, false, f32);
  h.output(h.slice(m, {1}, {2}, {3}));
  h.output(h.reduce(ReduceKind::kSum, m, {0}, false, f32));
  check_group(h);
}

// The rows' kernel computes something dear that the columns' kernel needs as well: it is written once.
TEST(Kernels, DearValuesAreSharedBetweenKernels) {
  Group g;
  int x = g.input(f32, {60, 50});
  int y = g.pointwise(Fn::sub, {x, mean_of(g, x, 1, 50)}, f32);
  for (int i = 0; i < 3; ++i) y = g.pointwise(Fn::tanh, {y}, f32);
  g.output(g.reduce(ReduceKind::kSum, y, {1}, false, f32));
  g.output(g.reduce(ReduceKind::kSum, y, {0}, false, f32));
  Module m = lower(g, Target{});
  int tanhs = 0;
  std::string text = m.str();
  for (size_t at = 0; (at = text.find("tanh(", at)) != std::string::npos; ++at) ++tanhs;
  EXPECT_EQ(tanhs, 3) << text;
  check_group(g);
}

TEST(Kernels, Broadcast) {
  Group g;
  int a = g.input(f32, {4, 1, 33}), b = g.input(f32, {5, 1}), c = g.input(f32, {});
  g.output(g.pointwise(Fn::mul, {g.pointwise(Fn::add, {a, b}, f32), c}, f32));
  g.output(g.broadcast(c, {3, 3}));
  int n = g.input(f32, {21});
  g.output(g.pointwise(Fn::sub, {g.reshape(n, {21, 1}), n}, f32));
  check_group(g);
}

TEST(Kernels, IndexMaps) {
  Group g;
  int x = g.input(f32, {9, 40}), rows = g.input(DType::kInt64, {2, 3});
  g.output(g.slice(x, {1, 39}, {2, -1}, {4, 40}));
  g.output(g.concat(
      {g.slice(x, {0, 20}, {1, 1}, {9, 20}), g.pointwise(Fn::neg, {g.slice(x, {0, 0}, {1, 1}, {9, 20})}, f32)}, 1));
  g.output(g.concat({x, g.pointwise(Fn::exp, {x}, f32)}, 0));
  g.output(g.pad(x, {1, 2}, {11, 45}, 7));
  g.output(g.pointwise(Fn::mul, {g.iota(f32, {9, 40}, 1), x}, f32));
  g.output(g.gather(x, rows, 0));
  g.output(g.gather(x, rows, 1));
  auto inputs = testing::random_inputs(g, {});
  inputs[1] = {0, 8, 3, 3, 7, 1};
  check_group(g, *compile(g), {}, inputs);
}

TEST(Kernels, ReductionOverGatheredAndConcatenated) {
  Group g;
  int x = g.input(f32, {9, 40}), rows = g.input(DType::kInt32, {5});
  int picked = g.gather(x, rows, 0);
  g.output(g.reduce(ReduceKind::kSum, picked, {1}, false, f32));
  g.output(g.reduce(ReduceKind::kMax, g.concat({picked, picked}, 1), {1}, false, f32));
  g.output(g.reduce(ReduceKind::kSum, g.pad(x, {0, 3}, {9, 50}, 1), {0}, false, f32));
  auto inputs = testing::random_inputs(g, {});
  inputs[1] = {8, 0, 0, 2, 5};
  check_group(g, *compile(g), {}, inputs);
}

TEST(Kernels, Dtypes) {
  for (DType t : {DType::kBFloat16, DType::kFloat16, DType::kFloat64}) {
    SCOPED_TRACE(name_of(t));
    check_group(rmsnorm(3, 45, t));
    check_group(softmax({3, 70}, 1, t));
    check_group(softmax({70, 19}, 0, t));
  }
  for (DType t : {DType::kInt32, DType::kInt64, DType::kInt8, DType::kUInt8, DType::kBool}) {
    SCOPED_TRACE(name_of(t));
    Group g;
    int x = g.input(t, {5, 39}), y = g.input(t, {5, 39});
    g.output(g.pointwise(Fn::max, {x, y}, t));
    g.output(g.pointwise(Fn::lt, {x, y}, DType::kBool, t == DType::kBool ? DType::kInt32 : t));
    g.output(g.reduce(ReduceKind::kSum, x, {1}, false, DType::kInt64));
    g.output(
        g.reduce(ReduceKind::kAny, g.pointwise(Fn::gt, {x, y}, DType::kBool, DType::kInt32), {0}, false, DType::kBool));
    g.output(g.reduce(ReduceKind::kAll, x, {1}, false, DType::kBool));
    g.output(g.cast(x, f32));
    g.output(g.cast(g.cast(x, DType::kFloat64), t));
    if (t != DType::kBool) g.output(g.pointwise(Fn::div, {x, y}, t));
    check_group(g);
  }
}

TEST(Kernels, NanAndInfinityPass) {
  Group g;
  int x = g.input(f32, {3, 20});
  g.output(g.reduce(ReduceKind::kMax, x, {1}, false, f32));
  g.output(g.reduce(ReduceKind::kMin, x, {0}, false, f32));
  int s = g.reduce(ReduceKind::kSum, x, {1}, true, f32);
  g.output(g.pointwise(Fn::div, {x, s}, f32));
  for (Fn f : {Fn::exp, Fn::tanh, Fn::log, Fn::sigmoid, Fn::erf, Fn::sin, Fn::log1p, Fn::expm1, Fn::sqrt})
    g.output(g.pointwise(f, {x}, f32));
  auto inputs = testing::random_inputs(g, {});
  inputs[0][3] = NAN, inputs[0][25] = INFINITY, inputs[0][26] = -INFINITY, inputs[0][30] = 0, inputs[0][45] = 1e-42f;
  check_group(g, *compile(g), {}, inputs);
}

// x / s, where s is one number for a row: very small, very large, zero, infinite.
TEST(Kernels, RowDivisors) {
  Group g;
  int x = g.input(f32, {9, 20}), s = g.input(f32, {9, 1});
  g.output(g.pointwise(Fn::div, {x, s}, f32));
  auto inputs = testing::random_inputs(g, {});
  inputs[1] = {1e-40, 3e38, 0, -0.0, INFINITY, NAN, 3, -1e-30, 1e30};
  inputs[0][7] = 0, inputs[0][47] = 0, inputs[0][90] = INFINITY, inputs[0][21] = 3e38;
  for (double& v : inputs[1]) v = static_cast<float>(v);
  for (double& v : inputs[0]) v = static_cast<float>(v);
  check_group(g, *compile(g), {}, inputs);
}

}  // namespace
}  // namespace paddle::cinn
