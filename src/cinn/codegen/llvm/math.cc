#include "cinn/codegen/llvm/math.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace paddle::cinn {

using llvm::Intrinsic::ID;
using scalar::Fn;
using V = llvm::Value*;

V VectorMath::number(V like, double x) { return llvm::ConstantFP::get(like->getType(), x); }
V VectorMath::integer(V like, int64_t x) { return llvm::ConstantInt::get(like->getType(), x, true); }

V VectorMath::intrinsic(ID id, llvm::ArrayRef<V> args) { return b_.CreateIntrinsic(id, {args[0]->getType()}, args); }

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

V VectorMath::scale(V x, V n) {
  if (has_scalef_ && x->getType()->isVectorTy() && x->getType()->getPrimitiveSizeInBits() == 512) {
    const bool f32 = is_f32(x);
    V all = llvm::ConstantInt::get(b_.getIntNTy(f32 ? 16 : 8), -1, true);
    return b_.CreateIntrinsic(
        f32 ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_512 : llvm::Intrinsic::x86_avx512_mask_scalef_pd_512, {},
        {x, n, x, all, b_.getInt32(4)});
  }
  // In two steps, since 2^n alone may be out of range. n is within +-2200.
  const int bits = is_f32(x) ? 23 : 52, bias = is_f32(x) ? 127 : 1023;
  V whole = b_.CreateFPToSI(n, as_int(x)->getType());
  V half = b_.CreateAShr(whole, integer(whole, 1));
  auto power = [&](V k) { return as_float(b_.CreateShl(b_.CreateAdd(k, integer(k, bias)), integer(k, bits)), x); };
  return b_.CreateFMul(b_.CreateFMul(x, power(half)), power(b_.CreateSub(whole, half)));
}

// exp(r) or exp(r) - 1 for |r| <= ln 2 / 2. f32: a minimax polynomial to 2^-23, or the Cephes library's, whose error
// vanishes at 0; f64: Taylor's, to 2^-58.
V VectorMath::exp_reduced(V r, bool minus_one) {
  V p;
  if (is_f32(r) && minus_one)
    p = polynomial(
        r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  else if (is_f32(r))
    p = polynomial(r, {0x1.10625p-7, 0x1.572a64p-5, 0x1.5557bp-3, 0x1.fffdfcp-2});
  else
    p = polynomial(r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                       1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
  if (minus_one) return fma(b_.CreateFMul(r, r), p, r);
  return fma(fma(p, r, number(r, 1)), r, number(r, 1));
}

// The whole number nearest to x * factor, for |x * factor| < 2^21: adding 1.5 * 2^(digits - 1) rounds as a side effect.
V VectorMath::nearest(V x, double factor) {
  if (has_estimates(x)) return intrinsic(llvm::Intrinsic::roundeven, {b_.CreateFMul(x, number(x, factor))});
  V magic = number(x, is_f32(x) ? 0x1.8p23 : 0x1.8p52);
  return b_.CreateFSub(fma(x, number(x, factor), magic), magic);
}

// a / b in the type's normal range, b not 0: the hardware's estimate and one Newton step, to 2 ulp; refined, nearly
// exact. a_rest: what a lacks of the exact numerator.
V VectorMath::quotient(V a, V b, bool refined, V a_rest) {
  if (!has_estimates(a) && !a_rest) return b_.CreateFDiv(a, b);
  V minus_b = b_.CreateFNeg(b), r;
  if (has_estimates(a)) {
    r = reciprocal_estimate(b);
    r = fma(fma(minus_b, r, number(a, 1)), r, r);
  } else {
    r = b_.CreateFDiv(number(a, 1), b);
  }
  V q = b_.CreateFMul(a, r);
  if (!refined) return q;
  V error = fma(minus_b, q, a);
  return fma(a_rest ? b_.CreateFAdd(error, a_rest) : error, r, q);
}

static constexpr double kLog2e = 1.4426950408889634, kLn2 = 0.6931471805599453;

V VectorMath::exp(V x) {
  const bool f32 = is_f32(x);
  x = f32 ? clamp(x, -104, 89) : clamp(x, -746, 710);
  V n = nearest(x, kLog2e);
  V r = fma(n, number(x, f32 ? -0.693359375 : -0x1.62e42fefa39efp-1), x);
  r = fma(n, number(x, f32 ? 2.12194440e-4 : -0x1.abc9e3b39803fp-56), r);
  return scale(exp_reduced(r, false), n);
}

V VectorMath::exp2(V x) {
  x = is_f32(x) ? clamp(x, -151, 129) : clamp(x, -1076, 1025);
  V n = nearest(x, 1);
  return scale(exp_reduced(b_.CreateFMul(b_.CreateFSub(x, n), number(x, kLn2)), false), n);
}

// 2^n (e^r - 1) + (2^n - 1); with half the power, which stays finite where the result does.
V VectorMath::expm1(V x) {
  const bool f32 = is_f32(x);
  V c = f32 ? clamp(x, -50, 89) : clamp(x, -80, 710);
  V n = nearest(c, kLog2e);
  V r = fma(n, number(x, f32 ? -0.693359375 : -0x1.62e42fefa39efp-1), c);
  r = fma(n, number(x, f32 ? 2.12194440e-4 : -0x1.abc9e3b39803fp-56), r);
  V half = scale(number(x, 0.5), n);
  V y = fma(half, exp_reduced(r, true), b_.CreateFSub(half, number(x, 0.5)));
  y = b_.CreateFAdd(y, y);
  return b_.CreateSelect(b_.CreateFCmpOEQ(x, number(x, 0)), x, y);  // keeps -0
}

// f32: an odd rational function on [-9.02, 9.02], fitted to single-precision coefficients; beyond, the result is 1.
V VectorMath::tanh(V x) {
  if (is_f32(x)) {
    V t = clamp(x, -9.02, 9.02);
    V s = b_.CreateFMul(t, t);
    V p = polynomial(s, {0x1.c998cep-27, 0x1.59517ep-16, 0x1.c9f684p-9, 0x1.120406p-3, 1.0});
    V q = polynomial(s, {0x1.a0b154p-21, 0x1.583f6ep-12, 0x1.a7de4cp-6, 0x1.de574cp-2, 1.0});
    return clamp(quotient(b_.CreateFMul(t, p), q, true), -1, 1);
  }
  V t = clamp(abs(x), 0, 22);
  V e = expm1(b_.CreateFAdd(t, t));
  V y = quotient(e, b_.CreateFAdd(e, number(x, 2)));
  return intrinsic(llvm::Intrinsic::copysign, {y, x});
}

// From exp(-|x|), so that the divisor lies in [1, 2].
V VectorMath::sigmoid(V x) {
  V e = exp(b_.CreateFNeg(abs(x)));
  V y = quotient(number(x, 1), b_.CreateFAdd(e, number(x, 1)));
  return b_.CreateSelect(b_.CreateFCmpOLT(x, number(x, 0)), b_.CreateFMul(e, y), y);
}

V VectorMath::log(V x, int base) {
  const bool f32 = is_f32(x);
  const int bits = f32 ? 23 : 52;
  const double tiny = f32 ? 0x1p-126 : 0x1p-1022, up = f32 ? 0x1p23 : 0x1p52;
  V is_tiny = b_.CreateFCmpOLT(x, number(x, tiny));
  V normal = b_.CreateSelect(is_tiny, b_.CreateFMul(x, number(x, up)), x);
  // x = 2^e m with m in [sqrt(1/2), sqrt(2))
  V i = as_int(normal);
  const int64_t origin = f32 ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  V d = b_.CreateSub(i, integer(i, origin));
  V e = b_.CreateSIToFP(b_.CreateAShr(d, integer(i, bits)), x->getType());
  e = b_.CreateSelect(is_tiny, b_.CreateFSub(e, number(x, bits)), e);
  V mantissa = b_.CreateAdd(b_.CreateAnd(d, integer(i, (int64_t{1} << bits) - 1)), integer(i, origin));
  V f = b_.CreateFSub(as_float(mantissa, x), number(x, 1));
  V ff = b_.CreateFMul(f, f), small;  // log m = f + small
  if (f32) {                          // Cephes
    V p = polynomial(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                         -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
    small = fma(ff, number(x, -0.5), b_.CreateFMul(b_.CreateFMul(ff, f), p));
  } else {  // fdlibm
    V s = b_.CreateFDiv(f, b_.CreateFAdd(f, number(x, 2)));
    V z = b_.CreateFMul(s, s);
    V p = b_.CreateFMul(z, polynomial(z, {1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                                          2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                                          6.666666666666735130e-01}));
    V half = b_.CreateFMul(ff, number(x, 0.5));
    small = fma(s, b_.CreateFAdd(half, p), b_.CreateFNeg(half));
  }
  V y;
  if (base == 0) {
    const double high = f32 ? 0.693359375 : 6.93147180369123816490e-01,
                 low = f32 ? -2.12194440e-4 : 1.90821492927058770002e-10;
    y = fma(e, number(x, high), b_.CreateFAdd(f, fma(e, number(x, low), small)));
  } else {
    // f and the small rest are scaled apart, so that the product keeps its digits near 1.
    const double factor = base == 2 ? kLog2e : 0.4342944819032518, unit = base == 2 ? 1 : 0.30102999566398120;
    V scaled = fma(f, number(x, factor), b_.CreateFMul(small, number(x, factor)));
    y = fma(e, number(x, unit), scaled);
  }
  const double inf = std::numeric_limits<double>::infinity();
  y = b_.CreateSelect(b_.CreateFCmpOEQ(x, number(x, inf)), x, y);
  y = b_.CreateSelect(b_.CreateFCmpOEQ(x, number(x, 0)), number(x, -inf), y);
  return b_.CreateSelect(b_.CreateFCmpULT(x, number(x, 0)), number(x, std::numeric_limits<double>::quiet_NaN()), y);
}

V VectorMath::log1p(V x) {
  V u = b_.CreateFAdd(x, number(x, 1));
  V correction = b_.CreateFDiv(b_.CreateFSub(x, b_.CreateFSub(u, number(x, 1))), u);
  V y = b_.CreateFAdd(log(u, 0), correction);
  V plain = b_.CreateOr(b_.CreateFCmpOEQ(u, number(x, 0)),
                        b_.CreateFCmpOEQ(u, number(x, std::numeric_limits<double>::infinity())));
  y = b_.CreateSelect(plain, log(u, 0), y);
  return b_.CreateSelect(b_.CreateFCmpOEQ(x, number(x, 0)), x, y);
}

V VectorMath::sine(V x, int kind) {
  const bool f32 = is_f32(x);
  V n = intrinsic(llvm::Intrinsic::roundeven, {b_.CreateFMul(x, number(x, 0.6366197723675814))});
  // pi / 2 in three parts, each exact in the type.
  V r;
  if (f32) {
    r = fma(n, number(x, -0x1.921fb6p+0), x);
    r = fma(n, number(x, 0x1.777a5cp-25), r);
    r = fma(n, number(x, 0x1.ee59dap-50), r);
  } else {
    r = fma(n, number(x, -0x1.921fb54442d18p+0), x);
    r = fma(n, number(x, -0x1.1a62633145c07p-54), r);
    r = fma(n, number(x, 0x1.f1976b7ed8fbcp-110), r);
  }
  V z = b_.CreateFMul(r, r), s, c;
  if (f32) {
    s = polynomial(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
    c = polynomial(z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  } else {
    s = polynomial(z, {1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
                       -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01});
    c = polynomial(z, {-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
                       2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02});
  }
  s = fma(b_.CreateFMul(r, z), s, r);
  c = fma(b_.CreateFMul(z, z), c, fma(z, number(x, -0.5), number(x, 1)));
  V q = b_.CreateFPToSI(n, as_int(x)->getType());
  if (kind == 1) q = b_.CreateAdd(q, integer(q, 1));
  V odd = b_.CreateICmpNE(b_.CreateAnd(q, integer(q, 1)), integer(q, 0));
  V flip = b_.CreateICmpNE(b_.CreateAnd(q, integer(q, 2)), integer(q, 0));
  V y;
  if (kind == 2) {
    y = b_.CreateFDiv(b_.CreateSelect(odd, b_.CreateFNeg(c), s), b_.CreateSelect(odd, s, c));
  } else {
    y = b_.CreateSelect(odd, c, s);
    y = b_.CreateSelect(flip, b_.CreateFNeg(y), y);
  }
  // Beyond that range, and for infinities and NaN, the library's exact reduction.
  V large = b_.CreateFCmpUGT(abs(x), number(x, f32 ? 30000 : 1e6));
  V any = x->getType()->isVectorTy() ? b_.CreateOrReduce(large) : large;
  llvm::BasicBlock* fast = b_.GetInsertBlock();
  llvm::Function* f = fast->getParent();
  auto* slow = llvm::BasicBlock::Create(b_.getContext(), "slow", f);
  auto* join = llvm::BasicBlock::Create(b_.getContext(), "join", f);
  b_.CreateCondBr(any, slow, join);
  b_.SetInsertPoint(slow);
  V exact = library(kind == 0 ? "sin" : kind == 1 ? "cos" : "tan", {x});
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  auto* phi = b_.CreatePHI(x->getType(), 2);
  phi->addIncoming(y, fast);
  phi->addIncoming(exact, slow);
  return phi;
}

// An odd rational function on [-3.93, 3.93], fitted to single-precision coefficients; beyond, the result is 1.
V VectorMath::erf(V x) {
  V t = clamp(x, -3.93, 3.93);
  V s = b_.CreateFMul(t, t);
  V p = polynomial(s, {0x1.12108p-19, 0x1.2a9f78p-12, 0x1.ef55fep-9, 0x1.b071fep-5, 0x1.86b438p-3, 0x1.20dd74p+0});
  V q = polynomial(s, {0x1.3eca34p-15, 0x1.316afap-10, 0x1.eb675cp-7, 0x1.d3fb06p-4, 0x1.013abcp-1, 1.0});
  V product = b_.CreateFMul(t, p);
  return clamp(quotient(product, q, true, fma(t, p, b_.CreateFNeg(product))), -1, 1);
}

// In double precision, where exp(y log x) has digits to spare.
V VectorMath::pow_f32(V x32, V y32) {
  llvm::Type* wide = shaped(b_.getDoubleTy(), x32);
  V x = b_.CreateFPExt(x32, wide), y = b_.CreateFPExt(y32, wide);
  V magnitude = abs(x);
  V r = exp(b_.CreateFMul(log(magnitude, 0), y));
  V whole = b_.CreateFCmpOEQ(intrinsic(llvm::Intrinsic::floor, {y}), y);
  V half = b_.CreateFMul(y, number(y, 0.5));
  V odd = b_.CreateAnd(whole, b_.CreateFCmpONE(intrinsic(llvm::Intrinsic::floor, {half}), half));
  V undefined = b_.CreateAnd(b_.CreateAnd(b_.CreateFCmpOLT(x, number(x, 0)), b_.CreateNot(whole)),
                             b_.CreateFCmpONE(magnitude, number(x, std::numeric_limits<double>::infinity())));
  r = b_.CreateSelect(undefined, number(x, std::numeric_limits<double>::quiet_NaN()), r);
  r = b_.CreateSelect(odd, intrinsic(llvm::Intrinsic::copysign, {r, x}), r);
  // |x| = 1 with y infinite; x = 1 or y = 0 with the other NaN.
  V one = b_.CreateAnd(b_.CreateFCmpOEQ(magnitude, number(x, 1)),
                       b_.CreateFCmpOEQ(abs(y), number(y, std::numeric_limits<double>::infinity())));
  one = b_.CreateOr(one, b_.CreateOr(b_.CreateFCmpOEQ(x, number(x, 1)), b_.CreateFCmpOEQ(y, number(y, 0))));
  r = b_.CreateSelect(one, number(x, 1), r);
  return b_.CreateFPTrunc(r, x32->getType());
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

V VectorMath::divide_int(V a, V n, bool is_signed, bool remainder) {
  V zero = integer(n, 0), one = integer(n, 1);
  V is_zero = b_.CreateICmpEQ(n, zero);
  V safe = b_.CreateSelect(is_zero, one, n);
  V result;
  if (is_signed) {
    // The most negative number / -1 traps.
    V is_minus_one = b_.CreateICmpEQ(n, integer(n, -1));
    safe = b_.CreateSelect(is_minus_one, one, safe);
    result = remainder ? b_.CreateSRem(a, safe) : b_.CreateSDiv(a, safe);
    result = b_.CreateSelect(is_minus_one, remainder ? zero : b_.CreateNeg(a), result);
  } else {
    result = remainder ? b_.CreateURem(a, safe) : b_.CreateUDiv(a, safe);
  }
  return b_.CreateSelect(is_zero, zero, result);
}

V VectorMath::integer_fn(Fn fn, llvm::ArrayRef<V> x, bool is_signed) {
  V a = x[0], c = x.size() > 1 ? x[1] : nullptr;
  V zero = integer(a, 0);
  const unsigned width = a->getType()->getScalarSizeInBits();
  auto in_range = [&] { return b_.CreateICmpULT(c, integer(c, width)); };
  switch (fn) {
    case Fn::add:
      return b_.CreateAdd(a, c);
    case Fn::sub:
      return b_.CreateSub(a, c);
    case Fn::mul:
      return b_.CreateMul(a, c);
    case Fn::fma:
      return b_.CreateAdd(b_.CreateMul(a, c), x[2]);
    case Fn::div:
      return divide_int(a, c, is_signed, false);
    case Fn::fmod:
      return divide_int(a, c, is_signed, true);
    case Fn::floor_div:
    case Fn::mod: {
      V q = divide_int(a, c, is_signed, false), r = divide_int(a, c, is_signed, true);
      if (!is_signed) return fn == Fn::mod ? r : q;
      V adjust = b_.CreateAnd(b_.CreateICmpNE(r, zero), b_.CreateICmpSLT(b_.CreateXor(r, c), zero));
      return fn == Fn::mod ? b_.CreateSelect(adjust, b_.CreateAdd(r, c), r)
                           : b_.CreateSelect(adjust, b_.CreateSub(q, integer(q, 1)), q);
    }
    case Fn::neg:
      return b_.CreateNeg(a);
    case Fn::abs:
      return is_signed ? b_.CreateSelect(b_.CreateICmpSLT(a, zero), b_.CreateNeg(a), a) : a;
    case Fn::sign: {
      V positive = b_.CreateSelect(b_.CreateICmpNE(a, zero), integer(a, 1), zero);
      return is_signed ? b_.CreateSelect(b_.CreateICmpSLT(a, zero), integer(a, -1), positive) : positive;
    }
    case Fn::reciprocal:
      return divide_int(integer(a, 1), a, is_signed, false);
    case Fn::square:
      return b_.CreateMul(a, a);
    case Fn::floor:
    case Fn::ceil:
    case Fn::round:
    case Fn::trunc:
      return a;
    case Fn::frac:
      return zero;
    case Fn::min:
    case Fn::fmin:
      return b_.CreateSelect(is_signed ? b_.CreateICmpSLT(a, c) : b_.CreateICmpULT(a, c), a, c);
    case Fn::max:
    case Fn::fmax:
      return b_.CreateSelect(is_signed ? b_.CreateICmpSGT(a, c) : b_.CreateICmpUGT(a, c), a, c);
    case Fn::where:
      return b_.CreateSelect(a, c, x[2]);
    case Fn::eq:
      return b_.CreateICmpEQ(a, c);
    case Fn::ne:
      return b_.CreateICmpNE(a, c);
    case Fn::lt:
      return is_signed ? b_.CreateICmpSLT(a, c) : b_.CreateICmpULT(a, c);
    case Fn::le:
      return is_signed ? b_.CreateICmpSLE(a, c) : b_.CreateICmpULE(a, c);
    case Fn::gt:
      return is_signed ? b_.CreateICmpSGT(a, c) : b_.CreateICmpUGT(a, c);
    case Fn::ge:
      return is_signed ? b_.CreateICmpSGE(a, c) : b_.CreateICmpUGE(a, c);
    case Fn::isnan:
    case Fn::isinf:
      return b_.CreateICmpNE(a, a);
    case Fn::isfinite:
      return b_.CreateICmpEQ(a, a);
    case Fn::signbit:
      return is_signed ? b_.CreateICmpSLT(a, zero) : b_.CreateICmpNE(a, a);
    case Fn::bitwise_and:
      return b_.CreateAnd(a, c);
    case Fn::bitwise_or:
      return b_.CreateOr(a, c);
    case Fn::bitwise_xor:
      return b_.CreateXor(a, c);
    case Fn::bitwise_not:
      return b_.CreateNot(a);
    case Fn::shift_left: {
      V ok = in_range();
      return b_.CreateSelect(ok, b_.CreateShl(a, b_.CreateSelect(ok, c, zero)), zero);
    }
    case Fn::shift_right: {
      V ok = in_range();
      if (!is_signed) return b_.CreateSelect(ok, b_.CreateLShr(a, b_.CreateSelect(ok, c, zero)), zero);
      return b_.CreateAShr(a, b_.CreateSelect(ok, c, integer(c, width - 1)));
    }
    case Fn::shift_right_logical: {
      V ok = in_range();
      return b_.CreateSelect(ok, b_.CreateLShr(a, b_.CreateSelect(ok, c, zero)), zero);
    }
    case Fn::pow: {  // by squaring, as many steps as the exponent has bits; a negative exponent gives 0 but for +-1
      V result = integer(a, 1), base = a, e = c;
      V negative = is_signed ? b_.CreateICmpSLT(c, zero) : b_.CreateICmpNE(a, a);
      for (unsigned i = 0; i < (width > 32 ? 63u : width - 1); ++i) {
        if (i == 6) {  // more than 63 only matters for 0 and +-1, whose powers repeat
          V odd = b_.CreateICmpNE(b_.CreateAnd(c, integer(c, 1)), zero);
          V big = is_signed ? b_.CreateICmpSGT(c, integer(c, 63)) : b_.CreateICmpUGT(c, integer(c, 63));
          V unit = b_.CreateSelect(b_.CreateICmpEQ(a, integer(a, -1)), b_.CreateSelect(odd, a, integer(a, 1)),
                                   b_.CreateSelect(b_.CreateICmpEQ(a, integer(a, 1)), a, zero));
          V lone = b_.CreateICmpULE(b_.CreateAdd(a, integer(a, 1)), integer(a, 2));
          // An odd base wraps around; nobody relies on those digits, but even bases are 0 then.
          result = b_.CreateSelect(big, unit, result);
          result = b_.CreateSelect(b_.CreateAnd(negative, b_.CreateNot(lone)), zero, result);
          return b_.CreateSelect(negative, unit, result);
        }
        V bit = b_.CreateICmpNE(b_.CreateAnd(e, integer(e, 1)), zero);
        result = b_.CreateSelect(bit, b_.CreateMul(result, base), result);
        base = b_.CreateMul(base, base);
        e = b_.CreateLShr(e, integer(e, 1));
      }
      return result;
    }
    case Fn::angle:
      return zero;
    default:
      break;
  }
  fail(ErrorKind::kNotImplemented, "[cinn] {} of integers is not compiled", scalar::info(fn).name);
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

V VectorMath::float_fn(Fn fn, llvm::ArrayRef<V> x) {
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
      return exp(a);
    case Fn::exp2:
      return exp2(a);
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

V VectorMath::call(Fn fn, llvm::ArrayRef<V> args, DType dtype, bool coarse) {
  if (coarse && dtype == DType::kFloat32 && has_estimates(args[0]))
    if (V v = coarse_fn(fn, args)) return v;
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
  return is_float(dtype) ? float_fn(fn, args) : integer_fn(fn, args, is_signed_int(dtype));
}

}  // namespace paddle::cinn
