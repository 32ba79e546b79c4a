// Operators by the nests of their records, on real records; expected values by NumPy.
#include <gtest/gtest.h>

#include "api/call.h"
#include "base/error.h"
#include "cinn/group/fuse.h"
#include "cinn/group/loops.h"
#include "pir/builder.h"
#include "reference.h"

namespace paddle::cinn {
namespace {

using pir::Attribute;
using testing::Sizes;
using testing::Tensor;

struct Input {
  DType dtype;
  std::vector<Dim> shape;
  Tensor values;
};

class Nests : public ::testing::Test {
 protected:
  void SetUp() override { pir::set_record_source(find_op, all_ops); }

  static pir::Type type_of(const Input& x) { return pir::Type::tensor(x.dtype, paddle::Shape(x.shape)); }

  // The results of one operation, compiled from its loops. scalars: operands with values that the program knows.
  static std::vector<Tensor> run(const char* name, const std::vector<Input>& inputs, pir::AttrMap attrs = {},
                                 const std::vector<std::pair<int64_t, DType>>& scalars = {}) {
    pir::Program p;
    pir::Builder b(p);
    std::vector<pir::Value> operands;
    for (size_t i = 0; i < inputs.size(); ++i) operands.push_back(b.data("x" + std::to_string(i), type_of(inputs[i])));
    for (auto& [v, t] : scalars) operands.push_back(b.full({1}, static_cast<double>(v), t));
    pir::Operation* op = b.create(pir::op_def(name), operands, std::move(attrs));
    std::vector<pir::Value> results;
    for (size_t r = 0; r < op->num_results(); ++r) results.push_back(op->result(r));
    EXPECT_FALSE(loops_of(*op).nest.empty()) << name;
    pir::Operation* ops[] = {op};
    TranslatedGroup t = translate(ops, results, {.loops = true});
    std::vector<Tensor> values;
    for (pir::Value v : t.inputs)
      for (size_t i = 0; i < inputs.size(); ++i)
        if (operands[i] == v) values.push_back(inputs[i].values);
    return testing::run_compiled(t.group, *compile(t.group), {}, values);
  }

  static void expect(const Tensor& got, const Tensor& want) { testing::expect_close(got, want, {}, "nest"); }
};

constexpr DType f32 = DType::kFloat32, i64 = DType::kInt64;
const double nan = NAN;

Attribute yes() { return Attribute::boolean(true); }
Attribute i32(int v) { return Attribute::i32(v); }

const Input kSix{f32, {2, 3}, {1, 2, 3, 4, 5, 6}};

TEST_F(Nests, Scans) {
  expect(run("pd_op.cumsum", {kSix}, {}, {{1, i64}})[0], {1, 3, 6, 4, 9, 15});
  expect(run("pd_op.cumsum", {kSix}, {}, {{0, i64}})[0], {1, 2, 3, 5, 7, 9});
  expect(run("pd_op.cumsum", {kSix}, {{"flatten", yes()}}, {{-1, i64}})[0], {1, 3, 6, 10, 15, 21});
  expect(run("pd_op.cumsum", {kSix}, {{"reverse", yes()}}, {{1, i64}})[0], {6, 5, 3, 15, 11, 6});
  expect(run("pd_op.cumsum", {kSix}, {{"exclusive", yes()}, {"reverse", yes()}}, {{1, i64}})[0], {5, 3, 0, 11, 6, 0});
  expect(run("pd_op.cumprod", {kSix}, {{"dim", i32(1)}})[0], {1, 2, 6, 4, 20, 120});
  expect(run("pd_op.cumprod", {kSix}, {{"dim", i32(-1)}, {"exclusive", yes()}})[0], {1, 1, 2, 1, 4, 20});
  // np.logaddexp.accumulate
  const double inf = INFINITY;
  expect(run("pd_op.logcumsumexp", {{f32, {4}, {-inf, 0, 1, 100}}}, {{"axis", i32(0)}})[0],
         {-inf, 0, 1.3132616875182228, 100});
}

TEST_F(Nests, RunningExtremes) {
  const Input x{f32, {1, 5}, {1, 3, 2, 3, 4}}, with_nan{f32, {4}, {1, nan, 2, nan}};
  auto most = run("pd_op.cummax", {x}, {{"axis", i32(1)}});
  expect(most[0], {1, 3, 3, 3, 4});
  expect(most[1], {0, 1, 1, 3, 4});  // of equal ones the last
  auto least = run("pd_op.cummin", {x}, {{"axis", i32(1)}});
  expect(least[0], {1, 1, 1, 1, 1});
  expect(least[1], {0, 0, 0, 0, 0});
  auto n = run("pd_op.cummax", {with_nan}, {{"axis", i32(0)}});
  EXPECT_TRUE(std::isnan(n[0][1]) && std::isnan(n[0][2]));
  expect(n[1], {0, 1, 1, 3});
}

TEST_F(Nests, PlacesOfExtremes) {
  const Input x{f32, {2, 3}, {1, 5, 5, 7, 2, 0}}, with_nan{f32, {3}, {9, nan, nan}};
  expect(run("pd_op.argmax", {x}, {}, {{1, i64}})[0], {1, 0});
  expect(run("pd_op.argmax", {x}, {{"keepdims", yes()}}, {{0, i64}})[0], {1, 0, 0});
  expect(run("pd_op.argmax", {x}, {{"flatten", yes()}}, {{0, i64}})[0], {3});
  expect(run("pd_op.argmin", {x}, {}, {{-1, i64}})[0], {0, 2});
  expect(run("pd_op.argmax", {with_nan}, {}, {{0, i64}})[0], {1});
}

TEST_F(Nests, Searching) {
  const Input row{f32, {4}, {1, 3, 3, 7}}, rows{f32, {2, 3}, {1, 2, 3, 4, 5, 6}};
  expect(run("pd_op.searchsorted", {row, {f32, {2, 2}, {3, 0, 8, 7}}})[0], {1, 0, 4, 3});
  expect(run("pd_op.searchsorted", {row, {f32, {2, 2}, {3, 0, 8, 7}}}, {{"right", yes()}})[0], {3, 0, 4, 4});
  expect(run("pd_op.searchsorted", {rows, {f32, {2, 1}, {2, 9}}})[0], {1, 3});
}

TEST_F(Nests, WritingByIndex) {
  const Input ids{i64, {2, 2}, {0, 2, 2, 1}}, grad{f32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}};
  expect(run("pd_op.embedding_grad", {ids, grad}, {}, {{4, i64}})[0], {1, 2, 7, 8, 8, 10, 0, 0});
  expect(run("pd_op.embedding_grad", {ids, grad}, {{"padding_idx", Attribute::i64(2)}}, {{4, i64}})[0],
         {1, 2, 7, 8, 0, 0, 0, 0});
  const Input index{i64, {3}, {1, -1, 1}}, add{f32, {2, 3}, {10, 20, 30, 40, 50, 60}};
  expect(run("pd_op.index_add", {kSix, index, add}, {{"axis", i32(1)}})[0], {1, 42, 23, 4, 105, 56});
}

TEST_F(Nests, TrianglesAndOnes) {
  const Input x{f32, {1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  expect(run("pd_op.tril", {x}, {{"diagonal", i32(0)}})[0], {1, 0, 0, 4, 5, 0, 7, 8, 9});
  expect(run("pd_op.triu", {x}, {{"diagonal", i32(1)}})[0], {0, 2, 3, 0, 0, 6, 0, 0, 0});
  expect(run("pd_op.one_hot", {{i64, {2}, {2, 0}}}, {}, {{3, DType::kInt32}})[0], {0, 0, 1, 1, 0, 0});
}

// Those without sums and without computed indices are compiled for CPUs too.
TEST_F(Nests, PlainOnesAreForEveryDevice) {
  pir::Program p;
  pir::Builder b(p);
  pir::Value x = b.data("x", pir::Type::tensor(f32, paddle::Shape{3, 3}));
  pir::Operation* triangle = b.create("pd_op.tril", {x}, {{"diagonal", i32(0)}});
  EXPECT_TRUE(loops_of(*triangle).everywhere && translatable(*triangle));
  pir::Operation* scan = b.create("pd_op.cummax", {x}, {{"axis", i32(0)}});
  EXPECT_FALSE(loops_of(*scan).everywhere || translatable(*scan));
  EXPECT_TRUE(translatable(*scan, {.loops = true}));
}

TEST(NestText, Lists) {
  auto terms = parse_nest("(set out (at ... (i i)) (int 0)) (let m (neg (number inf)))");
  ASSERT_EQ(terms.size(), 2u);
  EXPECT_EQ(terms[0].word, "set");
  EXPECT_EQ(terms[0].items[1].word, "at");
  EXPECT_EQ(terms[0].items[1].items[0].word, "...");
  EXPECT_EQ(terms[1].items[1].items[0].items[0].word, "inf");
  EXPECT_THROW(parse_nest("(set out"), InternalError);
  EXPECT_THROW(parse_nest("out)"), InternalError);
}

}  // namespace
}  // namespace paddle::cinn
