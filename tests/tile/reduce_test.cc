// Reductions, index reductions and scans against plain loops, in every layout.
#include "phi/kernels/cpu/tile/reduce.h"

#include <cmath>
#include <complex>
#include <limits>

#include "base/error.h"
#include "base/parallel_for.h"
#include "tensor/float16.h"
#include "tile_testing.h"
#include "views.h"

namespace paddle::tile {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

double identity(Combine c) {
  switch (c) {
    case Combine::kProd:
    case Combine::kAll:
      return 1;
    case Combine::kMin:
      return kInf;
    case Combine::kMax:
      return -kInf;
    default:
      return 0;
  }
}

double combined(Combine c, double a, double b) {
  switch (c) {
    case Combine::kSum:
      return a + b;
    case Combine::kProd:
      return a * b;
    case Combine::kMin:
      return std::isnan(a) || std::isnan(b) ? kNaN : std::min(a, b);
    case Combine::kMax:
      return std::isnan(a) || std::isnan(b) ? kNaN : std::max(a, b);
    case Combine::kAny:
      return a != 0 || b != 0;
    default:
      return a != 0 && b != 0;
  }
}

// The shape without the reduced dimensions as ones, and the flat position of an index in it.
struct Kept {
  std::vector<int64_t> shape, strides;
  int64_t size = 1;

  Kept(const std::vector<int64_t>& full, uint64_t axes) : shape(full), strides(full.size()) {
    for (int d = static_cast<int>(full.size()) - 1; d >= 0; --d) {
      if (axes >> d & 1) shape[d] = 1;
      strides[d] = axes >> d & 1 ? 0 : size;
      size *= shape[d];
    }
  }
  int64_t at(const std::vector<int64_t>& index) const {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * strides[d];
    return offset;
  }
};

template <class T, class Out>
void check_reduce(Combine c, const std::vector<int64_t>& shape, uint64_t axes, uint64_t seed, Compute compute) {
  std::mt19937_64 random(seed);
  const View view = make_view(shape, random, false);
  std::vector<T> x = numbers<T>(view.size, seed);
  if (c == Combine::kProd) {
    for (T& v : x) v = static_cast<T>(v < -4 ? -1 : 1);  // no overflow however often one is repeated
  }
  const Kept kept(shape, axes);
  std::vector<double> want(kept.size, identity(c));
  for_each_index(shape, [&](const auto& index) {
    double& total = want[kept.at(index)];
    total = combined(c, total, static_cast<double>(x[at(view, index)]));
  });
  std::vector<Out> got(kept.size);
  const TileOperand in{x.data() + view.offset, kDTypeOf<T>, view.strides.data()}, out = dense(got);
  run_reduce(c, nullptr, {&in, 1}, {}, out, shape, axes, compute);
  for (int64_t k = 0; k < kept.size; ++k) {
    ASSERT_EQ(static_cast<double>(got[k]), want[k])
        << "combine " << int(c) << " seed " << seed << " axes " << axes << " at " << k;
  }
}

TEST(Reduce, EveryShortLength) {
  for_each_isa([] {
    for (int64_t n = 1; n <= 70; ++n) {
      for (const Combine c : {Combine::kSum, Combine::kMin, Combine::kMax, Combine::kAny, Combine::kAll}) {
        check_reduce<float, float>(c, {n}, 1, n, Compute::kF32);
        check_reduce<float, float>(c, {3, n}, 2, n, Compute::kF32);
        check_reduce<float, float>(c, {9, n}, 2, n, Compute::kF32);
        check_reduce<float, float>(c, {n, 3}, 1, n, Compute::kF32);
        check_reduce<double, double>(c, {n, 2}, 1, n, Compute::kF64);
        check_reduce<int32_t, int64_t>(c, {2, n}, 2, n, Compute::kI64);
        check_reduce<int8_t, int64_t>(c, {n, 5}, 1, n, Compute::kI64);
      }
    }
  });
}

TEST(Reduce, AnyLayoutAndAxes) {
  for_each_isa([] {
    for (uint64_t seed = 0; seed < 400; ++seed) {
      std::mt19937_64 random(seed + 77);
      std::vector<int64_t> shape(1 + random() % 4);
      for (int64_t& n : shape) n = 1 + static_cast<int64_t>(random() % (shape.size() > 2 ? 9 : 90));
      const uint64_t axes = random() % (uint64_t{1} << shape.size());
      const auto c = static_cast<Combine>(random() % kCombines);
      check_reduce<float, float>(c, shape, axes, seed, Compute::kF32);
      check_reduce<int32_t, int64_t>(c, shape, axes, seed, Compute::kI64);
    }
  });
}

TEST(Reduce, LargeInParallel) {
  const int before = num_threads();
  set_num_threads(3);
  for_each_isa([] {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      check_reduce<float, float>(Combine::kSum, {1000003}, 1, seed, Compute::kF32);
      check_reduce<float, float>(Combine::kSum, {701, 1501}, 1, seed, Compute::kF32);
      check_reduce<float, float>(Combine::kMax, {701, 1501}, 2, seed, Compute::kF32);
      check_reduce<int32_t, int64_t>(Combine::kSum, {70001, 3}, 1, seed, Compute::kI64);
      check_reduce<double, double>(Combine::kSum, {16, 20011}, 2, seed, Compute::kF64);
      check_reduce<float, float>(Combine::kSum, {8, 40, 3, 200}, 0b0101, seed, Compute::kF32);
    }
  });
  set_num_threads(before);
}

TEST(Reduce, SumsAreAccurate) {
  for_each_isa([] {
    const int64_t n = 3000000;
    std::vector<float> x(n), total(1), columns(3);
    double exact = 0, exact_column[3] = {};
    for (int64_t i = 0; i < n; ++i)
      x[i] = 0.1f + 1e-3f * static_cast<float>(i % 7), exact += x[i], exact_column[i % 3] += x[i];
    const TileOperand in = dense(x), out = dense(total), out3 = dense(columns);
    run_reduce(Combine::kSum, nullptr, {&in, 1}, {}, out, {{n}}, 1, Compute::kF32);
    EXPECT_NEAR(total[0] / exact, 1, 4e-7);
    run_reduce(Combine::kSum, nullptr, {&in, 1}, {}, out3, {{n / 3, 3}}, 1, Compute::kF32);
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(columns[j] / exact_column[j], 1, 2e-6);
  });
}

TEST(Reduce, BoolsAndBrainFloats) {
  int64_t n = 5000;
  std::vector<uint8_t> flags(n, 3);
  flags[17] = 0;
  std::vector<int64_t> count(1);
  std::vector<uint8_t> truth(1);
  const TileOperand in{flags.data(), DType::kBool, nullptr}, out = dense(count),
                                                             flag{truth.data(), DType::kBool, nullptr};
  run_reduce(Combine::kSum, nullptr, {&in, 1}, {}, out, {{n}}, 1, Compute::kI64);
  EXPECT_EQ(count[0], n - 1);
  run_reduce(Combine::kAll, nullptr, {&in, 1}, {}, flag, {{n}}, 1, Compute::kI32);
  EXPECT_EQ(truth[0], 0);
  std::vector<bfloat16> x(n, bfloat16::from(1.0f)), sum(1);
  const TileOperand in16{x.data(), DType::kBFloat16, nullptr}, out16{sum.data(), DType::kBFloat16, nullptr};
  run_reduce(Combine::kSum, nullptr, {&in16, 1}, {}, out16, {{n}}, 1,
             Compute::kF32);                       // bfloat16 itself would stop at 256
  EXPECT_EQ(static_cast<float>(sum[0]), 4992.0f);  // 5000, rounded to 8 bits
}

TEST(Reduce, ExpressionBefore) {
  // sum of (x - m)^2 over the rows, with m broadcast along them
  const Code code{{{Fn::sub, 0, 1}, {Fn::square, 2}}, {3}, 2, 0};
  const scalar::Program program = code.program();
  for_each_isa([&] {
    for (const int64_t rows : {1, 5, 40}) {
      for (const int64_t cols : {1, 3, 64, 300, 2500}) {
        std::vector<float> x = numbers<float>(rows * cols, 5), m = numbers<float>(rows, 6), got(rows), got0(cols);
        const int64_t shape[] = {rows, cols}, along[] = {1, 0};
        const TileOperand ins[] = {dense(x), {m.data(), DType::kFloat32, along}};
        run_reduce(Combine::kSum, &program, ins, {}, dense(got), shape, 2, Compute::kF32);
        run_reduce(Combine::kMax, &program, ins, {}, dense(got0), shape, 1, Compute::kF32);
        for (int64_t r = 0; r < rows; ++r) {
          float want = 0;
          for (int64_t c = 0; c < cols; ++c) want += (x[r * cols + c] - m[r]) * (x[r * cols + c] - m[r]);
          ASSERT_EQ(got[r], want);
        }
        for (int64_t c = 0; c < cols; ++c) {
          float want = 0;
          for (int64_t r = 0; r < rows; ++r) want = std::max(want, (x[r * cols + c] - m[r]) * (x[r * cols + c] - m[r]));
          ASSERT_EQ(got0[c], want);
        }
      }
    }
  });
}

TEST(Reduce, NaNAndEmptyAndBroadcast) {
  for_each_isa([] {
    for (int64_t n : {1, 9, 100, 3000}) {
      for (int64_t where : {int64_t{0}, n / 2, n - 1}) {
        std::vector<float> x(n, 1.0f), got(1);
        x[where] = kNaN;
        const TileOperand in = dense(x), out = dense(got);
        for (const Combine c : {Combine::kMin, Combine::kMax, Combine::kSum}) {
          run_reduce(c, nullptr, {&in, 1}, {}, out, {{n}}, 1, Compute::kF32);
          ASSERT_TRUE(std::isnan(got[0])) << n << " " << where;
          run_reduce(c, nullptr, {&in, 1}, {}, out, {{n, 1}}, 1, Compute::kF32);
          ASSERT_TRUE(std::isnan(got[0])) << n << " " << where;
        }
      }
    }
  });
  std::vector<float> none(1), got(4, 7.0f);
  const TileOperand in = dense(none), out = dense(got);
  run_reduce(Combine::kProd, nullptr, {&in, 1}, {}, out, {{4, 0}}, 2, Compute::kF32);
  EXPECT_EQ(got, std::vector<float>(4, 1.0f));
  EXPECT_THROW(run_reduce(Combine::kMax, nullptr, {&in, 1}, {}, out, {{4, 0}}, 2, Compute::kF32), Error);
  const int64_t still[] = {0, 0};
  none[0] = 2;
  const TileOperand one{none.data(), DType::kFloat32, still};
  run_reduce(Combine::kSum, nullptr, {&one, 1}, {}, out, {{4, 3000}}, 2, Compute::kF32);
  EXPECT_EQ(got, std::vector<float>(4, 6000.0f));
}

TEST(Reduce, Complex) {
  using C = std::complex<float>;
  std::vector<C> x(100, {1, 2}), got(1);
  run_reduce(Combine::kSum, nullptr, {{dense(x)}}, {}, dense(got), {{100}}, 1, Compute::kC64);
  EXPECT_EQ(got[0], C(100, 200));
  EXPECT_THROW(run_reduce(Combine::kMax, nullptr, {{dense(x)}}, {}, dense(got), {{100}}, 1, Compute::kC64), Error);
}

template <class T>
void check_arg(bool largest, const std::vector<int64_t>& shape, int axis, uint64_t seed, bool with_nan) {
  std::mt19937_64 random(seed);
  const View view = make_view(shape, random, false);
  std::vector<T> x = numbers<T>(view.size, seed);
  if (with_nan) x[random() % x.size()] = static_cast<T>(kNaN), x[random() % x.size()] = static_cast<T>(kNaN);
  const Kept kept(shape, uint64_t{1} << axis);
  std::vector<int64_t> want(kept.size, -1), got(kept.size);
  std::vector<T> best(kept.size);
  for_each_index(shape, [&](const auto& index) {
    const int64_t k = kept.at(index);
    const T v = x[at(view, index)];
    const bool better = largest ? v > best[k] : v < best[k],
               nan = std::isnan(double(v)) && !std::isnan(double(best[k]));
    if (want[k] < 0 || better || nan) want[k] = index[axis], best[k] = v;
  });
  run_arg_reduce(largest, {x.data() + view.offset, kDTypeOf<T>, view.strides.data()}, dense(got), shape, axis);
  ASSERT_EQ(got, want) << seed;
}

TEST(ArgReduce, AnyLayout) {
  for_each_isa([] {
    for (uint64_t seed = 0; seed < 300; ++seed) {
      std::mt19937_64 random(seed);
      std::vector<int64_t> shape(1 + random() % 3);
      for (int64_t& n : shape) n = 1 + static_cast<int64_t>(random() % (shape.size() > 1 ? 40 : 3000));
      const int axis = static_cast<int>(random() % shape.size());
      check_arg<float>(seed % 2, shape, axis, seed, seed % 3 == 0);
      check_arg<int64_t>(seed % 2, shape, axis, seed, false);
      check_arg<uint8_t>(seed % 2, shape, axis, seed, false);
    }
  });
}

template <class T, class Out>
void check_scan(Scan scan, const std::vector<int64_t>& shape, int axis, bool reverse, uint64_t seed) {
  std::mt19937_64 random(seed);
  const View view = make_view(shape, random, false);
  std::vector<T> x = numbers<T>(view.size, seed);
  if (scan == Scan::kProd) {
    for (T& v : x) v = static_cast<T>(v < -4 ? -1 : 1);
  }
  int64_t size = 1;
  for (const int64_t n : shape) size *= n;
  std::vector<Out> got(size);
  std::vector<int32_t> where(size);
  const TileOperand out = dense(got), indices = dense(where);
  const bool extreme = scan == Scan::kMax || scan == Scan::kMin;
  run_scan(scan, {x.data() + view.offset, kDTypeOf<T>, view.strides.data()}, out, extreme ? &indices : nullptr, shape,
           axis, reverse);
  int64_t flat = 0;
  for_each_index(shape, [&](const auto& index) {
    auto walk = index;
    double total = 0, terms = 0;
    int64_t from = -1;
    for (int64_t step = 0; step <= (reverse ? shape[axis] - 1 - index[axis] : index[axis]); ++step) {
      walk[axis] = reverse ? shape[axis] - 1 - step : step;
      const double v = static_cast<double>(x[at(view, walk)]);
      terms += std::exp(v);
      const bool take = step == 0 || (scan == Scan::kMax ? v >= total : v <= total);
      if (extreme) {
        if (take) total = v, from = walk[axis];
      } else {
        total = step == 0 ? v : scan == Scan::kSum ? total + v : total * v;
      }
    }
    if (scan == Scan::kLogSumExp) total = std::log(terms);
    ASSERT_NEAR(static_cast<double>(got[flat]), total, scan == Scan::kLogSumExp ? 1e-5 : 0) << seed;
    ASSERT_EQ(extreme ? where[flat] : from, from) << seed;
    ++flat;
  });
}

TEST(Scan, AnyLayout) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<int64_t> shape(1 + random() % 3);
    for (int64_t& n : shape) n = 1 + static_cast<int64_t>(random() % (shape.size() > 1 ? 20 : 700));
    const int axis = static_cast<int>(random() % shape.size());
    for (const Scan scan : {Scan::kSum, Scan::kProd, Scan::kMax, Scan::kMin}) {
      check_scan<float, float>(scan, shape, axis, seed % 2, seed);
      check_scan<int32_t, int64_t>(scan, shape, axis, seed % 2, seed);
    }
    check_scan<float, float>(Scan::kLogSumExp, shape, axis, seed % 2, seed);
  }
}

TEST(Scan, NaNStaysAndInfinity) {
  std::vector<float> x = {1, kNaN, 3, kNaN}, got(4);
  std::vector<int64_t> where(4);
  const TileOperand indices = dense(where);
  run_scan(Scan::kMax, dense(x), dense(got), &indices, {{4}}, 0, false);
  EXPECT_EQ(got[0], 1);
  EXPECT_TRUE(std::isnan(got[1]) && std::isnan(got[2]) && std::isnan(got[3]));
  EXPECT_EQ(where, (std::vector<int64_t>{0, 1, 1, 1}));
  std::vector<float> low = {-INFINITY, -INFINITY, 0, INFINITY};
  run_scan(Scan::kLogSumExp, dense(low), dense(got), nullptr, {{4}}, 0, false);
  EXPECT_EQ(got, (std::vector<float>{-INFINITY, -INFINITY, 0, INFINITY}));
}

}  // namespace
}  // namespace paddle::tile
