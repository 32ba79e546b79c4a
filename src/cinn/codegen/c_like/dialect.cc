#include "cinn/codegen/c_like/dialect.h"

namespace paddle::cinn {
namespace {

// Helpers that are plain arithmetic in every dialect. T and the suffixes are written out: no dialect has templates in
// common.
constexpr const char* kCommon = R"(
static float pd_bf16_load(pd_u16 h) { union { pd_u32 u; float f; } v; v.u = (pd_u32)h << 16; return v.f; }
static pd_u16 pd_bf16_store(float x) {
  union { float f; pd_u32 u; } v; v.f = x;
  return x != x ? (pd_u16)((v.u >> 16) | 0x40) : (pd_u16)((v.u + 0x7fff + ((v.u >> 16) & 1)) >> 16);
}
static float pd_f16_load(pd_u16 h) {
  union { pd_u32 u; float f; } v;
  pd_u32 sign = (pd_u32)(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
  if (exponent == 31) { v.u = sign | 0x7f800000 | mantissa << 13; return v.f; }
  if (exponent == 0) { v.f = (float)mantissa * 5.9604644775390625e-8f; v.u |= sign; return v.f; }
  v.u = sign | (exponent + 112) << 23 | mantissa << 13;
  return v.f;
}
static pd_u16 pd_f16_store(float x) {
  union { float f; pd_u32 u; } v, magic; v.f = x;
  pd_u32 sign = (v.u >> 16) & 0x8000; v.u &= 0x7fffffff;
  if (v.u > 0x7f800000) return (pd_u16)(sign | 0x7e00);
  if (v.u >= 0x477ff000) return (pd_u16)(sign | 0x7c00);
  if (v.u < 0x38800000) { magic.u = 0x3f000000; v.f += magic.f; return (pd_u16)(sign | (v.u - magic.u)); }
  v.u += 0xc8000fff + ((v.u >> 13) & 1);
  return (pd_u16)(sign | v.u >> 13);
}
static pd_i64 pd_div_i64(pd_i64 a, pd_i64 b) { return b == 0 ? 0 : b == -1 ? (pd_i64)(0 - (pd_u64)a) : a / b; }
static pd_i64 pd_rem_i64(pd_i64 a, pd_i64 b) { return b == 0 || b == -1 ? 0 : a % b; }
static pd_u64 pd_div_u64(pd_u64 a, pd_u64 b) { return b == 0 ? 0 : a / b; }
static pd_u64 pd_rem_u64(pd_u64 a, pd_u64 b) { return b == 0 ? 0 : a % b; }
static pd_i64 pd_floor_div_i64(pd_i64 a, pd_i64 b) { pd_i64 q = pd_div_i64(a, b), r = pd_rem_i64(a, b); return r != 0 && (r ^ b) < 0 ? q - 1 : q; }
static pd_i64 pd_mod_i64(pd_i64 a, pd_i64 b) { pd_i64 r = pd_rem_i64(a, b); return r != 0 && (r ^ b) < 0 ? r + b : r; }
static pd_i64 pd_min_i64(pd_i64 a, pd_i64 b) { return a < b ? a : b; }
static pd_i64 pd_max_i64(pd_i64 a, pd_i64 b) { return a > b ? a : b; }
static pd_i64 pd_pow_i64(pd_i64 a, pd_i64 n) {
  pd_u64 r = 1, b = (pd_u64)a;
  if (n < 0) return a == 1 ? 1 : a == -1 ? (n & 1 ? -1 : 1) : 0;
  for (; n; n >>= 1) { if (n & 1) r *= b; b *= b; }
  return (pd_i64)r;
}
)";

}  // namespace

const Dialect& c_dialect() {
  static const Dialect d = [] {
    Dialect x;
    x.prelude = R"(#include <math.h>
#include <stdint.h>
typedef uint8_t pd_u8; typedef int8_t pd_i8; typedef uint16_t pd_u16; typedef int16_t pd_i16;
typedef uint32_t pd_u32; typedef int32_t pd_i32; typedef uint64_t pd_u64; typedef int64_t pd_i64;
)" + std::string(kCommon);
    x.kernel = "void";
    x.restrict_qualifier = "restrict";
    return x;
  }();
  return d;
}

const Dialect& opencl_dialect() {
  static const Dialect d = [] {
    Dialect x;
    x.prelude = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef uchar pd_u8; typedef char pd_i8; typedef ushort pd_u16; typedef short pd_i16;
typedef uint pd_u32; typedef int pd_i32; typedef ulong pd_u64; typedef long pd_i64;
)" + std::string(kCommon);
    x.kernel = "__kernel void";
    x.global = "__global";
    x.restrict_qualifier = "restrict";
    x.thread_index = "(pd_i64)get_global_id(0)";
    x.math_by_overload = true;
    return x;
  }();
  return d;
}

const Dialect& cuda_dialect() {
  static const Dialect d = [] {
    Dialect x;
    std::string common = kCommon;
    for (size_t at = 0; (at = common.find("\nstatic ", at)) != std::string::npos; ++at)
      common.replace(at, 8, "\n__device__ static ");
    x.prelude =
        R"(typedef unsigned char pd_u8; typedef signed char pd_i8; typedef unsigned short pd_u16; typedef short pd_i16;
typedef unsigned int pd_u32; typedef int pd_i32; typedef unsigned long long pd_u64; typedef long long pd_i64;
)" + common;
    x.kernel = "extern \"C\" __global__ void";
    x.restrict_qualifier = "__restrict__";
    x.thread_index = "(pd_i64)blockIdx.x * blockDim.x + threadIdx.x";
    return x;
  }();
  return d;
}

}  // namespace paddle::cinn
