#include "test_ops.h"

namespace paddle::pir::testing {
namespace {

void same_as_x(OpCall& c) { c.meta(0) = {c.tensor(0).dtype(), c.tensor(0).shape()}; }

void broadcast(OpCall& c) {
  const Tensor &x = c.tensor(0), &y = c.tensor(1);
  Shape out = x.rank() >= y.rank() ? x.shape() : y.shape();
  const Shape& small = x.rank() >= y.rank() ? y.shape() : x.shape();
  for (size_t i = 0; i < small.size(); ++i) {
    Dim &a = out[out.size() - 1 - i], b = small[small.size() - 1 - i];
    if (equal(a, Dim(1)))
      a = b;
    else
      check(equal(b, Dim(1)) || equal(a, b), ErrorKind::kValue, "[{}] can't broadcast {} with {}", c.op.name, a.str(),
            b.str());
  }
  c.meta(0) = {x.dtype(), out};
}

void matmul(OpCall& c) {
  Shape out = c.tensor(0).shape();
  Dim k = c.args[2].b() ? out[out.size() - 2] : out.back();
  if (c.args[2].b()) out[out.size() - 2] = out.back();
  const Tensor& y = c.tensor(1);
  bool ty = c.args[3].b();
  check(equal(k, y.dim(ty ? -1 : -2)), ErrorKind::kValue, "[matmul] expected {} rows, got {}", k.str(),
        y.dim(ty ? -1 : -2).str());
  out.back() = y.dim(ty ? -2 : -1);
  c.meta(0) = {c.tensor(0).dtype(), out};
}

void reshape(OpCall& c) {
  const Ints& to = c.args[1].ints();
  Shape out;
  if (!to.resolved()) {
    for (size_t i = 0; i < to.size(); ++i) out.push_back(new_symbol());
  } else {
    out = to.values();
    Dim known = 1;
    int free = -1;
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] == Dim(0)) out[i] = c.tensor(0).dim(static_cast<int64_t>(i));
      if (out[i] == Dim(-1))
        free = static_cast<int>(i);
      else
        known = known * out[i];
    }
    if (free >= 0) out[static_cast<size_t>(free)] = floor_div(numel(view(c.tensor(0).shape())), known);
  }
  c.meta(0) = {c.tensor(0).dtype(), out};
}

void full(OpCall& c) { c.meta(0) = {c.args[2].dtype(), c.args[0].ints().values()}; }
void full_int_array(OpCall& c) { c.meta(0) = {c.args[1].dtype(), Shape{c.args[0].ints().size()}}; }
void compare(OpCall& c) {
  broadcast(c);
  c.meta(0).dtype = DType::kBool;
}
void concat(OpCall& c) {
  auto x = c.args[0].tensors();
  Shape out = x[0].shape();
  int64_t axis = c.args[1].scalar().to_int();
  for (size_t i = 1; i < x.size(); ++i)
    out[static_cast<size_t>(axis)] = out[static_cast<size_t>(axis)] + x[i].dim(axis);
  c.meta(0) = {x[0].dtype(), out};
}

using K = ArgKind;
constexpr ArgInfo kX[] = {{"x", K::kTensor}};
constexpr ArgInfo kXY[] = {{"x", K::kTensor}, {"y", K::kTensor}};
constexpr ArgInfo kSoftmax[] = {{"x", K::kTensor}, {"axis", K::kInt, true, "-1"}};
constexpr ArgInfo kMatmul[] = {{"x", K::kTensor},
                               {"y", K::kTensor},
                               {"transpose_x", K::kBool, true, "False"},
                               {"transpose_y", K::kBool, true, "False"}};
constexpr ArgInfo kReshape[] = {{"x", K::kTensor}, {"shape", K::kInts}};
// The record's order differs from pd_op's: attributes come in the order shape, value there.
constexpr ArgInfo kFull[] = {{.name = "shape", .kind = K::kInts, .operand = false},
                             {.name = "value", .kind = K::kScalar, .operand = false},
                             {"dtype", K::kDType, true, "float32"},
                             {"place", K::kPlace, true, "None"}};
constexpr ArgInfo kFullInts[] = {{.name = "value", .kind = K::kInts, .operand = false},
                                 {"dtype", K::kDType, true, "int64"},
                                 {"place", K::kPlace, true, "None"}};
constexpr ArgInfo kScale[] = {{"x", K::kTensor},
                              {"scale", K::kScalar, true, "1.0"},
                              {"bias", K::kFloat, true, "0.0"},
                              {"bias_after_scale", K::kBool, true, "True"}};
constexpr ArgInfo kConcat[] = {{"x", K::kTensors}, {"axis", K::kScalar, true, "0"}};
constexpr ArgInfo kDropout[] = {{"x", K::kTensor}, {"seed_tensor", K::kOptTensor}, {"p", K::kFloat, true, "0.5"}};
constexpr ArgInfo kSum[] = {{"x", K::kTensor}, {"axis", K::kInts}, {"dtype", K::kDType}, {"keepdim", K::kBool}};
constexpr ArgInfo kSlice[] = {{"input", K::kTensor}, {"axes", K::kIntList},        {"starts", K::kInts},
                              {"ends", K::kInts},    {"infer_flags", K::kIntList}, {"decrease_axis", K::kIntList}};
constexpr ArgInfo kStack[] = {{"x", K::kTensors}, {"axis", K::kInt}};
constexpr ArgInfo kSplit[] = {{"x", K::kTensor}, {"num", K::kInt}, {"axis", K::kScalar}};
constexpr ArgInfo kBatchNorm[] = {{"x", K::kTensor},
                                  {"mean", K::kTensor},
                                  {"variance", K::kTensor},
                                  {"scale", K::kOptTensor},
                                  {"bias", K::kOptTensor},
                                  {"is_test", K::kBool},
                                  {"momentum", K::kFloat},
                                  {"epsilon", K::kFloat},
                                  {"data_format", K::kString},
                                  {"use_global_stats", K::kBool},
                                  {"trainable_statistics", K::kBool}};
constexpr OutInfo kOuts[] = {{"out", K::kTensors}};
constexpr OutInfo kBatchNormOuts[] = {
    {"out", K::kTensor},        {"mean_out", K::kTensor},       {"variance_out", K::kTensor},
    {"saved_mean", K::kTensor}, {"saved_variance", K::kTensor}, {"reserve_space", K::kOptTensor}};
constexpr OutInfo kOut[] = {{"out", K::kTensor}};
constexpr uint8_t kMatmulOrder[] = {0, 1, 2, 3};

constexpr OpInfo op(std::string_view name, std::span<const ArgInfo> args, uint64_t traits, MetaFn meta) {
  OpInfo i;
  i.name = name;
  i.args = args;
  i.outs = kOut;
  i.traits = traits;
  i.meta = meta;
  return i;
}

const OpInfo kOps[] = {
    op("relu", kX, kElementwise | kInplaceVariant, same_as_x),
    op("exp", kX, kElementwise, same_as_x),
    op("softmax", kSoftmax, 0, same_as_x),
    op("add", kXY, kElementwise | kBroadcast | kCommutative, broadcast),
    op("multiply", kXY, kElementwise | kBroadcast | kCommutative, broadcast),
    op("less_than", kXY, kElementwise | kBroadcast, compare),
    op("greater_than", kXY, kElementwise | kBroadcast, compare),
    [] {
      OpInfo i = op("matmul", kMatmul, kMatmulLike, matmul);
      i.pir_order = kMatmulOrder;
      return i;
    }(),
    op("reshape", kReshape, kIndexMap | kView, reshape),
    op("full", kFull, kFactory, full),
    op("full_int_array", kFullInts, kFactory, full_int_array),
    op("scale", kScale, kElementwise, same_as_x),
    op("concat", kConcat, kIndexMap, concat),
    op("dropout", kDropout, kRandom, same_as_x),
    op("print", kX, kSideEffect, same_as_x),
    // Only so far as Paddle's own files need them: the form, without shape rules.
    op("sum", kSum, kReduction, nullptr),
    op("shape64", kX, 0, nullptr),
    op("slice", kSlice, kIndexMap, nullptr),
    op("stack", kStack, kIndexMap, nullptr),
    [] {
      OpInfo i = op("split_with_num", kSplit, kIndexMap, nullptr);
      i.outs = kOuts;
      return i;
    }(),
    [] {
      OpInfo i = op("batch_norm", kBatchNorm, 0, nullptr);
      i.outs = kBatchNormOuts;
      return i;
    }(),
};

}  // namespace

void register_test_ops() {
  static const bool once = [] {
    register_ops(kOps);
    return true;
  }();
  (void)once;
}

}  // namespace paddle::pir::testing
