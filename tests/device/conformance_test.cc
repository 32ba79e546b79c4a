// What every table of the device ABI must do: ours, and that of the plugin which PADDLE_DEVICE_PLUGIN names. A plugin
// that passes can be used.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "base/error.h"
#include "device/registry.h"

namespace paddle::device {
namespace {

const std::vector<std::string>& kinds_to_test() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out{"cpu", "null"};
    if (const char* path = std::getenv("PADDLE_DEVICE_PLUGIN")) out.emplace_back(table(load_plugin(path)).kind);
    return out;
  }();
  return all;
}

class Conformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    place_ = place_from_string(GetParam());
    if (count(place_.kind) == 0) GTEST_SKIP() << "there is no device of kind " << GetParam() << " here";
  }
  const PdDevice& d() const { return table(place_); }
  static void ok(PdStatus s) { EXPECT_EQ(s.code, PD_OK) << (s.message ? s.message : "no message"); }
  static void failed(PdStatus s, int32_t code) {
    EXPECT_EQ(s.code, code);
    EXPECT_TRUE(s.message && *s.message) << "a failure without a message";
  }
  void* memory(size_t bytes) {
    void* p = nullptr;
    ok(d().allocate(0, bytes, &p));
    blocks_.push_back({p, bytes});
    return p;
  }
  template <class T>
  T* upload(const std::vector<T>& v) {
    void* p = memory(v.size() * sizeof(T));
    ok(d().copy_to_device(0, nullptr, p, v.data(), v.size() * sizeof(T)));
    ok(d().synchronize(0));
    return static_cast<T*>(p);
  }
  template <class T>
  std::vector<T> download(const T* p, size_t n) {
    std::vector<T> out(n);
    ok(d().copy_to_host(0, nullptr, out.data(), p, n * sizeof(T)));
    ok(d().synchronize(0));
    return out;
  }
  void TearDown() override {
    for (auto& [p, bytes] : blocks_) ok(d().deallocate(0, p, bytes));
  }

  Place place_;
  std::vector<std::pair<void*, size_t>> blocks_;
};

std::vector<uint8_t> bytes_of(size_t n) {
  std::vector<uint8_t> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<uint8_t>(i * 37 + 11);
  return out;
}

TEST_P(Conformance, Facts) {
  PdDeviceFacts f = facts(place_);
  EXPECT_TRUE(f.name && *f.name);
  EXPECT_GE(f.compute_units, 1);
  EXPECT_GE(f.max_group_size, 1);
  size_t total = 0, free = 0;
  ok(d().memory_stats(0, &total, &free));
  EXPECT_GE(total, free);
}

TEST_P(Conformance, BlocksAreAlignedAndApart) {
  std::vector<uintptr_t> starts;
  for (size_t bytes : {0, 1, 63, 64, 65, 4096, 1 << 20}) {
    starts.push_back(reinterpret_cast<uintptr_t>(memory(bytes)));
    EXPECT_NE(starts.back(), 0u);
    EXPECT_EQ(starts.back() % 64, 0u) << bytes;
  }
  std::sort(starts.begin(), starts.end());
  EXPECT_EQ(std::adjacent_find(starts.begin(), starts.end()), starts.end());
}

TEST_P(Conformance, MoreMemoryThanThereIs) {
  void* p = nullptr;
  failed(d().allocate(0, size_t{1} << 60, &p), PD_ERROR_OUT_OF_MEMORY);
}

TEST_P(Conformance, CopiesAtAnyOffset) {
  const std::vector<uint8_t> data = bytes_of(10007);
  auto* a = upload(data);
  auto* b = static_cast<uint8_t*>(memory(10007 + 13));
  ok(d().copy_on_device(0, nullptr, b + 13, a, 10007));
  EXPECT_EQ(download(b + 13, 10007), data);
  std::vector<uint8_t> part = download(b + 13 + 501, 77);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), data.begin() + 501));
  ok(d().copy_to_device(0, nullptr, a + 3, data.data(), 5));
  part = download(a, 10);
  EXPECT_EQ(part[2], data[2]);
  EXPECT_EQ(part[3], data[0]);
  EXPECT_EQ(part[8], data[8]);
  ok(d().copy_to_device(0, nullptr, a, data.data(), 0));
}

TEST_P(Conformance, Fill) {
  auto* a = upload(bytes_of(1000));
  ok(d().fill(0, nullptr, a + 7, 0xAB, 500));
  std::vector<uint8_t> got = download(a, 1000), want = bytes_of(1000);
  std::fill(want.begin() + 7, want.begin() + 507, 0xAB);
  EXPECT_EQ(got, want);
}

TEST_P(Conformance, StreamsAndEvents) {
  PdStream first = nullptr, second = nullptr;
  PdEvent event = nullptr;
  ok(d().stream_create(0, &first));
  ok(d().stream_create(0, &second));
  ok(d().event_create(0, &event));
  int32_t done = 0;
  ok(d().event_query(0, event, &done));
  EXPECT_EQ(done, 1) << "an event that was never recorded is done";
  const std::vector<uint8_t> data = bytes_of(1 << 20);
  auto* a = static_cast<uint8_t*>(memory(data.size()));
  auto* b = static_cast<uint8_t*>(memory(data.size()));
  std::vector<uint8_t> got(data.size());
  for (int round = 0; round < 3; ++round) {  // recorded anew each time
    ok(d().copy_to_device(0, first, a, data.data(), data.size()));
    ok(d().event_record(0, first, event));
    ok(d().stream_wait_event(0, second, event));
    ok(d().copy_on_device(0, second, b, a, data.size()));
    ok(d().copy_to_host(0, second, got.data(), b, data.size()));
    ok(d().stream_synchronize(0, second));
    EXPECT_EQ(got, data);
    ok(d().event_synchronize(0, event));
    ok(d().event_query(0, event, &done));
    EXPECT_EQ(done, 1);
    ok(d().fill(0, second, b, 0, data.size()));
    ok(d().stream_synchronize(0, second));
  }
  ok(d().event_destroy(0, event));
  ok(d().stream_destroy(0, first));
  ok(d().stream_destroy(0, second));
}

// -- the compiler, where there is one

class Compiler : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (IsSkipped()) return;
    if (!has_compiler(d())) GTEST_SKIP() << GetParam() << " has no compiler";
  }
  void TearDown() override {
    for (PdKernel k : kernels_) ok(d().kernel_destroy(0, k));
    if (module_) ok(d().module_destroy(0, module_));
    Conformance::TearDown();
  }
  // Words in <> are the dialect's.
  std::string spelled(std::string text) const {
    const PdDialect& x = *d().dialect;
    const std::pair<std::string, std::string> words[] = {
        {"<kernel>", x.kernel_prefix},      {"<function>", x.function_prefix}, {"<global>", x.global_pointer},
        {"<restrict>", x.restrict_pointer}, {"<local>", x.local_memory},       {"<barrier>", x.barrier},
        {"<group>", x.group_id[0]},         {"<item>", x.local_id[0]}};
    for (auto& [word, with] : words)
      for (size_t at; (at = text.find(word)) != std::string::npos;) text.replace(at, word.size(), with);
    return x.prelude + text;
  }
  void build(const std::string& text) {
    ok(d().compile(0, spelled(text).c_str(), "", &module_));
    ASSERT_NE(module_, nullptr);
  }
  PdKernel kernel(const char* name) {
    PdKernel k = nullptr;
    ok(d().module_kernel(0, module_, name, &k));
    kernels_.push_back(k);
    return k;
  }
  void launch(PdKernel k, int64_t groups, int64_t items, std::vector<void*> buffers, std::vector<int64_t> sizes,
              PdStream stream = nullptr) {
    const int64_t grid[3] = {groups, 1, 1}, group[3] = {items, 1, 1};
    ok(d().launch(0, stream, k, grid, group, buffers.data(), static_cast<int32_t>(buffers.size()), sizes.data(),
                  static_cast<int32_t>(sizes.size())));
  }

  PdModule module_ = nullptr;
  std::vector<PdKernel> kernels_;
};

TEST_P(Compiler, TheDialectIsComplete) {
  const PdDialect& x = *d().dialect;
  for (const char* word : {x.prelude, x.kernel_prefix, x.function_prefix, x.global_pointer, x.restrict_pointer,
                           x.local_memory, x.barrier, x.group_id[0], x.local_id[0]})
    EXPECT_NE(word, nullptr);
  EXPECT_GE(x.group_size, 1);
  EXPECT_EQ(x.group_size & (x.group_size - 1), 0) << "expected a power of two";
  EXPECT_LE(x.group_size, facts(place_).max_group_size);
  EXPECT_GE(x.local_memory_bytes, 8 * x.group_size);
}

TEST_P(Compiler, KernelsComputeAndTypesHaveTheirWidths) {
  build(R"(
<function> pd_i64 twice(pd_i64 x) { return 2 * x; }
<kernel> saxpy(const <global> float* <restrict> x, <global> float* <restrict> y, pd_i64 n, pd_i64 a) {
  pd_i64 i = <group> * 32 + <item>;
  if (i < n) y[i] = (float)a * x[i] + y[i];
}
<kernel> widths(<global> pd_i64* out, pd_i64 big) {
  pd_i64 i = <group> * 1 + <item>;
  if (i == 0) {
    out[0] = twice(big); out[1] = sizeof(pd_u8) * 1000 + sizeof(pd_i16) * 100 + sizeof(pd_u32) * 10 + sizeof(pd_u64);
    out[2] = (pd_i8)200; out[3] = (pd_i64)((pd_u64)big >> 1); out[4] = (float)INFINITY > 3e38f;
  }
}
)");
  std::vector<float> x(1000), y(1000), want(1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i), y[i] = 1, want[i] = 3 * x[i] + 1;
  float* dx = upload(x);
  float* dy = upload(y);
  launch(kernel("saxpy"), 32, 32, {dx, dy}, {1000, 3});
  EXPECT_EQ(download(dy, 1000), want);
  launch(kernel("saxpy"), 1, 32, {dx + 100, dy + 500}, {10, 1});  // pointers into blocks
  for (size_t i = 0; i < 10; ++i) want[500 + i] += x[100 + i];
  EXPECT_EQ(download(dy, 1000), want);
  launch(kernel("saxpy"), 0, 32, {dx, dy}, {0, 1});  // nothing to do
  int64_t* out = upload(std::vector<int64_t>(5, -1));
  launch(kernel("widths"), 1, 1, {out}, {int64_t{1} << 40});
  EXPECT_EQ(download(out, 5), (std::vector<int64_t>{int64_t{1} << 41, 1248, -56, int64_t{1} << 39, 1}));
}

TEST_P(Compiler, GroupsShareMemoryAndWait) {
  build(R"(
<kernel> row_sums(const <global> float* x, <global> float* out, pd_i64 n) {
  <local> float part[16];
  pd_i64 item = <item>, row = <group>;
  float sum = 0;
  for (pd_i64 i = item; i < n; i += 16) sum += x[row * n + i];
  part[item] = sum;
  <barrier>;
  for (pd_i64 step = 8; step > 0; step /= 2) {
    if (item < step) part[item] += part[item + step];
    <barrier>;
  }
  if (item == 0) out[row] = part[0];
}
)");
  const int64_t rows = 7, n = 1003;
  std::vector<float> x(static_cast<size_t>(rows * n)), want(static_cast<size_t>(rows));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13), want[i / n] += x[i];
  float* dx = upload(x);
  float* out = upload(std::vector<float>(rows));
  launch(kernel("row_sums"), rows, 16, {dx, out}, {n});
  EXPECT_EQ(download(out, rows), want);
}

TEST_P(Compiler, MathematicsByTheDialectsNames) {
  const bool plain = d().dialect->math_overloaded;
  std::string f64 = d().dialect->has_f64 ? "out[3] = (float)(exp((double)x[0]) - exp((double)x[0]));" : "out[3] = 0;";
  build("<kernel> f(const <global> float* x, <global> float* out) { out[0] = " + std::string(plain ? "exp" : "expf") +
        "(x[0]); out[1] = " + (plain ? "erf" : "erff") + "(x[1]); out[2] = " + (plain ? "fmax" : "fmaxf") +
        "(x[0], x[1]); " + f64 + " }\n");
  float* x = upload(std::vector<float>{0.5f, -1.25f});
  float* out = upload(std::vector<float>(4, 9));
  launch(kernel("f"), 1, 1, {x, out}, {});
  std::vector<float> got = download(out, 4);
  EXPECT_NEAR(got[0], 1.6487212707001282, 1e-6);
  EXPECT_NEAR(got[1], -0.9229001282564582, 1e-6);
  EXPECT_EQ(got[2], 0.5f);
  EXPECT_EQ(got[3], 0.0f);
}

TEST_P(Compiler, StreamsOrderLaunchesAndCopies) {
  build("<kernel> add(<global> float* x, pd_i64 n) { pd_i64 i = <group>; if (i < n) x[i] += 1; }\n");
  PdKernel k = kernel("add");
  PdStream stream = nullptr;
  ok(d().stream_create(0, &stream));
  std::vector<float> start(257, 1), got(257);
  auto* x = static_cast<float*>(memory(257 * sizeof(float)));
  ok(d().copy_to_device(0, stream, x, start.data(), 257 * sizeof(float)));
  for (int i = 0; i < 20; ++i) launch(k, 257, 1, {x}, {257}, stream);
  ok(d().copy_to_host(0, stream, got.data(), x, 257 * sizeof(float)));
  ok(d().stream_synchronize(0, stream));
  EXPECT_EQ(got, std::vector<float>(257, 21));
  ok(d().stream_destroy(0, stream));
}

TEST_P(Compiler, ThreadsMayLaunchOneKernelAtOnce) {
  build("<kernel> put(<global> pd_i64* x, pd_i64 v) { x[<group>] = v; }\n");
  PdKernel k = kernel("put");
  std::vector<int64_t*> out;
  for (int i = 0; i < 4; ++i) out.push_back(upload(std::vector<int64_t>(64)));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round <= 50; ++round) launch(k, 64, 1, {out[static_cast<size_t>(i)]}, {100 * i + round});
    });
  for (std::thread& t : threads) t.join();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(download(out[static_cast<size_t>(i)], 64), std::vector<int64_t>(64, 100 * i + 50));
}

TEST_P(Compiler, FaultsInSourcesAreReported) {
  PdModule m = nullptr;
  PdStatus s = d().compile(0, spelled("<kernel> f(<global> float* x) { x[0] = no_such_name; }\n").c_str(), "", &m);
  failed(s, PD_ERROR_COMPILE);
  EXPECT_NE(std::string(s.message ? s.message : "").find("no_such_name"), std::string::npos);
  build("<kernel> f(<global> float* x) { x[0] = 1; }\n");
  PdKernel k = nullptr;
  s = d().module_kernel(0, module_, "g", &k);
  EXPECT_NE(s.code, PD_OK);
  EXPECT_TRUE(s.message && *s.message);
}

auto name_of = [](const auto& info) { return info.param; };
INSTANTIATE_TEST_SUITE_P(Device, Conformance, ::testing::ValuesIn(kinds_to_test()), name_of);
INSTANTIATE_TEST_SUITE_P(Device, Compiler, ::testing::ValuesIn(kinds_to_test()), name_of);

}  // namespace
}  // namespace paddle::device
