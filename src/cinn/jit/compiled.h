// compile: a group as machine code in this process, ready to run.
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/error.h"
#include "cinn/codegen/llvm/api.h"
#include "cinn/compute/group.h"
#include "cinn/lower.h"

namespace paddle::cinn {

class LoadedObject;  // kernels in memory, shared by equal groups

// What was chosen for a group beside its loops.
struct GroupForm {
  bool streaming = false;       // its first code stores around the cache
  int64_t streaming_bytes = 0;  // what an output must have for such stores
  bool fast_math = true;
};

class CompiledGroup {
 public:
  // code: of the form that `form` says.
  CompiledGroup(Module module, std::shared_ptr<const LoadedObject> code, const GroupForm& form);
  ~CompiledGroup();

  // Computes all outputs. Buffers are row-major and dense, and no output overlaps an input or another output. sizes:
  // the values of the size symbols, each at least 1 (constants may be 0). workspace: workspace_bytes(sizes) bytes
  // aligned to 64, or null: then it is allocated here. Runs on num_threads() threads; may be called from several
  // threads at once.
  void run(std::span<const void* const> inputs, std::span<void* const> outputs, std::span<const int64_t> sizes = {},
           void* workspace = nullptr) const;
  int64_t workspace_bytes(std::span<const int64_t> sizes) const;

  const Module& module() const { return module_; }
  const GroupForm& form() const { return form_; }

 private:
  const LoadedObject& code_for(bool streaming) const;
  void back_outputs(std::span<void* const> outputs, std::span<const int64_t> sizes) const;
  bool wants_streaming(std::span<void* const> outputs, std::span<const int64_t> sizes) const;

  Module module_;
  std::shared_ptr<const LoadedObject> code_;
  GroupForm form_;
  bool streams_ = false;
  // Stores around the cache need aligned outputs, and pay for large ones only. The other form is compiled when a call
  // wants it.
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const LoadedObject> other_;
};

Target host_target();

// Compiling would take longer than the budget allows, or than is left of it: chance, not a fact about the group.
class OverBudget : public Error {
 public:
  using Error::Error;
};

// Lowers and compiles for the host. Equal kernels are compiled once per process. Raises NotImplementedError for what
// can't be compiled, RuntimeError where the code generator is missing or fails.
std::shared_ptr<const CompiledGroup> compile(const Group& group, const StepLog& log = nullptr);
std::shared_ptr<const CompiledGroup> compile(const Group& group, const Target& target, const StepLog& log);
// A group that was lowered before, here or in another process.
std::shared_ptr<const CompiledGroup> compile_lowered(Module module, const GroupForm& form);
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
// What the code generator makes of it, for people: on the host, or on the processor that LLVM calls so.
std::string print_assembly(const Module& module, bool llvm_ir, const std::string& processor = "");

}  // namespace paddle::cinn
