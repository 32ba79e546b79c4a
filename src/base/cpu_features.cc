#include "base/cpu_features.h"

#include <atomic>
#include <cstdlib>

#include "base/error.h"

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

}  // namespace paddle
