// Which instruction set the kernels use.
#pragma once
#include <cstdint>
#include <string_view>

namespace paddle {

enum class CpuIsa : uint8_t {
  kBase,    // x86-64: SSE2
  kAvx2,    // AVX2, FMA, F16C
  kAvx512,  // AVX-512 F, BW, DQ, VL
};
inline constexpr int kCpuIsaCount = 3;

CpuIsa best_cpu_isa();  // the most this processor has

// What kernels use now: the best, unless the environment variable PADDLE_CPU_ISA (base, avx2, avx512) or set_cpu_isa
// asked for less.
CpuIsa cpu_isa();

// Raises ValueError if the processor lacks it. For tests and the flag; kernels read it at each call.
void set_cpu_isa(CpuIsa isa);

std::string_view name_of(CpuIsa isa);

int64_t l2_bytes();  // of the second-level cache that one core has

}  // namespace paddle
