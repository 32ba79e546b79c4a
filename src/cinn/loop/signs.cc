#include "cinn/loop/signs.h"

#include <algorithm>

namespace paddle::cinn {

using scalar::Fn;

Signs::Facts Signs::of(ValueId v) {
  // Operands stand before what uses them.
  while (known_.size() <= static_cast<size_t>(v)) known_.push_back(derived(m_.values[known_.size()]));
  return known_[static_cast<size_t>(v)];
}

Signs::Facts Signs::derived(const Value& v) const {
  Facts out;
  switch (v.op) {
    case ValueOp::kConst:
      if (is_float(v.dtype)) out.not_positive = !(v.imm > 0), out.not_negative = !(v.imm < 0);
      out.rounds_alike = true;
      break;
    case ValueOp::kIndex:
    case ValueOp::kLoad:
      out.rounds_alike = true;
      break;
    case ValueOp::kCast:
      if (is_float(v.dtype) && is_float(m_.values[static_cast<size_t>(v.args[0])].dtype))
        out = known_[static_cast<size_t>(v.args[0])];
      else
        out.rounds_alike = known_[static_cast<size_t>(v.args[0])].rounds_alike;
      break;
    case ValueOp::kReadAcc:  // how a sum is put together depends on the loops around it
      break;
    case ValueOp::kFn:
      if (is_float(v.dtype)) find_signs(v, out);
      out.rounds_alike = fn_rounds_alike(v);
  }
  return out;
}

// Rounding keeps signs, and so does an addition that a multiplication becomes part of.
void Signs::find_signs(const Value& v, Facts& out) const {
  const auto arg = [&](size_t k) { return known_[static_cast<size_t>(v.args[k])]; };
  const auto set = [&](bool not_positive, bool not_negative) {
    out.not_positive = not_positive, out.not_negative = not_negative;
  };
  switch (v.fn) {
    case Fn::abs:
    case Fn::sqrt:
    case Fn::exp:
    case Fn::exp2:
    case Fn::sigmoid:
      return set(false, true);
    case Fn::neg:
      return set(arg(0).not_negative, arg(0).not_positive);
    case Fn::add:
      return set(arg(0).not_positive && arg(1).not_positive, arg(0).not_negative && arg(1).not_negative);
    case Fn::sub:
      return set(arg(0).not_positive && arg(1).not_negative, arg(0).not_negative && arg(1).not_positive);
    case Fn::mul:
    case Fn::div: {
      if (v.args[0] == v.args[1]) return set(false, true);
      const Facts a = arg(0), b = arg(1);
      return set((a.not_positive && b.not_negative) || (a.not_negative && b.not_positive),
                 (a.not_negative && b.not_negative) || (a.not_positive && b.not_positive));
    }
    case Fn::min:
      return set(arg(0).not_positive || arg(1).not_positive, arg(0).not_negative && arg(1).not_negative);
    case Fn::max:
      return set(arg(0).not_positive && arg(1).not_positive, arg(0).not_negative || arg(1).not_negative);
    case Fn::where:
      return set(arg(1).not_positive && arg(2).not_positive, arg(1).not_negative && arg(2).not_negative);
    default:
      return;
  }
}

bool Signs::is_product(ValueId id) const {
  const Value& v = m_.values[static_cast<size_t>(id)];
  if (v.op != ValueOp::kFn) return false;
  return v.fn == Fn::mul || (v.fn == Fn::neg && is_product(v.args[0]));
}

bool Signs::fn_rounds_alike(const Value& v) const {
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
  return std::all_of(v.args.begin(), v.args.end(),
                     [&](ValueId a) { return known_[static_cast<size_t>(a)].rounds_alike; });
}

}  // namespace paddle::cinn
