// Sums of products as one product.
#include "passes/match.h"
#include "passes/passes.h"
#include "pir/rewrite/pattern.h"

namespace paddle::passes {

using pir::Attribute;
using pir::Operation;
using pir::Rewriter;
using pir::Value;

namespace {

bool flag(const Operation& op, std::string_view name) {
  const Attribute a = op.attr(name);
  return a && a.as_bool();
}

// All axes but the last two.
bool over_leading_axes(const Operation& sum, size_t rank) {
  const auto axes = known_ints(sum, "axis");
  if (!axes || axes->size() + 2 != rank) return false;
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + static_cast<int64_t>(rank) : (*axes)[i];
    if (axis != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool same_leading_axes(Value x, Value y) {
  const size_t rank = x.shape().size();
  if (rank < 3 || y.shape().size() != rank) return false;
  for (size_t i = 0; i + 1 < rank; ++i)
    if (!(x.shape()[i] == y.shape()[i])) return false;
  // Without columns the number of rows would not follow from the number of elements.
  auto columns = [](Value v) { return v.shape().back().is_const() && v.shape().back().value() > 0; };
  return columns(x) && columns(y);
}

// sum over b of x[b]^T y[b] = X^T Y, where X and Y have the rows of all x[b] and y[b]: the gradient of a weight that
// many matrices were multiplied with.
bool join_rows(Operation& op, Rewriter& r) {
  Operation* product = made_by(op.operand(0), "pd_op.matmul");
  if (!product || !product->result().has_one_use() || !is_inexact(product->result().dtype())) return false;
  if (!flag(*product, "transpose_x") || flag(*product, "transpose_y")) return false;
  const Value x = product->operand(0), y = product->operand(1);
  if (!same_leading_axes(x, y) || !over_leading_axes(op, x.shape().size()) || flag(op, "keepdim")) return false;
  if (op.result().dtype() != product->result().dtype()) return false;
  auto rows = [&](Value v) {
    const std::vector<int64_t> shape{-1, v.shape().back().value()};
    return r.value("pd_op.reshape", {v, r.full_int_array(shape)});
  };
  const Value joined = r.value("pd_op.matmul", {rows(x), rows(y)}, {{"transpose_x", Attribute::boolean(true)}});
  r.replace(&op, joined);
  return true;
}

}  // namespace

size_t join_products(Operation& root) {
  static const pir::PatternSet* patterns = [] {
    auto* s = new pir::PatternSet;
    s->add("join_rows", "pd_op.sum", join_rows);
    return s;
  }();
  return pir::apply_greedily(root, *patterns).rewrites;
}

}  // namespace paddle::passes
