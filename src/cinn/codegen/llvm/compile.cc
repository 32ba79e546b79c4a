// The library's entry: modules to machine code, as object files.
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>

#include "base/error.h"
#include "cinn/codegen/llvm/emit.h"

namespace paddle::cinn {
namespace {

class Generator {
 public:
  static Generator& instance() {
    static auto* generator = new Generator;
    return *generator;
  }

  // An object for the host, or for the processor that the options name. May be called from several threads.
  std::string compile(const Module& module, const CodegenOptions& options, std::string* text) {
    llvm::LLVMContext context;
    llvm::Module ir("group", context);
    const Processor processor = options.processor.empty() ? host_ : described(options.processor, "");
    const std::unique_ptr<llvm::TargetMachine> machine = take_machine(processor);
    ir.setDataLayout(machine->createDataLayout());
    ir.setTargetTriple(machine->getTargetTriple().str());
    EmitTarget target{processor.vector_bytes, processor.avx512, processor.avx512_bf16, options.streaming,
                      options.fast_math};
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

  int vector_bytes() const { return host_.vector_bytes; }

 private:
  struct Processor {
    std::string name, features;
    bool avx512 = false, avx512_bf16 = false;
    int vector_bytes = 16;
  };

  Generator() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    triple_ = llvm::sys::getProcessTriple();
    llvm::SubtargetFeatures features;
    for (const auto& f : llvm::sys::getHostCPUFeatures()) features.AddFeature(f.getKey(), f.getValue());
    std::string error;
    target_ = llvm::TargetRegistry::lookupTarget(triple_, error);
    if (!target_) fail(ErrorKind::kRuntime, "[cinn] LLVM: {}", error);
    host_ = described(llvm::sys::getHostCPUName().str(), features.getString());
    // Narrower vectors than the CPU has, so that tests reach the code for older ones.
    if (const char* bytes = std::getenv("PADDLE_CODEGEN_VECTOR_BYTES")) {
      const int wish = std::atoi(bytes);
      if (wish == 16 || wish == 32)
        host_.vector_bytes = std::min(host_.vector_bytes, wish), host_.avx512 = host_.avx512_bf16 = false;
    }
  }

  Processor described(const std::string& name, const std::string& features) const {
    Processor p{name, features};
    const std::unique_ptr<llvm::TargetMachine> machine = take_machine(p);
    const llvm::MCSubtargetInfo& has = *machine->getMCSubtargetInfo();
    p.avx512 = has.checkFeatures("+avx512f,+avx512vl,+avx512dq,+avx512bw");
    p.avx512_bf16 = p.avx512 && has.checkFeatures("+avx512bf16");
    p.vector_bytes = p.avx512 ? 64 : has.checkFeatures("+avx2") ? 32 : 16;
    return p;
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

  std::unique_ptr<llvm::TargetMachine> take_machine(const Processor& p) const {
    return std::unique_ptr<llvm::TargetMachine>(target_->createTargetMachine(
        triple_, p.name, p.features, {}, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  }

  const llvm::Target* target_ = nullptr;
  std::string triple_;
  Processor host_;
};

bool compile(const Module& module, const CodegenOptions& options, std::string* object, std::string* text,
             std::string* error) {
  try {
    *object = Generator::instance().compile(module, options, text);
    return true;
  } catch (const std::exception& e) {
    *error = e.what();
    return false;
  }
}

int vector_bytes() { return Generator::instance().vector_bytes(); }

}  // namespace
}  // namespace paddle::cinn

extern "C" __attribute__((visibility("default"))) const paddle::cinn::CodegenTable* paddle_codegen_table() {
  using namespace paddle::cinn;
  static const CodegenTable table{kCodegenVersion, compile, vector_bytes};
  return &table;
}
