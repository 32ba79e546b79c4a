// Matrix products and convolutions as sums of products.
#include "cinn/group/loops.h"
#include "cinn/group/nest.h"
#include "cinn/group/window_nest.h"

namespace paddle::cinn {
namespace {

using pir::Operation;
using pir::Value;

// Products in the type that sums are kept in: 16-bit floats would round each.
int products(Nest& e, int x, int y, DType out) {
  const DType wide = compute_type(out);
  return e.g.pointwise(scalar::Fn::mul, {x, y}, wide, wide);
}

// out[..., i, j] = sum over k of x[..., i, k] * y[..., k, j]
void matmul(Translator& t, const Operation& op) {
  Nest e(t);
  int x = t.node(op.operand("x")), y = t.node(op.operand("y"));
  auto swap_last = [&](int node) { return e.move(node, e.shape(node).size() - 1, e.shape(node).size() - 2); };
  if (e.shape(x).size() == 1)
    x = e.unsqueeze(x, 0);
  else if (flag(op, "transpose_x"))
    x = swap_last(x);
  if (e.shape(y).size() == 1)
    y = e.unsqueeze(y, 0);
  else if (!flag(op, "transpose_y"))
    y = swap_last(y);
  const DType dtype = op.result(0).dtype();
  int terms = products(e, e.unsqueeze(x, e.shape(x).size() - 1), e.unsqueeze(y, e.shape(y).size() - 2), dtype);
  const int k = static_cast<int>(e.shape(terms).size()) - 1;
  t.set(op.result(0), e.sum(terms, {k}, dtype));
}

std::vector<int> range(int first, int count) {
  std::vector<int> out;
  for (int i = 0; i < count; ++i) out.push_back(first + i);
  return out;
}

// [n, c, ...] as [n, groups, c / groups, ...], at dimension `at`.
int grouped(Nest& e, int x, size_t at, int64_t groups) {
  Shape s = e.shape(x);
  Index each;
  if (!IndexPool::divide_exactly(s[at], groups, &each)) each = e.g.pool.div(s[at], groups);
  s[at] = each;
  s.insert(s.begin() + static_cast<std::ptrdiff_t>(at), Index(groups));
  return e.g.reshape(x, s);
}

// Dimensions at and at + 1 as one: the way back from `grouped`.
int ungrouped(Nest& e, int x, size_t at) {
  Shape s = e.shape(x);
  s[at] = s[at] * s[at + 1];
  s.erase(s.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  return e.g.reshape(x, s);
}

// n g c i0 u0 i1 u1 ... as n g i... c u...
int positions_first(Nest& e, int x, int rank) {
  std::vector<int> order{0, 1};
  for (int a = 0; a < rank; ++a) order.push_back(3 + 2 * a);
  order.push_back(2);
  for (int a = 0; a < rank; ++a) order.push_back(4 + 2 * a);
  return e.g.transpose(x, order);
}

// out[n, g, k, i...] = sum over c, u... of input[n, g, c, i * s + u * d - p...] * filter[g, k, c, u...]
void convolution(Translator& t, const Operation& op) {
  Nest e(t);
  WindowNest w(e, op, e.shape(t.node(op.operand("filter"))));
  const int r = static_cast<int>(w.rank());
  const int64_t groups = whole(op, "groups", 1);
  const DType dtype = op.result(0).dtype();
  int x = grouped(e, w.to_channels_first(t.node(op.operand("input"))), 1, groups);  // n g c i...
  for (int a = 0; a < r; ++a) {
    // n g c i0 u0 i1 u1 ...: each spatial dimension becomes position and offset.
    const size_t at = 3 + 2 * static_cast<size_t>(a);
    x = w.windows(x, at, a, w.outputs(op.result(0), a), e.zero(e.dtype(x)));
  }
  x = e.unsqueeze(positions_first(e, x, r), 2);                           // n g 1 i... c u...
  int f = grouped(e, t.node(op.operand("filter")), 0, groups);            // g k c u...
  for (int a = 0; a < r; ++a) f = e.unsqueeze(f, 2);                      // g k 1... c u...
  int out = e.sum(products(e, x, f, dtype), range(3 + r, 1 + r), dtype);  // n g k i...
  t.set(op.result(0), w.from_channels_first(ungrouped(e, out, 1)));
}

// input_grad[n, g, c, h...] = sum over k, u... of out_grad[n, g, k, (h + p - u * d) / s...] * filter[g, k, c, u...]
void convolution_input_grad(Translator& t, const Operation& op) {
  Nest e(t);
  WindowNest w(e, op, e.shape(t.node(op.operand("filter"))));
  const int r = static_cast<int>(w.rank());
  const int64_t groups = whole(op, "groups", 1);
  const DType dtype = op.result(0).dtype();
  int y = grouped(e, w.to_channels_first(t.node(op.operand("out_grad"))), 1, groups);
  for (int a = 0; a < r; ++a)
    y = w.sources(y, 3 + 2 * static_cast<size_t>(a), a, w.outputs(op.result(0), a), e.zero(e.dtype(y)));
  y = e.unsqueeze(positions_first(e, y, r), 2);                               // n g 1 h... k u...
  int f = e.move(grouped(e, t.node(op.operand("filter")), 0, groups), 2, 1);  // g c k u...
  for (int a = 0; a < r; ++a) f = e.unsqueeze(f, 2);                          // g c 1... k u...
  int out = e.sum(products(e, y, f, dtype), range(3 + r, 1 + r), dtype);      // n g c h...
  t.set(op.result(0), w.from_channels_first(ungrouped(e, out, 1)));
}

// filter_grad[g, k, c, u...] = sum over n, i... of input[n, g, c, i * s + u * d - p...] * out_grad[n, g, k, i...]
void convolution_filter_grad(Translator& t, const Operation& op) {
  Nest e(t);
  WindowNest w(e, op, t.shape_of(op.result(0)));
  const int r = static_cast<int>(w.rank());
  const int64_t groups = whole(op, "groups", 1);
  const DType dtype = op.result(0).dtype();
  int x = grouped(e, w.to_channels_first(t.node(op.operand("input"))), 1, groups);
  for (int a = 0; a < r; ++a)
    x = w.windows(x, 3 + 2 * static_cast<size_t>(a), a, w.outputs(op.operand("out_grad"), a), e.zero(e.dtype(x)));
  // n g c i0 u0 i1 u1 ... -> g c u... n i...
  std::vector<int> order{1, 2};
  for (int a = 0; a < r; ++a) order.push_back(4 + 2 * a);
  order.push_back(0);
  for (int a = 0; a < r; ++a) order.push_back(3 + 2 * a);
  x = e.unsqueeze(e.g.transpose(x, order), 1);                                         // g 1 c u... n i...
  int y = grouped(e, w.to_channels_first(t.node(op.operand("out_grad"))), 1, groups);  // n g k i...
  y = e.move(y, 0, 2);                                                                 // g k n i...
  for (int a = 0; a < r + 1; ++a) y = e.unsqueeze(y, 2);                               // g k 1 1... n i...
  int out = e.sum(products(e, x, y, dtype), range(3 + r, 1 + r), dtype);               // g k c u...
  t.set(op.result(0), ungrouped(e, out, 0));
}

}  // namespace

RuleTable product_rules() {
  static constexpr NamedRule rules[] = {{"matmul", matmul},
                                        {"convolution", convolution},
                                        {"convolution_input_grad", convolution_input_grad},
                                        {"convolution_filter_grad", convolution_filter_grad}};
  return rules;
}

}  // namespace paddle::cinn
