// How a C-like language differs from C: what a device with a compiler of its own needs to run the loop AST.
#pragma once
#include <string>

#include "device/device_api.h"

namespace paddle::cinn {

struct Dialect {
  std::string prelude;             // text before everything else: typedefs, INFINITY
  std::string kernel;              // qualifiers of a kernel: `__kernel void`, `extern "C" __global__ void`
  std::string function;            // qualifiers of helper functions: `static`, `__device__ static`
  std::string global;              // address space of buffers: `__global`, or nothing
  std::string restrict_qualifier;  // `restrict`, `__restrict__`
  std::string local;               // of memory that a group of threads shares: `__local`, `__shared__`
  std::string barrier;             // statement by which a group waits for all of its threads
  // Which group of threads this is, and which thread of it. Both empty: there is one thread, and a kernel loops over
  // [begin, end) itself; else each thread, or group of them, computes one iteration.
  std::string group_id, local_id;
  int group_size = 1;
  bool math_by_overload = false;  // C has expf, OpenCL overloads exp
  bool has_f64 = true;

  bool parallel() const { return !local_id.empty(); }
};

// Plain C11, one thread: compiled by any C compiler, it is the second oracle of the LLVM back end.
const Dialect& c_dialect();
// A plugin's own.
Dialect dialect_of(const PdDialect& d);
// CUDA C as NVRTC compiles it, in the form in which a plugin would give it.
const PdDialect& cuda_dialect();

}  // namespace paddle::cinn
