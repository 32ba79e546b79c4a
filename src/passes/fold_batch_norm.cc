// A convolution, then batch_norm with running statistics: one convolution with another filter and a bias per channel.
#include "passes/match.h"
#include "passes/passes.h"
#include "passes/weights.h"
#include "pir/builder.h"

namespace paddle::passes {

using pir::Attribute;
using pir::Builder;
using pir::Operation;
using pir::Value;

namespace {

bool channels_last(const Operation& op) {
  const std::string_view format = op.attr("data_format").as_string();
  return format.size() > 2 && format.back() == 'C';
}

class Folder {
 public:
  explicit Folder(pir::Block& block) : block_(block), weights_(block) {}

  size_t run() {
    size_t n = 0;
    for (Operation* op : block_.ops())
      if (op->is("pd_op.batch_norm")) n += fold(*op);
    return n;
  }

 private:
  bool fold(Operation& norm) {
    const bool test = norm.attr("is_test").as_bool() && !norm.attr("trainable_statistics").as_bool();
    if (!test && !norm.attr("use_global_stats").as_bool()) return false;
    for (size_t i = 1; i < norm.num_results(); ++i)
      if (!norm.result(i).use_empty()) return false;
    for (const char* name : {"mean", "variance", "scale", "bias"})
      if (!weights_.has(norm.operand(name))) return false;
    // The convolution, perhaps with a bias of its own.
    Value x = norm.operand("x"), own_bias;
    Operation* conv = producer(x);
    if (Operation* add = made_by(x, "pd_op.add"); add && x.has_one_use()) {
      for (size_t k = 0; k < 2 && !conv; ++k) {
        conv = producer(add->operand(k));
        own_bias = add->operand(1 - k);
      }
      const size_t rank = x.shape().size(), axis = channel_axis(norm, rank);
      if (conv && (!weights_.has(own_bias) || !along_axis(own_bias, axis, rank, x.shape()[axis]))) return false;
    }
    if (!conv || channels_last(*conv) != channels_last(norm)) return false;
    rewrite(norm, *conv, own_bias);
    return true;
  }

  Operation* producer(Value v) const {
    for (const char* name : {"pd_op.conv2d", "pd_op.conv3d"})
      if (Operation* op = made_by(v, name); op && v.has_one_use() && weights_.has(op->operand("filter"))) return op;
    return nullptr;
  }

  static size_t channel_axis(const Operation& norm, size_t rank) { return channels_last(norm) ? rank - 1 : 1; }

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

  // filter * f and (own bias - mean) * f + bias, with f = scale / sqrt(variance + epsilon).
  void rewrite(Operation& norm, Operation& conv, Value own_bias) {
    b_.before(&norm);
    b_.set_loc(pir::Location::derived("fold_batch_norm", norm.loc()));
    const Value mean = norm.operand("mean"), filter = conv.operand("filter");
    const DType t = mean.dtype();
    const Value epsilon = b_.full({Dim(1)}, norm.attr("epsilon").as_double(), t);
    Value factor = made("pd_op.rsqrt", {made("pd_op.add", {norm.operand("variance"), epsilon})});
    if (Value scale = norm.operand("scale")) factor = made("pd_op.multiply", {factor, cast(scale, t)});
    std::vector<int64_t> by_filter(filter.shape().size(), 1), by_channel(filter.shape().size(), 1);
    by_filter[0] = by_channel[channel_axis(norm, by_channel.size())] = -1;
    const Value scaled = cast(made("pd_op.multiply", {cast(filter, t), reshaped(factor, by_filter)}), filter.dtype());
    Value shift = made("pd_op.multiply", {mean, factor});
    if (own_bias) {
      const Value moved = made("pd_op.subtract", {cast(reshaped(own_bias, {-1}), t), mean});
      shift = made("pd_op.multiply", {moved, factor});
    } else {
      shift = made("pd_op.scale", {shift, b_.full({Dim(1)}, -1.0, t)});
    }
    if (Value bias = norm.operand("bias")) shift = made("pd_op.add", {shift, cast(bias, t)});
    std::vector<Value> operands = conv.operands();
    operands[1] = scaled;
    pir::AttrMap attrs = conv.attrs();
    attrs.erase("stop_gradient");
    const Value y = b_.create(conv.def(), operands, std::move(attrs))->result();
    const Value out = b_.value("pd_op.add", {y, cast(reshaped(shift, by_channel), y.dtype())});
    out.set_stop_gradient(norm.result(0).stop_gradient());
    norm.result(0).replace_all_uses_with(out);
    Operation* before = norm.operand("x").defining_op();
    norm.erase();
    if (before != &conv) before->erase();
    conv.erase();
  }

  pir::Block& block_;
  WeightValues weights_;
  Builder b_;
};

}  // namespace

size_t fold_batch_norm(Operation& root) {
  size_t n = 0;
  for (size_t r = 0; r < root.num_regions(); ++r)
    for (size_t k = 0; k < root.region(r).size(); ++k) n += Folder(root.region(r).block(k)).run();
  return n;
}

}  // namespace paddle::passes
