// OpenCL C as a dialect of C.
#include <algorithm>

#include "runtime.h"

namespace paddle_opencl {
namespace {

constexpr const char* kTypes = R"(typedef uchar pd_u8; typedef char pd_i8; typedef ushort pd_u16; typedef short pd_i16;
typedef uint pd_u32; typedef int pd_i32; typedef ulong pd_u64; typedef long pd_i64;
)";
constexpr const char* kTypesAndDouble = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef uchar pd_u8; typedef char pd_i8; typedef ushort pd_u16; typedef short pd_i16;
typedef uint pd_u32; typedef int pd_i32; typedef ulong pd_u64; typedef long pd_i64;
)";

}  // namespace

// One dialect for all devices: what the weakest of them offers.
const PdDialect* dialect() {
  static const PdDialect d = [] {
    PdDialect x{};
    x.size = sizeof x;
    x.kernel_prefix = "__kernel void";
    x.function_prefix = "static";
    x.global_pointer = "__global";
    x.restrict_pointer = "restrict";
    x.local_memory = "__local";
    x.barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)";
    static const char* const groups[] = {"(pd_i64)get_group_id(0)", "(pd_i64)get_group_id(1)",
                                         "(pd_i64)get_group_id(2)"};
    static const char* const items[] = {"(pd_i64)get_local_id(0)", "(pd_i64)get_local_id(1)",
                                        "(pd_i64)get_local_id(2)"};
    for (int i = 0; i < 3; ++i) {
      x.group_id[i] = groups[i];
      x.local_id[i] = items[i];
    }
    x.math_overloaded = 1;
    x.has_f64 = 1;
    x.group_size = 64;
    x.local_memory_bytes = int64_t{1} << 40;
    for (const Device& each : devices()) {
      x.has_f64 = x.has_f64 && each.has_f64;
      while (x.group_size > each.max_group_size) x.group_size /= 2;
      x.local_memory_bytes = std::min(x.local_memory_bytes, each.local_memory_bytes);
    }
    x.prelude = x.has_f64 ? kTypesAndDouble : kTypes;
    return x;
  }();
  return &d;
}

}  // namespace paddle_opencl
