// What libpaddle_codegen.so offers. LLVM lives behind this table, in a library of its own that is opened at the first
// compile: importing the framework stays cheap, and other copies of LLVM in the process never meet ours.
//
// The table is an agreement between two libraries of one build; it passes C++ types.
#pragma once
#include <cstdint>
#include <string>

#include "cinn/loop/ast.h"

namespace paddle::cinn {

// Computes iterations [begin, end) of a kernel's parallel loop. buffers: the inputs, the outputs, the workspace, the
// calling thread's scratch memory. sizes: the values of the symbols. Never throws.
using KernelFn = void (*)(void* const* buffers, const int64_t* sizes, int64_t begin, int64_t end);

struct CodegenOptions {
  // For data larger than the caches: honour Stmt::streaming (the outputs must then start at multiples of 64 bytes) and
  // kPrefetch.
  bool streaming = true;
  bool fast_math = true;  // functions within 4 ulp; else of f32 by way of f64: the nearest number, or its neighbour
  bool print_ir = false;  // fill `text` of the result with LLVM IR
  bool print_assembly = false;
  std::string processor;  // of LLVM's names: code for that one, to be looked at; empty: for the host
};

struct CodegenTable {
  uint32_t version;
  // Compiles for the host's CPU: a relocatable object that LoadedObject takes, here or in another process whose
  // codegen_identity() is the same. Several threads may compile at once. False with the reason in *error.
  bool (*compile)(const Module& module, const CodegenOptions& options, std::string* object, std::string* text,
                  std::string* error);
  int (*vector_bytes)();
};

constexpr uint32_t kCodegenVersion = 5;
constexpr const char* kCodegenEntry = "paddle_codegen_table";  // extern "C" const CodegenTable* paddle_codegen_table()

}  // namespace paddle::cinn
