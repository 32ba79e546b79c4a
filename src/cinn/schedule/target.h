// What the schedule asks of the device that it compiles for.
#pragma once
#include <cstdint>

namespace paddle::cinn {

struct Target {
  int threads = 1;
  int vector_bytes = 64;        // width of a vector register
  int64_t l1_bytes = 32 << 10;  // what one thread may hope to keep
  int64_t l2_bytes = 1 << 20;
  bool streaming = true;  // stores around the cache pay for large results
  int64_t streaming_bytes = 4 << 20;
  bool fast_math = true;  // functions within 4 ulp will do
  // Devices whose kernels run in groups of so many threads: one element a thread, one row a group. 0: a CPU. `threads`
  // is then how many groups it takes to keep the device busy.
  int group_size = 0;
};

}  // namespace paddle::cinn
