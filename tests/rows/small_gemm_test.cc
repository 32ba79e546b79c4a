// Products of small matrices, of few rows or columns, and of large ones by blocks, against sums in double precision,
// under each instruction set and with one and several threads. Operands have no element to spare, so that a read beyond
// them is seen by the address sanitizer.
#include "phi/kernels/cpu/rows/small_gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/cpu_features.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/rows/mid_gemm.h"

namespace paddle::rows {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

enum class Lies { kPlain, kTransposed, kSpaced };  // kSpaced: neither axis has its elements side by side

struct Owned {
  std::vector<float> elements;
  MatrixF32 matrix;
  float& at(int64_t i, int64_t j) {
    return elements[static_cast<size_t>(i * matrix.row_stride + j * matrix.col_stride)];
  }
};

Owned random_matrix(int64_t rows, int64_t cols, Lies lies, uint32_t seed) {
  const int64_t row = lies == Lies::kPlain ? cols : lies == Lies::kTransposed ? 1 : 2 * cols + 1;
  const int64_t col = lies == Lies::kPlain ? 1 : lies == Lies::kTransposed ? rows : 2;
  Owned m;
  m.elements.resize(static_cast<size_t>((rows - 1) * row + (cols - 1) * col + 1));
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal;
  for (float& e : m.elements) e = normal(bits);
  m.matrix = {m.elements.data(), rows, cols, row, col};
  return m;
}

// Whether c is a b but for rounding; NaN and infinities where the sum has them.
testing::AssertionResult is_product(const std::vector<float>& c, Owned& a, Owned& b) {
  const int64_t m = a.matrix.rows, n = b.matrix.cols, k = a.matrix.cols;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (int64_t p = 0; p < k; ++p) {
        const double term = static_cast<double>(a.at(i, p)) * static_cast<double>(b.at(p, j));
        sum += term;
        size += std::fabs(term);
      }
      const double got = c[static_cast<size_t>(i * n + j)];
      const bool same = std::isnan(sum) ? std::isnan(got)
                        : std::isinf(sum)
                            ? got == sum
                            : std::fabs(got - sum) <= 1e-7 * (8 + std::sqrt(static_cast<double>(k))) * size;
      if (!same)
        return testing::AssertionFailure()
               << m << "x" << k << "x" << n << ": [" << i << ", " << j << "] is " << got << ", expected " << sum;
    }
  return testing::AssertionSuccess();
}

using Product = void (*)(const MatrixF32& a, const MatrixF32& b, float* c);

testing::AssertionResult multiplies(Owned& a, Owned& b, Product product = small_gemm) {
  std::vector<float> c(static_cast<size_t>(a.matrix.rows * b.matrix.cols), kNaN);
  product(a.matrix, b.matrix, c.data());
  return is_product(c, a, b);
}

class SmallGemm : public testing::TestWithParam<CpuIsa> {
 protected:
  void SetUp() override {
    if (GetParam() > best_cpu_isa()) GTEST_SKIP() << "the processor lacks " << name_of(GetParam());
    set_cpu_isa(GetParam());
  }
  void TearDown() override {
    set_cpu_isa(isa_);
    set_num_threads(threads_);
  }
  CpuIsa isa_ = cpu_isa();
  int threads_ = num_threads();
};

constexpr Lies kAll[] = {Lies::kPlain, Lies::kTransposed, Lies::kSpaced};

TEST_P(SmallGemm, EverySizeAroundTilesAndVectors) {
  uint32_t seed = 1;
  for (int64_t n = 1; n <= 70; ++n)
    for (int64_t m : {1, 2, 3, 5, 6, 7, 12, 13, 25})
      for (int64_t k : {1, 2, 9, 17}) {
        Owned a = random_matrix(m, k, kAll[seed % 3], seed), b = random_matrix(k, n, kAll[seed / 3 % 3], seed + 1);
        ASSERT_TRUE(multiplies(a, b)) << "seed " << seed;
        ++seed;
      }
}

TEST_P(SmallGemm, EveryLayoutOverBlocksOfRowsAndDepth) {
  for (Lies la : kAll)
    for (Lies lb : kAll)
      for (auto [m, k, n] : {std::array<int64_t, 3>{200, 50, 50}, {97, 300, 33}, {50, 2000, 50}, {1, 700, 96}}) {
        Owned a = random_matrix(m, k, la, 7), b = random_matrix(k, n, lb, 8);
        ASSERT_TRUE(multiplies(a, b));
      }
}

TEST_P(SmallGemm, ThreadsShareRowsAndDepth) {
  for (int threads : {2, 3}) {
    set_num_threads(threads);
    for (auto [m, k, n] : {std::array<int64_t, 3>{2001, 50, 50}, {50, 4001, 50}, {1, 9000, 64}, {3, 17, 20000}}) {
      Owned a = random_matrix(m, k, Lies::kTransposed, 9), b = random_matrix(k, n, Lies::kPlain, 10);
      ASSERT_TRUE(multiplies(a, b)) << threads << " threads";
    }
  }
}

TEST_P(SmallGemm, NaNAndInfinityStayInTheirRowsAndColumns) {
  for (Lies lies : kAll) {
    Owned a = random_matrix(14, 150, lies, 11), b = random_matrix(150, 19, lies, 12);
    a.at(3, 149) = kNaN;
    a.at(7, 0) = kInf;
    b.at(5, 18) = -kInf;
    b.at(140, 2) = kNaN;
    ASSERT_TRUE(multiplies(a, b));
  }
}

// Whole and cut panels, several blocks of depth; threads that share columns and rows.
TEST_P(SmallGemm, ProductsOfFewRowsOrFewColumns) {
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    for (Lies lies : kAll)
      for (auto [m, k, n] : {std::array<int64_t, 3>{2, 1, 2},
                             {7, 300, 100},
                             {48, 257, 48},
                             {13, 600, 800},
                             {5, 256, 95},
                             {200, 513, 5},
                             {2001, 300, 16}}) {
        Owned a = random_matrix(m, k, lies, 13), b = random_matrix(k, n, Lies::kPlain, 14);
        ASSERT_TRUE(multiplies(a, b, mid_gemm)) << threads << " threads";
      }
  }
}

TEST_P(SmallGemm, ProductsOfFewRowsKeepNaNAndInfinity) {
  Owned a = random_matrix(40, 300, Lies::kPlain, 15), b = random_matrix(300, 100, Lies::kPlain, 16);
  a.at(37, 299) = kNaN;
  a.at(2, 0) = kInf;
  b.at(299, 99) = -kInf;
  ASSERT_TRUE(multiplies(a, b, mid_gemm));
}

// Whole and cut tiles, panels and blocks, where a's rows are read as they lie and where they are packed.
TEST_P(SmallGemm, ProductsByBlocks) {
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    for (Lies la : kAll)
      for (Lies lb : kAll)
        for (auto [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                               {6, 8, 16},
                               {97, 257, 65},
                               {200, 23, 1050},
                               {13, 2100, 50},
                               {300, 1024, 24}}) {
          Owned a = random_matrix(m, k, la, 17), b = random_matrix(k, n, lb, 18);
          ASSERT_TRUE(multiplies(a, b, gemm<float>)) << threads << " threads";
        }
  }
}

TEST_P(SmallGemm, ProductsByBlocksKeepNaNAndInfinity) {
  for (Lies lies : kAll) {
    Owned a = random_matrix(40, 300, lies, 19), b = random_matrix(300, 100, lies, 20);
    a.at(37, 299) = kNaN;
    a.at(2, 0) = kInf;
    b.at(299, 99) = -kInf;
    ASSERT_TRUE(multiplies(a, b, gemm<float>));
  }
}

TEST_P(SmallGemm, FewRowsOrColumnsAreTakenWhereMeasured) {
  auto pays = [](int64_t m, int64_t k, int64_t n, bool transposed = false) {
    return mid_gemm_pays({nullptr, m, k, k, 1}, {nullptr, k, n, transposed ? 1 : n, transposed ? k : 1});
  };
  EXPECT_EQ(pays(16, 256, 4096), GetParam() == CpuIsa::kAvx512);
  EXPECT_EQ(pays(48, 256, 256), GetParam() == CpuIsa::kAvx512);
  EXPECT_EQ(pays(16, 688, 256), GetParam() != CpuIsa::kBase);
  EXPECT_EQ(pays(2000, 400, 10), GetParam() != CpuIsa::kBase);
  EXPECT_EQ(pays(2000, 1025, 8), GetParam() != CpuIsa::kBase);
  EXPECT_FALSE(pays(2000, 1024, 8));
  EXPECT_FALSE(pays(16, 256, 4096, true));
  EXPECT_FALSE(pays(1, 256, 256));
  EXPECT_FALSE(pays(256, 256, 1));
  EXPECT_FALSE(pays(64, 256, 256));
  EXPECT_FALSE(pays(int64_t{1} << 40, int64_t{1} << 30, 2));
}

INSTANTIATE_TEST_SUITE_P(Isa, SmallGemm, testing::Values(CpuIsa::kBase, CpuIsa::kAvx2, CpuIsa::kAvx512),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace paddle::rows
