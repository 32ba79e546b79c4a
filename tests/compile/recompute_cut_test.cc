// Minimum cuts against brute force: of networks, and of small programs.
#include "compile/recompute_cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/max_flow.h"
#include "compile/recompute_price.h"
#include "pir/builder.h"

namespace paddle::compile {
namespace {

using pir::Attribute;
using pir::Builder;
using pir::Operation;
using pir::Type;
using pir::Value;

// ---- networks

struct Edge {
  int from, to;
  int64_t capacity;
};

int64_t capacity_of(const std::vector<Edge>& edges, unsigned behind) {
  int64_t sum = 0;
  for (const Edge& e : edges)
    if (!(behind >> e.from & 1) && (behind >> e.to & 1)) sum += e.capacity;
  return sum;
}

TEST(FlowNetwork, CutsLikeBruteForce) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const int n = 2 + static_cast<int>(random() % 8);
    std::vector<Edge> edges;
    for (unsigned k = random() % 25; k-- > 0;)
      edges.push_back(
          {static_cast<int>(random() % n), static_cast<int>(random() % n), static_cast<int64_t>(random() % 9)});
    FlowNetwork net;
    for (int k = 0; k < n; ++k) net.add_node();
    for (const Edge& e : edges) net.add_edge(e.from, e.to, e.capacity);
    int64_t least = INT64_MAX;
    unsigned common = ~0u;  // nodes behind every minimum cut
    for (unsigned behind = 0; behind < 1u << n; ++behind) {
      if ((behind & 1) || !(behind >> 1 & 1)) continue;  // from 0 to 1
      const int64_t c = capacity_of(edges, behind);
      if (c < least) least = c, common = ~0u;
      if (c == least) common &= behind;
    }
    const auto cut = net.minimum_cut(0, 1, 1 << 20);
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->capacity, least);
    for (int k = 0; k < n; ++k) EXPECT_EQ(cut->behind[static_cast<size_t>(k)], (common >> k & 1) != 0) << round;
  }
}

TEST(FlowNetwork, GivesUp) {
  FlowNetwork net;
  const int source = net.add_node(), sink = net.add_node();
  net.add_edge(source, sink, FlowNetwork::kInfinite);
  EXPECT_FALSE(net.minimum_cut(source, sink, 100));
  FlowNetwork chain;
  for (int k = 0; k < 100; ++k) chain.add_node();
  for (int k = 0; k + 1 < 100; ++k) chain.add_edge(k, k + 1, 1);
  EXPECT_FALSE(chain.minimum_cut(0, 99, 50));
}

// ---- programs

constexpr int64_t kBytes = 32 * 32 * 4;

struct Program {
  pir::Program p;
  Builder b{p};
  Operations backward;

  Type square() const { return Type::tensor(DType::kFloat32, Shape{32, 32}); }
  Value input(const char* name) { return b.data(name, square()); }
  // As if only the gradient needed it.
  void read_in_backward(const std::vector<Value>& values) {
    for (Value v : values) {
      Value made = b.value("pd_op.tanh", {v});
      backward.insert(made.defining_op());
      b.shadow_output("g" + std::to_string(backward.size()), made);
      backward.insert(p.block().back());
    }
  }
  RecomputeCut cut(std::vector<CutRow>* rows = nullptr) { return minimum_cut(p.block(), backward, true, rows).value(); }
};

TEST(RecomputeCut, ArithmeticIsMadeAgain) {
  Program t;
  Value x = t.input("x");
  Value product = t.b.value("pd_op.matmul", {x, x});
  Value out = t.b.value("pd_op.exp", {product});
  t.b.shadow_output("y", out);
  t.read_in_backward({product, out});
  std::vector<CutRow> rows;
  const RecomputeCut cut = t.cut(&rows);
  EXPECT_EQ(cut.kept, std::vector<Value>{product});
  EXPECT_EQ(cut.again, std::vector<Operation*>{out.defining_op()});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0].kept && rows[0].why == "a product" && rows[0].bytes == kBytes) << rows[0].why;
  EXPECT_TRUE(!rows[1].kept && rows[1].what.starts_with("exp")) << rows[1].what;
}

TEST(RecomputeCut, WhatIsSmallIsKept) {
  Program t;
  Value x = t.b.value("pd_op.matmul", {t.input("x"), t.input("y")});
  Value half = t.b.value("pd_op.cast", {x}, {{"dtype", Attribute::dtype(DType::kBFloat16)}});
  Value back = t.b.value("pd_op.cast", {half}, {{"dtype", Attribute::dtype(DType::kFloat32)}});
  t.b.shadow_output("y", t.b.value("pd_op.matmul", {half, half}));  // so it is written anyway
  t.read_in_backward({back});
  EXPECT_EQ(t.cut().kept, std::vector<Value>{half});  // half the bytes
}

TEST(RecomputeCut, DrawsAndProductsAreNeverMadeAgain) {
  Program t;
  Value x = t.input("x");
  Value shape = t.b.full_int_array(std::vector<int64_t>{32, 32});
  Value low = t.b.full(Shape{}, 0, DType::kFloat32), high = t.b.full(Shape{}, 1, DType::kFloat32);
  Value noise = t.b.value("pd_op.uniform", {shape, low, high},
                          {{"dtype", Attribute::dtype(DType::kFloat32)},
                           {"place", Attribute::undefined_place()},
                           {"seed", Attribute::i32(0)}});
  Value mask = t.b.value("pd_op.less_than", {noise, x});
  t.b.shadow_output("y", t.b.value("pd_op.where", {mask, x, noise}));
  t.read_in_backward({t.b.value("pd_op.cast", {mask}, {{"dtype", Attribute::dtype(DType::kFloat32)}})});
  const RecomputeCut cut = t.cut();
  EXPECT_EQ(cut.kept, std::vector<Value>{mask});  // one byte an element
  for (const Operation* op : cut.again) EXPECT_FALSE(op->has(kRandom));
}

TEST(RecomputeCut, LongChainsAreNotMadeAgainAsAWhole) {
  Program t;
  Value x = t.b.value("pd_op.matmul", {t.input("x"), t.input("y")});
  for (int k = 0; k < 2000; ++k) x = t.b.value("pd_op.sin", {x});
  t.b.shadow_output("y", x);
  t.read_in_backward({x});
  const RecomputeCut cut = t.cut();
  EXPECT_LT(cut.again.size(), 200u);
  EXPECT_EQ(cut.kept.size(), 1u);
}

// What a choice of operations to compute again costs, with all that is then read being kept.
int64_t cost_of(const Program& t, const RecomputePrices& prices, const std::vector<Operation*>& ops, unsigned again) {
  int64_t sum = 0;
  auto made_again = [&](const Operation* op) {
    const auto at = std::find(ops.begin(), ops.end(), op);
    return at != ops.end() && (again >> (at - ops.begin()) & 1);
  };
  std::unordered_set<Value> kept;
  auto read = [&](const Operation& op) {
    for (Value v : values_read(op))
      if (!made_again(v.defining_op()) && !t.backward.count(v.defining_op())) kept.insert(v);
  };
  for (const Operation* op : t.backward) read(*op);
  for (const Operation* op : ops)
    if (made_again(op)) {
      const int64_t price = prices.again(*op);
      if (price == FlowNetwork::kInfinite) return INT64_MAX;
      sum += price;
      read(*op);
    }
  for (Value v : kept) {
    if (prices.keeping(v) == FlowNetwork::kInfinite) return INT64_MAX;
    sum += prices.keeping(v);
  }
  return sum;
}

void random_program(Program& t, std::mt19937& random) {
  std::vector<Value> values{t.input("x")};
  for (unsigned k = 3 + random() % 7; k-- > 0;) {
    const size_t n = values.size();
    Value a = values[n - 1 - random() % std::min<size_t>(n, 3)], b = values[random() % n];
    const std::vector<int64_t> swap{1, 0};
    switch (random() % 7) {
      case 0:
      case 1:
        values.push_back(t.b.value("pd_op.matmul", {a, b}));
        break;
      case 2:
        values.push_back(t.b.value("pd_op.add", {a, b}));
        break;
      case 3:
        values.push_back(t.b.value("pd_op.exp", {a}));
        break;
      case 4:
        values.push_back(t.b.value("pd_op.transpose", {a}, {{"perm", Attribute::i32s(swap)}}));
        break;
      case 5:
        values.push_back(t.b.value("pd_op.multiply", {a, b}));
        break;
      default:
        values.push_back(t.b.value("pd_op.softmax", {a}));
    }
  }
  if (random() % 4) t.b.shadow_output("y", values.back());
  std::vector<Value> read;
  for (unsigned k = 1 + random() % 3; k-- > 0;) read.push_back(values[random() % values.size()]);
  t.read_in_backward(read);
}

TEST(RecomputeCut, CostsNoMoreThanAnyOther) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    Program t;
    random_program(t, random);
    const RecomputePrices prices(t.p.block(), t.backward, true);
    std::vector<Operation*> ops;
    for (Operation& op : t.p.block())
      if (!t.backward.count(&op)) ops.push_back(&op);
    int64_t least = INT64_MAX;
    for (unsigned again = 0; again < 1u << ops.size(); ++again) least = std::min(least, cost_of(t, prices, ops, again));
    const RecomputeCut cut = t.cut();
    unsigned chosen = 0;
    int64_t cost = 0;
    for (size_t k = 0; k < ops.size(); ++k)
      if (std::find(cut.again.begin(), cut.again.end(), ops[k]) != cut.again.end()) {
        chosen |= 1u << k;
        cost += prices.again(*ops[k]);
      }
    for (Value v : cut.kept) cost += prices.keeping(v);
    ASSERT_EQ(cost, least) << t.p.str();
    ASSERT_EQ(cost_of(t, prices, ops, chosen), least) << t.p.str();  // all that is read is kept
  }
}

}  // namespace
}  // namespace paddle::compile
