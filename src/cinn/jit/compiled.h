// compile: a group as machine code in this process, ready to run.
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "cinn/codegen/llvm/api.h"
#include "cinn/compute/group.h"
#include "cinn/lower.h"

namespace paddle::cinn {

class Code;  // kernels in memory, shared by equal groups

class CompiledGroup {
 public:
  // code: of the form that `streaming` and `fast_math` say. streaming_bytes: what an output must have for stores around
  // the cache.
  CompiledGroup(Module module, std::shared_ptr<const Code> code, bool streaming, int64_t streaming_bytes,
                bool fast_math);
  ~CompiledGroup();

  // Computes all outputs. Buffers are row-major and dense, and no output overlaps an input or another output. sizes:
  // the values of the size symbols, each at least 1 (constants may be 0). workspace: workspace_bytes(sizes) bytes
  // aligned to 64, or null: then it is allocated here. Runs on num_threads() threads; may be called from several
  // threads at once.
  void run(std::span<const void* const> inputs, std::span<void* const> outputs, std::span<const int64_t> sizes = {},
           void* workspace = nullptr) const;
  int64_t workspace_bytes(std::span<const int64_t> sizes) const;

  const Module& module() const { return module_; }

 private:
  const Code& code_for(std::span<void* const> outputs, std::span<const int64_t> sizes) const;
  bool wants_streaming(std::span<void* const> outputs, std::span<const int64_t> sizes) const;

  Module module_;
  std::shared_ptr<const Code> code_;
  bool streams_ = false;
  bool code_streams_ = true;
  int64_t streaming_bytes_ = 0;
  // Stores around the cache need aligned outputs, and pay for large ones only. The other form is compiled when a call
  // wants it.
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Code> other_;
  bool fast_math_ = true;
};

Target host_target();

// Lowers and compiles for the host. Equal kernels are compiled once per process. Raises NotImplementedError for what
// can't be compiled, RuntimeError where the code generator is missing or fails.
std::shared_ptr<const CompiledGroup> compile(const Group& group, const StepLog& log = nullptr);
std::shared_ptr<const CompiledGroup> compile(const Group& group, const Target& target, const StepLog& log);
// Objects compiled, and read from the disk instead, since the process began.
struct CompileCounts {
  int64_t compiled = 0, loaded = 0;
};
CompileCounts compile_counts();
// The process' own store of compiled code is emptied; what is in use stays valid.
void forget_compiled();
// All that decides what the code generator writes: equal keys, equal code.
std::string cache_key(const Module& module, const CodegenOptions& options);
// While it lives, what compile() does in this thread is told step by step.
class Listening {
 public:
  explicit Listening(const StepLog& log);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  const StepLog* previous_;
};
// What the host's code generator makes of it, for people.
std::string print_assembly(const Module& module, bool llvm_ir);

}  // namespace paddle::cinn
