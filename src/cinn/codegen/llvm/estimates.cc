// Inverse roots by AVX-512's estimates, and functions whose result counts as a 16-bit float.
#include <llvm/IR/IntrinsicsX86.h>

#include "cinn/codegen/llvm/math.h"

namespace paddle::cinn {

using scalar::Fn;
using V = llvm::Value*;

V VectorMath::reciprocal_estimate(V x) {
  V all = llvm::ConstantInt::get(b_.getInt16Ty(), -1, true);
  return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_rcp14_ps_512, {},
                            {x, llvm::Constant::getNullValue(x->getType()), all});
}

// One Newton step; where it gives NaN (0, infinity, negative numbers), the estimate is exact.
V VectorMath::inverse_root(V x) {
  V all = llvm::ConstantInt::get(b_.getInt16Ty(), -1, true);
  V r = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_rsqrt14_ps_512, {},
                           {x, llvm::Constant::getNullValue(x->getType()), all});
  V error = fma(b_.CreateFNeg(b_.CreateFMul(x, r)), r, number(x, 1));
  V better = fma(b_.CreateFMul(r, number(x, 0.5)), error, r);
  return b_.CreateSelect(is_nan(better), r, better);
}

V VectorMath::divide_by_root(V a, V x) {
  return has_estimates(x) && a->getType() == x->getType() ? b_.CreateFMul(a, inverse_root(x)) : nullptr;
}

// The sum's lowest bits are n + 127, which is 2^n's exponent. Where n ends the result does too: at -127 the power is 0,
// so what a mask leaves out is 0 without ever being scaled down to it (which takes some processors two hundred cycles);
// at 127 the polynomial serves the last half octave as well (to 2^-11), and from 2^128 on is large enough for infinity.
// Where no result is so large, one degree less is within 2^-13.
V VectorMath::coarse_exp2(V x, double factor, int64_t traits) {
  constexpr double kMagic = 0x1.8p23 + 127;
  V least = number(x, -127 / factor), most = number(x, kMagic + 127), scale = number(x, factor);
  if (!(traits & kOrdinary)) x = b_.CreateSelect(b_.CreateFCmpOLT(x, least), least, x);  // NaN passes
  V sum = fma(x, scale, number(x, kMagic));
  if (!(traits & (kOrdinary | kNotPositive))) sum = b_.CreateSelect(b_.CreateFCmpOGT(sum, most), most, sum);
  V n = b_.CreateFSub(sum, number(x, kMagic));
  V rest = fma(x, scale, b_.CreateFNeg(n));
  V p = traits & (kOrdinary | kNotPositive)
            ? polynomial(rest, {0x1.c2a222p-5, 0x1.f00c54p-3, 0x1.62f5fap-1, 1})
            : polynomial(rest, {0x1.3a0228p-7, 0x1.c9fdecp-5, 0x1.ec038p-3, 0x1.62e12ap-1, 1});
  V bits = as_int(sum);
  return b_.CreateFMul(p, as_float(b_.CreateShl(bits, integer(bits, 23)), x));
}

V VectorMath::coarse_quotient(V a, V b) {
  return has_estimates(b) ? b_.CreateFMul(a, reciprocal_estimate(b)) : b_.CreateFDiv(a, b);
}

// An odd function as x P(x^2) / Q(x^2), fitted up to +-limit, where it has become +-1.
V VectorMath::coarse_ratio(V x, double limit, llvm::ArrayRef<double> top, llvm::ArrayRef<double> bottom) {
  V t = clamp(x, -limit, limit);
  V s = b_.CreateFMul(t, t);
  V y = coarse_quotient(b_.CreateFMul(t, polynomial(s, top)), polynomial(s, bottom));
  return clamp(y, -1, 1);
}

V VectorMath::coarse_fn(Fn fn, llvm::ArrayRef<V> x, int64_t traits) {
  constexpr double kLog2e = 1.4426950408889634;
  V a = x[0];
  switch (fn) {
    case Fn::exp:
      return coarse_exp2(a, kLog2e, traits);
    case Fn::exp2:
      return coarse_exp2(a, 1, traits);
    case Fn::sigmoid: {
      V e = coarse_exp2(b_.CreateFNeg(abs(a)), kLog2e, kNotPositive);
      V y = coarse_quotient(number(a, 1), b_.CreateFAdd(e, number(a, 1)));
      return b_.CreateSelect(b_.CreateFCmpOLT(a, number(a, 0)), b_.CreateFMul(e, y), y);
    }
    case Fn::tanh:
      return coarse_ratio(a, 5.2, {0x1.a6c5a8p-10, 0x1.dc4522p-4, 0x1.ffffa4p-1},
                          {0x1.074b14p-14, 0x1.29b118p-6, 0x1.cc6122p-2, 1});
    case Fn::erf:
      return coarse_ratio(a, 2.9, {0x1.e510ccp-6, 0x1.708e46p-3, 0x1.20da62p+0},
                          {0x1.cbd35p-9, 0x1.78f54p-4, 0x1.f7f506p-2, 1});
    default:
      return nullptr;
  }
}

}  // namespace paddle::cinn
