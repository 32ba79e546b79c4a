#include "cinn/loop/bounds.h"

#include <algorithm>
#include <cmath>

namespace paddle::cinn {

using scalar::Fn;

// Results that are normal numbers, with room for what roundings may have added to the bounds.
int64_t Bounds::traits_of_power(Fn fn, ValueId operand) {
  const Facts x = of(operand);
  const double octave = fn == Fn::exp ? std::log(2.0) : 1;
  const double limit = (m_.values[static_cast<size_t>(operand)].dtype == DType::kFloat32 ? 115 : 1000) * octave;
  return (x.high <= 0 ? kNotPositive : 0) | (x.low >= -limit && x.high <= limit ? kOrdinary : 0);
}

bool Bounds::within(ValueId v, double low, double high) {
  const Facts x = of(v);
  return x.low >= low && x.high <= high;
}

void Bounds::narrow(ValueId v, double low, double high) {
  of(v);
  Facts& x = known_[static_cast<size_t>(v)];
  x.low = std::max(x.low, low), x.high = std::min(x.high, high);
}

Bounds::Facts Bounds::of(ValueId v) {
  // Operands stand before what uses them.
  while (known_.size() <= static_cast<size_t>(v)) known_.push_back(derived(m_.values[known_.size()]));
  return known_[static_cast<size_t>(v)];
}

Bounds::Facts Bounds::derived(const Value& v) const {
  Facts out;
  switch (v.op) {
    case ValueOp::kConst:
      if (is_float(v.dtype) && !std::isnan(v.imm)) out.low = out.high = v.imm;
      out.rounds_alike = true;
      break;
    case ValueOp::kIndex:
    case ValueOp::kLoad:
      out.rounds_alike = true;
      break;
    case ValueOp::kCast:
      if (is_float(v.dtype) && is_float(m_.values[static_cast<size_t>(v.args[0])].dtype)) out = known(v.args[0]);
      out.rounds_alike = known(v.args[0]).rounds_alike;
      break;
    case ValueOp::kReadAcc:  // how a sum is put together depends on the loops around it
      break;
    case ValueOp::kFn:
      if (is_float(v.dtype)) bound_fn(v, out);
      out.rounds_alike = fn_rounds_alike(v);
  }
  // Beyond these, and nearer to 0, roundings are no longer small.
  constexpr double kLarge = 1e35, kSmall = 1e-30;
  const double infinite = std::numeric_limits<double>::infinity();
  if (!(out.low >= -kLarge)) out.low = -infinite;
  if (!(out.high <= kLarge)) out.high = infinite;
  if (out.low < 0) out.low = std::min(out.low, -kSmall);
  if (out.high > 0) out.high = std::max(out.high, kSmall);
  return out;
}

// Rounding keeps signs, and so does an addition that a multiplication becomes part of.
void Bounds::bound_fn(const Value& v, Facts& out) const {
  const auto set = [&](double low, double high) { out.low = low, out.high = high; };
  const Facts a = known(v.args[0]), b = v.args.size() > 1 ? known(v.args[1]) : Facts{};
  const double infinite = std::numeric_limits<double>::infinity();
  switch (v.fn) {
    case Fn::abs: {
      const double nearest = a.low > 0 ? a.low : a.high < 0 ? -a.high : 0;
      return set(nearest, std::max(-a.low, a.high));
    }
    case Fn::sqrt:
    case Fn::exp:
    case Fn::exp2:
      return set(0, infinite);
    case Fn::sigmoid:
      return set(0, 1);
    case Fn::tanh:
    case Fn::erf:
    case Fn::sin:
    case Fn::cos:
      return set(-1, 1);
    case Fn::neg:
      return set(-a.high, -a.low);
    case Fn::add:
      return set(a.low + b.low, a.high + b.high);
    case Fn::sub:
      return set(a.low - b.high, a.high - b.low);
    case Fn::mul: {
      const auto product = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
      const double all[] = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                            product(a.high, b.high)};
      set(*std::min_element(all, all + 4), *std::max_element(all, all + 4));
      if (v.args[0] == v.args[1]) out.low = std::max(out.low, 0.0);
      return;
    }
    case Fn::div:
      if ((a.low >= 0 && b.low >= 0) || (a.high <= 0 && b.high <= 0)) out.low = 0;
      if ((a.low >= 0 && b.high <= 0) || (a.high <= 0 && b.low >= 0)) out.high = 0;
      return;
    case Fn::min:
      return set(std::min(a.low, b.low), std::min(a.high, b.high));
    case Fn::max:
      return set(std::max(a.low, b.low), std::max(a.high, b.high));
    case Fn::where: {
      const Facts& c = known(v.args[2]);
      return set(std::min(b.low, c.low), std::max(b.high, c.high));
    }
    default:
      return;
  }
}

bool Bounds::is_product(ValueId id) const {
  const Value& v = m_.values[static_cast<size_t>(id)];
  if (v.op != ValueOp::kFn) return false;
  return v.fn == Fn::mul || (v.fn == Fn::neg && is_product(v.args[0]));
}

bool Bounds::fn_rounds_alike(const Value& v) const {
  switch (v.fn) {
    case Fn::neg:
    case Fn::abs:
    case Fn::mul:
    case Fn::max:
    case Fn::min:
    case Fn::where:
      break;
    case Fn::add:
    case Fn::sub:  // may contract with a product, where nothing else needs that
      if (std::any_of(v.args.begin(), v.args.end(), [&](ValueId a) { return is_product(a); })) return false;
      break;
    default:
      if (!scalar::info(v.fn).boolean) return false;
  }
  return std::all_of(v.args.begin(), v.args.end(), [&](ValueId a) { return known(a).rounds_alike; });
}

}  // namespace paddle::cinn
