#include "cinn/jit/compiled.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <map>
#include <vector>

#include "base/disk_cache.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/parallel_pieces.h"
#include "base/profile.h"
#include "cinn/jit/library.h"
#include "cinn/jit/object.h"
#include "cinn/loop/bytes.h"
#include "cinn/schedule/cost.h"
#include "device/host_pages.h"

namespace paddle::cinn {

std::string cache_key(const Module& module, const CodegenOptions& options) {
  return fmt::format("{}\nstreaming {}\nfast {}\n", codegen_identity(), options.streaming, options.fast_math) +
         to_bytes(module);
}

namespace {

std::atomic<int64_t> compiled_count{0}, loaded_count{0};

// Instructions, roughly, that the code generator will have to write.
double size_of_code(const Module& module, const std::vector<Stmt>& body) {
  double sum = 0;
  for (const Stmt& s : body) {
    if (s.kind == StmtKind::kFor)
      sum += (s.vectorize ? s.unroll + 2 * s.streams : 1) * (4 + size_of_code(module, s.body));
    else if (s.kind == StmtKind::kLet && module.values[s.value].op == ValueOp::kFn)
      sum += 1 + std::min(20.0, cost_of(module.values[s.value].fn));
    else
      sum += 2;
  }
  return sum;
}

// What compiling took so far, from which is guessed what it will take: no clock can stop the code generator.
class Pace {
 public:
  static Pace& instance() {
    static Pace pace;
    return pace;
  }
  double ms_for(double size) {
    std::lock_guard guard(mutex_);
    return size * ms_ / size_;
  }
  void learn(double size, double ms) {
    std::lock_guard guard(mutex_);
    size_ += size;
    ms_ += ms;
  }

 private:
  std::mutex mutex_;
  double size_ = 20000, ms_ = 400;  // a first guess, soon outweighed
};

double size_of_code(const Module& module) {
  double sum = 0;
  for (const Kernel& k : module.kernels) sum += 50 + size_of_code(module, k.body);
  return sum;
}

double expected_ms(const Module& module) { return Pace::instance().ms_for(size_of_code(module)); }

double thread_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

std::string compile_object(const Module& module, const CodegenOptions& options) {
  std::string object, error;
  const double began = thread_ms();
  check(codegen().compile(module, options, &object, nullptr, &error), ErrorKind::kRuntime, "{}", error);
  Pace::instance().learn(size_of_code(module), thread_ms() - began);
  compiled_count.fetch_add(1);
  return object;
}

// From the folder that processes share, else compiled and put there.
std::shared_ptr<const LoadedObject> load_or_compile(const std::string& key, const Module& module,
                                                    const CodegenOptions& options, bool limited) {
  DiskCache& disk = compile_cache();
  const bool kept = !codegen_identity().empty();
  if (auto object = kept ? disk.get(key) : std::nullopt) {
    try {
      auto code = std::make_shared<const LoadedObject>(*object, module.kernels.size());
      loaded_count.fetch_add(1);
      return code;
    } catch (const Error&) {  // compiled anew and overwritten
    }
  }
  const double expected = expected_ms(module);
  if (limited && expected > static_cast<double>(flags::get_int("cinn_compile_budget_ms")))
    throw OverBudget(ErrorKind::kNotImplemented,
                     fmt::format("[cinn] a group would take about {:.0f} ms to compile, more than "
                                 "FLAGS_cinn_compile_budget_ms",
                                 expected));
  const std::string object = compile_object(module, options);
  if (kept) disk.put(key, object);
  return std::make_shared<const LoadedObject>(object, module.kernels.size());
}

// Compiled code by key. It stays for the next program that needs it; beyond a limit, what nobody holds goes.
class Cache {
 public:
  static Cache& instance() {
    static auto* cache = new Cache;
    return *cache;
  }

  // limited: raises NotImplementedError instead of compiling what would take longer than the budget.
  std::shared_ptr<const LoadedObject> get(const Module& module, const CodegenOptions& options, bool limited) {
    std::string key = cache_key(module, options);
    {
      std::lock_guard guard(mutex_);
      if (auto it = entries_.find(key); it != entries_.end()) return it->second;
    }
    auto code = load_or_compile(key, module, options, limited);
    std::lock_guard guard(mutex_);
    if (entries_.size() >= kLimit) std::erase_if(entries_, [](const auto& e) { return e.second.use_count() == 1; });
    return entries_.try_emplace(std::move(key), std::move(code)).first->second;
  }

  void clear() {
    std::lock_guard guard(mutex_);
    entries_.clear();
  }

 private:
  static constexpr size_t kLimit = 1024;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const LoadedObject>> entries_;
};

bool any_streaming(const std::vector<Stmt>& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt& s) { return s.streaming || any_streaming(s.body); });
}

// Memory of the calling thread that kernels use between their passes. It grows and stays.
void* scratch(int64_t bytes) {
  struct Block {
    void* data = nullptr;
    int64_t size = 0;
    ~Block() { std::free(data); }
  };
  thread_local Block block;
  if (block.size < bytes) {
    std::free(block.data);
    block.size = 0;
    const int64_t rounded = (bytes + 4095) / 4096 * 4096;
    block.data = std::aligned_alloc(4096, rounded);
    check(block.data != nullptr, ErrorKind::kMemory, "[cinn] no memory for {} bytes of scratch", rounded);
    block.size = rounded;
  }
  return block.data;
}

// Below this many scalar operations a second thread costs more than it brings.
constexpr int64_t kWorkPerThread = 40000;

}  // namespace

CompiledGroup::CompiledGroup(Module module, std::shared_ptr<const LoadedObject> code, const GroupForm& form)
    : module_(std::move(module)), code_(std::move(code)), form_(form) {
  for (const Kernel& k : module_.kernels) streams_ |= any_streaming(k.body);
}

CompiledGroup::~CompiledGroup() = default;

bool CompiledGroup::wants_streaming(std::span<void* const> outputs, std::span<const int64_t> sizes) const {
  for (void* p : outputs)
    if (reinterpret_cast<uintptr_t>(p) % 64 != 0) return false;
  // Sizes that were known decided which stores are marked; else the largest output decides here.
  int64_t largest = 0;
  for (const Buffer& b : module_.buffers) {
    if (b.role != BufferRole::kOutput) continue;
    if (b.size.is_const() && b.size.value() * static_cast<int64_t>(size_of(b.dtype)) >= form_.streaming_bytes)
      return true;
    if (!b.size.is_const())
      largest = std::max(largest, module_.pool.evaluate(b.size, sizes.data()) * static_cast<int64_t>(size_of(b.dtype)));
  }
  return largest >= form_.streaming_bytes;
}

const LoadedObject& CompiledGroup::code_for(bool streaming) const {
  if (!streams_ || streaming == form_.streaming) return *code_;
  std::lock_guard guard(mutex_);
  const CodegenOptions options{.streaming = !form_.streaming, .fast_math = form_.fast_math};
  try {
    if (!other_) other_ = Cache::instance().get(module_, options, false);
  } catch (const Error&) {
    if (form_.streaming) throw;  // which these outputs can't have
    other_ = code_;
  }
  return *other_;
}

void CompiledGroup::back_outputs(std::span<void* const> outputs, std::span<const int64_t> sizes) const {
  size_t next = 0;
  for (const Buffer& b : module_.buffers)
    if (b.role == BufferRole::kOutput && next < outputs.size())
      device::back_pages(outputs[next++],
                         static_cast<size_t>(module_.pool.evaluate(b.size, sizes.data())) * size_of(b.dtype));
}

int64_t CompiledGroup::workspace_bytes(std::span<const int64_t> sizes) const {
  return module_.pool.evaluate(module_.workspace_bytes, sizes.data());
}

void CompiledGroup::run(std::span<const void* const> inputs, std::span<void* const> outputs,
                        std::span<const int64_t> sizes, void* workspace) const {
  PD_INVARIANT(static_cast<int>(inputs.size()) == module_.num_inputs &&
               static_cast<int>(outputs.size()) == module_.num_outputs &&
               static_cast<int>(sizes.size()) >= module_.num_symbols);
  const bool streaming = streams_ && wants_streaming(outputs, sizes);
  const LoadedObject& code = code_for(streaming);
  if (streaming) back_outputs(outputs, sizes);
  const IndexPool& pool = module_.pool;
  std::unique_ptr<void, decltype(&std::free)> owned(nullptr, &std::free);
  if (const int64_t bytes = workspace_bytes(sizes); bytes > 0 && !workspace) {
    owned.reset(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    check(owned != nullptr, ErrorKind::kMemory, "[cinn] no memory for {} bytes of workspace", bytes);
    workspace = owned.get();
  }
  const int64_t scratch_bytes = pool.evaluate(module_.scratch_bytes, sizes.data());
  std::vector<void*> buffers;
  for (const void* p : inputs) buffers.push_back(const_cast<void*>(p));
  buffers.insert(buffers.end(), outputs.begin(), outputs.end());
  buffers.push_back(workspace);
  buffers.push_back(nullptr);
  for (size_t k = 0; k < module_.kernels.size(); ++k) {
    const Kernel& kernel = module_.kernels[k];
    if (!kernel.when.is(1) && pool.evaluate(kernel.when, sizes.data()) == 0) continue;
    const KernelFn fn = code.kernel(k);
    const int64_t n = pool.evaluate(kernel.parallel_extent, sizes.data());
    const int64_t work = std::max<int64_t>(1, pool.evaluate(kernel.work, sizes.data()));
    parallel_pieces(0, n, std::max<int64_t>(1, kWorkPerThread / work), [&](int64_t begin, int64_t end) {
      if (scratch_bytes == 0) return fn(buffers.data(), sizes.data(), begin, end);
      std::vector<void*> own = buffers;
      own.back() = scratch(scratch_bytes);
      fn(own.data(), sizes.data(), begin, end);
    });
  }
}

Target host_target() {
  Target t;
  t.threads = num_threads();
  t.vector_bytes = codegen().vector_bytes();
  t.fast_math = flags::get_bool("fast_math");
  return t;
}

static thread_local const StepLog* listener = nullptr;

Listening::Listening(const StepLog& log) : previous_(listener) { listener = &log; }
Listening::~Listening() { listener = previous_; }

static StepLog printing_log() {
  if (listener) return *listener;
  if (!flags::get_bool("cinn_print")) return nullptr;
  return [](std::string_view step, const std::string& text, double ms) {
    fmt::print(stderr, "-- cinn: {} ({:.2f} ms)\n{}", step, ms, text);
  };
}

// Whether the first call will want stores around the cache: where sizes are open, most calls are small.
static bool streams_at_first(const Module& module, const Target& target) {
  if (!target.streaming) return false;
  for (const Buffer& b : module.buffers)
    if ((b.role == BufferRole::kOutput || b.role == BufferRole::kInput) && b.size.is_const() &&
        b.size.value() * static_cast<int64_t>(size_of(b.dtype)) >= target.streaming_bytes)
      return true;
  return false;
}

std::shared_ptr<const CompiledGroup> compile(const Group& group, const Target& target, const StepLog& log) {
  profile::Span span(profile::Kind::kCompile, "compile group");
  Module module = lower(group, target, log ? log : printing_log());
  const GroupForm form{streams_at_first(module, target), target.streaming_bytes, target.fast_math};
  return compile_lowered(std::move(module), form);
}

std::shared_ptr<const CompiledGroup> compile_lowered(Module module, const GroupForm& form) {
  const CodegenOptions options{.streaming = form.streaming, .fast_math = form.fast_math};
  auto code = Cache::instance().get(module, options, true);
  return std::make_shared<const CompiledGroup>(std::move(module), std::move(code), form);
}

std::shared_ptr<const CompiledGroup> compile(const Group& group, const StepLog& log) {
  return compile(group, host_target(), log);
}

CompileCounts compile_counts() { return {compiled_count.load(), loaded_count.load()}; }
void forget_compiled() { Cache::instance().clear(); }

std::string print_assembly(const Module& module, bool llvm_ir, const std::string& processor) {
  std::string object, text, error;
  CodegenOptions options{.streaming = true, .print_ir = llvm_ir, .print_assembly = !llvm_ir, .processor = processor};
  check(codegen().compile(module, options, &object, &text, &error), ErrorKind::kRuntime, "{}", error);
  return text;
}

}  // namespace paddle::cinn
