// Program files that are cut, padded, flipped or hostile, read with the real records as jit.load reads them. Each is
// refused with a typed error, or is a program that keeps the rules, prints and is written again. Run under the
// sanitizers, too (make sanitize).
//
//   PADDLE_FUZZ_COUNT  damaged files of each kind (default 1500)      PADDLE_FUZZ_SEED  another series
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "api/call.h"
#include "pir/serialize/json.h"
#include "pir/serialize/params.h"
#include "pir/verifier.h"
#include "tests/paths.h"

// Rules may name operators; on metadata alone none is called.
namespace paddle::dispatch {
void call(OpCall& c) { throw InternalError("no operator runs here: " + std::string(c.op.name)); }
}  // namespace paddle::dispatch

namespace paddle::pir {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using Random = std::mt19937_64;

int64_t from_env(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : fallback;
}

std::string read_file(const std::string& path) {
  std::ifstream in(std::string(test::kSourceFolder) + "/tests/" + path, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  EXPECT_FALSE(s.str().empty()) << path;
  return s.str();
}
const std::vector<std::string>& json_files() {
  static const std::vector<std::string> files = {
      read_file("pir/data/official_net.json"), read_file("pir/data/official_control_flow.json"),
      read_file("fixtures/program_conv.json"), read_file("fixtures/program_mlp.json")};
  return files;
}
const std::vector<std::string>& parameter_files() {
  static const std::vector<std::string> files = {read_file("pir/data/official_net.pdiparams"),
                                                 read_file("fixtures/program_conv.pdiparams"),
                                                 read_file("fixtures/program_mlp.pdiparams")};
  return files;
}
std::span<const std::byte> bytes_of(const std::string& s) {
  return {reinterpret_cast<const std::byte*>(s.data()), s.size()};
}

enum class Outcome { kRead, kRefused };

// Typed, and said to a person.
Outcome outcome(const std::function<void()>& use) {
  try {
    use();
    return Outcome::kRead;
  } catch (const Error& e) {
    EXPECT_NE(std::string_view(e.what()), "");
    return Outcome::kRefused;
  }
}

// As jit.load does, then all that may be done with a program without running it.
void use_program(Program p) {
  verify(p);
  refine_types(p);
  verify(p);
  const std::string text = p.str();
  EXPECT_EQ(parse_program(text).str(), text);
  try {
    program_to_json(p);
  } catch (const Error& e) {  // types that the official format has no word for; strings that are no UTF-8
    EXPECT_TRUE(e.kind() == ErrorKind::kNotImplemented || e.kind() == ErrorKind::kValue) << e.what();
  }
}
Outcome read_json(const std::string& text) {
  return outcome([&] { use_program(program_from_json(text)); });
}
Outcome read_text(const std::string& text) {
  return outcome([&] { use_program(parse_program(text)); });
}
Outcome read_parameters(const std::string& bytes) {
  return outcome([&] { read_tensors(bytes_of(bytes)); });
}

// One to four faults: a byte, a bit, a stretch cut out, a stretch copied from elsewhere, a number made odd.
std::string damaged(std::string text, Random& rng) {
  static constexpr const char* kNumbers[] = {
      "-1",         "0",  "9223372036854775807", "-9223372036854775808", "4294967296", "1e999", "99999999999999999999",
      "2147483648", "-2", "4611686018427387904"};
  for (uint64_t k = 1 + rng() % 4; k-- > 0 && !text.empty();) {
    const size_t at = rng() % text.size();
    switch (rng() % 5) {
      case 0:
        text[at] = static_cast<char>(rng());
        break;
      case 1:
        text[at] = static_cast<char>(text[at] ^ (1 << rng() % 8));
        break;
      case 2:
        text.erase(at, 1 + rng() % 30);
        break;
      case 3:
        text.insert(at, text.substr(rng() % text.size(), rng() % 60));
        break;
      case 4: {
        const size_t digit = text.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const size_t end = text.find_first_not_of("0123456789", digit);
        text.replace(digit, end == std::string::npos ? std::string::npos : end - digit,
                     kNumbers[rng() % std::size(kNumbers)]);
        break;
      }
    }
  }
  return text;
}

class DamagedFiles : public ::testing::Test {
 protected:
  void SetUp() override { set_record_source(find_op, all_ops); }
  Random rng{static_cast<uint64_t>(from_env("PADDLE_FUZZ_SEED", 1))};
  int64_t count = from_env("PADDLE_FUZZ_COUNT", 1500);
};

TEST_F(DamagedFiles, TheWholeOnesAreRead) {
  for (const std::string& f : json_files()) EXPECT_NO_THROW(use_program(program_from_json(f)));
  for (const std::string& f : parameter_files()) EXPECT_EQ(read_parameters(f), Outcome::kRead);
}

TEST_F(DamagedFiles, CutAtEveryLength) {
  for (const std::string& f : json_files())
    for (size_t n = 0; n<f.size(); n += f.size()> 4000 ? 7 : 1)
      EXPECT_EQ(read_json(f.substr(0, n)), Outcome::kRefused) << n;
  for (const std::string& f : parameter_files()) {
    const size_t whole = read_tensors(bytes_of(f)).size();
    for (size_t n = 0; n < f.size(); ++n) {
      // Where a tensor ends, fewer tensors are a file of their own; the program that misses them says so.
      size_t got = whole;
      if (outcome([&] { got = read_tensors(bytes_of(f).subspan(0, n)).size(); }) == Outcome::kRead)
        EXPECT_LT(got, whole);
    }
  }
  const std::string text = program_from_json(json_files().back()).str();
  const size_t end = text.find_last_not_of(" \n");
  for (size_t n = 0; n < end; ++n) EXPECT_EQ(read_text(text.substr(0, n)), Outcome::kRefused) << n;
}

TEST_F(DamagedFiles, Padded) {
  const std::string zeros(64, '\0');
  for (const std::string& more : {std::string("x"), zeros, std::string("}"), std::string("\xff\xfe")}) {
    EXPECT_EQ(read_json(json_files()[0] + more), Outcome::kRefused);
    EXPECT_EQ(read_parameters(parameter_files()[0] + more), Outcome::kRefused);
    EXPECT_EQ(read_text(program_from_json(json_files()[3]).str() + more), Outcome::kRefused);
  }
}

TEST_F(DamagedFiles, FlippedAndRearranged) {
  int64_t refused = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto& files = json_files();
    refused += read_json(damaged(files[rng() % files.size()], rng)) == Outcome::kRefused;
  }
  EXPECT_GT(refused, count / 2);
  for (int64_t i = 0; i < count; ++i) {
    const auto& files = parameter_files();
    read_parameters(damaged(files[rng() % files.size()], rng));
  }
  std::vector<std::string> texts;
  for (const std::string& f : json_files()) texts.push_back(program_from_json(f).str());
  for (int64_t i = 0; i < count; ++i) read_text(damaged(texts[rng() % texts.size()], rng));
}

// Well-formed JSON in which values have changed places or are odd.
TEST_F(DamagedFiles, ExchangedValues) {
  const Json odd[] = {nullptr,        -1,        0,        1,    INT64_MAX,     INT64_MIN,      UINT64_MAX,
                      1e300,          "",        "x",      true, Json::array(), Json::object(), {1, 2, 3},
                      "1.no_such_op", "0.t_f32", "0.a_i32"};
  for (int64_t i = 0; i < count; ++i) {
    const auto& files = json_files();
    Json tree = Json::parse(files[rng() % files.size()]);
    Json flat = tree.flatten();
    std::vector<std::string> keys;
    for (auto& [k, v] : flat.items()) keys.push_back(k);
    for (uint64_t k = 1 + rng() % 3; k-- > 0;) {
      Json::json_pointer at(keys[rng() % keys.size()]), from(keys[rng() % keys.size()]);
      for (uint64_t up = rng() % 3; up-- > 0 && !at.empty();) at.pop_back();
      if (at.empty() || !tree.contains(at) || !tree.contains(from)) continue;
      Json value = rng() % 2 ? tree[from] : odd[rng() % std::size(odd)];
      tree[at] = value;
    }
    read_json(tree.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
}

std::string message(const std::string& text) {
  try {
    use_program(program_from_json(text));
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST_F(DamagedFiles, DeepNesting) {
  for (char open : {'[', '{'}) EXPECT_EQ(read_json(std::string(2000000, open)), Outcome::kRefused);
  for (const char* text : {"{", "(", "[", "{\"a\": (Scalar)", "vec["}) {
    std::string deep = "attributes";
    for (int i = 0; i < 200000; ++i) deep += text;
    EXPECT_EQ(read_text(deep), Outcome::kRefused);
  }
  // Within what JSON allows, but more than any program has.
  Json file = Json::parse(json_files()[3]);
  Json& ops = file["program"]["regions"][0]["blocks"][0]["ops"];
  Json type = {{"#", "0.t_bool"}}, attribute = {{"#", "0.a_bool"}, {"D", true}};
  Json block = {{"#", "block"}, {"args", Json::array()}, {"ops", Json::array()}};
  for (int i = 0; i < 300; ++i) {
    type = {{"#", "0.t_vec"}, {"D", {type}}};
    attribute = {{"#", "0.a_array"}, {"D", {attribute}}};
    Json inner = {{"#", "1.if"},
                  {"I", {{{"%", 1}}}},
                  {"O", Json::array()},
                  {"A", Json::array()},
                  {"regions", {{{"#", "region"}, {"blocks", {block}}}}}};
    block = {{"#", "block"}, {"args", Json::array()}, {"ops", {inner}}};
  }
  Json changed = file;
  changed["program"]["regions"][0]["blocks"][0]["ops"].back()["O"] = {{{"%", 99}, {"TT", type}}};
  EXPECT_THAT(message(changed.dump()), HasSubstr("nested too deeply"));
  changed = file;
  changed["program"]["regions"][0]["blocks"][0]["ops"].back()["A"] = {{{"N", "x"}, {"AT", attribute}}};
  EXPECT_THAT(message(changed.dump()), HasSubstr("nested too deeply"));
  ops.push_back(block["ops"][0]);
  EXPECT_THAT(message(file.dump()), HasSubstr("nested too deeply"));
}

TEST_F(DamagedFiles, SizesThatExplode) {
  // A product of sums doubles with every factor.
  std::string size = "(a0 + b0)";
  for (int i = 1; i < 40; ++i) size += fmt::format(" * (a{} + b{})", i, i);
  EXPECT_EQ(outcome([&] { parse_dim(size); }), Outcome::kRefused);
  EXPECT_EQ(outcome([&] { parse_dim(std::string(100000, '(')); }), Outcome::kRefused);
  EXPECT_EQ(outcome([&] { parse_dim(std::string(100000, '-') + "1"); }), Outcome::kRefused);
  for (const char* text : {"9223372036854775807 + 1", "9223372036854775807 * 2", "floordiv(a, 0)", "mod(1, 0)",
                           "floordiv(-9223372036854775808, -1)"})
    EXPECT_EQ(outcome([&] { parse_dim(text); }), Outcome::kRefused) << text;
}

TEST_F(DamagedFiles, WhatAndWhere) {
  Json file = Json::parse(json_files()[3]);
  auto with = [&](auto change) {
    Json j = file;
    change(j, j["program"]["regions"][0]["blocks"][0]["ops"]);
    return message(j.dump());
  };
  EXPECT_THAT(with([](Json& j, Json&) { j["base_code"]["version"] = 5; }), HasSubstr("version 5 is unknown"));
  EXPECT_THAT(with([](Json& j, Json&) { j["base_code"]["version"] = "4"; }), HasSubstr("version"));
  auto at = [](Json& ops, std::string_view name) -> Json& {
    for (Json& op : ops)
      if (op["#"] == name) return op;
    throw InternalError("no such operation");
  };
  // Operands that don't fit: what the operator's rule says, with the operation.
  EXPECT_THAT(with([&](Json&, Json& ops) { at(ops, "1.matmul")["I"][1] = at(ops, "1.add")["I"][1]; }),
              AllOf(HasSubstr("matmul"), HasSubstr("can't be")));
  // A result that claims other sizes than the operator yields is not believed.
  Json j = file;
  Json& ops = j["program"]["regions"][0]["blocks"][0]["ops"];
  at(ops, "1.matmul")["O"][0]["TT"]["D"][1] = {1, 1};
  Program p = program_from_json(j.dump());
  refine_types(p);
  const Json told = Json::parse(program_to_json(p));
  Json again = told["program"]["regions"][0]["blocks"][0]["ops"];
  EXPECT_EQ(at(again, "1.matmul")["O"][0]["TT"]["D"][1], Json({-1, 8}));
}

TEST_F(DamagedFiles, ParametersThatDontFit) {
  Program p = program_from_json(json_files()[0]);
  const std::string good = parameter_files()[0];
  auto refusal = [&](const std::string& bytes) -> std::string {
    try {
      load_parameters(p, bytes_of(bytes));
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(refusal(good), "no error");
  EXPECT_THAT(refusal(good + good), HasSubstr("8 parameters, the file 16 tensors"));
  EXPECT_THAT(refusal(parameter_files()[2]), HasSubstr("parameters, the file"));
  EXPECT_THAT(refusal(good.substr(0, good.size() - 1)), AllOf(HasSubstr("tensor 7"), HasSubstr("byte")));
  // Each tensor: u32, u64, u32 before the description's length. A version that isn't known:
  std::string other = good;
  other[0] = 1;
  EXPECT_THAT(refusal(other), HasSubstr("version 1 is not known"));
  other = good;
  other[16] = other[17] = other[18] = '\x7f';
  EXPECT_THAT(refusal(other), AllOf(HasSubstr("tensor 0"), HasSubstr("are left")));
}

}  // namespace
}  // namespace paddle::pir
