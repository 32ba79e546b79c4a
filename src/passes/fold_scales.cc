// A convolution whose results are multiplied with and added to numbers per channel that follow from weights, as
// evaluating normalisations do: one convolution with another filter, and one sum.
#include "passes/match.h"
#include "passes/passes.h"
#include "passes/weights.h"
#include "pir/builder.h"

namespace paddle::passes {

using pir::Attribute;
using pir::Builder;
using pir::Operation;
using pir::Value;
using scalar::Fn;

namespace {

// Linear in its filter: nothing is added to it.
bool is_plain_convolution(const Operation& op) { return is_convolution(op) && !pass_info(*op.info()).fuses; }

bool wider(DType a, DType b) { return is_inexact(a) && is_inexact(b) && size_of(a) > size_of(b); }

class Folder {
 public:
  explicit Folder(pir::Block& block) : block_(block), weights_(block) {}

  size_t run() {
    std::vector<Operation*> found;
    for (Operation* op : block_.ops())
      if (is_plain_convolution(*op)) found.push_back(op);
    size_t n = 0;
    for (Operation* conv : found) n += fold(*conv);
    return n;
  }

 private:
  // The other operand of a step over v, if it is a number per channel that follows from weights.
  Value number(const Operation& step, Value v) const {
    const Value other = step.operand(step.operand(0) == v ? 1 : 0);
    const size_t rank = v.shape().size();
    const bool fits = other != v && weights_.has(other) && along_axis(other, axis_, rank, v.shape()[axis_]);
    return fits ? other : Value();
  }

  static bool is_step(const Operation& op, Value v) {
    if (op.result().type() != v.type()) return false;
    const bool first = op.operand(0) == v;
    return computes(op, Fn::add) || computes(op, Fn::mul) || (first && computes(op, Fn::sub));
  }

  bool fold(Operation& conv) {
    if (!weights_.has(conv.operand("filter"))) return false;
    axis_ = channel_axis(conv);
    // What it would become is only known at the end: up to the last step after which the dtype is the convolution's.
    std::vector<std::pair<Operation*, Value>> steps;
    size_t whole = 0;
    const DType narrow = conv.result().dtype();
    Value v = conv.result();
    for (Operation* user = only_user(v); user && user->num_results() == 1; user = only_user(v)) {
      Value with;
      if (is_cast(*user)) {
        const DType to = user->result().dtype();
        if (!(v.dtype() == narrow ? wider(to, narrow) : to == narrow)) break;
      } else if (!user->info() || user->num_operands() != 2 || !is_step(*user, v) || !(with = number(*user, v))) {
        break;
      }
      steps.emplace_back(user, with);
      v = user->result();
      if (v.dtype() == narrow) whole = steps.size();
    }
    steps.resize(whole);
    bool scales = false;
    for (auto& [op, with] : steps) scales |= with && computes(*op, Fn::mul);
    if (!scales) return false;
    rewrite(conv, steps);
    return true;
  }

  static bool is_cast(const Operation& op) { return op.is("pd_op.cast"); }

  Value made(std::string_view name, std::initializer_list<Value> operands, pir::AttrMap attrs = {}) {
    const Value v = b_.value(name, operands, std::move(attrs));
    weights_.add(v);
    return v;
  }
  Value reshaped(Value v, const std::vector<int64_t>& shape) {
    return made("pd_op.reshape", {v, b_.full_int_array(shape)});
  }
  Value cast(Value v, DType t) {
    return v.dtype() == t ? v : made("pd_op.cast", {v}, {{"dtype", Attribute::dtype(t)}});
  }

  void rewrite(Operation& conv, const std::vector<std::pair<Operation*, Value>>& steps) {
    Operation* last = steps.back().first;
    b_.before(last);
    b_.set_loc(pir::Location::derived("fold_scales", last->loc()));
    Value factor, shift;
    for (auto& [op, with] : steps) {
      if (!with) continue;  // a cast
      const Value w = reshaped(with, {-1});
      auto apply = [&](Value& to) { to = to ? made(op->name(), {cast(to, w.dtype()), w}) : w; };
      if (computes(*op, Fn::mul)) {
        apply(factor);
        if (shift) apply(shift);
      } else if (!shift && computes(*op, Fn::sub)) {
        shift = made("pd_op.scale", {w, b_.full({Dim(1)}, -1.0, w.dtype())});
      } else {
        apply(shift);
      }
    }
    const Value filter = conv.operand("filter");
    std::vector<int64_t> by_filter(filter.shape().size(), 1), by_channel(filter.shape().size(), 1);
    by_filter[0] = by_channel[axis_] = -1;
    const DType t = factor.dtype();
    const Value scaled = cast(made("pd_op.multiply", {cast(filter, t), reshaped(factor, by_filter)}), filter.dtype());
    std::vector<Value> operands = conv.operands();
    operands[static_cast<size_t>(conv.def().operand_index("filter"))] = scaled;
    pir::AttrMap attrs = conv.attrs();
    attrs.erase("stop_gradient");
    Value out = b_.create(conv.def(), operands, std::move(attrs))->result();
    if (shift) out = b_.value("pd_op.add", {out, cast(reshaped(shift, by_channel), out.dtype())});
    out.set_stop_gradient(last->result().stop_gradient());
    last->result().replace_all_uses_with(out);
    for (size_t i = steps.size(); i-- > 0;) steps[i].first->erase();
    conv.erase();
  }

  pir::Block& block_;
  WeightValues weights_;
  Builder b_;
  size_t axis_ = 1;  // of channels
};

}  // namespace

size_t fold_scales(Operation& root) {
  size_t n = 0;
  for (size_t r = 0; r < root.num_regions(); ++r)
    for (size_t k = 0; k < root.region(r).size(); ++k) n += Folder(root.region(r).block(k)).run();
  return n;
}

}  // namespace paddle::passes
