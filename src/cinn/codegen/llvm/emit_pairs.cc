// Two unrolled copies of a loop that share whole vectors of bfloat16.
#include <llvm/IR/IntrinsicsX86.h>

#include <cmath>

#include "cinn/codegen/llvm/kernel_emitter.h"

namespace paddle::cinn {

using V = llvm::Value*;

// All vectorised loops of a kernel pair up or none does: what one leaves in scratch memory, another reads in the same
// order. They do where each element is computed from elements at its own place, all of bfloat16 or in scratch memory.
bool KernelEmitter::pairs_up(const std::vector<Stmt>& body, const Stmt* loop, bool& bfloats) const {
  const int64_t pair = target_.vector_bytes / 2;
  auto moves = [&](const Index& index) {
    std::vector<AtomId> leaves;
    m_.pool.leaves(index, leaves);
    bool any = false;
    for (AtomId id : leaves) any |= id == loop->var || m_.pool.atom(id).kind == AtomKind::kValue;
    return any;
  };
  auto in_place = [&](int buffer, const Index& index) {
    if (!loop || !moves(index)) return true;
    const Buffer& b = m_.buffers[buffer];
    const bool half = b.dtype == DType::kBFloat16;
    bfloats |= half;
    const bool own = half || (b.role == BufferRole::kScratch && b.dtype == DType::kFloat32);
    return own && index.coefficient(loop->var).is(1) && !moves(index.without(loop->var));
  };
  for (const Stmt& s : body) {
    if (s.kind == StmtKind::kFor) {
      if (loop) return false;
      const bool vectors = s.vectorize && lanes_of(s) > 1;
      if (vectors && (lanes_of(s) * 2 != pair || !s.extent.is_const() || s.extent.value() % pair != 0)) return false;
      if (!pairs_up(s.body, vectors ? &s : nullptr, bfloats)) return false;
    }
    if (s.kind == StmtKind::kStore && !in_place(s.buffer, s.index)) return false;
    if (s.kind != StmtKind::kLet) continue;
    const Value& v = m_.values[s.value];
    if (v.op == ValueOp::kLoad && (!in_place(v.buffer, v.index) || (loop && !v.args.empty()))) return false;
    if (v.op == ValueOp::kIndex && loop && moves(v.index)) return false;
  }
  return true;
}

// NaN from arithmetic and from functions has no digits of its own: only those of an operand, or of a constant.
bool KernelEmitter::nans_are_short() const {
  for (const Buffer& b : m_.buffers)
    if (b.role == BufferRole::kInput && is_float(b.dtype) && b.dtype != DType::kBFloat16) return false;
  for (const Value& v : m_.values)
    if (v.op == ValueOp::kConst && is_float(v.dtype) && std::isnan(v.imm)) return false;
  return true;
}

// As numbers of 32 bits, the even elements are in the lower halves.
V KernelEmitter::load_paired(const Value& v, V pointer) {
  auto* words = wide(b_.getInt32Ty(), lanes_);
  auto* floats = wide(b_.getFloatTy(), lanes_);
  if (copy_ % 2 == 0) {
    V all = b_.CreateBitCast(b_.CreateAlignedLoad(wide(b_.getInt16Ty(), 2 * lanes_), pointer, llvm::Align(2)), words);
    halves_[&v] = {pointer, all};
    return b_.CreateBitCast(b_.CreateShl(all, llvm::ConstantInt::get(words, 16)), floats);
  }
  return b_.CreateBitCast(b_.CreateAnd(halves_.at(&v).value, llvm::ConstantInt::get(words, 0xffff0000)), floats);
}

void KernelEmitter::store_paired(const Stmt& s, V pointer, V v) {
  if (copy_ % 2 == 0) {
    halves_[&s] = {pointer, v};
    return;
  }
  const Half even = halves_.at(&s);
  const int n = lanes_;
  auto* halves = wide(b_.getInt16Ty(), 2 * n);
  std::vector<int> in_turns;
  V both;
  if (target_.avx512_bf16 && n == 16) {
    for (int i = 0; i < n; ++i) in_turns.push_back(i), in_turns.push_back(i + n);
    V half = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {}, {v, even.value});
    both = b_.CreateShuffleVector(b_.CreateBitCast(half, halves), in_turns);
  } else {  // what is in place already is blended, not moved
    const bool coarse = is_coarse(s.value);
    V low = rounded_bits(even.value, coarse);
    low = b_.CreateLShr(low, llvm::ConstantInt::get(low->getType(), 16));
    for (int i = 0; i < n; ++i) in_turns.push_back(2 * i), in_turns.push_back(2 * n + 2 * i + 1);
    V high = rounded_bits(v, coarse);
    both = b_.CreateShuffleVector(b_.CreateBitCast(low, halves), b_.CreateBitCast(high, halves), in_turns);
  }
  write(both, even.pointer, llvm::Align(2), s.streaming && target_.streaming && streamable(s, both));
}

}  // namespace paddle::cinn
