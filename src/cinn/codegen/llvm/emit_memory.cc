// Loads, stores and prefetches, with the conversions between memory's types and registers'.
#include "cinn/codegen/llvm/kernel_emitter.h"

#include <llvm/IR/IntrinsicsX86.h>

#include "base/error.h"

namespace paddle::cinn {

using V = llvm::Value*;

KernelEmitter::Access KernelEmitter::access(int buffer, const Index& index) {
  llvm::Type* element = memory_type(m_.buffers[buffer].dtype);
  V base = pointers_[buffer];
  if (!varies(index)) return {b_.CreateInBoundsGEP(element, base, scalar_index(index)), nullptr, false};
  Index stride = index.coefficient(vector_var_), rest = index.without(vector_var_);
  if (!varies(rest) && stride.is(1)) {
    V start = b_.CreateInBoundsGEP(element, base, scalar_index(rest));
    return {b_.CreateInBoundsGEP(element, start, vars_.at(vector_var_)), nullptr, true};
  }
  if (!varies(rest) && !varies(stride)) {
    V first = b_.CreateInBoundsGEP(element, base, scalar_index(index));
    V steps = b_.CreateMul(iota(lanes_), b_.CreateVectorSplat(lanes_, scalar_index(stride)));
    return {nullptr, b_.CreateGEP(element, first, steps), false};
  }
  return {nullptr, b_.CreateGEP(element, base, vector_index(index)), false};
}

V KernelEmitter::combined_mask(V predicate) {
  if (predicate && lanes_ > 1) predicate = splat(predicate);
  if (!mask_) return predicate;
  return predicate ? b_.CreateAnd(mask_, predicate) : mask_;
}

V KernelEmitter::load(const Value& v) {
  const DType dtype = m_.buffers[v.buffer].dtype;
  llvm::Type* element = memory_type(dtype);
  const llvm::Align align(std::max<size_t>(size_of(dtype), 1));
  Access a = access(v.buffer, v.index);
  V predicate = v.args.empty() ? nullptr : get(v.args[0]);
  if (a.pointer && !a.contiguous) {  // the same address in all lanes: loaded once, or a harmless one in its place
    if (predicate && lanes(predicate) > 1) predicate = b_.CreateOrReduce(combined_mask(predicate));
    if (predicate) a.pointer = b_.CreateSelect(predicate, a.pointer, pointers_[v.buffer]);
    return widen(b_.CreateAlignedLoad(element, a.pointer, align), dtype);
  }
  if (paired_ && dtype == DType::kBFloat16) return load_paired(v, a.pointer);
  V mask = combined_mask(predicate);
  auto* type = wide(element, lanes_);
  V zero = llvm::Constant::getNullValue(type);
  if (a.contiguous)
    return widen(mask ? static_cast<V>(b_.CreateMaskedLoad(type, a.pointer, align, mask, zero))
                      : b_.CreateAlignedLoad(type, a.pointer, align),
                 dtype);
  if (!mask) mask = llvm::Constant::getAllOnesValue(wide(b_.getInt1Ty(), lanes_));
  return widen(b_.CreateMaskedGather(type, a.pointers, align, mask, zero), dtype);
}

V KernelEmitter::widen(V v, DType dtype) {
  const int n = lanes(v);
  if (dtype == DType::kBool) return b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
  if (dtype == DType::kFloat16) return b_.CreateFPExt(v, wide(b_.getFloatTy(), n));
  if (dtype != DType::kBFloat16) return v;
  auto* i32 = wide(b_.getInt32Ty(), n);
  V bits = b_.CreateShl(b_.CreateZExt(v, i32), llvm::ConstantInt::get(i32, 16));
  return b_.CreateBitCast(bits, wide(b_.getFloatTy(), n));
}

V KernelEmitter::to_bfloat(V v, bool coarse) {
  const int n = lanes(v);
  if (target_.avx512_bf16 && n == 16) {  // flushes results below 2^-126 to zero
    V half = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {v});
    return b_.CreateBitCast(half, wide(b_.getInt16Ty(), n));
  }
  V bits = rounded_bits(v, coarse);
  return b_.CreateTrunc(b_.CreateLShr(bits, llvm::ConstantInt::get(bits->getType(), 16)), wide(b_.getInt16Ty(), n));
}

// Adding 0x7fff, and one more where the upper half is odd, carries into the upper half what rounds it; adding 0x8000
// differs for ties alone. A NaN stays one where its lower half is zero.
V KernelEmitter::rounded_bits(V v, bool coarse) {
  auto* i32 = wide(b_.getInt32Ty(), lanes(v));
  auto number = [&](uint64_t x) { return llvm::ConstantInt::get(i32, x); };
  V bits = b_.CreateBitCast(v, i32);
  V rounded = b_.CreateAdd(bits, number(coarse ? 0x8000 : 0x7fff));
  if (!coarse) rounded = b_.CreateAdd(rounded, b_.CreateAnd(b_.CreateLShr(bits, number(16)), number(1)));
  if (short_nans_) return rounded;
  return b_.CreateSelect(b_.CreateFCmpUNO(v, v), b_.CreateOr(bits, number(0x400000)), rounded);
}

void KernelEmitter::find_scratch_values(const std::vector<Stmt>& body) {
  for (const Stmt& s : body) {
    if (s.kind == StmtKind::kStore && m_.buffers[s.buffer].role == BufferRole::kScratch) {
      const auto [kept, first] = scratch_values_.try_emplace(s.buffer, s.value);
      if (!first && kept->second != s.value) kept->second = -1;
    }
    find_scratch_values(s.body);
  }
}

bool KernelEmitter::is_coarse(ValueId id) {
  if (id < 0) return false;
  const auto [known, first] = coarse_.try_emplace(id, false);  // which ends circles by way of scratch memory
  if (!first) return known->second;
  const Value& v = m_.values[id];
  bool coarse = false;
  if (v.op == ValueOp::kLoad) {
    const auto kept = scratch_values_.find(v.buffer);
    coarse = kept != scratch_values_.end() && is_coarse(kept->second);
  } else if (v.op == ValueOp::kFn) {
    coarse = (v.integer & kCoarse) != 0;
    if (v.fn == scalar::Fn::mul || v.fn == scalar::Fn::div)
      for (ValueId a : v.args) coarse |= is_coarse(a);
  }
  return coarse_[id] = coarse;
}

V KernelEmitter::to_memory(V v, DType dtype, bool coarse) {
  if (dtype == DType::kBool) return b_.CreateZExt(v, wide(b_.getInt8Ty(), lanes(v)));
  if (dtype == DType::kFloat16) return b_.CreateFPTrunc(v, wide(b_.getHalfTy(), lanes(v)));
  return dtype == DType::kBFloat16 ? to_bfloat(v, coarse) : v;
}

void KernelEmitter::store(const Stmt& s) {
  const DType dtype = m_.buffers[s.buffer].dtype;
  const llvm::Align align(std::max<size_t>(size_of(dtype), 1));
  Access a = access(s.buffer, s.index);
  if (paired_ && a.contiguous && dtype == DType::kBFloat16) return store_paired(s, a.pointer, splat(get(s.value)));
  V v = to_memory(get(s.value), dtype, is_coarse(s.value));
  if (a.pointer && !a.contiguous) {
    PD_INVARIANT(lanes_ == 1);
    b_.CreateAlignedStore(v, a.pointer, align);
    return;
  }
  v = splat(v);
  if (!a.contiguous) {
    V all = llvm::Constant::getAllOnesValue(wide(b_.getInt1Ty(), lanes_));
    b_.CreateMaskedScatter(v, a.pointers, align, mask_ ? mask_ : all);
  } else if (mask_) {
    b_.CreateMaskedStore(v, a.pointer, align, mask_);
  } else {
    write(v, a.pointer, align, s.streaming && target_.streaming && streamable(s, v));
  }
}

void KernelEmitter::write(V v, V pointer, llvm::Align align, bool streaming) {
  if (!streaming) {
    b_.CreateAlignedStore(v, pointer, align);
    return;
  }
  auto* store = b_.CreateAlignedStore(v, pointer, llvm::Align(target_.vector_bytes));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                     llvm::MDNode::get(b_.getContext(), llvm::ConstantAsMetadata::get(b_.getInt32(1))));
  streamed_ = true;
}

void KernelEmitter::prefetch(const Stmt& s) {
  const int64_t bytes = static_cast<int64_t>(size_of(m_.buffers[s.buffer].dtype)) * lanes_;
  if (!target_.streaming || mask_ || lanes_ == 1 || (bytes < kLine && copy_ % (kLine / bytes) != 0)) return;
  Access a = access(s.buffer, s.index);
  if (!a.contiguous) return;
  for (int64_t at = 0; at < bytes; at += kLine)
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                       {b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), a.pointer, at), b_.getInt32(0),
                        b_.getInt32(s.level > 1 ? 2 : 3), b_.getInt32(1)});
}

bool KernelEmitter::streamable(const Stmt& s, V v) const {
  const int64_t bytes = static_cast<int64_t>(size_of(m_.buffers[s.buffer].dtype));
  if (v->getType()->getPrimitiveSizeInBits() != static_cast<uint64_t>(target_.vector_bytes) * 8) return false;
  const Index rest = s.index.without(vector_var_);
  for (const auto& [monomial, c] : rest.terms())
    if (c * bytes % target_.vector_bytes != 0) return false;
  return true;
}

}  // namespace paddle::cinn
