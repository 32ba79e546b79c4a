// Random programs: what the executor computes in its arena equals what the operators compute one by one, each result in
// memory of its own.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compile/interpret.h"
#include "dispatch/eager.h"
#include "executor/executable.h"
#include "pir/builder.h"
#include "pir/verifier.h"

namespace paddle::executor {
namespace {

using pir::Attribute;
using pir::Builder;
using pir::Type;
using pir::Value;

constexpr int64_t kRows = 6, kColumns = 6;

Tensor numbers(std::mt19937& random, Shape shape) {
  Tensor t = Tensor::empty(view(shape), DType::kFloat32, Place::cpu());
  for (int64_t k = 0; k < t.numel(); ++k) t.data<float>()[k] = static_cast<float>(random() % 1000) / 500 - 1;
  return t;
}

// Square matrices, so that every value fits every operator; sizes are numbers or one symbol.
class Maker {
 public:
  Maker(pir::Program& p, std::mt19937& random, Dim size) : builder_(p), random_(random), size_(size) {
    Type t = Type::tensor(DType::kFloat32, Shape{size, size});
    for (int k = 0; k < 3; ++k) values_.push_back(builder_.data("x" + std::to_string(k), t));
    condition_ = builder_.data("c", Type::tensor(DType::kBool, Shape{}));
  }

  void run(int steps, int outputs) {
    for (int k = 0; k < steps; ++k) step(builder_, values_, 2);
    for (int k = 0; k < outputs; ++k) builder_.shadow_output("out" + std::to_string(k), pick(values_));
    builder_.shadow_output("last", values_.back());
  }

 private:
  Value pick(const std::vector<Value>& from) {
    // Mostly recent ones: chains, with uses from far back in between.
    const size_t n = from.size();
    return random_() % 3 ? from[n - 1 - random_() % std::min<size_t>(n, 4)] : from[random_() % n];
  }

  void step(Builder& b, std::vector<Value>& values, int depth) {
    const Value x = pick(values), y = pick(values);
    const Type square = Type::tensor(DType::kFloat32, Shape{size_, size_});
    const std::vector<int64_t> swap{1, 0};
    switch (random_() % (depth ? 12 : 10)) {
      case 0:
        return values.push_back(b.value("pd_op.add", {x, y}));
      case 1:
        return values.push_back(b.value("pd_op.subtract", {x, y}));
      case 2:
        return values.push_back(b.value("pd_op.tanh", {x}));
      case 3:
        return values.push_back(b.value("pd_op.transpose", {x}, {{"perm", Attribute::i32s(swap)}}));
      case 4:
        return values.push_back(b.value("pd_op.matmul", {x, y}));
      case 5:  // itself on both sides
        return values.push_back(b.value("pd_op.multiply", {x, x}));
      case 6: {  // an operand and a view of it
        Value t = b.value("pd_op.transpose", {x}, {{"perm", Attribute::i32s(swap)}});
        return values.push_back(b.value("pd_op.maximum", {x, t}));
      }
      case 7: {  // through a list
        Value both = b.combine(std::vector<Value>{x, y});
        Value axis = b.full(Shape{1}, 0, DType::kInt32);
        Value tall = b.value("pd_op.concat", {both, axis});
        Value gram = b.value("pd_op.matmul", {tall, tall}, {{"transpose_x", Attribute::boolean(true)}});
        return values.push_back(b.value("pd_op.tanh", {gram}));
      }
      case 8:
        return values.push_back(b.value("pd_op.softmax", {x}));
      case 9:                       // several results
        b.value("pd_op.exp", {x});  // unused
        return values.push_back(b.value("pd_op.abs", {x}));
      case 10: {
        pir::Operation* op = b.if_op(condition_, std::vector<Type>{square, square});
        for (size_t r = 0; r < 2; ++r) {
          Builder inner(&op->region(r).front());
          std::vector<Value> seen(values);
          for (unsigned k = 0; k < 1 + random_() % 4; ++k) step(inner, seen, depth - 1);
          inner.yield(std::vector<Value>{seen.back(), pick(seen)});
        }
        values.push_back(op->result(0));
        return values.push_back(op->result(1));
      }
      default: {
        Value start = b.full(Shape{}, 0, DType::kInt64), limit = b.full(Shape{}, 3, DType::kInt64);
        Value go = b.value("pd_op.less_than", {start, limit});
        pir::Operation* op = b.while_op(go, std::vector<Value>{start, x});
        pir::Block& body = op->region(0).front();
        Builder inner(&body);
        std::vector<Value> seen(values);
        seen.push_back(body.arg(1));
        for (unsigned k = 0; k < 2 + random_() % 5; ++k) step(inner, seen, depth - 1);
        Value one = inner.full(Shape{}, 1, DType::kInt64);
        Value next = inner.value("pd_op.add", {body.arg(0), one});
        Value again = inner.value("pd_op.less_than", {next, limit});
        inner.yield(std::vector<Value>{again, next, inner.value("pd_op.tanh", {seen.back()})});
        return values.push_back(op->result(1));
      }
    }
  }

  Builder builder_;
  std::mt19937& random_;
  Dim size_;
  std::vector<Value> values_;
  Value condition_;
};

void expect_equal(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  auto dense = [](const Tensor& t) {
    Tensor c = Tensor::empty(t.shape(), t.dtype(), t.place());
    dispatch::copy_into(c, t);
    return c;
  };
  const Tensor x = dense(a), y = dense(b);
  ASSERT_EQ(std::memcmp(x.data(), y.data(), static_cast<size_t>(x.numel()) * 4), 0) << what;
}

void check_program(unsigned seed, Dim size, std::vector<int64_t> sizes) {
  std::mt19937 random(seed);
  pir::Program p;
  Maker(p, random, size).run(3 + static_cast<int>(random() % 40), 3);
  pir::verify(p);
  pir::Program reference = p.clone();
  const std::string text = p.str();
  Executable e(std::move(p));
  const Executable::MemoryUse use = e.memory_use(sizes);
  EXPECT_LE(use.arena, use.least * 3 / 2 + 64) << text;
  EXPECT_LE(e.memory_use(sizes, true).arena, use.arena) << text;
  for (int64_t n : sizes)
    for (bool yes : {true, false, true}) {
      Tensors inputs;
      for (int k = 0; k < 3; ++k) inputs.push_back(numbers(random, Shape{Dim(n), Dim(n)}));
      Tensor c = Tensor::empty({}, DType::kBool);
      *c.data<bool>() = yes;
      inputs.push_back(c);
      Tensors kept;
      for (const Tensor& t : inputs) {
        kept.push_back(Tensor::empty(t.shape(), t.dtype(), t.place()));
        dispatch::copy_into(kept.back(), t);
      }
      const Tensors expected = compile::interpret(reference, inputs, {}, nullptr);
      const Tensors got = e.run(inputs);
      const Tensors again = e.run(inputs);  // what the first run returned must not change
      ASSERT_EQ(got.size(), expected.size());
      for (size_t k = 0; k < got.size(); ++k) {
        const std::string what =
            "seed " + std::to_string(seed) + ", result " + std::to_string(k) + "\n" + text + e.str();
        expect_equal(got[k], expected[k], what);
        expect_equal(again[k], expected[k], what);
      }
      for (size_t k = 0; k < 3; ++k) expect_equal(inputs[k], kept[k], "an input was overwritten\n" + text);
      // Those that somebody holds aren't given up, whatever the caller says.
      const Tensors held{inputs[random() % 3]};
      const Tensors consumed = e.consume(std::move(inputs));
      for (size_t k = 0; k < consumed.size(); ++k)
        expect_equal(consumed[k], expected[k], "given up\n" + text + e.str());
      const bool same = std::any_of(kept.begin(), kept.end(), [&](const Tensor& t) {
        return std::memcmp(t.data(), held[0].data(), static_cast<size_t>(t.numel()) * 4) == 0;
      });
      ASSERT_TRUE(same) << "a held input was overwritten\n" << text;
    }
}

TEST(RandomPrograms, EqualOperatorByOperator) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    check_program(seed, Dim(kRows), {kRows});
    if (HasFatalFailure()) return;
  }
}

TEST(RandomPrograms, SizesThatVary) {
  for (unsigned seed = 1000; seed < 1060; ++seed) {
    check_program(seed, new_symbol(5), {5, 9, 5, 3, 17});
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace paddle::executor
