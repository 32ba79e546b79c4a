// Schedules that change how sums are taken: results against the oracle, and what the loops read.
#include <gtest/gtest.h>

#include <bit>

#include "cinn/loop/traffic.h"
#include "reference.h"

namespace paddle::cinn {
namespace {

using scalar::Fn;
using testing::check_group;
using testing::Tensor;

constexpr DType f32 = DType::kFloat32;

int scaled(Group& g, int x, double n, DType t) { return g.pointwise(Fn::div, {x, g.constant(t, n)}, t); }

// mean((x - mean(x))^2) over `dims`.
Group variance(Shape shape, std::vector<int> dims, double n, DType t = f32) {
  Group g;
  int x = g.input(t, std::move(shape));
  int centred = g.pointwise(Fn::sub, {x, scaled(g, g.reduce(ReduceKind::kSum, x, dims, true, t), n, t)}, t);
  g.output(scaled(g, g.reduce(ReduceKind::kSum, g.pointwise(Fn::mul, {centred, centred}, t), dims, true, t), n, t));
  return g;
}

// Caches so small that the test's tensors don't fit.
Target small_caches(int threads) {
  Target t = host_target();
  t.threads = threads;
  t.l1_bytes = 1 << 10;
  t.l2_bytes = 1 << 13;
  return t;
}

void expect_right(const Group& g, const Target& target, double low = -3, double high = 3) {
  auto compiled = compile(g, target, nullptr);
  check_group(g, *compiled, {}, testing::random_inputs(g, {}, low, high));
}

// Loads from inputs of at least so many elements.
int loads_of_input(const Module& m, const Kernel& k, int64_t least = 0) {
  int n = 0;
  const std::function<void(const std::vector<Stmt>&)> scan = [&](const std::vector<Stmt>& body) {
    for (const Stmt& s : body) {
      if (s.kind == StmtKind::kLet && m.values[s.value].op == ValueOp::kLoad) {
        const Buffer& b = m.buffers[m.values[s.value].buffer];
        n += b.role == BufferRole::kInput && (least == 0 || b.size.value() >= least);
      }
      scan(s.body);
    }
  };
  scan(k.body);
  return n;
}

// One kernel reads x, block by block; the second only what the blocks left.
TEST(Schedule, VarianceOfMoreThanTheCacheReadsItOnce) {
  for (int threads : {1, 4}) {
    Group g = variance({64, 300}, {0, 1}, 64 * 300);
    Module m = lower(g, small_caches(threads));
    ASSERT_EQ(m.kernels.size(), 2u) << m.str();
    EXPECT_GT(loads_of_input(m, m.kernels[0]), 0);
    EXPECT_EQ(loads_of_input(m, m.kernels[1]), 0) << m.str();
    expect_right(g, small_caches(threads));
    expect_right(g, small_caches(threads), 1000, 1001);  // a mean far from zero costs no digits
  }
}

// As the operator `scale` says it: the constant decides whether the bias comes first.
TEST(Schedule, MeansMayBeScaledByConstants) {
  Group g;
  const double n = 64 * 300;
  int x = g.input(f32, {64, 300}), sum = g.reduce(ReduceKind::kSum, x, {0, 1}, true, f32);
  int factor = g.constant(f32, 1 / n), zero = g.constant(f32, 0), after = g.constant(DType::kBool, 1);
  const scalar::Instr instrs[] = {{Fn::mul, 0, 1, 0, 0}, {Fn::add, 4, 2, 0, 0}, {Fn::where, 3, 5, 4, 0}};
  const uint8_t result = 6;
  scalar::Program program;
  program.instrs = instrs;
  program.num_inputs = 4;
  program.outputs = {&result, 1};
  int mean = g.pointwise(program, {sum, factor, zero, after}, {}, f32);
  g.output(g.reduce(ReduceKind::kSum, g.pointwise(Fn::square, {g.pointwise(Fn::sub, {x, mean}, f32)}, f32), {0, 1},
                    false, f32));
  EXPECT_EQ(lower(g, small_caches(1)).kernels.size(), 2u);
  expect_right(g, small_caches(1));
}

TEST(Schedule, VarianceByRowsByColumnsAndOfParts) {
  for (int threads : {1, 4}) {
    const Target target = small_caches(threads);
    expect_right(variance({3, 7001}, {1}, 7001), target);          // chunks that don't come out even
    expect_right(variance({5000, 48}, {0}, 5000), target);         // by columns
    expect_right(variance({40, 6, 64}, {0, 2}, 40 * 64), target);  // a row of blocks for each channel
    expect_right(variance({2, 9000}, {1}, 9000, DType::kFloat64), target);
    expect_right(variance({2, 9000}, {1}, 9000, DType::kBFloat16), target);
  }
}

// What else the group computes from the same mean stays right.
TEST(Schedule, NormalisedByItsVariance) {
  for (int threads : {1, 4}) {
    Group g;
    const double n = 60 * 300;
    int x = g.input(f32, {60, 300});
    int centred = g.pointwise(Fn::sub, {x, scaled(g, g.reduce(ReduceKind::kSum, x, {0, 1}, true, f32), n, f32)}, f32);
    int square = g.pointwise(Fn::square, {centred}, f32);
    int spread = scaled(g, g.reduce(ReduceKind::kSum, square, {0, 1}, true, f32), n, f32);
    int root = g.pointwise(Fn::rsqrt, {g.pointwise(Fn::add, {spread, g.constant(f32, 1e-5)}, f32)}, f32);
    g.output(g.pointwise(Fn::mul, {centred, root}, f32));
    g.output(spread);
    expect_right(g, small_caches(threads));
  }
}

// Around another number than x's own mean the blocks would not combine where x holds an infinity.
TEST(Schedule, SquaresAroundAGivenNumberStayAsTheyAre) {
  Group g;
  int x = g.input(f32, {20000}), m = g.input(f32, {});
  int centred = g.pointwise(Fn::sub, {x, m}, f32);
  g.output(g.reduce(ReduceKind::kSum, g.pointwise(Fn::mul, {centred, centred}, f32), {0}, false, f32));
  EXPECT_EQ(lower(g, small_caches(1)).kernels.size(), 1u);
  Tensor infinite(20000, 1.0);
  infinite[7] = INFINITY;
  auto out = testing::run_compiled(g, *compile(g, small_caches(1), nullptr), {}, {infinite, {0.5}});
  EXPECT_EQ(out[0][0], INFINITY);
}

int kernels_that_run(const Module& m, int64_t size) {
  int n = 0;
  for (const Kernel& k : m.kernels) n += m.pool.evaluate(k.when, &size) != 0;
  return n;
}

// How many rows there are, only the call knows: with few of them, threads share each.
TEST(Schedule, FewRowsOfACallAreShared) {
  Target target = host_target();
  target.threads = 4;
  Group g;
  int x = g.input(f32, {g.symbol(0), 40000});
  int shifted = g.pointwise(Fn::sub, {x, g.reduce(ReduceKind::kMax, x, {1}, true, f32)}, f32);
  int e = g.pointwise(Fn::exp, {shifted}, f32);
  g.output(g.pointwise(Fn::div, {e, g.reduce(ReduceKind::kSum, e, {1}, true, f32)}, f32));
  auto compiled = compile(g, target, nullptr);
  const Module& m = compiled->module();
  EXPECT_EQ(kernels_that_run(m, 8), 1) << m.str();
  EXPECT_GT(kernels_that_run(m, 7), 1) << m.str();
  EXPECT_EQ(kernels_that_run(m, 8) + kernels_that_run(m, 7), static_cast<int>(m.kernels.size()));
  for (int64_t n : {1, 3, 7, 8, 9}) check_group(g, *compiled, {n}, testing::random_inputs(g, {n}));
  target.threads = 1;
  EXPECT_EQ(lower(g, target).kernels.size(), 1u);
}

TEST(Schedule, FewColumnsAndSeveralReductions) {
  Target target = host_target();
  target.threads = 4;
  Group g;
  int x = g.input(f32, {g.symbol(0), 17000, 24});
  g.output(g.reduce(ReduceKind::kSum, x, {1}, false, f32));
  g.output(g.reduce(ReduceKind::kMax, g.pointwise(Fn::abs, {x}, f32), {1}, false, f32));
  auto compiled = compile(g, target, nullptr);
  EXPECT_GT(compiled->module().kernels.size(), 1u);
  for (int64_t n : {1, 2, 9}) check_group(g, *compiled, {n}, testing::random_inputs(g, {n}, 1, 3));
}

// Rows of bfloat16 that come out even are read and written 32 at a time; others, and other types beside them, as ever.
// A gradient through a layer with a bias: what has as many rows as the batch is shared by threads, also where all
// columns fit into one block, and with the sum of another batch in the group.
TEST(Schedule, RowsOfNarrowSumsAreShared) {
  for (int threads : {1, 2, 4}) {
    Group g;
    int few = g.input(f32, {20, 50}), x = g.input(f32, {2000, 50}), y = g.input(f32, {2000, 50});
    int product = g.pointwise(Fn::mul, {x, y}, f32);
    g.output(product);
    g.output(g.pointwise(Fn::add, {product, x}, f32));
    g.output(g.pointwise(
        Fn::add,
        {g.reduce(ReduceKind::kSum, few, {0}, false, f32), g.reduce(ReduceKind::kSum, product, {0}, false, f32)}, f32));
    Target target = host_target();
    target.threads = threads;
    const Module m = lower(g, target);
    for (const Kernel& k : m.kernels)
      if (loads_of_input(m, k, 2000 * 50) > 0) EXPECT_GE(k.parallel_extent.value(), threads) << m.str();
    expect_right(g, target, 1, 3);
  }
}

TEST(Schedule, RowsOfBfloats) {
  constexpr DType bf16 = DType::kBFloat16;
  for (int64_t n : {32, 96, 2048, 2056, 33}) {
    Group g;
    int x = g.input(bf16, {5, n}), w = g.input(bf16, {n});
    int shifted = g.pointwise(Fn::sub, {x, g.reduce(ReduceKind::kMax, x, {1}, true, bf16)}, bf16);
    int e = g.pointwise(Fn::exp, {shifted}, bf16);
    int y = g.pointwise(Fn::div, {e, g.reduce(ReduceKind::kSum, e, {1}, true, bf16)}, bf16);
    g.output(g.pointwise(Fn::mul, {y, w}, bf16));
    g.output(g.pointwise(Fn::square, {x}, bf16));
    check_group(g);
    Target target = host_target();
    target.streaming_bytes = 64;
    expect_right(g, target);
  }
  Group mixed;
  int x = mixed.input(bf16, {5, 64}), w = mixed.input(f32, {64});
  mixed.output(mixed.pointwise(Fn::mul, {x, mixed.reduce(ReduceKind::kSum, x, {1}, true, f32)}, bf16));
  mixed.output(mixed.pointwise(Fn::mul, {mixed.cast(x, f32), w}, f32));
  check_group(mixed);
}

// Rounding carries into the upper half, and from a NaN's digits it must not carry further.
TEST(Schedule, NaNStaysWhateverItsDigits) {
  auto nan = [](uint64_t digits) { return std::bit_cast<double>(0x7ff8000000000000 | digits); };
  const double of_float = nan(0x7ffffe0000000), of_bfloat = nan(0x7e00000000000);
  for (int64_t n : {64, 35}) {
    Group g;
    int x = g.input(f32, {n}), y = g.input(f32, {n});
    g.output(g.cast(x, DType::kBFloat16));
    g.output(g.cast(g.pointwise(Fn::add, {x, y}, f32), DType::kBFloat16));
    const Tensor ones(static_cast<size_t>(n), 1.0);
    for (const Tensor& out :
         testing::run_compiled(g, *compile(g), {}, {Tensor(static_cast<size_t>(n), of_float), ones}))
      for (double v : out) EXPECT_TRUE(std::isnan(v));
    Group h;
    int z = h.input(DType::kBFloat16, {n});
    h.output(z), h.output(h.pointwise(Fn::mul, {z, z}, DType::kBFloat16));
    for (const Tensor& out : testing::run_compiled(h, *compile(h), {}, {Tensor(static_cast<size_t>(n), of_bfloat)}))
      for (double v : out) EXPECT_TRUE(std::isnan(v));
  }
}

// Long rows that come from memory are read at several places at once; what the parts leave over is not forgotten.
TEST(Schedule, LongRowsAreReadInStreams) {
  Target target = small_caches(1);
  target.streaming_bytes = 4096;
  for (DType t : {f32, DType::kFloat64, DType::kBFloat16})
    for (int64_t n : {8192, 8192 + 32, 9007}) {
      Group g;
      int x = g.input(t, {3, n});
      g.output(g.reduce(ReduceKind::kSum, g.pointwise(Fn::abs, {x}, t), {1}, false, t));
      g.output(g.reduce(ReduceKind::kMax, x, {1}, false, t));
      EXPECT_NE(lower(g, target).str().find("streams 4"), std::string::npos);
      expect_right(g, target);
    }
}

// Wherever in a row a NaN stands, it is the row's largest and smallest number.
TEST(Schedule, ExtremesOfRowsWithNaN) {
  for (DType t : {f32, DType::kFloat64, DType::kBFloat16})
    for (int64_t n : {64, 75}) {
      Group g;
      int x = g.input(t, {n + 1, n});
      g.output(g.reduce(ReduceKind::kMax, x, {1}, false, t));
      g.output(g.reduce(ReduceKind::kMin, x, {1}, false, t));
      Tensor values = testing::random_tensor((n + 1) * n, t, 3);
      for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i * n + i)] = NAN;
      const auto out = testing::run_compiled(g, *compile(g), {}, {values});
      for (int64_t i = 0; i < n; ++i)
        for (const Tensor& y : out) EXPECT_TRUE(std::isnan(y[static_cast<size_t>(i)])) << name_of(t) << " at " << i;
      const auto last = values.end() - n;
      EXPECT_EQ(out[0].back(), *std::max_element(last, values.end()));
      EXPECT_EQ(out[1].back(), *std::min_element(last, values.end()));
    }
}

// The code for processors that this one may not be.
TEST(Schedule, BfloatsOnOtherProcessors) {
  Group g;
  int x = g.input(DType::kBFloat16, {64, 2048});
  g.output(g.pointwise(Fn::mul, {x, g.pointwise(Fn::exp, {x}, DType::kBFloat16)}, DType::kBFloat16));
  const Module m = lower(g, Target{});
  auto has = [&](const char* processor, const char* instruction) {
    return print_assembly(m, false, processor).find(instruction) != std::string::npos;
  };
  EXPECT_TRUE(has("sapphirerapids", "vcvtne2ps2bf16"));
  EXPECT_TRUE(has("znver4", "vcvtne2ps2bf16"));
  EXPECT_FALSE(has("skylake-avx512", "vcvtne"));
  EXPECT_TRUE(has("skylake-avx512", "zmm"));
  EXPECT_FALSE(has("haswell", "zmm"));
  EXPECT_TRUE(has("haswell", "vpblendw"));
  EXPECT_FALSE(has("haswell", "vpmovzxwd"));
}

// What a mask leaves out is 0 exactly, whatever else the vector holds.
TEST(Schedule, ExponentialsOfWhatAMaskLeavesOut) {
  for (DType t : {f32, DType::kFloat64, DType::kBFloat16}) {
    Group g;
    int x = g.input(t, {40});
    g.output(g.pointwise(Fn::exp, {x}, t));
    g.output(g.pointwise(Fn::exp2, {x}, t));
    Tensor values(40, 0.0);
    for (size_t i = 0; i < values.size(); i += 3) values[i] = -1e9;
    values[1] = -INFINITY, values[2] = NAN, values[4] = INFINITY;
    auto out = testing::run_compiled(g, *compile(g), {}, {values});
    for (const Tensor& y : out) {
      for (size_t i = 0; i < values.size(); i += 3) EXPECT_EQ(y[i], 0);
      EXPECT_EQ(y[1], 0);
      EXPECT_TRUE(std::isnan(y[2]));
      EXPECT_EQ(y[4], INFINITY);
      EXPECT_EQ(y[5], 1);
    }
  }
}

TEST(Schedule, KernelsSayWhatTheyMoveAndCompute) {
  Group g;
  int x = g.input(f32, {6, 40}), w = g.input(f32, {40});
  g.output(g.pointwise(Fn::mul, {g.pointwise(Fn::exp, {x}, f32), w}, f32));
  Module m = lower(g, Target{});
  auto traffic = traffic_of(m, m.kernels.at(0));
  ASSERT_TRUE(traffic.has_value());
  EXPECT_EQ(traffic->bytes, (240 + 40 + 240) * 4);
  EXPECT_EQ(traffic->flops, 2 * 240);

  Group sum;
  int y = sum.input(f32, {6, 40});
  sum.output(sum.reduce(ReduceKind::kSum, sum.pointwise(Fn::mul, {y, y}, f32), {1}, false, f32));
  Module s = lower(sum, Target{});
  EXPECT_EQ(traffic_of(s, s.kernels.at(0))->bytes, (240 + 6) * 4);
  EXPECT_EQ(traffic_of(s, s.kernels.at(0))->flops, 2 * 240);

  Group open;
  int z = open.input(f32, {open.symbol(0)});
  open.output(open.pointwise(Fn::exp, {z}, f32));
  Module o = lower(open, Target{});
  EXPECT_FALSE(traffic_of(o, o.kernels.at(0)).has_value());
}

// Kernels of one group say why they are several.
TEST(Schedule, KernelsSayWhyTheyStandApart) {
  Group g;
  int x = g.input(f32, {50, 70});
  g.output(g.reduce(ReduceKind::kSum, x, {1}, false, f32));
  g.output(g.reduce(ReduceKind::kSum, x, {0}, false, f32));
  std::string plan;
  lower(g, Target{}, [&](std::string_view step, const std::string& text, double) {
    if (step == "plan kernels") plan = text;
  });
  EXPECT_NE(plan.find("other reduction axes"), std::string::npos) << plan;
}

}  // namespace
}  // namespace paddle::cinn
