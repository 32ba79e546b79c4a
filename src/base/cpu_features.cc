#include "base/cpu_features.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/flags.h"

namespace paddle {
namespace {

constexpr std::string_view kNames[kCpuIsaCount] = {"base", "avx2", "avx512"};

CpuIsa detect() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2 && avx512) return CpuIsa::kAvx512;
  if (avx2) return CpuIsa::kAvx2;
#endif
  return CpuIsa::kBase;
}

// The environment only lowers the choice: a name that is unknown, or more than the processor has, leaves the best.
CpuIsa initial() {
  const CpuIsa best = detect();
  const char* wish = std::getenv("PADDLE_CPU_ISA");
  for (int i = 0; wish && i < kCpuIsaCount; ++i) {
    if (kNames[i] == wish && static_cast<CpuIsa>(i) < best) return static_cast<CpuIsa>(i);
  }
  return best;
}

std::atomic<CpuIsa>& current() {
  static std::atomic<CpuIsa> isa{initial()};
  return isa;
}

// FLAGS_cpu_isa. From the environment it only lowers the choice, as PADDLE_CPU_ISA does: programs start anywhere.
[[maybe_unused]] const bool flag_installed = [] {
  static bool starting = true;
  flags::on_change("cpu_isa", [](const flags::Value& v) {
    const std::string& wish = std::get<std::string>(v);
    for (int i = 0; i < kCpuIsaCount; ++i)
      if (kNames[i] == wish && !(starting && static_cast<CpuIsa>(i) > detect()))
        return set_cpu_isa(static_cast<CpuIsa>(i));
    check(starting || wish.empty(), ErrorKind::kValue,
          "[set_flags] expected base, avx2, avx512 or '' for FLAGS_cpu_isa, got '{}'", wish);
    current().store(initial(), std::memory_order_relaxed);
  });
  starting = false;
  return true;
}();

}  // namespace

CpuIsa best_cpu_isa() {
  static const CpuIsa best = detect();
  return best;
}

CpuIsa cpu_isa() { return current().load(std::memory_order_relaxed); }

void set_cpu_isa(CpuIsa isa) {
  check(isa <= best_cpu_isa(), ErrorKind::kValue, "this processor has no {}; the most it has is {}", name_of(isa),
        name_of(best_cpu_isa()));
  current().store(isa, std::memory_order_relaxed);
}

std::string_view name_of(CpuIsa isa) { return kNames[static_cast<int>(isa)]; }

int64_t l2_bytes() {
  static const int64_t bytes = [] {
    constexpr int64_t kUsual = 512 << 10;  // where the system doesn't say
    const int64_t said = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return said > 0 ? std::clamp<int64_t>(said, kUsual / 2, 4 << 20) : kUsual;
  }();
  return bytes;
}

}  // namespace paddle
