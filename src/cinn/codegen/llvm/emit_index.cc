// Types, and index expressions for one lane or a vector of them.
#include "cinn/codegen/llvm/kernel_emitter.h"

#include "base/error.h"

namespace paddle::cinn {

using V = llvm::Value*;

llvm::Type* KernelEmitter::type_of(DType t) {
  switch (t) {
    case DType::kBool:
      return b_.getInt1Ty();
    case DType::kUInt8:
    case DType::kInt8:
      return b_.getInt8Ty();
    case DType::kInt16:
      return b_.getInt16Ty();
    case DType::kInt32:
    case DType::kUInt32:
      return b_.getInt32Ty();
    case DType::kInt64:
    case DType::kUInt64:
      return b_.getInt64Ty();
    case DType::kFloat32:
      return b_.getFloatTy();
    case DType::kFloat64:
      return b_.getDoubleTy();
    default:
      fail(ErrorKind::kNotImplemented, "[cinn] no code for {}", name_of(t));
  }
}

llvm::Type* KernelEmitter::memory_type(DType t) {
  if (t == DType::kBool) return b_.getInt8Ty();
  if (t == DType::kBFloat16) return b_.getInt16Ty();
  return t == DType::kFloat16 ? b_.getHalfTy() : type_of(t);
}

bool KernelEmitter::varies(const Index& index) const {
  if (lanes_ == 1) return false;
  std::vector<AtomId> leaves;
  m_.pool.leaves(index, leaves);
  for (AtomId id : leaves) {
    if (id == vector_var_) return true;
    const Atom& x = m_.pool.atom(id);
    if (x.kind == AtomKind::kValue && lanes(values_[x.number]) > 1) return true;
  }
  return false;
}

V KernelEmitter::evaluate(const Index& index, int width) {
  V sum = nullptr;
  int64_t constant = 0;
  for (const auto& [monomial, c] : index.terms()) {
    if (monomial.empty()) {
      constant = c;
      continue;
    }
    V term = nullptr;
    for (AtomId id : monomial) term = term ? b_.CreateMul(term, atom(id, width)) : atom(id, width);
    if (c != 1) term = b_.CreateMul(term, llvm::ConstantInt::get(term->getType(), c, true));
    sum = sum ? b_.CreateAdd(sum, term) : term;
  }
  auto* type = wide(b_.getInt64Ty(), width);
  if (!sum) return llvm::ConstantInt::get(type, constant, true);
  return constant ? b_.CreateAdd(sum, llvm::ConstantInt::get(type, constant, true)) : sum;
}

V KernelEmitter::atom(AtomId id, int width) {
  const Atom& x = m_.pool.atom(id);
  auto fit = [&](V v) { return width > 1 && lanes(v) == 1 ? b_.CreateVectorSplat(width, v) : v; };
  switch (x.kind) {
    case AtomKind::kSymbol:
      return fit(symbols_.at(x.number));
    case AtomKind::kVar: {
      V v = fit(vars_.at(id));
      return id == vector_var_ && width > 1 ? b_.CreateAdd(v, iota(width)) : v;
    }
    case AtomKind::kValue: {
      V v = values_[x.number];
      return width == 1 && lanes(v) > 1 ? b_.CreateExtractElement(v, uint64_t{0}) : fit(v);
    }
    default:
      break;
  }
  // Uniform quotients need one division, not one per lane.
  if (width > 1 && !varies(x.a) && !varies(x.b)) return fit(atom(id, 1));
  V a = evaluate(x.a, width), c = evaluate(x.b, width);
  switch (x.kind) {
    case AtomKind::kDiv:
      return narrow_divide(x, a, c, false);
    case AtomKind::kMod:
      return narrow_divide(x, a, c, true);
    case AtomKind::kMin:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, c);
    default:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, c);
  }
}

V KernelEmitter::narrow_divide(const Atom& x, V a, V c, bool remainder) {
  const bool small = !m_.pool.at_least(x.a, int64_t{1} << 31) && m_.pool.at_least((int64_t{1} << 31) - x.a, 1) &&
                     m_.pool.at_least(x.a, 0) && m_.pool.at_least((int64_t{1} << 31) - x.b, 1);
  if (!small) {
    const bool positive = m_.pool.at_least(x.a, 0);
    if (positive) return remainder ? b_.CreateURem(a, c) : b_.CreateUDiv(a, c);
    V q = b_.CreateSDiv(a, c), r = b_.CreateSub(a, b_.CreateMul(q, c));
    V zero = llvm::ConstantInt::get(a->getType(), 0);
    V below = b_.CreateICmpSLT(r, zero);
    return remainder ? b_.CreateSelect(below, b_.CreateAdd(r, c), r)
                     : b_.CreateAdd(q, b_.CreateSExt(below, a->getType()));
  }
  auto* narrow = wide(b_.getInt32Ty(), lanes(a));
  V n = b_.CreateTrunc(a, narrow), d = b_.CreateTrunc(c, narrow);
  return b_.CreateZExt(remainder ? b_.CreateURem(n, d) : b_.CreateUDiv(n, d), a->getType());
}

V KernelEmitter::iota(int width, llvm::Type* element) {
  if (!element) element = b_.getInt64Ty();
  std::vector<llvm::Constant*> lanes;
  for (int i = 0; i < width; ++i) lanes.push_back(llvm::ConstantInt::get(element, i));
  return llvm::ConstantVector::get(lanes);
}

}  // namespace paddle::cinn
