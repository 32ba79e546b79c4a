// Finished programs on disk: found again by another process of the same build, and by nothing else; what happens to the
// folder never changes a result.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/build_id.h"
#include "base/disk_cache.h"
#include "base/flags.h"
#include "cinn/jit/compiled.h"
#include "compile/program_cache.h"
#include "pir/builder.h"
#include "pir/rewrite/pass.h"
#include "pir/rewrite/stages.h"

namespace paddle::compile {
namespace {

namespace fs = std::filesystem;
using pir::Attribute;
using pir::Type;
using pir::Value;

class Cached : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "paddle-programs-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    use(folder_);
  }
  void TearDown() override {
    use("off");
    fs::remove_all(folder_);
  }
  static void use(const std::string& folder) {
    flags::set("compile_cache_dir", folder);
    cinn::forget_compiled();
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> out;
    for (const auto& e : fs::directory_iterator(folder_)) out.push_back(e.path().string());
    std::sort(out.begin(), out.end());
    return out;
  }
  std::string folder_;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// y = sum(exp(x * w) + scale, axis 1), where the first size of x is open or 4.
pir::Program program(double scale = 0.5, bool open = false) {
  pir::Program p;
  pir::Builder b(p);
  const Dim rows = open ? new_symbol(4) : Dim(4);
  Value x = b.data("x", Type::tensor(DType::kFloat32, {rows, 33}));
  Value w = b.parameter("w", Type::tensor(DType::kFloat32, {33}));
  Tensor weights = Tensor::empty(view(Shape{33}), DType::kFloat32, Place::cpu());
  for (int i = 0; i < 33; ++i) weights.data<float>()[i] = 0.01f * static_cast<float>(i);
  p.set_parameter("w", weights);
  Value e = b.value("pd_op.exp", {b.value("pd_op.multiply", {x, w})});
  Value s =
      b.value("pd_op.scale", {e, b.full({1}, 1.0, DType::kFloat32)},
              {{"bias", Attribute::f32(static_cast<float>(scale))}, {"bias_after_scale", Attribute::boolean(true)}});
  b.shadow_output("y",
                  b.value("pd_op.sum", {s, b.full_int_array(std::vector<int64_t>{1})},
                          {{"dtype", Attribute::dtype(DType::kUndefined)}, {"keepdim", Attribute::boolean(false)}}));
  return p;
}

// Runs it, compares with the formula; how much was found on disk.
struct Counts {
  int64_t found, kept, compiled;
};
Counts run(const pir::Program& p, double scale = 0.5, int rows = 4) {
  const ProgramCounts before = program_counts();
  const int64_t compiled = cinn::compile_counts().compiled;
  std::vector<DimGuard> guards;
  DimGuardSink sink(&guards);
  auto made = prepare(p, {});
  Tensor x = Tensor::empty(view(Shape{rows, 33}), DType::kFloat32, Place::cpu());
  for (int i = 0; i < rows * 33; ++i) x.data<float>()[i] = 0.02f * static_cast<float>(i % 71) - 0.5f;
  const Tensor y = made->run(std::vector<Tensor>{x}).at(0);
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int i = 0; i < 33; ++i) sum += std::exp(static_cast<double>(x.data<float>()[r * 33 + i]) * 0.01 * i) + scale;
    EXPECT_NEAR(y.data<float>()[r], sum, 1e-4 * sum);
  }
  const ProgramCounts after = program_counts();
  return {after.found - before.found, after.kept - before.kept, cinn::compile_counts().compiled - compiled};
}
// As in a process that begins now.
Counts run_anew(double scale = 0.5, bool open = false, int rows = 4) {
  cinn::forget_compiled();
  return run(program(scale, open), scale, rows);
}

TEST_F(Cached, AnotherProcessFindsIt) {
  Counts n = run_anew();
  EXPECT_EQ(n.found, 0);
  EXPECT_EQ(n.kept, 1);
  EXPECT_EQ(n.compiled, 1);
  n = run_anew();
  EXPECT_EQ(n.found, 1);
  EXPECT_EQ(n.kept, 0);
  EXPECT_EQ(n.compiled, 0);
}

TEST_F(Cached, SymbolsAreThoseOfTheProgramAtHand) {
  run_anew(0.5, true);
  Counts n = run_anew(0.5, true);
  EXPECT_EQ(n.found, 1);
  n = run_anew(0.5, true, 7);  // the same program for another size
  EXPECT_EQ(n.found, 1);
}

TEST_F(Cached, WhatDiffersMisses) {
  run_anew();
  EXPECT_EQ(run_anew(0.25).found, 0);
  EXPECT_EQ(run_anew(0.5, true).found, 0);
  flags::set("fast_math", false);
  EXPECT_EQ(run_anew().found, 0);
  flags::set("fast_math", true);
  const std::string build = pretend_build_id("another");
  EXPECT_EQ(run_anew().found, 0);
  pretend_build_id("");
  EXPECT_EQ(run_anew().found + run_anew().kept, 0);  // a build without identity keeps nothing
  pretend_build_id(build);
  EXPECT_EQ(run_anew().found, 1);
}

TEST_F(Cached, ConstantsCountByTheirElements) {
  auto with = [](float v) {
    pir::Program p;
    pir::Builder b(p);
    Value x = b.data("x", Type::tensor(DType::kFloat32, {3}));
    Value c =
        b.create("builtin.constant", {}, {{"value", Attribute::string("c")}}, {Type::tensor(DType::kFloat32, {3})})
            ->result();
    Tensor t = Tensor::empty(view(Shape{3}), DType::kFloat32, Place::cpu());
    std::fill_n(t.data<float>(), 3, v);
    p.set_parameter("c", t);
    b.shadow_output("y", b.value("pd_op.multiply", {b.value("pd_op.exp", {x}), c}));
    auto made = prepare(p, {});
    Tensor zeros = Tensor::empty(view(Shape{3}), DType::kFloat32, Place::cpu());
    std::fill_n(zeros.data<float>(), 3, 0.0f);
    return *made->run(std::vector<Tensor>{zeros}).at(0).data<float>();
  };
  for (float v : {2.0f, 3.0f, 2.0f}) EXPECT_EQ(with(v), v);
}

// y = x * (a + a) * b for a predictor: passes read a, whose sum is folded, and not b.
float predicted(float a, float b, Counts* counts) {
  pir::Program p;
  pir::Builder at(p);
  Value x = at.data("x", Type::tensor(DType::kFloat32, {4}));
  auto weight = [&](const char* name, float v) {
    Tensor t = Tensor::empty(view(Shape{4}), DType::kFloat32, Place::cpu());
    std::fill_n(t.data<float>(), 4, v);
    p.set_parameter(name, t);
    return at.parameter(name, Type::tensor(DType::kFloat32, {4}));
  };
  Value va = weight("a", a), vb = weight("b", b);
  Value twice = at.value("pd_op.add", {va, va});
  at.shadow_output("y", at.value("pd_op.multiply", {at.value("pd_op.multiply", {x, twice}), vb}));
  const ProgramCounts before = program_counts();
  PipelineOptions options;
  options.inference = true;
  auto made = prepare(p, options);
  Tensor ones = Tensor::empty(view(Shape{4}), DType::kFloat32, Place::cpu());
  std::fill_n(ones.data<float>(), 4, 1.0f);
  const float y = *made->run(std::vector<Tensor>{ones}).at(0).data<float>();
  *counts = {program_counts().found - before.found, program_counts().kept - before.kept, 0};
  return y;
}

TEST_F(Cached, PredictorsCountByTheWeightsThatPassesRead) {
  Counts n;
  EXPECT_EQ(predicted(2, 3, &n), 12);
  EXPECT_EQ(n.found, 0);
  EXPECT_EQ(predicted(2, 3, &n), 12);
  EXPECT_EQ(n.found, 1);
  EXPECT_EQ(predicted(5, 3, &n), 30);
  EXPECT_EQ(n.found, 0);
  EXPECT_EQ(predicted(5, 7, &n), 70);  // which no pass read
  EXPECT_EQ(n.found, 1);
  EXPECT_EQ(predicted(2, 7, &n), 28);  // the first is still there
  EXPECT_EQ(n.found, 1);
}

TEST_F(Cached, ProgramsThatAreNotKeptSayWhy) {
  EXPECT_EQ(why_not_kept(program(), {}), "");
  pir::Program p;
  pir::Builder b(p);
  Value x = b.data("x", Type::tensor(DType::kFloat32, {4}));
  b.create("cf.host_call", {x}, {{"function", Attribute::i64(0)}, {"process", Attribute::string("this")}},
           {Type::tensor(DType::kFloat32, {4})});
  EXPECT_EQ(why_not_kept(p, {}), "it calls functions of this process");
  EXPECT_FALSE(ProgramKey(p, {}).usable());
  use("off");
  EXPECT_NE(why_not_kept(program(), {}).find("FLAGS_compile_cache_dir"), std::string::npos);
}

TEST_F(Cached, PassesOfTheUsersAreNeverSkipped) {
  run_anew();
  int runs = 0;
  pir::register_pass("counts_runs", "", [&](const pir::PassOptions&) {
    return pir::make_pass("counts_runs", [&](pir::Operation&, pir::PassContext&) { return ++runs, false; });
  });
  pir::add_to_stage("captured", "counts_runs");
  for (int i = 1; i <= 2; ++i) {
    const Counts n = run_anew();
    EXPECT_EQ(n.found + n.kept, 0);
    EXPECT_EQ(runs, i);
  }
  pir::remove_from_stage("captured", "counts_runs");
  EXPECT_EQ(run_anew().found, 1);
}

TEST_F(Cached, DamagedEntriesAreMadeAnew) {
  run_anew();
  std::vector<std::pair<std::string, std::string>> whole;
  for (const std::string& e : entries()) whole.emplace_back(e, read_file(e));
  ASSERT_EQ(whole.size(), 2u);  // the program and its machine code
  auto all = [&](auto&& damage) {
    for (auto& [path, bytes] : whole) write_file(path, damage(bytes));
  };
  for (size_t at = 0; at < 4000; at += 61) {
    all([&](std::string b) { return b[at % b.size()] = static_cast<char>(b[at % b.size()] ^ 0x20), b; });
    const Counts n = run_anew();
    EXPECT_EQ(n.found, 0) << at;
    EXPECT_EQ(n.kept, 1) << at;
  }
  for (size_t cut : {0, 1, 40, 56, 57, 300}) {
    all([&](const std::string& b) { return b.substr(0, b.size() > cut ? b.size() - cut - 1 : 0); });
    EXPECT_EQ(run_anew().found, 0);
    all([&](const std::string& b) { return b.substr(0, cut); });
    EXPECT_EQ(run_anew().found, 0);
  }
  all([](const std::string& b) { return b + "more"; });
  EXPECT_EQ(run_anew().found, 0);
  all([](const std::string& b) { return b; });
  EXPECT_EQ(run_anew().found, 1);
}

TEST_F(Cached, EntriesWithARightChecksumAndWrongContents) {
  const pir::Program p = program();
  const ProgramKey key(p, {});
  ASSERT_TRUE(key.usable());
  run_anew();
  const std::string whole = compile_cache().get(key.bytes()).value();
  for (size_t at = 0; at < whole.size(); at += 7) {
    compile_cache().put(key.bytes(), whole.substr(0, at));
    EXPECT_EQ(run_anew().found, 0) << at;
  }
  for (const char* text : {"", "no program", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}) {
    compile_cache().put(key.bytes(), text);
    EXPECT_EQ(run_anew().found, 0);
  }
}

TEST_F(Cached, FoldersThatCannotBeUsed) {
  write_file(folder_ + "/file", "");
  for (const std::string& folder : {folder_ + "/file", folder_ + "/file/below", std::string("/proc/self/nowhere")}) {
    use(folder);
    for (int i = 0; i < 2; ++i) {
      const Counts n = run_anew();
      EXPECT_EQ(n.found + n.kept, 0) << folder;
    }
  }
}

TEST_F(Cached, RubbishInTheFolderStays) {
  write_file(folder_ + "/notes.txt", "not ours");
  fs::create_directory(folder_ + "/00000000000000000000000000000000.pdc");
  run_anew();
  EXPECT_EQ(run_anew().found, 1);
  EXPECT_EQ(read_file(folder_ + "/notes.txt"), "not ours");
}

TEST_F(Cached, TheFolderIsBoundedWithMachineCode) {
  flags::set("compile_cache_mb", int64_t{1});
  for (int i = 0; i < 150; ++i) compile_cache().put("filler" + std::to_string(i), std::string(10'000, 'x'));
  run_anew();
  int64_t total = 0;
  for (const std::string& e : entries()) total += static_cast<int64_t>(fs::file_size(e));
  EXPECT_LE(total, (1 << 20) + (1 << 16) + 20'000);
  EXPECT_EQ(run_anew().found, 1);
  flags::set("compile_cache_mb", int64_t{512});
}

TEST_F(Cached, ManyProcessesAtOnce) {
  std::vector<pid_t> children;
  for (int c = 0; c < 4; ++c) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0; i < 12; ++i) run_anew(0.25 * ((i + c) % 3), (i + c) % 2 == 0);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  for (double scale : {0.0, 0.25, 0.5}) EXPECT_EQ(run_anew(scale).found, 1);
}

}  // namespace
}  // namespace paddle::compile
