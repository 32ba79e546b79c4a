// Paddle's own files: read, checked, written again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "pir/printer.h"
#include "pir/serialize/json.h"
#include "pir/serialize/params.h"
#include "pir/verifier.h"
#include "spmd/placement.h"
#include "test_ops.h"
#include "tests/paths.h"

namespace paddle::pir {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string read(const std::string& name) {
  std::ifstream in(std::string(test::kSourceFolder) + "/tests/pir/data/" + name, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}
std::span<const std::byte> bytes_of(const std::string& s) {
  return {reinterpret_cast<const std::byte*>(s.data()), s.size()};
}

class Serialize : public ::testing::Test {
 protected:
  void SetUp() override { testing::register_test_ops(); }
};

// What official paddle wrote comes out again, key by key.
TEST_F(Serialize, OfficialProgramsRoundTrip) {
  for (const char* name : {"official_net.json", "official_control_flow.json"}) {
    std::string source = read(name);
    ASSERT_FALSE(source.empty()) << name;
    JsonInfo info;
    Program p = program_from_json(source, &info);
    EXPECT_EQ(info.version, 4);
    verify(p);
    EXPECT_EQ(Json::parse(program_to_json(p, info)).flatten(), Json::parse(source).flatten()) << name;
    EXPECT_EQ(program_to_json(p, info), source) << name;  // even byte for byte
    // And through our text form.
    EXPECT_EQ(program_to_json(parse_program(p.str()), info), source) << name;
  }
}

TEST_F(Serialize, OfficialProgramMeansWhatItSays) {
  Program p = program_from_json(read("official_control_flow.json"));
  Operation* loop = nullptr;
  p.walk([&](Operation& op) {
    if (op.is("pd_op.while")) loop = &op;
  });
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->num_operands(), 3u);
  EXPECT_EQ(loop->region(0).front().num_args(), 2u);
  EXPECT_EQ(loop->region(0).front().terminator()->num_operands(), 3u);
  Operation* branch = loop->operand(2).defining_op();
  EXPECT_EQ(branch->name(), "pd_op.if");
  EXPECT_EQ(branch->region(1).front().size(), 3u);
}

TEST_F(Serialize, UnknownSizesBecomeSymbols) {
  Program p = program_from_json(read("official_net.json"));
  refine_types(p);
  verify(p);
  Value x, y;
  p.walk([&](Operation& op) {
    if (op.is("pd_op.data")) x = op.result();
    if (op.is("pd_op.fetch") && !y) y = op.operand(0);
    for (size_t i = 0; i < op.num_results(); ++i) {
      if (!op.result(i).type().is_tensor()) continue;
      for (Dim d : op.result(i).shape()) EXPECT_NE(d, Dim(-1)) << op.describe();
    }
  });
  ASSERT_TRUE(x && y);
  EXPECT_TRUE(x.shape()[0].is_symbolic());
  // The batch keeps its name through matmul and add.
  Operation* add = x.users().at(1);
  EXPECT_EQ(add->result().shape()[0], x.shape()[0]);
  std::string text = p.str();
  EXPECT_EQ(program_from_json(program_to_json(p)).str(), text);  // expressions survive the file
}

TEST_F(Serialize, AllKindsOfAttributes) {
  Dim s = new_symbol();
  spmd::DistAttr dist{spmd::ProcessMesh({2}, {0, 1}, {"x"}), {spmd::Shard(0)}};
  spmd::DistAttr partial{spmd::ProcessMesh({2}, {0, 1}, {"x"}), {spmd::Partial(spmd::PartialKind::kAvg)}};
  Type t = Type::tensor(DType::kFloat32, {s * Dim(2), 4});
  Program p;
  Builder b(p);
  std::vector<Type> types = {t,
                             Type::dist(t, dist),
                             Type::dist(t, partial),
                             Type(),
                             Type::scalar(DType::kInt64),
                             Type::marker(TypeKind::kInlet),
                             Type::tensor(DType::kFloat8E4M3FN, {}, Layout::kAny),
                             Type::tensor_like(TypeKind::kTensorArray, DType::kFloat32, {})};
  std::vector<Attribute> attrs = {Attribute::boolean(true),
                                  Attribute::i32(-1),
                                  Attribute::i64(INT64_MIN),
                                  Attribute::f32(0.1f),
                                  Attribute::f64(1e-300),
                                  Attribute::f64(NAN),
                                  Attribute::f32(-INFINITY),
                                  Attribute::c64({1, -2}),
                                  Attribute::c128({0.5, 3}),
                                  Attribute::string("a\"\n\xc3\xa9"),
                                  Attribute::symbol("w"),
                                  Attribute::dtype(DType::kBFloat16),
                                  Attribute::dtype(DType::kUndefined),
                                  Attribute::undefined_place(),
                                  Attribute::ints({1, s, -1}),
                                  Attribute::array({Attribute::i32(1), Attribute()}),
                                  Attribute::type(t),
                                  Attribute::dim(s + Dim(1))};
  for (Type type : types)
    b.create("pd_op.feed", {}, {{"name", Attribute::string("x")}, {"col", Attribute::i32(0)}}, {type});
  Operation* op = b.create("cf.stack_create", {});
  for (size_t i = 0; i < attrs.size(); ++i) op->set_attr(fmt::format("a{}", i), attrs[i]);
  Program q = program_from_json(program_to_json(p));
  EXPECT_EQ(q.str(), p.str());
  op->set_attr("dense", Attribute::dense({DType::kInt8, {1}, {std::byte{1}}}));
  EXPECT_THROW(program_to_json(p), Error);
}

std::string message(const std::string& source) {
  try {
    program_from_json(source);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST_F(Serialize, ErrorsSayWhat) {
  Json good = Json::parse(read("official_net.json"));
  auto with = [&](auto change) {
    Json j = good;
    change(j);
    return message(j.dump());
  };
  auto op = [](Json& j, size_t i) -> Json& { return j["program"]["regions"][0]["blocks"][0]["ops"][i]; };
  EXPECT_THAT(with([](Json& j) { j["base_code"]["version"] = 9; }), HasSubstr("version 9 is unknown; versions 1 to 4"));
  EXPECT_THAT(with([](Json& j) { j["base_code"]["magic"] = "onnx"; }), HasSubstr("magic"));
  EXPECT_THAT(with([&](Json& j) { op(j, 9)["#"] = "1.no_such", op(j, 10)["#"] = "3.my_op"; }),
              HasSubstr("not known: custom_op.my_op, pd_op.no_such"));
  EXPECT_THAT(with([&](Json& j) { op(j, 9)["I"][0]["%"] = 999; }),
              HasSubstr("operand 999 is not defined before its use (operation 9 of its block, 1.matmul)"));
  EXPECT_THAT(with([&](Json& j) { op(j, 9)["O"][0]["%"] = 1; }), HasSubstr("value 1 is defined twice"));
  EXPECT_THAT(with([&](Json& j) { op(j, 9)["A"][0]["AT"]["#"] = "0.a_new"; }),
              HasSubstr("attribute kind \"0.a_new\" is not known"));
  EXPECT_THAT(with([&](Json& j) { op(j, 9).erase("I"); }), HasSubstr("expected the key \"I\""));
  EXPECT_THAT(with([&](Json& j) { op(j, 9)["O"][0]["TT"]["D"][1][0] = -7; }), "no error");  // -1 times 7: unknown
  EXPECT_THAT(message("[1, 2"), HasSubstr("no valid JSON"));
  EXPECT_THAT(message(std::string(1000000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(message(""), HasSubstr("no valid JSON"));
}

TEST_F(Serialize, DamagedProgramsNeverCrash) {
  std::string good = read("official_control_flow.json");
  std::mt19937 rng(11);
  for (int i = 0; i < 1500; ++i) {
    std::string text = good;
    if (i % 5 == 0) text.resize(rng() % text.size());
    for (unsigned k = 0; k < 1 + rng() % 4 && !text.empty(); ++k) {
      size_t at = rng() % text.size();
      switch (rng() % 3) {
        case 0:
          text[at] = static_cast<char>(rng());
          break;
        case 1:
          text[at] = "0123456789-[]{}\",:"[rng() % 18];
          break;
        case 2:
          text.erase(at, 1 + rng() % 20);
          break;
      }
    }
    try {
      Program p = program_from_json(text);
      if (problems_of(p.module()).empty()) refine_types(p);
    } catch (const Error&) {
    }
  }
  // Also well-formed JSON with values exchanged.
  Json tree = Json::parse(good).flatten();
  std::vector<std::string> keys;
  for (auto& [k, v] : tree.items()) keys.push_back(k);
  for (int i = 0; i < 300; ++i) {
    Json j = tree;
    j[keys[rng() % keys.size()]] = j[keys[rng() % keys.size()]];
    try {
      Program p = program_from_json(j.unflatten().dump());
      if (problems_of(p.module()).empty()) refine_types(p);
    } catch (const Error&) {
    } catch (const Json::exception&) {  // unflatten itself
    }
  }
}

TEST_F(Serialize, ParametersRoundTrip) {
  Program p = program_from_json(read("official_net.json"));
  std::string bytes = read("official_net.pdiparams");
  load_parameters(p, bytes_of(bytes));
  EXPECT_EQ(parameter_names(p).size(), 8u);
  EXPECT_EQ(parameter_names(p)[0], "batch_norm1d_0.b_0");
  Tensor variance = p.parameter("batch_norm1d_0.w_2"), weight = p.parameter("linear_0.w_0");
  EXPECT_EQ(variance.data<float>()[7], 1.0f);
  EXPECT_EQ(weight.shape(), (Shape{4, 8}));
  EXPECT_FLOAT_EQ(weight.data<float>()[0], -0.68182594f);  // read with numpy from the file's bytes at 0x132
  std::string path = ::testing::TempDir() + "/pir_params_test.pdiparams";
  save_parameters(p, path);
  std::ifstream in(path, std::ios::binary);
  std::stringstream written;
  written << in.rdbuf();
  EXPECT_EQ(written.str(), bytes);
  std::remove(path.c_str());
}

TEST_F(Serialize, DamagedParametersAreRefused) {
  Program p = program_from_json(read("official_net.json"));
  std::string good = read("official_net.pdiparams");
  for (size_t n = 0; n < good.size(); n += 7) {
    std::string cut = good.substr(0, n);
    EXPECT_THROW(load_parameters(p, bytes_of(cut)), Error) << n;
  }
  std::mt19937 rng(5);
  for (int i = 0; i < 5000; ++i) {
    std::string text = good;
    for (int k = 0; k < 2; ++k) text[rng() % text.size()] = static_cast<char>(rng());
    try {
      read_tensors(bytes_of(text));
    } catch (const Error&) {
    }
  }
  // A tensor that claims 2^62 elements.
  std::string huge = good.substr(0, 20) + std::string("\x08\x05\x10\x80\x80\x80\x80\x80\x80\x80\x80\x40", 12);
  huge[16] = 12;
  try {
    read_tensors(bytes_of(huge));
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("larger than the file"));
  }
  EXPECT_THROW(load_parameters(p, std::string("/nonexistent/x")), Error);
}

}  // namespace
}  // namespace paddle::pir
