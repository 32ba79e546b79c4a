// Scalar functions of integers.
#include "cinn/codegen/llvm/math.h"

#include "base/error.h"

namespace paddle::cinn {

using scalar::Fn;
using V = llvm::Value*;

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

}  // namespace paddle::cinn
