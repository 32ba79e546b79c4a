// Which code a scalar function becomes, and what all of them are made of.
#include "cinn/codegen/llvm/math.h"

#include <llvm/IR/Module.h>

#include <limits>

namespace paddle::cinn {

using scalar::Fn;
using V = llvm::Value*;

V VectorMath::number(V like, double x) { return llvm::ConstantFP::get(like->getType(), x); }
V VectorMath::integer(V like, int64_t x) { return llvm::ConstantInt::get(like->getType(), x, true); }

V VectorMath::intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<V> args) {
  return b_.CreateIntrinsic(id, {args[0]->getType()}, args);
}

V VectorMath::fma(V a, V b, V c) { return intrinsic(llvm::Intrinsic::fma, {a, b, c}); }
V VectorMath::abs(V x) { return intrinsic(llvm::Intrinsic::fabs, {x}); }

V VectorMath::polynomial(V x, llvm::ArrayRef<double> c) {
  V sum = number(x, c[0]);
  for (double k : c.drop_front()) sum = fma(sum, x, number(x, k));
  return sum;
}

llvm::Type* VectorMath::shaped(llvm::Type* element, V like) {
  if (auto* v = llvm::dyn_cast<llvm::VectorType>(like->getType()))
    return llvm::VectorType::get(element, v->getElementCount());
  return element;
}

V VectorMath::as_int(V x) { return b_.CreateBitCast(x, shaped(is_f32(x) ? b_.getInt32Ty() : b_.getInt64Ty(), x)); }
V VectorMath::as_float(V bits, V like) { return b_.CreateBitCast(bits, like->getType()); }

// NaN passes.
V VectorMath::clamp(V x, double low, double high) {
  x = b_.CreateSelect(b_.CreateFCmpOLT(x, number(x, low)), number(x, low), x);
  return b_.CreateSelect(b_.CreateFCmpOGT(x, number(x, high)), number(x, high), x);
}

// void pd_<name>_<type>(T* out, const T* a, const T* b, int64_t lanes), defined in library.cc.
V VectorMath::library(const char* name, llvm::ArrayRef<V> args) {
  llvm::Function* f = b_.GetInsertBlock()->getParent();
  llvm::Type* type = args[0]->getType();
  llvm::IRBuilder<> entry(&f->getEntryBlock(), f->getEntryBlock().begin());
  auto* slot_type = type;
  int64_t lanes = 1;
  if (auto* v = llvm::dyn_cast<llvm::FixedVectorType>(type)) lanes = v->getNumElements();
  V out = entry.CreateAlloca(slot_type), a = entry.CreateAlloca(slot_type), b = entry.CreateAlloca(slot_type);
  b_.CreateStore(args[0], a);
  if (args.size() > 1) b_.CreateStore(args[1], b);
  auto* pointer = b_.getPtrTy();
  auto* signature = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, pointer, b_.getInt64Ty()}, false);
  const char* suffix = is_f32(args[0]) ? "f32" : "f64";
  auto callee = f->getParent()->getOrInsertFunction((llvm::Twine("pd_") + name + "_" + suffix).str(), signature);
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  b_.CreateCall(callee, {out, a, b, b_.getInt64(lanes)});
  return b_.CreateLoad(type, out);
}

namespace {
// Correctly rounded, or no arithmetic at all.
bool is_exact(Fn fn) {
  switch (fn) {
    case Fn::pow:
    case Fn::rsqrt:
    case Fn::exp:
    case Fn::exp2:
    case Fn::expm1:
    case Fn::log:
    case Fn::log2:
    case Fn::log10:
    case Fn::log1p:
    case Fn::sin:
    case Fn::cos:
    case Fn::tan:
    case Fn::tanh:
    case Fn::sigmoid:
    case Fn::erf:
      return false;
    default:
      return true;
  }
}
}  // namespace

V VectorMath::by_double(Fn fn, llvm::ArrayRef<V> x) {
  std::vector<V> wide;
  for (V v : x) wide.push_back(b_.CreateFPExt(v, shaped(b_.getDoubleTy(), v)));
  return b_.CreateFPTrunc(float_fn(fn, wide), x[0]->getType());
}

V VectorMath::float_fn(Fn fn, llvm::ArrayRef<V> x, int64_t traits) {
  if (!fast_ && !is_exact(fn) && is_f32(x[0])) return by_double(fn, x);
  V a = x[0], c = x.size() > 1 ? x[1] : nullptr;
  const double inf = std::numeric_limits<double>::infinity();
  const bool f32 = is_f32(fn == Fn::where ? c : a);
  V zero = fn == Fn::where ? nullptr : number(a, 0);
  switch (fn) {
    case Fn::add:
      return b_.CreateFAdd(a, c);
    case Fn::sub:
      return b_.CreateFSub(a, c);
    case Fn::mul:
      return b_.CreateFMul(a, c);
    case Fn::div:
      return b_.CreateFDiv(a, c);
    case Fn::fma:
      return fma(a, c, x[2]);
    case Fn::neg:
      return b_.CreateFNeg(a);
    case Fn::abs:
      return abs(a);
    case Fn::sign:
      return b_.CreateSelect(b_.CreateFCmpOGT(a, zero), number(a, 1),
                             b_.CreateSelect(b_.CreateFCmpOLT(a, zero), number(a, -1), a));
    case Fn::reciprocal:
      return b_.CreateFDiv(number(a, 1), a);
    case Fn::square:
      return b_.CreateFMul(a, a);
    case Fn::pow:
      return f32 ? pow_f32(a, c) : library("pow", x);
    case Fn::sqrt:
      return intrinsic(llvm::Intrinsic::sqrt, {a});
    case Fn::rsqrt:
      return has_estimates(a) ? inverse_root(a) : b_.CreateFDiv(number(a, 1), intrinsic(llvm::Intrinsic::sqrt, {a}));
    case Fn::exp:
      return exp(a, traits);
    case Fn::exp2:
      return exp2(a, traits);
    case Fn::expm1:
      return expm1(a);
    case Fn::log:
      return log(a, 0);
    case Fn::log2:
      return log(a, 2);
    case Fn::log10:
      return log(a, 10);
    case Fn::log1p:
      return log1p(a);
    case Fn::sin:
      return sine(a, 0);
    case Fn::cos:
      return sine(a, 1);
    case Fn::tan:
      return sine(a, 2);
    case Fn::tanh:
      return tanh(a);
    case Fn::sigmoid:
      return sigmoid(a);
    case Fn::erf:
      return f32 ? erf(a) : library("erf", x);
    case Fn::floor:
      return intrinsic(llvm::Intrinsic::floor, {a});
    case Fn::ceil:
      return intrinsic(llvm::Intrinsic::ceil, {a});
    case Fn::round:
      return intrinsic(llvm::Intrinsic::roundeven, {a});
    case Fn::trunc:
      return intrinsic(llvm::Intrinsic::trunc, {a});
    case Fn::frac:
      return b_.CreateFSub(a, intrinsic(llvm::Intrinsic::trunc, {a}));
    case Fn::min:  // hardware gives the second operand where one is NaN
      return b_.CreateSelect(is_nan(a), a, b_.CreateSelect(b_.CreateFCmpOLT(a, c), a, c));
    case Fn::max:
      return b_.CreateSelect(is_nan(a), a, b_.CreateSelect(b_.CreateFCmpOGT(a, c), a, c));
    case Fn::fmin:
      return b_.CreateSelect(b_.CreateOr(b_.CreateFCmpOLE(a, c), is_nan(c)), a, c);
    case Fn::fmax:
      return b_.CreateSelect(b_.CreateOr(b_.CreateFCmpOGE(a, c), is_nan(c)), a, c);
    case Fn::where:
      return b_.CreateSelect(a, c, x[2]);
    case Fn::copysign:
      return intrinsic(llvm::Intrinsic::copysign, {a, c});
    case Fn::eq:
      return b_.CreateFCmpOEQ(a, c);
    case Fn::ne:
      return b_.CreateFCmpUNE(a, c);
    case Fn::lt:
      return b_.CreateFCmpOLT(a, c);
    case Fn::le:
      return b_.CreateFCmpOLE(a, c);
    case Fn::gt:
      return b_.CreateFCmpOGT(a, c);
    case Fn::ge:
      return b_.CreateFCmpOGE(a, c);
    case Fn::isnan:
      return is_nan(a);
    case Fn::isinf:
      return b_.CreateFCmpOEQ(abs(a), number(a, inf));
    case Fn::isfinite:
      return b_.CreateFCmpOLT(abs(a), number(a, inf));
    case Fn::signbit: {
      V i = as_int(a);
      return b_.CreateICmpSLT(i, integer(i, 0));
    }
    case Fn::angle:
      return b_.CreateSelect(b_.CreateFCmpOLT(a, zero), number(a, 3.14159265358979323846),
                             b_.CreateSelect(is_nan(a), a, zero));
    default:
      return library(scalar::info(fn).name, x);
  }
}

V VectorMath::call(Fn fn, llvm::ArrayRef<V> args, DType dtype, int64_t traits) {
  if ((traits & kCoarse) && dtype == DType::kFloat32)
    if (V v = coarse_fn(fn, args, traits)) return v;
  switch (fn) {
    case Fn::logical_and:
      return b_.CreateAnd(args[0], args[1]);
    case Fn::logical_or:
      return b_.CreateOr(args[0], args[1]);
    case Fn::logical_xor:
      return b_.CreateXor(args[0], args[1]);
    case Fn::logical_not:
      return b_.CreateNot(args[0]);
    case Fn::where:
      return b_.CreateSelect(args[0], args[1], args[2]);
    default:
      break;
  }
  return is_float(dtype) ? float_fn(fn, args, traits) : integer_fn(fn, args, is_signed_int(dtype));
}

}  // namespace paddle::cinn
