// The library's entry: LLVM modules to machine code in this process.
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "cinn/codegen/llvm/emit.h"
#include "cinn/codegen/llvm/library.h"

namespace paddle::cinn {
namespace {

template <class T>
T value_or_throw(llvm::Expected<T> x) {
  if (!x) fail(ErrorKind::kRuntime, "[cinn] LLVM: {}", llvm::toString(x.takeError()));
  return std::move(*x);
}

void throw_if(llvm::Error e) {
  if (e) fail(ErrorKind::kRuntime, "[cinn] LLVM: {}", llvm::toString(std::move(e)));
}

class Jit {
 public:
  static Jit& instance() {
    static Jit* jit = new Jit;  // lives as long as code may run
    return *jit;
  }

  struct Compiled {
    llvm::orc::ResourceTrackerSP tracker;
  };

  Compiled* compile(const Module& module, const CodegenOptions& options, KernelFn* kernels, std::string* text) {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto ir = std::make_unique<llvm::Module>("group", *context);
    ir->setDataLayout(machine_->createDataLayout());
    ir->setTargetTriple(machine_->getTargetTriple().str());
    EmitTarget target{vector_bytes_, avx512_, avx512_bf16_, options.streaming};
    const uint64_t id = next_.fetch_add(1);
    std::vector<std::string> names;
    for (const Kernel& k : module.kernels) {
      emit_kernel(module, k, target, *ir);
      names.push_back(fmt::format("group{}_{}", id, k.name));
      ir->getFunction(k.name)->setName(names.back());
    }
    std::string broken;
    llvm::raw_string_ostream message(broken);
    if (llvm::verifyModule(*ir, &message)) throw InternalError("[cinn] broken LLVM IR: " + broken);
    optimize(*ir);
    if (text && options.print_ir) {
      llvm::raw_string_ostream out(*text);
      ir->print(out, nullptr);
    }
    if (text && options.print_assembly) print_assembly(*ir, *text);
    auto compiled = std::make_unique<Compiled>();
    compiled->tracker = jit_->getMainJITDylib().createResourceTracker();
    throw_if(jit_->addIRModule(compiled->tracker, llvm::orc::ThreadSafeModule(std::move(ir), std::move(context))));
    for (size_t i = 0; i < names.size(); ++i) kernels[i] = value_or_throw(jit_->lookup(names[i])).toPtr<KernelFn>();
    return compiled.release();
  }

  const std::string& target() const { return target_; }
  int vector_bytes() const { return vector_bytes_; }

 private:
  Jit() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto builder = value_or_throw(llvm::orc::JITTargetMachineBuilder::detectHost());
    builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
    machine_ = value_or_throw(builder.createTargetMachine());
    target_ = "llvm " LLVM_VERSION_STRING " " + builder.getCPU() + " " + builder.getFeatures().getString();
    const auto features = llvm::sys::getHostCPUFeatures();
    avx512_ = features.lookup("avx512f") && features.lookup("avx512vl") && features.lookup("avx512dq") &&
              features.lookup("avx512bw");
    avx512_bf16_ = avx512_ && features.lookup("avx512bf16");
    vector_bytes_ = avx512_ ? 64 : features.lookup("avx2") ? 32 : 16;
    // Narrower vectors than the CPU has, so that tests reach the code for older ones.
    if (const char* bytes = std::getenv("PADDLE_CODEGEN_VECTOR_BYTES")) {
      const int wish = std::atoi(bytes);
      if (wish == 16 || wish == 32) vector_bytes_ = std::min(vector_bytes_, wish), avx512_ = avx512_bf16_ = false;
      target_ += " " + std::to_string(vector_bytes_);
    }
    jit_ = value_or_throw(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create());
    llvm::orc::SymbolMap symbols;
    for (const LibraryFn& f : library_functions())
      symbols[jit_->mangleAndIntern(f.name)] = {llvm::orc::ExecutorAddr::fromPtr(f.address),
                                                llvm::JITSymbolFlags::Exported};
    throw_if(jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))));
    // What code generation itself may call (memset, 16-bit float conversions on old CPUs).
    jit_->getMainJITDylib().addGenerator(value_or_throw(
        llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit_->getDataLayout().getGlobalPrefix())));
  }

  // Values are written once and in the right place already: registers for the accumulators, and common addresses, are
  // all that is left to find. The -O3 pipeline doubles compile time and gains nothing.
  void optimize(llvm::Module& ir) {
    llvm::PassBuilder builder(machine_.get());
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager graphs;
    llvm::ModuleAnalysisManager modules;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graphs, modules);
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::PromotePass());
    passes.addPass(llvm::EarlyCSEPass());
    for (llvm::Function& f : ir)
      if (!f.isDeclaration()) passes.run(f, functions);
  }

  void print_assembly(const llvm::Module& ir, std::string& text) {
    auto copy = llvm::CloneModule(ir);
    llvm::SmallString<0> buffer;
    llvm::raw_svector_ostream out(buffer);
    llvm::legacy::PassManager passes;
    machine_->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile);
    passes.run(*copy);
    text += buffer.str();
  }

  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::string target_;
  bool avx512_ = false, avx512_bf16_ = false;
  int vector_bytes_ = 16;
  std::atomic<uint64_t> next_{0};
};

std::mutex& lock() {
  static auto* m = new std::mutex;
  return *m;
}

void* compile(const Module& module, const CodegenOptions& options, KernelFn* kernels, std::string* text,
              std::string* error) {
  try {
    std::lock_guard guard(lock());
    return Jit::instance().compile(module, options, kernels, text);
  } catch (const std::exception& e) {
    *error = e.what();
    return nullptr;
  }
}

void release(void* handle) {
  std::lock_guard guard(lock());
  auto* compiled = static_cast<Jit::Compiled*>(handle);
  llvm::consumeError(compiled->tracker->remove());
  delete compiled;
}

const char* target() {
  std::lock_guard guard(lock());
  return Jit::instance().target().c_str();
}

int vector_bytes() {
  std::lock_guard guard(lock());
  return Jit::instance().vector_bytes();
}

}  // namespace
}  // namespace paddle::cinn

extern "C" __attribute__((visibility("default"))) const paddle::cinn::CodegenTable* paddle_codegen_table() {
  using namespace paddle::cinn;
  static const CodegenTable table{kCodegenVersion, compile, release, target, vector_bytes};
  return &table;
}
