// Random groups against the oracle: every schedule decision meets every kind of node sooner or later.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "reference.h"

namespace paddle::cinn {
namespace {

using scalar::Fn;
using testing::Sizes;

class RandomGroup {
 public:
  explicit RandomGroup(unsigned seed) : rng_(seed) {}

  Group make(int size) {
    const int rank = pick(1, 4);
    Sizes dims;
    for (int i = 0; i < rank; ++i) dims.push_back(kSizes[pick(0, std::size(kSizes) - 1)]);
    if (pick(0, 5) == 0) dims = {pick(0, 1) ? 3 : 1, 20000};  // long enough to be split
    add_input(dims);
    add_input(dims);
    for (int i = 0; i < size; ++i) step();
    // The last nodes are the outputs; what nothing uses would be no test.
    const int n = static_cast<int>(group_.nodes.size());
    for (int i = std::max(0, n - pick(1, 3)); i < n; ++i) group_.output(i);
    return std::move(group_);
  }

 private:
  static constexpr int64_t kSizes[] = {1, 2, 3, 4, 6, 8, 12, 17, 24, 40};

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng_); }
  int any() {
    return pick(0, 2) ? static_cast<int>(group_.nodes.size()) - 1 -
                            pick(0, std::min<int>(3, static_cast<int>(group_.nodes.size()) - 1))
                      : pick(0, static_cast<int>(group_.nodes.size()) - 1);
  }
  int64_t size_of_dim(int x, int d) { return group_.shape(x)[d].value(); }
  int rank(int x) { return static_cast<int>(group_.shape(x).size()); }
  int64_t count(int x) { return element_count(group_.shape(x)).value(); }

  void add_input(const Sizes& dims) { group_.input(DType::kFloat32, Shape(dims.begin(), dims.end())); }

  // A node whose shape broadcasts against x's: x's own, or a new input of it with some dimensions 1.
  int partner(int x) {
    for (int tries = 0; tries < 4; ++tries) {
      int y = any();
      if (group_.shape(y) == group_.shape(x)) return y;
    }
    Sizes dims;
    for (int d = pick(0, rank(x)); d < rank(x); ++d) dims.push_back(pick(0, 1) ? size_of_dim(x, d) : 1);
    add_input(dims);
    return static_cast<int>(group_.nodes.size()) - 1;
  }

  void step() {
    const int x = any();
    const DType t = DType::kFloat32;
    switch (pick(0, 13)) {
      case 0:
        group_.pointwise(Fn::add, {x, partner(x)}, t);
        break;
      case 1:
        group_.pointwise(Fn::sub, {x, partner(x)}, t);
        break;
      case 2:
        group_.pointwise(Fn::max, {x, partner(x)}, t);
        break;
      case 3:
        group_.pointwise(Fn::tanh, {x}, t);
        break;
      case 4:
        group_.pointwise(Fn::sigmoid, {x}, t);
        break;
      case 5:
      case 6:
      case 7:
        reduce(x);
        break;
      case 8:
        reshape(x);
        break;
      case 9:
        transpose(x);
        break;
      case 10:
        slice(x);
        break;
      case 11:
        concat(x);
        break;
      case 12:
        pad(x);
        break;
      case 13:
        group_.pointwise(Fn::mul, {group_.pointwise(Fn::sin, {x}, t), partner(x)}, t);
        break;
    }
  }

  void reduce(int x) {
    if (rank(x) == 0) return;
    std::vector<int> dims;
    for (int d = 0; d < rank(x); ++d)
      if (pick(0, 1)) dims.push_back(d);
    if (dims.empty()) dims.push_back(rank(x) - 1);
    int64_t n = 1;
    for (int d : dims) n *= size_of_dim(x, d);
    const bool keepdim = pick(0, 2) > 0;
    int r;
    if (pick(0, 1)) {
      r = group_.reduce(ReduceKind::kMax, x, dims, keepdim, DType::kFloat32);
    } else {
      r = group_.reduce(ReduceKind::kSum, x, dims, keepdim, DType::kFloat32);
      r = group_.pointwise(Fn::mul, {r, group_.constant(DType::kFloat32, 1.0 / static_cast<double>(n))},
                           DType::kFloat32);
    }
    if (keepdim && pick(0, 2)) group_.pointwise(Fn::sub, {x, r}, DType::kFloat32);
  }

  void reshape(int x) {
    int64_t rest = count(x);
    Shape shape;
    while (rest > 1 && shape.size() < 4) {
      std::vector<int64_t> divisors;
      for (int64_t d = 2; d <= std::min<int64_t>(rest, 48); ++d)
        if (rest % d == 0) divisors.push_back(d);
      if (divisors.empty() || pick(0, 4) == 0) break;
      int64_t d = divisors[pick(0, static_cast<int>(divisors.size()) - 1)];
      shape.push_back(d);
      rest /= d;
    }
    if (rest > 1 || pick(0, 5) == 0) shape.push_back(rest);
    group_.reshape(x, shape);
  }

  void transpose(int x) {
    std::vector<int> perm;
    for (int d = 0; d < rank(x); ++d) perm.push_back(d);
    std::shuffle(perm.begin(), perm.end(), rng_);
    group_.transpose(x, perm);
  }

  void slice(int x) {
    std::vector<Index> starts, steps;
    Shape shape;
    for (int d = 0; d < rank(x); ++d) {
      const int64_t n = size_of_dim(x, d);
      const int64_t start = pick(0, 2) ? 0 : pick(0, static_cast<int>(n - 1)), step = pick(0, 3) ? 1 : -1;
      if (step < 0) {
        starts.push_back(n - 1 - start), steps.push_back(-1), shape.push_back(n - start);
      } else {
        starts.push_back(start), steps.push_back(1), shape.push_back(n - start);
      }
    }
    group_.slice(x, starts, steps, shape);
  }

  void concat(int x) {
    if (rank(x) == 0 || count(x) > 30000) return;
    group_.concat({x, group_.pointwise(Fn::neg, {x}, DType::kFloat32)}, pick(0, rank(x) - 1));
  }

  void pad(int x) {
    if (count(x) > 30000) return;
    std::vector<Index> before;
    Shape shape;
    for (int d = 0; d < rank(x); ++d) {
      const int low = pick(0, 2), high = pick(0, 2);
      before.push_back(low);
      shape.push_back(size_of_dim(x, d) + low + high);
    }
    group_.pad(x, before, shape, 0.5);
  }

  std::mt19937 rng_;
  Group group_;
};

// CINN_RANDOM_GROUPS: how many; CINN_RANDOM_SEED: which is the first.
TEST(Random, GroupsAgreeWithTheOracle) {
  const char* many = std::getenv("CINN_RANDOM_GROUPS");
  const char* from = std::getenv("CINN_RANDOM_SEED");
  const unsigned first = from ? static_cast<unsigned>(std::atoi(from)) : 1;
  for (unsigned seed = first; seed < first + static_cast<unsigned>(many ? std::atoi(many) : 60); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Group g = RandomGroup(seed).make(4 + static_cast<int>(seed % 14));
    if (element_count(g.shape(g.outputs[0])).value() > 400000) continue;
    try {
      Target target = host_target();
      target.threads = 2;
      const auto inputs = testing::random_inputs(g, {});
      const auto want = testing::Reference(g, {}).run(inputs);
      const auto compiled = compile(g, target, nullptr);
      const auto got = testing::run_compiled(g, *compiled, {}, inputs);
      testing::check_in_place(g, *compiled, {}, inputs, got);
      // Differences of long sums lose digits; a wrong element is wrong in the first.
      for (size_t i = 0; i < want.size(); ++i)
        testing::expect_close(got[i], want[i], {1e-3, 1e-3}, "output " + std::to_string(i));
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    if (HasFailure()) {
      ADD_FAILURE() << g.str();
      return;
    }
  }
}

}  // namespace
}  // namespace paddle::cinn
