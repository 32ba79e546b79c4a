// How a C-like language differs from C: what a device with a compiler of its own needs to run the loop AST.
#pragma once
#include <string>

namespace paddle::cinn {

struct Dialect {
  std::string prelude;             // text before the first kernel: typedefs, helper functions
  std::string kernel;              // qualifiers of a kernel: `__kernel void`, `extern "C" __global__ void`
  std::string global;              // address space of buffers: `__global`, or nothing
  std::string restrict_qualifier;  // `restrict`, `__restrict__`
  // Parallel iterations: if empty, the kernel loops over [begin, end) itself; else an expression for the iteration that
  // this thread computes, such as `get_global_id(0)`.
  std::string thread_index;
  // Suffix of math functions in single precision: C has expf, OpenCL overloads exp.
  bool math_by_overload = false;
};

// Plain C11, one thread: compiled by any C compiler, it is the second oracle of the LLVM back end.
const Dialect& c_dialect();
const Dialect& opencl_dialect();
const Dialect& cuda_dialect();

}  // namespace paddle::cinn
