// Values and accumulators.
#include "cinn/codegen/llvm/kernel_emitter.h"

namespace paddle::cinn {

using V = llvm::Value*;

V KernelEmitter::cast(V v, DType from, DType to) {
  auto* type = wide(type_of(to), lanes(v));
  if (to == DType::kBool) {
    V zero = llvm::Constant::getNullValue(v->getType());
    return is_float(from) ? b_.CreateFCmpUNE(v, zero) : b_.CreateICmpNE(v, zero);
  }
  const bool from_signed = is_signed_int(from);
  if (is_float(from) && is_float(to)) return b_.CreateFPCast(v, type);
  if (is_float(to)) return from_signed ? b_.CreateSIToFP(v, type) : b_.CreateUIToFP(v, type);
  if (is_float(from)) {
    if (to == DType::kUInt64) return b_.CreateFPToUI(v, type);
    // Narrow types wrap, as the conversion by way of a wide one does.
    auto* through = wide(size_of(to) < 4 ? b_.getInt32Ty() : b_.getInt64Ty(), lanes(v));
    if (to == DType::kInt32) through = type;
    return b_.CreateTruncOrBitCast(b_.CreateFPToSI(v, through), type);
  }
  return from_signed ? b_.CreateSExtOrTrunc(v, type) : b_.CreateZExtOrTrunc(v, type);
}

V KernelEmitter::value(const Value& v) {
  switch (v.op) {
    case ValueOp::kConst:
      return is_float(v.dtype) ? static_cast<V>(llvm::ConstantFP::get(type_of(v.dtype), v.imm))
                               : llvm::ConstantInt::get(type_of(v.dtype), v.integer, true);
    case ValueOp::kIndex:
      return varies(v.index) ? vector_index(v.index) : scalar_index(v.index);
    case ValueOp::kLoad:
      return load(v);
    case ValueOp::kReadAcc:
      return read(accs_.at(static_cast<int>(v.integer)));
    case ValueOp::kCast: {
      if (v.integer) {  // rounds to a 16-bit float
        const DType half = static_cast<DType>(v.integer);
        return widen(to_memory(get(v.args[0]), half), half);
      }
      return cast(get(v.args[0]), m_.values[v.args[0]].dtype, v.dtype);
    }
    case ValueOp::kFn:
      break;
  }
  std::vector<V> args;
  int width = 1;
  for (ValueId a : v.args) width = std::max(width, lanes(get(a)));
  DType compute = v.dtype;
  for (ValueId a : v.args) {
    V x = get(a);
    args.push_back(width > 1 && lanes(x) == 1 ? b_.CreateVectorSplat(width, x) : x);
    compute = m_.values[a].dtype;  // all agree but for the first of `where`
  }
  if (v.fn == scalar::Fn::div && compute == DType::kFloat32 && lanes(args[0]) > 1) {
    const Value& below = m_.values[v.args[1]];
    if (below.op == ValueOp::kFn && below.fn == scalar::Fn::sqrt && lanes(get(below.args[0])) > 1)
      if (V q = math_.divide_by_root(args[0], get(below.args[0]))) return q;
  }
  if (v.integer & kRoundsAlone) {
    llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
    b_.clearFastMathFlags();
    return math_.call(v.fn, args, compute);
  }
  return math_.call(v.fn, args, compute, v.integer);
}

V KernelEmitter::identity(const Acc& a, int width) {
  Value v = identity_of(a.kind, a.dtype);
  auto* type = wide(type_of(a.dtype), width);
  return is_float(a.dtype) ? static_cast<V>(llvm::ConstantFP::get(type, v.imm))
                           : llvm::ConstantInt::get(type, v.integer, true);
}

void KernelEmitter::declare(const Stmt& s) {
  Acc& a = accs_.at(s.acc);
  if (!a.split) a.lanes = lanes_;
  a.cells.clear(), a.nans.clear();
  llvm::IRBuilder<> entry(&f_->getEntryBlock(), f_->getEntryBlock().begin());
  for (int i = 0; i < a.copies; ++i) {
    a.cells.push_back(entry.CreateAlloca(wide(type_of(a.dtype), a.lanes)));
    b_.CreateStore(identity(a, a.lanes), a.cells.back());
    if (!notes_nans(a)) continue;
    a.nans.push_back(entry.CreateAlloca(flags_of(a)));
    b_.CreateStore(llvm::Constant::getNullValue(flags_of(a)), a.nans.back());
  }
}

V KernelEmitter::combine(const Acc& a, V x, V acc) {
  if (a.nans.empty()) return math_.call(function_of(a.kind, a.dtype), {x, acc}, a.dtype);
  V beyond = a.kind == ReduceKind::kMax ? b_.CreateFCmpOGT(x, acc) : b_.CreateFCmpOLT(x, acc);
  return b_.CreateSelect(beyond, x, acc);
}

// Sums are added up among the copies first, so that one register is taken instead of one for each: in loops that
// compute much these are what is lacking. A product becomes part of an addition to a sum of its own.
bool KernelEmitter::adds_jointly(const Stmt& update) const {
  const Value& v = m_.values[update.value];
  return update.reduce == ReduceKind::kSum && is_float(v.dtype) && v.op == ValueOp::kFn && v.fn != scalar::Fn::mul;
}

// Null until the last copy is there.
llvm::Value* KernelEmitter::sum_of_copies(const Stmt& s, const Acc& a, V x) {
  std::vector<V>& parts = addends_[&s];
  parts.push_back(x);
  if (copy_ + 1 < copies_) return nullptr;
  for (; parts.size() > 1; parts.resize((parts.size() + 1) / 2))
    for (size_t i = 0; i < parts.size() / 2; ++i) parts[i] = combine(a, parts[i], parts[parts.size() - 1 - i]);
  V sum = parts[0];
  parts.clear();
  return sum;
}

void KernelEmitter::update(const Stmt& s) {
  Acc& a = accs_.at(s.acc);
  V cell = a.cells.at(a.split ? copy_ % a.copies : 0);
  V x = get(s.value);
  if (a.lanes > 1 && lanes(x) == 1) x = b_.CreateVectorSplat(a.lanes, x);
  if (a.jointly && !(x = sum_of_copies(s, a, x))) return;
  V old = b_.CreateLoad(wide(type_of(a.dtype), a.lanes), cell);
  V fresh = combine(a, x, old);
  if (mask_ && a.split) fresh = b_.CreateSelect(mask_, fresh, old);
  b_.CreateStore(fresh, cell);
  if (!a.nans.empty()) note_nans(s, a, x);
}

void KernelEmitter::note_nans(const Stmt& s, const Acc& a, V x) {
  const bool pairs = copies_ % 2 == 0;
  if (pairs && copy_ % 2 == 0) {
    halves_[&s].value = x;
    return;
  }
  V nan = b_.CreateFCmpUNO(pairs ? halves_.at(&s).value : x, x), flags = a.nans.at(copy_ % a.copies);
  if (mask_) nan = b_.CreateAnd(nan, mask_);
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(flags_of(a), flags), b_.CreateSExt(nan, flags_of(a))), flags);
}

V KernelEmitter::read(const Acc& a) {
  auto* type = wide(type_of(a.dtype), a.lanes);
  std::vector<V> parts;
  for (V cell : a.cells) parts.push_back(b_.CreateLoad(type, cell));
  for (size_t n = parts.size(); n > 1; n = (n + 1) / 2)
    for (size_t i = 0; i < n / 2; ++i) parts[i] = combine(a, parts[i], parts[n - 1 - i]);
  V v = parts[0];
  if (!a.split) return v;
  for (int n = a.lanes; n > 1; n /= 2) {
    std::vector<int> low, high;
    for (int i = 0; i < n / 2; ++i) low.push_back(i), high.push_back(i + n / 2);
    v = combine(a, b_.CreateShuffleVector(v, low), b_.CreateShuffleVector(v, high));
  }
  if (a.lanes > 1) v = b_.CreateExtractElement(v, uint64_t{0});
  if (a.nans.empty()) return v;
  V any = nullptr;
  for (V cell : a.nans) {
    V flags = b_.CreateLoad(flags_of(a), cell);
    any = any ? b_.CreateOr(any, flags) : flags;
  }
  return b_.CreateSelect(b_.CreateIsNotNull(b_.CreateOrReduce(any)), llvm::ConstantFP::getNaN(v->getType()), v);
}

}  // namespace paddle::cinn
