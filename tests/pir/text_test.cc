// Text in, text out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "pir/printer.h"
#include "pir/serialize/bytes.h"
#include "pir/verifier.h"
#include "spmd/placement.h"
#include "test_ops.h"

namespace paddle::pir {
namespace {

using ::testing::HasSubstr;

class Text : public ::testing::Test {
 protected:
  void SetUp() override { testing::register_test_ops(); }
  void round_trip(const std::string& text, bool locations = false) {
    Program p = parse_program(text);
    EXPECT_EQ(print(p, {.locations = locations}), text);
    // Bytes lose nothing either.
    ProgramWriter all;
    all.program(p);
    ProgramWriter w(all.symbols());
    w.program(p);
    ProgramReader r(w.out().bytes(), all.symbols());
    EXPECT_EQ(print(r.program(), {.locations = locations}), text);
    EXPECT_TRUE(r.in().done());
  }
};

constexpr const char* kProgram = R"({
    (%0) = "builtin.parameter" () {parameter_name: "linear_0.w_0", stop_gradient: [false]} : () -> tensor<4x3xf32>
    (%1) = "pd_op.data" () {dtype: float32, name: "x", place: Place(undefined:0), shape: [S0, 4], stop_gradient: [false]} : () -> tensor<S0x4xf32>
    (%2) = "pd_op.matmul" (%1, %0) {transpose_x: false, transpose_y: false} : (tensor<S0x4xf32>, tensor<4x3xf32>) -> tensor<S0x3xf32>
    (%3) = "pd_op.softmax" (%2) {axis: (Int32)-1, stop_gradient: [false]} : (tensor<S0x3xf32>) -> tensor<S0x3xf32>
    (%4) = "pd_op.dropout" (%3, <<NULL VALUE>>) {p: (Float)0.1} : (tensor<S0x3xf32>, none) -> tensor<S0x3xf32>
    (%5) = "builtin.combine" (%3, %4) {} : (tensor<S0x3xf32>, tensor<S0x3xf32>) -> vec[tensor<S0x3xf32>, tensor<S0x3xf32>]
    (%6, %7) = "builtin.split" (%5) {} : (vec[tensor<S0x3xf32>, tensor<S0x3xf32>]) -> tensor<S0x3xf32>, tensor<S0x3xf32>
    () = "builtin.shadow_output" (%7) {output_name: "out"} : (tensor<S0x3xf32>) ->
}
)";

TEST_F(Text, Straight) {
  round_trip(kProgram);
  verify(parse_program(kProgram));
}

TEST_F(Text, BytesAreEqualWhateverSymbolsAreCalled) {
  auto bytes = [](const std::string& symbol) {
    std::string text = kProgram;
    for (size_t at; (at = text.find("S0")) != std::string::npos;) text.replace(at, 2, symbol);
    ProgramWriter w;
    w.program(parse_program(text));
    return w.out().bytes();
  };
  EXPECT_EQ(bytes("S71"), bytes("S72"));
}

TEST_F(Text, DamagedBytesAreRefusedOrReadAsAnotherProgram) {
  const Program p = parse_program(kProgram);
  ProgramWriter w;
  w.program(p);
  const std::string whole = w.out().bytes();
  size_t refused = 0;
  auto attempt = [&](const std::string& bytes) {
    try {
      ProgramReader(bytes).program();
    } catch (const Error& e) {
      ++refused;
      EXPECT_STRNE(e.what(), "");
    }
  };
  for (size_t at = 0; at < whole.size(); ++at)
    for (char flip : {'\x01', '\x80', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      attempt(damaged);
    }
  EXPECT_GT(refused, whole.size());
  refused = 0;
  for (size_t n = 0; n < whole.size(); ++n) attempt(whole.substr(0, n));
  EXPECT_EQ(refused, whole.size());
}

TEST_F(Text, Regions) {
  const char* text = R"({
    (%0) = "pd_op.data" () {dtype: bool, name: "c", place: Place(cpu), shape: [1]} : () -> tensor<1xb>
    (%1) = "pd_op.full" () {dtype: float32, place: Place(cpu), shape: [2], value: (Scalar)(Double)1.5} : () -> tensor<2xf32>
    (%2) = "pd_op.if" (%0) {stop_gradient: [true]} : (tensor<1xb>) -> tensor<2xf32> {
        (%3) = "pd_op.relu" (%1) {} : (tensor<2xf32>) -> tensor<2xf32>
        () = "cf.yield" (%3) {} : (tensor<2xf32>) ->
    } {
        () = "cf.yield" (%1) {} : (tensor<2xf32>) ->
    }
    (%4) = "pd_op.while" (%0, %2) {} : (tensor<1xb>, tensor<2xf32>) -> tensor<2xf32> {
        ^(%arg0 : tensor<2xf32> {stop_gradient: false})
        (%5) = "pd_op.relu_" (%arg0) {} : (tensor<2xf32>) -> tensor<2xf32>
        () = "cf.yield" (%0, %5) {} : (tensor<1xb>, tensor<2xf32>) ->
    }
    () = "pd_op.if" (%0) {} : (tensor<1xb>) -> {
        ^()
    } {}
}
)";
  round_trip(text);
  verify(parse_program(text));
}

TEST_F(Text, Locations) {
  round_trip(R"({
    (%0) = "pd_op.data" () {dtype: bool, name: "c", place: Place(cpu), shape: [1]} : () -> tensor<1xb> loc("model.py":31 in "forward" at "train.py":7 at "dir \"x\"/a.py":1 in "main")
    (%1) = "pd_op.relu" (%0) {} : (tensor<1xb>) -> tensor<1xb> loc(by "fold" from "model.py":31 in "forward" at "train.py":7)
    (%2) = "pd_op.relu" (%0) {} : (tensor<1xb>) -> tensor<1xb> loc(unknown)
    (%3) = "pd_op.relu" (%0) {} : (tensor<1xb>) -> tensor<1xb> loc(by "fold")
}
)",
             true);
}

// Every kind of attribute and type comes back as the same object.
TEST_F(Text, AttributesAndTypes) {
  Dim s = new_symbol(), t = new_symbol(0, "tensor"), u = new_symbol(0, "batch");
  spmd::DistAttr dist{spmd::ProcessMesh({2, 2}, {0, 1, 2, 3}, {"x", "y z"}),
                      {spmd::Shard(0), spmd::Partial(spmd::PartialKind::kMax)}};
  DenseData dense{DType::kInt16, {2, 1}, {std::byte{1}, std::byte{0xff}, std::byte{0}, std::byte{0x80}}};
  Type d = Type::tensor(DType::kBFloat16, {s * Dim(2) + Dim(1), u, 3}, Layout::kAny);
  std::vector<Type> types = {d,
                             Type::tensor(DType::kFloat32, {}),
                             Type::tensor(DType::kFloat8E5M2, {0, -1}, Layout::kNHWC),
                             Type::dist(Type::tensor(DType::kFloat32, {s, 4}), dist),
                             Type::dist(Type::tensor(DType::kFloat32, {8, 4}, Layout::kNHWC), dist),
                             Type::tensor_like(TypeKind::kSelectedRows, DType::kFloat64, {4}),
                             Type::tensor_like(TypeKind::kTensorArray, DType::kComplex64, {}),
                             Type::scalar(DType::kInt32),
                             Type::marker(TypeKind::kInlet),
                             Type::vector(std::vector<Type>{}),
                             Type()};
  types.push_back(Type::vector(std::vector<Type>{d, Type(), Type::vector(std::vector<Type>{d})}));
  std::vector<Attribute> attrs = {Attribute(),
                                  Attribute::boolean(true),
                                  Attribute::i32(-5),
                                  Attribute::i64(INT64_MIN),
                                  Attribute::f32(0.1f),
                                  Attribute::f32(std::numeric_limits<float>::denorm_min()),
                                  Attribute::f64(0.1),
                                  Attribute::f64(1e308),
                                  Attribute::f64(-0.0),
                                  Attribute::f64(INFINITY),
                                  Attribute::f32(-INFINITY),
                                  Attribute::f64(NAN),
                                  Attribute::f32(-NAN),
                                  Attribute::f64(5e-324),
                                  Attribute::c64({1.5f, -0.0f}),
                                  Attribute::c128({NAN, INFINITY}),
                                  Attribute::string("a\"b\\\n\t\x01\xc3\xa9"),
                                  Attribute::string(""),
                                  Attribute::symbol("w 0"),
                                  Attribute::dtype(DType::kUndefined),
                                  Attribute::dtype(DType::kBFloat16),
                                  Attribute::place(Place::cpu()),
                                  Attribute::undefined_place(),
                                  Attribute::layout(Layout::kAny),
                                  Attribute::dim(s * s - Dim(3)),
                                  Attribute::ints({}),
                                  Attribute::ints({1, s, floor_div(s, Dim(3)), u}),
                                  Attribute::ints({t, 2}),
                                  Attribute::ints({t + s, -1}),
                                  Attribute::ints({-s, 4}),
                                  Attribute::array({}),
                                  Attribute::array({Attribute::i64(1), Attribute::array({Attribute::f32(2)})}),
                                  Attribute::array({Attribute::dtype(DType::kFloat32)}),
                                  Attribute::array({Attribute::dim(s), Attribute()}),
                                  Attribute::scalar(Attribute::i64(3)),
                                  Attribute::scalar(Attribute::dim(s)),
                                  Attribute::scalar(Attribute::c128({1, 2})),
                                  Attribute::dist(dist),
                                  Attribute::dense(dense),
                                  Attribute::dense({DType::kFloat32, {0}, {}})};
  NamedAttrs dict = {{"b", Attribute::i32(1)}, {"a c", Attribute::string("x")}};
  attrs.push_back(Attribute::dict(dict));
  attrs.push_back(Attribute::dict({}));
  for (Type type : types) attrs.push_back(Attribute::type(type));
  Program p;
  Builder b(p);
  Operation* op = b.create("pd_op.data", {}, {}, {types[0]});
  for (size_t i = 0; i < attrs.size(); ++i) op->set_attr(fmt::format("a{}", i), attrs[i]);
  op->set_attr("odd name", Attribute::i32(1));
  for (Type type : types) b.create("builtin.parameter", {}, {{"parameter_name", Attribute::string("p")}}, {type});
  std::string text = p.str();
  Program q = parse_program(text);
  EXPECT_EQ(q.str(), text);
  for (size_t i = 0; i < attrs.size(); ++i)
    EXPECT_EQ(q.block().front()->attr(fmt::format("a{}", i)), attrs[i]) << attrs[i].str();
  Operation* parameter = q.block().front()->next();
  for (Type type : types) {
    EXPECT_EQ(parameter->result().type(), type) << type.str();
    parameter = parameter->next();
  }
  EXPECT_EQ(types[3].local().shape()[0], ceil_div(s, Dim(2)));
  EXPECT_EQ(types[4].local(), Type::tensor(DType::kFloat32, {4, 4}, Layout::kNHWC));
}

TEST_F(Text, ErrorsSayWhere) {
  auto message = [](std::string text) -> std::string {
    try {
      parse_program(text);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("{\n  (%0) = \"pd_op.relu\" (%1) {} : () ->\n}"),
            "[parse_program] line 2, column 24: %1 is used before it is defined");
  EXPECT_THAT(
      message("{\n (%0) = \"pd_op.softmux\" () {} : () -> tensor<f32> }"),
      HasSubstr(
          "line 2, column 9: there is no operation named \"pd_op.softmux\"; the nearest name is \"pd_op.softmax\""));
  EXPECT_THAT(message("{ (%0) = \"pd_op.data\" () {a: (Int32)99999999999} : () -> tensor<f32> }"),
              HasSubstr("doesn't fit 32 bits"));
  EXPECT_THAT(message("{ (%0) = \"pd_op.data\" () {a: (Int33)9} : () -> tensor<f32> }"),
              HasSubstr("unknown kind of attribute (Int33)"));
  EXPECT_THAT(message("{ (%0) = \"pd_op.data\" () {} : () -> tensor<4xf99> }"),
              HasSubstr("expected a dtype such as f32 or i64"));
  EXPECT_THAT(message("{ (%0, %0) = \"builtin.split\" () {} : () -> tensor<f32>, tensor<f32> }"),
              HasSubstr("%0 is defined twice"));
  EXPECT_THAT(message("{"), HasSubstr("got the end of the text"));
  EXPECT_THAT(message(""), HasSubstr("expected \"{\""));
  EXPECT_THAT(message(std::string(100000, '{')), HasSubstr("expected"));
  std::string deep = "{ (%0) = \"pd_op.data\" () {a: " + std::string(100000, '[');
  EXPECT_THAT(message(deep), HasSubstr("expected less nesting"));
  EXPECT_THAT(message("{ (%0) = \"pd_op.data\" () {} : () -> dist_tensor<4xf32, {mesh: [2], ranks: [0, 0], names: "
                      "[\"x\"], placements: [Shard(0)]}, local [2]> }"),
              HasSubstr("line 1"));
  EXPECT_THAT(message("{ (%0) = \"pd_op.data\" () {} : () -> dist_tensor<4xf32, {mesh: [2], ranks: [0, 1], names: "
                      "[\"x\"], placements: [Shard(3)]}, local [2]> }"),
              HasSubstr("Shard(3) of a tensor of rank 1"));
  EXPECT_THAT(
      message("{ (%0) = \"pd_op.data\" () {a: dense<tensor<4611686018427387904x8xf32>, 0x00>} : () -> tensor<f32> }"),
      HasSubstr("line 1"));
  EXPECT_THAT(message("{ (%0) = \"pd_op.data\" () {a: Place(toaster:0)} : () -> tensor<f32> }"), HasSubstr("line 1"));
}

// Cut and damaged text: an Error or a program, never anything else.
TEST_F(Text, DamagedTextNeverCrashes) {
  std::string good = kProgram;
  good += "";
  std::mt19937 rng(3);
  size_t read = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    if (i % 4 == 0) text.resize(rng() % text.size());
    for (int k = 0, n = 1 + static_cast<int>(rng() % 3); k < n && !text.empty(); ++k) {
      size_t at = rng() % text.size();
      switch (rng() % 4) {
        case 0:
          text[at] = static_cast<char>(rng());
          break;
        case 1:
          text.erase(at, 1 + rng() % 5);
          break;
        case 2:
          text.insert(at, std::string(1 + rng() % 3, "(){}[]<>%\"x,:-1"[rng() % 15]));
          break;
        case 3:
          text.insert(at, good.substr(rng() % good.size(), rng() % 40));
          break;
      }
    }
    try {
      Program p = parse_program(text);
      problems_of(p.module());
      ++read;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, read);
}

TEST_F(Text, DiffShowsWhatChanged) {
  std::string before = kProgram, after = before;
  size_t at = after.find("    (%3)");
  after.replace(at, after.find('\n', at) - at,
                "    (%9) = \"pd_op.relu\" (%2) {} : (tensor<S0x3xf32>) -> tensor<S0x3xf32>");
  EXPECT_EQ(diff(before, before), "");
  std::string d = diff(before, after);
  EXPECT_THAT(d, HasSubstr("-     (%3) = \"pd_op.softmax\""));
  EXPECT_THAT(d, HasSubstr("+     (%9) = \"pd_op.relu\""));
  EXPECT_EQ(std::count(d.begin(), d.end(), '\n'), 3);
}

}  // namespace
}  // namespace paddle::pir
