// A kernel as a function: its arguments, and the statements one after the other.
#include "cinn/codegen/llvm/kernel_emitter.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace paddle::cinn {

using V = llvm::Value*;

void KernelEmitter::run() {
  auto* pointer = b_.getPtrTy();
  auto* i64 = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, i64, i64}, false);
  f_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, k_.name, out_);
  f_->setDoesNotThrow();
  for (unsigned i = 0; i < 4; ++i) f_->addParamAttr(i, llvm::Attribute::NoUndef);
  f_->addFnAttr("prefer-vector-width", std::to_string(target_.vector_bytes * 8));
  f_->addFnAttr("min-legal-vector-width", std::to_string(target_.vector_bytes * 8));
  values_.assign(m_.values.size(), nullptr);
  bool bfloats = false;
  paired_ = pairs_up(k_.body, nullptr, bfloats) && bfloats;
  short_nans_ = nans_are_short();
  find_scratch_values(k_.body);
  find_accumulator_widths(k_.body, {});
  auto* entry = block("entry");
  b_.SetInsertPoint(entry);
  load_arguments();
  V p_begin = f_->getArg(2), p_end = f_->getArg(3);
  counted_loop("parallel", p_begin, p_end, b_.getInt64(1), [&](V p) {
    vars_[k_.parallel_var] = p;
    statements(k_.body);
  });
  if (streamed_) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
  b_.CreateRetVoid();
}

void KernelEmitter::load_arguments() {
  const int io = m_.num_inputs + m_.num_outputs;
  auto argument = [&](int i) {
    return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), f_->getArg(0), i));
  };
  for (int i = 0; i < m_.num_symbols; ++i)
    symbols_.push_back(
        b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), f_->getArg(1), i)));
  std::set<int> used;
  collect_buffers(k_.body, used);
  V workspace = nullptr, scratch = nullptr;
  for (size_t i = 0; i < m_.buffers.size(); ++i) {
    const Buffer& buffer = m_.buffers[i];
    V p = nullptr;
    if (used.count(static_cast<int>(i))) {
      switch (buffer.role) {
        case BufferRole::kInput:
          p = argument(buffer.slot);
          break;
        case BufferRole::kOutput:
          p = argument(m_.num_inputs + buffer.slot);
          break;
        case BufferRole::kTemp:
          if (!workspace) workspace = argument(io);
          p = b_.CreatePtrAdd(workspace, scalar_index(buffer.offset));
          break;
        case BufferRole::kScratch:
          if (!scratch) scratch = argument(io + 1);
          p = b_.CreatePtrAdd(scratch, scalar_index(buffer.offset));
          break;
      }
    }
    pointers_.push_back(p);
  }
}

void KernelEmitter::collect_buffers(const std::vector<Stmt>& body, std::set<int>& used) const {
  for (const Stmt& s : body) {
    if (s.kind == StmtKind::kStore) used.insert(s.buffer);
    if (s.kind == StmtKind::kLet && m_.values[s.value].op == ValueOp::kLoad) used.insert(m_.values[s.value].buffer);
    collect_buffers(s.body, used);
  }
}

void KernelEmitter::find_accumulator_widths(const std::vector<Stmt>& body, std::set<int> declared_inside,
                                            const Stmt* vector_loop) {
  for (const Stmt& s : body) {
    if (s.kind == StmtKind::kAcc) {
      if (vector_loop) declared_inside.insert(s.acc);
      accs_[s.acc].kind = s.reduce;
      accs_[s.acc].dtype = s.dtype;
    }
    if (s.kind == StmtKind::kUpdate && vector_loop && !declared_inside.count(s.acc)) {
      accs_[s.acc].lanes = lanes_of(*vector_loop);
      accs_[s.acc].jointly = adds_jointly(s);
      accs_[s.acc].copies =
          accs_[s.acc].jointly ? 1 : std::max(vector_loop->unroll, vector_loop->streams * vectors_per_stream());
      accs_[s.acc].split = true;
    }
    find_accumulator_widths(s.body, declared_inside, s.vectorize ? &s : vector_loop);
  }
}

void KernelEmitter::statements(const std::vector<Stmt>& body) {
  for (const Stmt& s : body) switch (s.kind) {
      case StmtKind::kLet:
        values_[s.value] = value(m_.values[s.value]);
        break;
      case StmtKind::kStore:
        store(s);
        break;
      case StmtKind::kAcc:
        declare(s);
        break;
      case StmtKind::kUpdate:
        update(s);
        break;
      case StmtKind::kPrefetch:
        prefetch(s);
        break;
      case StmtKind::kFor:
        s.vectorize&& lanes_ == 1 ? vector_loop(s) : plain_loop(s);
    }
}

void emit_kernel(const Module& module, const Kernel& kernel, const EmitTarget& target, llvm::Module& out) {
  KernelEmitter(module, kernel, target, out).run();
}

}  // namespace paddle::cinn
