// The interpreter's loops: layouts, dtypes, aliasing. Right values are computed element by element with plain C++.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "base/error.h"
#include "base/parallel_for.h"
#include "tensor/float16.h"
#include "tile_testing.h"
#include "views.h"

namespace paddle::tile {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// x * y + s, then the larger of that and x: temporaries, a parameter, an input used late.
const Code kChain{{{Fn::mul, 0, 1}, {Fn::add, 3, 2}, {Fn::max, 4, 0}}, {5}, 2, 1};
template <class T>
T chain(T x, T y, T s) {
  return std::max(static_cast<T>(x * y + s), x);
}

template <class T>
void check_views(const std::vector<int64_t>& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  const View vx = make_view(shape, random, false), vy = make_view(shape, random, false),
             vo = make_view(shape, random, true);
  std::vector<T> x = numbers<T>(vx.size, seed), y = numbers<T>(vy.size, seed + 1), o(vo.size, T(99)), want = o;
  for_each_index(shape,
                 [&](const auto& index) { want[at(vo, index)] = chain<T>(x[at(vx, index)], y[at(vy, index)], T(3)); });
  const TileOperand ins[] = {{x.data() + vx.offset, kDTypeOf<T>, vx.strides.data()},
                             {y.data() + vy.offset, kDTypeOf<T>, vy.strides.data()}};
  const TileOperand out{o.data() + vo.offset, kDTypeOf<T>, vo.strides.data()};
  const ScalarParam three(3);
  run_pointwise(kChain.program(), ins, {&three, 1}, {&out, 1}, shape, compute_type({kDTypeOf<T>}));
  ASSERT_EQ(o, want) << "seed " << seed << ", rank " << shape.size();
}

TEST(Pointwise, EveryShortLengthAndDtype) {
  for_each_isa([] {
    for (int64_t n = 0; n <= 70; ++n) {
      check_views<float>({n}, n);
      check_views<double>({n}, n);
      check_views<int32_t>({n}, n);
      check_views<int64_t>({n}, n);
      check_views<int16_t>({n}, n);
      check_views<int8_t>({n}, n);
    }
  });
}

TEST(Pointwise, ViewsOfAnyLayout) {
  for_each_isa([] {
    for (uint64_t seed = 0; seed < 300; ++seed) {
      std::mt19937_64 random(seed + 1000);
      std::vector<int64_t> shape(random() % 5);
      for (int64_t& n : shape) n = 1 + static_cast<int64_t>(random() % (shape.size() > 2 ? 9 : 71));
      check_views<float>(shape, seed);
      check_views<int64_t>(shape, seed);
      check_views<int8_t>(shape, seed);
    }
  });
}

TEST(Pointwise, LargeInParallel) {
  const int before = num_threads();
  set_num_threads(3);
  for_each_isa([] {
    check_views<float>({200003}, 1);
    for (uint64_t seed = 0; seed < 12; ++seed) check_views<float>({311, 517}, seed);
    check_views<double>({40, 3, 33, 41}, 5);
  });
  set_num_threads(before);
}

TEST(Pointwise, InPlace) {
  for_each_isa([] {
    for (int64_t n : {1, 7, 16, 33, 70, 1023, 1024, 1025, 5000}) {
      std::vector<float> x = numbers<float>(n, 3), y = numbers<float>(n, 4), want(n);
      for (int64_t i = 0; i < n; ++i) want[i] = chain<float>(x[i], y[i], 3);
      const TileOperand ins[] = {dense(x), dense(y)};
      const ScalarParam three(3);
      run_pointwise(kChain.program(), ins, {&three, 1}, {ins, 1}, {&n, 1}, Compute::kF32);
      ASSERT_EQ(x, want) << n;
    }
  });
}

// Both outputs overwrite inputs, and the first of them while the second step still has to read it.
TEST(Pointwise, TwoOutputsOverTheirInputs) {
  const Code code{{{Fn::add, 0, 1}, {Fn::sub, 0, 1}}, {2, 3}, 2, 0};
  for_each_isa([&] {
    for (int64_t n : {5, 64, 3000}) {
      std::vector<float> a = numbers<float>(n, 1), b = numbers<float>(n, 2), sum(n), difference(n);
      for (int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i], difference[i] = a[i] - b[i];
      const TileOperand operands[] = {dense(a), dense(b)};
      run_pointwise(code.program(), operands, {}, operands, {&n, 1}, Compute::kF32);
      EXPECT_EQ(a, sum);
      EXPECT_EQ(b, difference);
    }
  });
}

TEST(Pointwise, SwapsThroughOutputsThatAreInputs) {
  const Code code{{}, {1, 0}, 2, 0};
  int64_t n = 2000;
  std::vector<float> a = numbers<float>(n, 1), b = numbers<float>(n, 2), a0 = a, b0 = b, c(n), d(n);
  const TileOperand ins[] = {dense(a), dense(b)}, outs[] = {dense(c), dense(d)};
  run_pointwise(code.program(), ins, {}, outs, {&n, 1}, Compute::kF32);
  EXPECT_EQ(c, b0);
  EXPECT_EQ(d, a0);
}

TEST(Pointwise, ManyRegistersAndScalars) {
  // (...((x + 1) + x) + x ...) keeps thirty sums alive until they are added up again, backwards.
  Code code{{{Fn::constant, 0, 0, 0, 1.0}}, {}, 1, 0};
  for (int i = 0; i < 30; ++i) code.instrs.push_back({Fn::add, 0, static_cast<uint8_t>(i + 1)});
  uint8_t last = 31;
  for (int i = 29; i >= 1; --i)
    code.instrs.push_back({Fn::add, last, static_cast<uint8_t>(i + 1)}),
        last = static_cast<uint8_t>(code.instrs.size());
  code.outputs = {last};
  int64_t n = 2500;
  std::vector<double> x = numbers<double>(n, 9), got(n);
  const TileOperand in = dense(x), out = dense(got);
  run_pointwise(code.program(), {&in, 1}, {}, {&out, 1}, {&n, 1}, Compute::kF64);
  for (int64_t i = 0; i < n; ++i) {
    double want = 0;
    for (int k = 1; k <= 30; ++k) want += 1 + k * x[i];
    ASSERT_EQ(got[i], want);
  }
}

template <class S>
double value_of(S s) {
  if constexpr (std::is_class_v<S>)
    return static_cast<float>(s);
  else
    return static_cast<double>(s);
}

// Loads of a storage type, and the conversion of its values to float.
template <class S>
void check_load(DType dtype, const std::vector<S>& values) {
  int64_t n = static_cast<int64_t>(values.size());
  std::vector<float> got(n);
  const TileOperand in{const_cast<S*>(values.data()), dtype, nullptr}, out = dense(got);
  run_cast(out, in, {&n, 1});
  for (int64_t i = 0; i < n; ++i) {
    const float want = static_cast<float>(value_of(values[i]));
    ASSERT_TRUE(got[i] == want || (got[i] != got[i] && want != want))
        << name_of(dtype) << " " << i << " " << got[i] << " " << want;
  }
}

// The nearest representable number by search, ties to even: the oracle for 8- and 16-bit floats.
template <class S, class Bits>
Bits nearest(float f, Bits nan, Bits infinity, bool has_infinity) {
  if (std::isnan(f)) return nan;
  const Bits sign = std::signbit(f) ? Bits(Bits(1) << (sizeof(Bits) * 8 - 1)) : Bits(0);
  const float a = std::fabs(f);
  const Bits top = has_infinity ? infinity : nan;  // the first that is not a finite number
  Bits low = 0, high = top;
  while (high - low > 1) {  // the last finite number that is not above a
    const Bits middle = static_cast<Bits>((low + high) / 2);
    (value_of(S{middle}) <= a ? low : high) = middle;
  }
  const double below = value_of(S{low});
  // The step to the next one, also where that would be the first that overflows.
  const double step = low + 1 < top ? value_of(S{Bits(low + 1)}) - below : below - value_of(S{Bits(low - 1)});
  const double past = static_cast<double>(a) - below;
  const bool up = past > step / 2 || (past == step / 2 && (low & 1));
  return static_cast<Bits>(sign | (std::isinf(a) ? (has_infinity ? infinity : nan) : Bits(low + (up ? 1 : 0))));
}

template <class S, class Bits>
void check_store(DType dtype, Bits nan, Bits infinity, bool has_infinity) {
  std::mt19937 random(11);
  std::vector<float> x = {0.0f,     -0.0f,    1.0f,       65504.0f,   65519.0f, 65520.0f,  448.0f,    463.9f,
                          464.0f,   464.1f,   480.0f,     -1e9f,      INFINITY, -INFINITY, 57344.0f,  61439.0f,
                          61440.0f, 0x1p-24f, 0x1p-25f,   0x1.8p-25f, 0x1p-10f, 0x1p-9f,   0x1.8p-9f, 0x1p-16f,
                          0x1p-17f, 3.3e38f,  3.3961e38f, 3.4e38f,    1e-45f,   kNaN};
  for (int i = 0; i < 20000; ++i) {
    const uint32_t bits = random();
    float f;
    std::memcpy(&f, &bits, 4);
    x.push_back(f);
    x.push_back(
        std::ldexp(static_cast<float>(static_cast<int>(random() % 4096) - 2048), static_cast<int>(random() % 40) - 30));
  }
  int64_t n = static_cast<int64_t>(x.size());
  std::vector<S> got(n);
  const TileOperand in = dense(x), out{got.data(), dtype, nullptr};
  run_cast(out, in, {&n, 1});
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) {
      ASSERT_TRUE(std::isnan(value_of(got[i])));
    } else {
      const Bits want = nearest<S, Bits>(x[i], nan, infinity, has_infinity);
      ASSERT_EQ(int(got[i].bits), int(want)) << name_of(dtype) << " of " << x[i];
    }
  }
}

TEST(Pointwise, StorageFloats) {
  // Bit patterns whose values are known by definition, then every rounding against a search.
  EXPECT_EQ(f16_to_f32(0x3c00), 1.0f);
  EXPECT_EQ(f16_to_f32(0x0001), 0x1p-24f);
  EXPECT_EQ(f16_to_f32(0x7bff), 65504.0f);
  EXPECT_EQ(f16_to_f32(0xfc00), -INFINITY);
  EXPECT_EQ(bf16_to_f32(0xbf80), -1.0f);
  EXPECT_EQ(f8e4m3_to_f32(0x7e), 448.0f);
  EXPECT_EQ(f8e4m3_to_f32(0x01), 0x1p-9f);
  EXPECT_TRUE(std::isnan(f8e4m3_to_f32(0xff)));
  EXPECT_EQ(f8e5m2_to_f32(0x7b), 57344.0f);
  EXPECT_EQ(f8e5m2_to_f32(0x01), 0x1p-16f);
  for_each_isa([] {
    check_store<float16, uint16_t>(DType::kFloat16, 0x7e00, 0x7c00, true);
    check_store<bfloat16, uint16_t>(DType::kBFloat16, 0x7fc0, 0x7f80, true);
    check_store<float8_e4m3fn, uint8_t>(DType::kFloat8E4M3FN, 0x7f, 0x7f, false);
    check_store<float8_e5m2, uint8_t>(DType::kFloat8E5M2, 0x7e, 0x7c, true);
    std::vector<float16> halves(65536);
    std::vector<bfloat16> brains(65536);
    for (int i = 0; i < 65536; ++i) halves[i].bits = brains[i].bits = static_cast<uint16_t>(i);
    check_load(DType::kFloat16, halves);
    check_load(DType::kBFloat16, brains);
  });
}

TEST(Pointwise, CastsBetweenAllDtypes) {
  // 0, 1, 2, 3 exist in every dtype but bool, where they are false, true, true, true.
  for_each_isa([] {
    for (int a = 1; a < static_cast<int>(DType::kCount); ++a) {
      for (int b = 1; b < static_cast<int>(DType::kCount); ++b) {
        const DType from = static_cast<DType>(a), to = static_cast<DType>(b);
        int64_t n = 37;
        std::vector<double> start(n), end(n);
        for (int64_t i = 0; i < n; ++i) start[i] = static_cast<double>(i % 4);
        std::vector<std::complex<double>> middle(n), target(n);  // the widest elements
        const TileOperand first = dense(start), x{middle.data(), from, nullptr}, y{target.data(), to, nullptr},
                          last = dense(end);
        run_cast(x, first, {&n, 1});
        run_cast(y, x, {&n, 1});
        run_cast(last, y, {&n, 1});
        for (int64_t i = 0; i < n; ++i) {
          const double want = from == DType::kBool || to == DType::kBool ? (i % 4 != 0) : static_cast<double>(i % 4);
          ASSERT_EQ(end[i], want) << name_of(from) << " to " << name_of(to);
        }
      }
    }
  });
}

TEST(Pointwise, IntegerDivisionNeverTraps) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  const std::vector<int32_t> a = {7, -7, 7, -7, 0, 5, least, least, -1}, b = {2, 2, -2, -2, 3, 0, -1, 0, 4};
  EXPECT_EQ(apply<int32_t>(Fn::floor_div, {a, b}), (std::vector<int32_t>{3, -4, -4, 3, 0, 0, least, 0, -1}));
  EXPECT_EQ(apply<int32_t>(Fn::div, {a, b}), (std::vector<int32_t>{3, -3, -3, 3, 0, 0, least, 0, 0}));
  EXPECT_EQ(apply<int32_t>(Fn::mod, {a, b}), (std::vector<int32_t>{1, 1, -1, -1, 0, 0, 0, 0, 3}));
  EXPECT_EQ(apply<int32_t>(Fn::fmod, {a, b}), (std::vector<int32_t>{1, -1, 1, -1, 0, 0, 0, 0, -1}));
  EXPECT_EQ(apply<int64_t>(Fn::pow, {{2, -3, 2, 1, -1, 0, 10}, {10, 3, -1, -5, -3, 0, 18}}),
            (std::vector<int64_t>{1024, -27, 0, 1, -1, 1, 1000000000000000000}));
  EXPECT_EQ(apply<int32_t>(Fn::shift_left, {{1, 1, 1, -1}, {3, 32, -1, 4}}), (std::vector<int32_t>{8, 0, 0, -16}));
  EXPECT_EQ(apply<int32_t>(Fn::shift_right, {{-8, -8, 8}, {1, 40, 40}}), (std::vector<int32_t>{-4, -1, 0}));
}

TEST(Pointwise, FloatModuloAndFloorDivision) {
  // Values of NumPy 2: np.mod, np.floor_divide, np.fmod.
  const std::vector<double> a = {7.5, -7.5, 7.5, -7.5, 1.0, 6.0}, b = {2, 2, -2, -2, 0.1, 0.1};
  const std::vector<double> mod = apply<double>(Fn::mod, {a, b}), quotient = apply<double>(Fn::floor_div, {a, b});
  EXPECT_EQ(mod, (std::vector<double>{1.5, 0.5, -0.5, -1.5, 0.09999999999999995, 0.09999999999999967}));
  EXPECT_EQ(quotient, (std::vector<double>{3, -4, -4, 3, 9, 59}));
  EXPECT_EQ(apply<double>(Fn::fmod, {a, b})[1], -1.5);
}

TEST(Pointwise, NaNInChoices) {
  for_each_isa([] {
    const std::vector<float> a = {1, kNaN, 2, kNaN}, b = {kNaN, 1, 3, kNaN};
    for (const Fn f : {Fn::min, Fn::max}) {
      const std::vector<float> got = apply<float>(f, {a, b});
      EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1]) && std::isnan(got[3]));
      EXPECT_EQ(got[2], f == Fn::min ? 2 : 3);
    }
    for (const Fn f : {Fn::fmin, Fn::fmax}) {
      const std::vector<float> got = apply<float>(f, {a, b});
      EXPECT_EQ(got[0], 1);
      EXPECT_EQ(got[1], 1);
      EXPECT_TRUE(std::isnan(got[3]));
    }
    EXPECT_EQ(apply<float>(Fn::isnan, {a}), (std::vector<float>{0, 1, 0, 1}));
    EXPECT_EQ(apply<float>(Fn::where, {{0, 1, kNaN, -0.0f}, {1, 2, 3, 4}, {5, 6, 7, 8}}),
              (std::vector<float>{5, 2, 3, 8}));
    EXPECT_EQ(apply<float>(Fn::round, {{0.5f, 1.5f, 2.5f, -0.5f, 1e9f}}), (std::vector<float>{0, 2, 2, 0, 1e9f}));
  });
}

TEST(Pointwise, DenormalsAreKept) {
  for_each_isa([] {
    const float tiny = 1e-40f;
    EXPECT_EQ(apply<float>(Fn::add, {std::vector<float>(20, tiny), std::vector<float>(20, tiny)})[3], tiny + tiny);
    EXPECT_EQ(apply<float>(Fn::exp, {std::vector<float>(20, -100.0f)})[19], static_cast<float>(std::exp(-100.0)));
  });
}

TEST(Pointwise, ComparisonToBoolAndBoolArithmetic) {
  int64_t n = 100;
  std::vector<float> x = numbers<float>(n, 1), y = numbers<float>(n, 2);
  std::vector<uint8_t> less(n), either(n);
  const TileOperand ins[] = {dense(x), dense(y)}, out{less.data(), DType::kBool, nullptr},
                    out2{either.data(), DType::kBool, nullptr};
  run_pointwise(call(Fn::lt).program(), ins, {}, {&out, 1}, {&n, 1}, Compute::kF32);
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(less[i], x[i] < y[i]);
  for (uint8_t& b : less) b *= 7;  // any byte but 0 is true
  run_pointwise(call(Fn::bitwise_not).program(), {&out, 1}, {}, {&out2, 1}, {&n, 1}, compute_type({DType::kBool}));
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(either[i], less[i] == 0);
}

TEST(Pointwise, NarrowLogicalShift) {
  int64_t n = 3;
  std::vector<int8_t> x = {-128, -1, 64}, by = {1, 4, 3}, got(3);
  const TileOperand ins[] = {dense(x), dense(by)}, out = dense(got);
  run_pointwise(call(Fn::shift_right_logical).program(), ins, {}, {&out, 1}, {&n, 1}, Compute::kI32);
  EXPECT_EQ(got, (std::vector<int8_t>{64, 15, 8}));
}

TEST(Pointwise, Complex) {
  using C = std::complex<float>;
  const std::vector<C> a = {{1, 2}, {0, 0}, {-3, 4}}, b = {{2, -1}, {1, 1}, {0, 2}};
  EXPECT_EQ(apply<C>(Fn::mul, {a, b}), (std::vector<C>{{4, 3}, {0, 0}, {-8, -6}}));
  EXPECT_EQ(apply<C>(Fn::abs, {a})[2], C(5, 0));
  int64_t n = 3;
  std::vector<C> z = a;
  std::vector<float> imaginary(n);
  const TileOperand in = dense(z), out = dense(imaginary);
  run_pointwise(call(Fn::imag).program(), {&in, 1}, {}, {&out, 1}, {&n, 1}, Compute::kC64);
  EXPECT_EQ(imaginary, (std::vector<float>{2, 0, 4}));
  const ScalarParam i(std::complex<double>(0, 1));
  const Code times{{{Fn::mul, 0, 1}}, {2}, 1, 1};
  run_pointwise(times.program(), {&in, 1}, {&i, 1}, {&in, 1}, {&n, 1}, Compute::kC64);
  EXPECT_EQ(z[2], C(-4, -3));
}

TEST(Pointwise, SixtyFourBitIntegersStayExact) {
  const int64_t big = (int64_t{1} << 62) + 1;
  EXPECT_EQ(apply<int64_t>(Fn::sub, {{big}, {1}})[0], big - 1);
  int64_t n = 1;
  std::vector<int64_t> x = {0};
  const TileOperand in = dense(x);
  const ScalarParam param(big);
  run_pointwise(Code{{{Fn::add, 0, 1}}, {2}, 1, 1}.program(), {&in, 1}, {&param, 1}, {&in, 1}, {&n, 1}, Compute::kI64);
  EXPECT_EQ(x[0], big);
}

TEST(Pointwise, SaysWhatIsNotDefined) {
  int64_t n = 2;
  std::vector<int32_t> x = {1, 2};
  const TileOperand in = dense(x);
  EXPECT_THROW(run_pointwise(call(Fn::sin).program(), {&in, 1}, {}, {&in, 1}, {&n, 1}, Compute::kI32), Error);
}

TEST(Pointwise, CopiesOfAnyLayout) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<int64_t> shape(1 + random() % 4);
    for (int64_t& n : shape) n = 1 + static_cast<int64_t>(random() % 67 / shape.size());
    const View vs = make_view(shape, random, false), vd = make_view(shape, random, true);
    std::vector<int16_t> source = numbers<int16_t>(vs.size, seed), target(vd.size, 77), want = target;
    for_each_index(shape, [&](const auto& index) { want[at(vd, index)] = source[at(vs, index)]; });
    run_copy({target.data() + vd.offset, DType::kInt16, vd.strides.data()},
             {source.data() + vs.offset, DType::kInt16, vs.strides.data()}, shape);
    ASSERT_EQ(target, want) << seed;
  }
}

TEST(ParallelFor, CoversOnceAndRethrows) {
  const int before = num_threads();
  set_num_threads(4);
  std::vector<int> seen(1000, 0);
  parallel_for(0, 1000, 10, [&](int64_t a, int64_t b) {
    parallel_for(a, b, 1, [&](int64_t c, int64_t d) {  // nested: serial
      EXPECT_EQ(c, a);
      EXPECT_EQ(d, b);
    });
    for (int64_t i = a; i < b; ++i) ++seen[i];
  });
  EXPECT_EQ(seen, std::vector<int>(1000, 1));
  EXPECT_THROW(parallel_for(0, 1000, 10,
                            [](int64_t a, int64_t) {
                              if (a > 0) fail(ErrorKind::kValue, "part {}", a);
                            }),
               Error);
  set_num_threads(before);
  EXPECT_THROW(set_num_threads(0), Error);
}

// OpenMP's threads do not exist in a forked child: a loop there must run, on one thread.
TEST(ParallelFor, RunsSeriallyAfterFork) {
  const int before = num_threads();
  set_num_threads(4);
  parallel_for(0, 1000, 1, [](int64_t, int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang ends as a failure
    int64_t sum = 0;
    parallel_for(0, 1000, 1, [&](int64_t a, int64_t b) {
      for (int64_t i = a; i < b; ++i) sum += i;
    });
    _exit(sum == 499500 && num_threads() == 1 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(num_threads(), 4);
  set_num_threads(before);
}

}  // namespace
}  // namespace paddle::tile
