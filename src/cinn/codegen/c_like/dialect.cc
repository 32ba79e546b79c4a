#include "cinn/codegen/c_like/dialect.h"

namespace paddle::cinn {

const Dialect& c_dialect() {
  static const Dialect d = [] {
    Dialect x;
    x.prelude = R"(#include <math.h>
#include <stdint.h>
typedef uint8_t pd_u8; typedef int8_t pd_i8; typedef uint16_t pd_u16; typedef int16_t pd_i16;
typedef uint32_t pd_u32; typedef int32_t pd_i32; typedef uint64_t pd_u64; typedef int64_t pd_i64;
)";
    x.kernel = "void";
    x.function = "static";
    x.restrict_qualifier = "restrict";
    return x;
  }();
  return d;
}

Dialect dialect_of(const PdDialect& d) {
  auto text = [](const char* s) { return std::string(s ? s : ""); };
  Dialect x;
  x.prelude = text(d.prelude);
  x.kernel = text(d.kernel_prefix);
  x.function = text(d.function_prefix);
  x.global = text(d.global_pointer);
  x.restrict_qualifier = text(d.restrict_pointer);
  x.local = text(d.local_memory);
  x.barrier = text(d.barrier);
  x.group_id = text(d.group_id[0]);
  x.local_id = text(d.local_id[0]);
  x.group_size = d.group_size > 0 ? d.group_size : 1;
  x.math_by_overload = d.math_overloaded != 0;
  x.has_f64 = d.has_f64 != 0;
  return x;
}

const PdDialect& cuda_dialect() {
  static const PdDialect d = [] {
    PdDialect x{};
    x.size = sizeof x;
    x.prelude =
        R"(typedef unsigned char pd_u8; typedef signed char pd_i8; typedef unsigned short pd_u16; typedef short pd_i16;
typedef unsigned int pd_u32; typedef int pd_i32; typedef unsigned long long pd_u64; typedef long long pd_i64;
#define INFINITY __int_as_float(0x7f800000)
)";
    x.kernel_prefix = "extern \"C\" __global__ void";
    x.function_prefix = "__device__ static";
    x.global_pointer = "";
    x.restrict_pointer = "__restrict__";
    x.local_memory = "__shared__";
    x.barrier = "__syncthreads()";
    static const char* const groups[] = {"(pd_i64)blockIdx.x", "(pd_i64)blockIdx.y", "(pd_i64)blockIdx.z"};
    static const char* const items[] = {"(pd_i64)threadIdx.x", "(pd_i64)threadIdx.y", "(pd_i64)threadIdx.z"};
    for (int i = 0; i < 3; ++i) {
      x.group_id[i] = groups[i];
      x.local_id[i] = items[i];
    }
    x.has_f64 = 1;
    x.group_size = 256;
    x.local_memory_bytes = 48 << 10;
    return x;
  }();
  return d;
}

}  // namespace paddle::cinn
