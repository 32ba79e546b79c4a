// Bad input: thousands of calls with random arguments of the record's kinds. Each returns or raises a typed error
// (Error); anything else, also in the backward pass of a call that returned, fails and prints the call.
//
//   PADDLE_FUZZ_COUNT  calls (default 3000)      PADDLE_FUZZ_SEED  another series      PADDLE_FUZZ_ONLY  replay one
//   call PADDLE_FUZZ_OP     one operator only              PADDLE_FUZZ_FROM  go on after a crash
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>

#include "api/call.h"
#include "autograd/engine.h"
#include "device/registry.h"
#include "fuzz_call.h"
#include "tests/paths.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace paddle {
namespace {

using testing::FuzzCall;

int64_t from_env(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : fallback;
}

// What runs now, for those that can't return.
std::string current;
void print_current() { static_cast<void>(!write(STDERR_FILENO, current.data(), current.size())); }
void on_signal(int number) {
  const char* what = number == SIGALRM ? "\ntook too long: " : "\nsignal in: ";
  static_cast<void>(!write(STDERR_FILENO, what, std::strlen(what)));
  print_current();
  _exit(1);
}
#ifdef __SANITIZE_ADDRESS__
// The undefined-behaviour sanitizer calls this with every report.
extern "C" void __ubsan_on_report() { print_current(); }
#endif
void watch() {
  std::signal(SIGALRM, on_signal);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback(print_current);
#else
  for (int number : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL}) std::signal(number, on_signal);
#endif
}

// A legal call may ask for much memory; here it gets what a test may take.
PdStatus (*allocate)(int32_t, size_t, void**);
PdStatus allocate_little(int32_t device, size_t bytes, void** out) {
  if (bytes > (64u << 20)) return {PD_ERROR_OUT_OF_MEMORY, "more than this test may take"};
  return allocate(device, bytes, out);
}
void limit_memory() {
  auto& table = const_cast<PdDevice&>(device::table(0));
  allocate = table.allocate;
  table.allocate = allocate_little;
}

Tensors results(OpCall& c) {
  Tensors outs;
  auto take = [&](const Tensor& t) {
    if (t.defined() && t.is_dense() && is_inexact(t.dtype()) && !t.stop_gradient()) outs.push_back(t);
  };
  for (size_t i = 0; i < c.num_outs(); ++i) {
    if (c.op.outs[i].intermediate) continue;
    take(c.out(i));
    for (const Tensor& t : c.out_list(i)) take(t);
  }
  return outs;
}

enum class Outcome { kReturned, kRaised };

Outcome run(FuzzCall& f) {
  try {
    OpCall c(f.op, f.args());
    c.inplace = f.inplace;
    dispatch::call(c);
    const Tensors outs = results(c);
    if (!outs.empty()) autograd::backward(outs, Tensors(outs.size()), false);
    return Outcome::kReturned;
  } catch (const Error& e) {
    // What went wrong is said to a person.
    EXPECT_NE(std::strlen(e.what()), 0u) << current;
    return Outcome::kRaised;
  }
}

TEST(Fuzz, EveryCallReturnsOrRaises) {
  std::ifstream file(std::string(test::kGeneratedFolder) + "/tests/op_rows.json");
  const auto rows = nlohmann::json::parse(file);
  const int64_t count = from_env("PADDLE_FUZZ_COUNT", 3000), only = from_env("PADDLE_FUZZ_ONLY", -1);
  const auto seed = static_cast<uint64_t>(from_env("PADDLE_FUZZ_SEED", 1));
  const char* one_op = std::getenv("PADDLE_FUZZ_OP");
  limit_memory();
  watch();
  size_t returned = 0, raised = 0, failures = 0;
  for (int64_t i = only < 0 ? from_env("PADDLE_FUZZ_FROM", 0) : only; i < (only < 0 ? count : only + 1); ++i) {
    const auto& row = rows[static_cast<size_t>(i) % rows.size()];
    if (one_op && row["op"] != one_op) continue;
    try {
      FuzzCall f(row, seed * 1000003 + static_cast<uint64_t>(i));
      current = fmt::format("call {} of seed {}: {}\n", i, seed, f.str());
      if (only >= 0) print_current();
      alarm(60);
      run(f) == Outcome::kReturned ? ++returned : ++raised;
    } catch (const std::exception& e) {
      ADD_FAILURE() << current << "  " << e.what();
      ++failures;
    }
  }
  alarm(0);
  current = "after the last call\n";
  RecordProperty("returned", static_cast<int>(returned));
  std::printf("%zu calls returned, %zu raised, %zu failed\n", returned, raised, failures);
  // A series in which nearly everything is refused at the door tests only the door.
  if (only < 0 && !one_op) {
    EXPECT_GT(returned, (returned + raised) / 5);
    EXPECT_GT(raised, (returned + raised) / 10);
  }
}

}  // namespace
}  // namespace paddle
