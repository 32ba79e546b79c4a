// The library's entry: LLVM modules to machine code in this process.
#include <elf.h>
#include <link.h>
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
#include <cstring>
#include <exception>
#include <memory>
#include <optional>

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

// What the linker made of this library's contents: another build, another id.
std::string build_id() {
  static const char anchor = 0;
  std::string id;
  auto look = [](dl_phdr_info* info, size_t, void* out) {
    const ElfW(Phdr)* notes = nullptr;
    bool here = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = info->dlpi_phdr[i];
      const auto at = reinterpret_cast<uintptr_t>(&anchor) - info->dlpi_addr;
      here |= p.p_type == PT_LOAD && at >= p.p_vaddr && at < p.p_vaddr + p.p_memsz;
    }
    for (int i = 0; here && i < info->dlpi_phnum; ++i) {
      notes = &info->dlpi_phdr[i];
      if (notes->p_type != PT_NOTE) continue;
      const char* at = reinterpret_cast<const char*>(info->dlpi_addr + notes->p_vaddr);
      for (const char* end = at + notes->p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
        const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
        const char* name = at + sizeof *note;
        const char* text = name + (note->n_namesz + 3) / 4 * 4;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
          for (size_t k = 0; k < note->n_descsz; ++k)
            *static_cast<std::string*>(out) += fmt::format("{:02x}", static_cast<unsigned char>(text[k]));
        at = text + (note->n_descsz + 3) / 4 * 4;
      }
    }
    return here ? 1 : 0;
  };
  dl_iterate_phdr(look, &id);
  return id;
}

class Jit {
 public:
  static Jit& instance() {
    static Jit* jit = new Jit;  // lives as long as code may run
    return *jit;
  }

  // An object for the host. May be called from several threads.
  std::string compile(const Module& module, const CodegenOptions& options, std::string* text) {
    llvm::LLVMContext context;
    llvm::Module ir("group", context);
    const std::unique_ptr<llvm::TargetMachine> machine = take_machine();
    ir.setDataLayout(machine->createDataLayout());
    ir.setTargetTriple(machine->getTargetTriple().str());
    EmitTarget target{vector_bytes_, avx512_, avx512_bf16_, options.streaming, options.fast_math};
    for (const Kernel& k : module.kernels) emit_kernel(module, k, target, ir);
    std::string broken;
    llvm::raw_string_ostream message(broken);
    if (llvm::verifyModule(ir, &message)) throw InternalError("[cinn] broken LLVM IR: " + broken);
    optimize(ir, *machine);
    if (text && options.print_ir) {
      llvm::raw_string_ostream out(*text);
      ir.print(out, nullptr);
    }
    if (text && options.print_assembly)
      *text += written(*llvm::CloneModule(ir), *machine, llvm::CodeGenFileType::AssemblyFile);
    return written(ir, *machine, llvm::CodeGenFileType::ObjectFile);
  }

  // Each object's names live in a library of their own.
  llvm::orc::JITDylib* load(const std::string& object, size_t num_kernels, KernelFn* kernels) {
    auto made = jit_->createJITDylib(fmt::format("group{}", next_.fetch_add(1)));
    if (!made) throw_if(made.takeError());
    llvm::orc::JITDylib& library = *made;
    try {
      library.addToLinkOrder(jit_->getMainJITDylib());
      throw_if(jit_->addObjectFile(library, llvm::MemoryBuffer::getMemBufferCopy(object)));
      for (size_t i = 0; i < num_kernels; ++i)
        kernels[i] = value_or_throw(jit_->lookup(library, fmt::format("kernel{}", i))).toPtr<KernelFn>();
    } catch (...) {
      release(library);
      throw;
    }
    return &library;
  }
  void release(llvm::orc::JITDylib& library) {
    llvm::consumeError(jit_->getExecutionSession().removeJITDylib(library));
  }

  const std::string& target() const { return target_; }
  int vector_bytes() const { return vector_bytes_; }

 private:
  Jit() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto builder = value_or_throw(llvm::orc::JITTargetMachineBuilder::detectHost());
    builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
    builder.setRelocationModel(llvm::Reloc::PIC_);
    builder.setCodeModel(llvm::CodeModel::Small);
    builder_ = builder;
    target_ = fmt::format("llvm " LLVM_VERSION_STRING " build {} {} {} {}", build_id(), builder.getTargetTriple().str(),
                          builder.getCPU(), builder.getFeatures().getString());
    const auto features = llvm::sys::getHostCPUFeatures();
    avx512_ = features.lookup("avx512f") && features.lookup("avx512vl") && features.lookup("avx512dq") &&
              features.lookup("avx512bw");
    avx512_bf16_ = avx512_ && features.lookup("avx512bf16");
    vector_bytes_ = avx512_ ? 64 : features.lookup("avx2") ? 32 : 16;
    // Narrower vectors than the CPU has, so that tests reach the code for older ones.
    if (const char* bytes = std::getenv("PADDLE_CODEGEN_VECTOR_BYTES")) {
      const int wish = std::atoi(bytes);
      if (wish == 16 || wish == 32) vector_bytes_ = std::min(vector_bytes_, wish), avx512_ = avx512_bf16_ = false;
      target_ = fmt::format("{} {}", target_, vector_bytes_);
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
  void optimize(llvm::Module& ir, llvm::TargetMachine& machine) {
    llvm::PassBuilder builder(&machine);
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

  std::string written(llvm::Module& ir, llvm::TargetMachine& machine, llvm::CodeGenFileType type) {
    llvm::SmallString<0> buffer;
    llvm::raw_svector_ostream out(buffer);
    llvm::legacy::PassManager passes;
    if (machine.addPassesToEmitFile(passes, out, nullptr, type))
      fail(ErrorKind::kRuntime, "[cinn] LLVM can't write this kind of file");
    passes.run(ir);
    return buffer.str().str();
  }

  std::unique_ptr<llvm::TargetMachine> take_machine() { return value_or_throw(builder_->createTargetMachine()); }

  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::optional<llvm::orc::JITTargetMachineBuilder> builder_;
  std::string target_;
  bool avx512_ = false, avx512_bf16_ = false;
  int vector_bytes_ = 16;
  std::atomic<uint64_t> next_{0};
};

bool compile(const Module& module, const CodegenOptions& options, std::string* object, std::string* text,
             std::string* error) {
  try {
    *object = Jit::instance().compile(module, options, text);
    return true;
  } catch (const std::exception& e) {
    *error = e.what();
    return false;
  }
}

void* load(const std::string& object, size_t num_kernels, KernelFn* kernels, std::string* error) {
  try {
    return Jit::instance().load(object, num_kernels, kernels);
  } catch (const std::exception& e) {
    *error = e.what();
    return nullptr;
  }
}

void release(void* handle) { Jit::instance().release(*static_cast<llvm::orc::JITDylib*>(handle)); }

const char* target() { return Jit::instance().target().c_str(); }

int vector_bytes() { return Jit::instance().vector_bytes(); }

}  // namespace
}  // namespace paddle::cinn

extern "C" __attribute__((visibility("default"))) const paddle::cinn::CodegenTable* paddle_codegen_table() {
  using namespace paddle::cinn;
  static const CodegenTable table{kCodegenVersion, compile, load, release, target, vector_bytes};
  return &table;
}
