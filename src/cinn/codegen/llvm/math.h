// Scalar functions as LLVM IR, for vectors of any width. Within 4 ulp where not exact.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "base/scalar.h"
#include "cinn/loop/ast.h"
#include "tensor/dtype.h"

namespace paddle::cinn {

class VectorMath {
 public:
  // has_scalef: AVX-512's scaling by powers of two is at hand. fast: within 4 ulp will do.
  VectorMath(llvm::IRBuilder<>& builder, bool has_scalef, bool fast = true)
      : b_(builder), has_scalef_(has_scalef), fast_(fast) {}

  // fn of args, all of compute type `dtype` (or bool where the function takes truth values), all of one width. traits:
  // FnTraits; to a 16-bit float, the error that kCoarse allows adds a quarter of a unit at most.
  llvm::Value* call(scalar::Fn fn, llvm::ArrayRef<llvm::Value*> args, DType dtype, int64_t traits = 0);
  // a / sqrt(x); null where that is no cheaper than to divide.
  llvm::Value* divide_by_root(llvm::Value* a, llvm::Value* x);

 private:
  using V = llvm::Value*;
  V number(V like, double x);
  V integer(V like, int64_t x);  // like: a vector or scalar of integers
  V fma(V a, V b, V c);
  V polynomial(V x, llvm::ArrayRef<double> highest_first);
  V intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<V> args);
  V abs(V x);
  V is_nan(V x) { return b_.CreateFCmpUNO(x, x); }
  V as_int(V x);
  V as_float(V bits, V like);
  llvm::Type* shaped(llvm::Type* element, V like);
  // A whole number, as one and, where 2^n is put together from bits, as an integer whose lowest bits are n plus as many
  // of the exponent's biases as were asked for; what stands above them doesn't matter.
  struct Whole {
    V number, biased;
  };
  struct Scaled {  // y * 2^n
    V y;
    Whole n;
  };
  V scale(V x, const Whole& n);  // x * 2^n
  V scale_where(V bits, V x, const Whole& n);
  V clamp(V x, double low, double high);
  bool is_f32(V x) { return x->getType()->getScalarType()->isFloatTy(); }

  V zero_below(V x, double low, llvm::function_ref<Scaled(V)> f);
  V exp(V x, int64_t traits = 0);
  V exp2(V x, int64_t traits = 0);
  using Rest = llvm::function_ref<V(V x, const Whole& n)>;  // ln(exp2(x * factor) / 2^n)
  V from_bits(V x, double factor, int octaves, Rest rest);
  V at_most_one(V x, double factor, Rest rest);
  V exp_reduced(V r, double unit = 1);
  V expm1_reduced(V r);
  V without_octaves(V x, const Whole& n);
  // By AVX-512's instruction.
  bool scales(V x) {
    return has_scalef_ && x->getType()->isVectorTy() && x->getType()->getPrimitiveSizeInBits() == 512;
  }
  bool has_estimates(V x) { return scales(x) && is_f32(x); }
  V reciprocal_estimate(V x);   // to 2^-14
  V coarse_quotient(V a, V b);  // b of ordinary size
  V inverse_root(V x);
  V coarse_exp2(V x, double factor, int64_t traits);  // 2^(x * factor), factor > 0
  V coarse_ratio(V x, double limit, llvm::ArrayRef<double> top, llvm::ArrayRef<double> bottom);
  V coarse_fn(scalar::Fn fn, llvm::ArrayRef<V> args, int64_t traits);  // null: no coarse form
  Whole nearest(V x, double factor, int biases = 2, int added = 0);
  V quotient(V a, V b, bool refined = false, V a_rest = nullptr);
  V sigmoid(V x);
  V expm1(V x);
  V tanh(V x);
  V log(V x, int base);  // 0: natural, 2, 10
  V log1p(V x);
  V sine(V x, int kind);  // 0 sin, 1 cos, 2 tan
  V erf(V x);
  V pow_f32(V x, V y);
  V library(const char* name, llvm::ArrayRef<V> args);  // lane by lane
  V integer_fn(scalar::Fn fn, llvm::ArrayRef<V> args, bool is_signed);
  V float_fn(scalar::Fn fn, llvm::ArrayRef<V> args, int64_t traits = 0);
  V by_double(scalar::Fn fn, llvm::ArrayRef<V> args);
  V divide_int(V a, V n, bool is_signed, bool remainder);

  llvm::IRBuilder<>& b_;
  bool has_scalef_, fast_;
};

}  // namespace paddle::cinn
