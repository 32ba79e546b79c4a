// How operators that move or make elements find them: the part of an operator that its record does not say.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "cinn/group/loops.h"

namespace paddle::cinn {
namespace {

using pir::Attribute;
using pir::Operation;
using pir::Value;
using scalar::Fn;

Value first(const Operation& op) { return op.operand(size_t{0}); }
int rank_of(Value v) { return static_cast<int>(v.shape().size()); }

void view_rule(Translator& t, const Operation& op) { t.set(op.result(0), t.node(first(op))); }

void transpose_rule(Translator& t, const Operation& op) {
  t.set(op.result(0), t.group().transpose(t.node(first(op)), t.axes(op, "perm", rank_of(first(op)))));
}

void expand_rule(Translator& t, const Operation& op) {
  t.set(op.result(0), t.group().broadcast(t.node(first(op)), t.shape_of(op.result(0))));
}

int number(Translator& t, Attribute value, DType dtype) {
  if (value.kind() == pir::AttrKind::kScalar) value = value.inner();
  if (value.kind() == pir::AttrKind::kDim) return t.group().size(dtype, t.index(value.as_dim()));
  if (value.kind() == pir::AttrKind::kFloat || value.kind() == pir::AttrKind::kDouble)
    return t.group().constant(dtype, value.as_double());
  return t.group().constant_int(dtype, value.as_int());
}

void full_rule(Translator& t, const Operation& op) {
  int n = number(t, t.known(op, "value"), op.result(0).dtype());
  t.set(op.result(0), t.group().broadcast(n, t.shape_of(op.result(0))));
}

// start + step * index along one dimension of the result
int ramp(Translator& t, const Shape& shape, int dim, DType compute, int start, int step) {
  Group& g = t.group();
  int i = g.iota(compute, shape, dim);
  return g.pointwise(Fn::add, {start, g.pointwise(Fn::mul, {step, i}, compute, compute)}, compute, compute);
}

void arange_rule(Translator& t, const Operation& op) {
  const DType dtype = op.result(0).dtype();
  const DType compute =
      dtype == DType::kFloat64 || is_integer(dtype) ? (is_float(dtype) ? dtype : DType::kInt64) : DType::kFloat32;
  int r = ramp(t, t.shape_of(op.result(0)), 0, compute, number(t, t.known(op, "start"), compute),
               number(t, t.known(op, "step"), compute));
  t.set(op.result(0), t.group().cast(r, dtype));
}

void numel_rule(Translator& t, const Operation& op) {
  t.set(op.result(0), t.group().size(op.result(0).dtype(), element_count(t.shape_of(first(op)))));
}

// Where Python's slice with this start and step begins, in a dimension of n elements.
Index begin_of(Translator& t, const Index& start, const Index& n, bool backwards) {
  if (!start.is_const()) return start;
  const int64_t s = start.value();
  if (n.is_const()) {
    const int64_t at = s < 0 ? s + n.value() : s, size = n.value();
    return backwards ? std::clamp<int64_t>(at, -1, size - 1) : std::clamp<int64_t>(at, 0, size);
  }
  return s < 0 ? n + s : backwards ? t.group().pool.min(start, n - 1) : start;
}

void slice_dims(Translator& t, const Operation& op, const std::vector<Index>& strides) {
  Group& g = t.group();
  const int x = t.node(first(op)), rank = rank_of(first(op));
  const Shape from = g.shape(x);
  std::vector<int> axes = t.axes(op, "axes", rank);
  std::vector<Index> starts = t.ints(op, "starts"), ends = t.ints(op, "ends");
  std::vector<Index> first_of(rank, Index(0)), step_of(rank, Index(1));
  // Sizes along the axes come from the result's type, which lacks dimensions that were dropped.
  std::vector<int> dropped = op.has_attr("decrease_axis") ? t.axes(op, "decrease_axis", rank) : std::vector<int>{};
  Shape result = t.shape_of(op.result(0)), target;
  for (int d = 0, k = 0; d < rank; ++d) {
    const bool drop = std::find(dropped.begin(), dropped.end(), d) != dropped.end();
    target.push_back(drop || k >= static_cast<int>(result.size()) ? Index(1) : result[k]);
    k += !drop;
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    check(strides[i].is_const(), ErrorKind::kNotImplemented, "{} can't be compiled: a stride is no constant",
          op.describe());
    const bool backwards = strides[i].value() < 0;
    first_of[axes[i]] = begin_of(t, starts.at(i), from[axes[i]], backwards);
    step_of[axes[i]] = strides[i];
  }
  t.set(op.result(0), g.slice(x, first_of, step_of, target));
}

void slice_rule(Translator& t, const Operation& op) {
  slice_dims(t, op, std::vector<Index>(t.axes(op, "axes", rank_of(first(op))).size(), Index(1)));
}

void strided_slice_rule(Translator& t, const Operation& op) { slice_dims(t, op, t.ints(op, "strides")); }

void flip_rule(Translator& t, const Operation& op) {
  const int x = t.node(first(op)), rank = rank_of(first(op));
  const Shape shape = t.group().shape(x);
  std::vector<Index> starts(rank, Index(0)), steps(rank, Index(1));
  for (int a : t.axes(op, "axis", rank)) starts[a] = shape[a] - 1, steps[a] = -1;
  t.set(op.result(0), t.group().slice(x, starts, steps, shape));
}

void concat_rule(Translator& t, const Operation& op) {
  std::vector<int> parts;
  const int rank = rank_of(op.result(0)), axis = t.axis(op, "axis", rank);
  for (int p : t.nodes(first(op)))
    if (!t.group().shape(p)[axis].is(0)) parts.push_back(p);  // an empty part has no elements to read
  check(!parts.empty(), ErrorKind::kNotImplemented, "{} can't be compiled: it is empty", op.describe());
  t.set(op.result(0), parts.size() == 1 ? parts[0] : t.group().concat(parts, axis));
}

// Parts of x along an axis, one after another, as long as the types of the result's items say.
void split_rule(Translator& t, const Operation& op) {
  Group& g = t.group();
  const int x = t.node(first(op)), rank = rank_of(first(op)), axis = t.axis(op, "axis", rank);
  std::vector<int> parts;
  std::vector<Index> starts(rank, Index(0)), steps(rank, Index(1));
  const bool drops =
      !op.result(0).type().elements().empty() && op.result(0).type().elements()[0].rank() < rank;  // unbind
  for (pir::Type type : op.result(0).type().elements()) {
    Shape shape = g.shape(x);
    shape[axis] = drops ? Index(1) : t.index(type.shape()[axis]);
    int part = g.slice(x, starts, steps, shape);
    parts.push_back(g.reshape(part, t.shape(type.shape())));
    starts[axis] = starts[axis] + shape[axis];
  }
  t.set_list(op.result(0), std::move(parts));
}

void pad_rule(Translator& t, const Operation& op) {
  const int x = t.node(first(op)), rank = rank_of(first(op));
  std::vector<Index> paddings = t.ints(op, "paddings"), before;
  for (int d = 0; d < rank; ++d) before.push_back(paddings.at(2 * d));
  Attribute value = t.known(op, "pad_value");
  if (value.kind() == pir::AttrKind::kScalar) value = value.inner();
  t.set(op.result(0), t.group().pad(x, before, t.shape_of(op.result(0)), value.as_double()));
}

// Negative indices count from the back.
int wrapped(Translator& t, int index, const Index& extent) {
  Group& g = t.group();
  int wide = g.cast(index, DType::kInt64), zero = g.constant_int(DType::kInt64, 0);
  int from_back = g.pointwise(Fn::add, {wide, g.size(DType::kInt64, extent)}, DType::kInt64);
  int negative = g.pointwise(Fn::lt, {wide, zero}, DType::kBool, DType::kInt64);
  return g.pointwise(Fn::where, {negative, from_back, wide}, DType::kInt64, DType::kInt64);
}

void gather_rule(Translator& t, const Operation& op) {
  Group& g = t.group();
  const int x = t.node(first(op)), rows = t.node(op.operand("index")), axis = t.axis(op, "axis", rank_of(first(op)));
  int flat = g.reshape(rows, {element_count(g.shape(rows))});
  t.set(op.result(0), g.gather(x, wrapped(t, flat, g.shape(x)[axis]), axis));
}

void take_along_axis_rule(Translator& t, const Operation& op) {
  Group& g = t.group();
  const int x = t.node(op.operand("arr")), index = t.node(op.operand("indices")),
            axis = t.axis(op, "axis", rank_of(first(op)));
  const Shape shape = g.shape(index), data = g.shape(x);
  for (size_t d = 0; d < shape.size(); ++d)
    check(static_cast<int>(d) == axis || shape[d] == data[d], ErrorKind::kNotImplemented,
          "{} can't be compiled: indices broadcast against the data", op.describe());
  t.set(op.result(0), g.take(x, wrapped(t, index, data[axis]), axis));
}

void embedding_rule(Translator& t, const Operation& op) {
  Group& g = t.group();
  const int ids = t.node(op.operand("x")), weight = t.node(op.operand("weight"));
  int rows = g.gather(weight, ids, 0);
  if (Attribute padding = op.attr("padding_idx"); padding && padding.as_int() >= 0) {
    Shape with_one = g.shape(ids);
    with_one.push_back(1);
    int is_padding = g.pointwise(Fn::eq, {g.reshape(ids, with_one), g.constant_int(DType::kInt64, padding.as_int())},
                                 DType::kBool, DType::kInt64);
    const DType dtype = op.result(0).dtype();
    rows = g.pointwise(Fn::where, {is_padding, g.constant(dtype, 0), rows}, dtype);
  }
  t.set(op.result(0), rows);
}

}  // namespace

RuleTable index_rules() {
  static constexpr NamedRule rules[] = {{"full", full_rule},           {"arange", arange_rule},
                                        {"numel", numel_rule},         {"view", view_rule},
                                        {"transpose", transpose_rule}, {"expand", expand_rule},
                                        {"slice", slice_rule},         {"strided_slice", strided_slice_rule},
                                        {"flip", flip_rule},           {"concat", concat_rule},
                                        {"split", split_rule},         {"pad", pad_rule},
                                        {"gather", gather_rule},       {"take_along_axis", take_along_axis_rule},
                                        {"embedding", embedding_rule}};
  return rules;
}

bool reinterprets(const Operation& op) { return loops_of(op).rule == view_rule; }
bool picks_rows(const Operation& op) {
  const IndexRule rule = loops_of(op).rule;
  return rule == gather_rule || rule == embedding_rule;
}

}  // namespace paddle::cinn
