// exp, log, the trigonometric functions and their kin, by polynomials and rational functions.
#include "cinn/codegen/llvm/math.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <cmath>
#include <limits>

namespace paddle::cinn {

using V = llvm::Value*;

V VectorMath::scale(V x, const Whole& n) {
  if (scales(x)) return scale_where(llvm::ConstantInt::get(b_.getIntNTy(is_f32(x) ? 16 : 8), -1, true), x, n);
  // In two steps, since 2^n alone may be out of range. Of both halves of n + 2 * bias the lowest bits are an exponent.
  const int digits = is_f32(x) ? 23 : 52;
  V half = b_.CreateLShr(n.biased, integer(n.biased, 1)), rest = b_.CreateSub(n.biased, half);
  auto power = [&](V k) { return as_float(b_.CreateShl(k, integer(k, digits)), x); };
  return b_.CreateFMul(b_.CreateFMul(x, power(half)), power(rest));
}

// x * 2^n, and 0 in the lanes that `bits` lacks.
V VectorMath::scale_where(V bits, V x, const Whole& n) {
  return b_.CreateIntrinsic(
      is_f32(x) ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_512 : llvm::Intrinsic::x86_avx512_mask_scalef_pd_512, {},
      {x, n.number, llvm::Constant::getNullValue(x->getType()), bits, b_.getInt32(4)});
}

// unit * exp(r) for |r| <= ln 2 / 2. f32: a minimax polynomial to 2^-23; f64: Taylor's, to 2^-58.
V VectorMath::exp_reduced(V r, double unit) {
  llvm::SmallVector<double> c;
  if (is_f32(r))
    c = {0x1.10625p-7, 0x1.572a64p-5, 0x1.5557bp-3, 0x1.fffdfcp-2, 1, 1};
  else
    c = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
         1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1,           1};
  for (double& k : c) k *= unit;
  return polynomial(r, c);
}

// exp(r) - 1 likewise. f32: the Cephes library's polynomial, whose error vanishes at 0.
V VectorMath::expm1_reduced(V r) {
  V p;
  if (is_f32(r))
    p = polynomial(
        r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  else
    p = polynomial(r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                       1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
  return fma(b_.CreateFMul(r, r), p, r);
}

// The whole number nearest to x * factor, for |x * factor| < 2^11 or so: adding 1.5 * 2^(digits - 1) rounds as a side
// effect, and leaves the number in the lowest bits, together with `biases` of the exponent's and what else is added.
VectorMath::Whole VectorMath::nearest(V x, double factor, int biases, int added) {
  if (scales(x) && factor == 1) return {intrinsic(llvm::Intrinsic::roundeven, {x}), nullptr};
  V magic = number(x, is_f32(x) ? 0x1.8p23 + biases * 127 + added : 0x1.8p52 + biases * 1023 + added);
  V sum = fma(x, number(x, factor), magic);
  return {b_.CreateFSub(sum, magic), as_int(sum)};
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

// f's result y scaled by 2^n, and 0 where x is so low that it rounds to that: scaling a number down to nothing takes
// some processors two hundred cycles, and what a mask leaves out of a softmax is such a number. AVX-512 scales under a
// mask, whatever f makes of such x; without it f is asked for 0's instead, which masks' bits make of such x.
V VectorMath::zero_below(V x, double low, llvm::function_ref<Scaled(V)> f) {
  if (scales(x)) {
    V kept = b_.CreateFCmpUGE(x, number(x, low));  // NaN is
    const Scaled s = f(x);
    return scale_where(b_.CreateBitCast(kept, b_.getIntNTy(is_f32(x) ? 16 : 8)), s.y, s.n);
  }
  V below = b_.CreateFCmpOLT(x, number(x, low));
  const Scaled s = f(b_.CreateSelect(below, number(x, 0), x));
  return b_.CreateSelect(below, number(x, 0), scale(s.y, s.n));
}

// exp2(x * factor) put together from bits, where the whole number nearest to x * factor is an exponent, `octaves`
// added. The polynomial is made smaller by as much as the power is made larger.
V VectorMath::from_bits(V x, double factor, int octaves, Rest rest) {
  const Whole n = nearest(x, factor, 1, octaves);
  V power = as_float(b_.CreateShl(n.biased, integer(n.biased, is_f32(x) ? 23 : 52)), x);
  return b_.CreateFMul(exp_reduced(rest(x, n), std::ldexp(1.0, -octaves)), power);
}

// The same for any x that is at most 0, or NaN: with as many octaves more as there are denormals' digits, one
// multiplication rounds right down to the smallest of them. At the least n the power's bits are all 0: what a mask
// leaves out is 0 without being scaled down to it.
V VectorMath::at_most_one(V x, double factor, Rest rest) {
  const int digits = is_f32(x) ? 23 : 52, bias = is_f32(x) ? 127 : 1023;
  V low = number(x, -(bias + digits) / factor);
  x = b_.CreateSelect(b_.CreateFCmpOLT(x, low), low, x);  // NaN passes
  return from_bits(x, factor, digits, rest);
}

// x - n * ln 2, where that is small.
V VectorMath::without_octaves(V x, const Whole& n) {
  V r = fma(n.number, number(x, is_f32(x) ? -0.693359375 : -0x1.62e42fefa39efp-1), x);
  return fma(n.number, number(x, is_f32(x) ? 2.12194440e-4 : -0x1.abc9e3b39803fp-56), r);
}

V VectorMath::exp(V x, int64_t traits) {
  const auto rest = [&](V in, const Whole& n) { return without_octaves(in, n); };
  if ((traits & kOrdinary) && !scales(x)) return from_bits(x, kLog2e, 0, rest);
  if ((traits & kNotPositive) && !scales(x)) return at_most_one(x, kLog2e, rest);
  return zero_below(x, is_f32(x) ? -104 : -746, [&](V in) -> Scaled {
    V high = number(in, is_f32(in) ? 89 : 710);
    in = b_.CreateSelect(b_.CreateFCmpOGT(in, high), high, in);  // NaN passes
    const Whole n = nearest(in, kLog2e);
    return {exp_reduced(rest(in, n)), n};
  });
}

V VectorMath::exp2(V x, int64_t traits) {
  const auto rest = [&](V in, const Whole& n) { return b_.CreateFMul(b_.CreateFSub(in, n.number), number(in, kLn2)); };
  if ((traits & kOrdinary) && !scales(x)) return from_bits(x, 1, 0, rest);
  if ((traits & kNotPositive) && !scales(x)) return at_most_one(x, 1, rest);
  return zero_below(x, is_f32(x) ? -151 : -1076, [&](V in) -> Scaled {
    V high = number(in, is_f32(in) ? 129 : 1025);
    in = b_.CreateSelect(b_.CreateFCmpOGT(in, high), high, in);
    const Whole n = nearest(in, 1);
    return {exp_reduced(rest(in, n)), n};
  });
}

// 2^n (e^r - 1) + (2^n - 1); with half the power, which stays finite where the result does.
V VectorMath::expm1(V x) {
  const bool f32 = is_f32(x);
  V c = f32 ? clamp(x, -50, 89) : clamp(x, -80, 710);
  const Whole n = nearest(c, kLog2e);
  V half = scale(number(x, 0.5), n);
  V y = fma(half, expm1_reduced(without_octaves(c, n)), b_.CreateFSub(half, number(x, 0.5)));
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
  V e = exp(b_.CreateFNeg(abs(x)), kNotPositive);
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

}  // namespace paddle::cinn
