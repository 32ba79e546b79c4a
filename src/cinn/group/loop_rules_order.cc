// Sorting, each element by itself: where it goes is how many stand before it.
#include "cinn/group/loops.h"
#include "cinn/group/nest.h"

namespace paddle::cinn {
namespace {

using pir::Operation;
using pir::Value;
using scalar::Fn;

// x with the axis that the operator works along last; how to get back.
struct Along {
  int x;
  size_t axis = 0;
  bool flat = false;
  Index n;

  Along(Nest& e, const Operation& op, std::string_view axis_name, bool flatten) : flat(flatten) {
    Value v = op.operand(size_t{0});
    x = e.t.node(v);
    const int rank = static_cast<int>(e.shape(x).size());
    if (flat || rank == 0) {
      x = e.flatten(x);
    } else {
      axis = static_cast<size_t>(e.t.axis(op, axis_name, rank));
      x = e.move(x, axis, static_cast<size_t>(rank) - 1);
    }
    n = e.shape(x).back();
  }
  int back(Nest& e, int node) const { return flat ? node : e.move(node, e.shape(node).size() - 1, axis); }
  // As [..., i, j]: the element at j for every i.
  int at_j(Nest& e) const { return spread(e, e.unsqueeze(x, e.shape(x).size() - 1)); }
  int at_i(Nest& e) const { return spread(e, e.unsqueeze(x, e.shape(x).size())); }
  int spread(Nest& e, int node) const { return e.g.broadcast(node, pairs(e)); }
  Shape pairs(Nest& e) const {
    Shape s = e.shape(x);
    s.push_back(n);
    return s;
  }
  int i(Nest& e) const { return e.iota(pairs(e), e.shape(x).size() - 1); }
  int j(Nest& e) const { return e.iota(pairs(e), e.shape(x).size()); }
  int last(Nest& e) const { return static_cast<int>(e.shape(x).size()); }  // dimension j
};

// Where each element goes is how many stand before it; NaN is larger than every number.
int sorted_places(Nest& e, const Along& a, bool descending) {
  const DType compute = compute_type(e.dtype(a.x));
  int xi = a.at_i(e), xj = a.at_j(e);
  int less = descending ? e.test(Fn::gt, xj, xi, compute) : e.test(Fn::lt, xj, xi, compute);
  int equal = e.test(Fn::eq, xj, xi, compute);
  if (is_float(compute)) {
    int ni = e.is_nan(xi, compute), nj = e.is_nan(xj, compute);
    equal = e.either(equal, e.both(ni, nj));
    int number_i = e.g.pointwise(Fn::logical_not, {ni}, DType::kBool, DType::kInt32);
    int number_j = e.g.pointwise(Fn::logical_not, {nj}, DType::kBool, DType::kInt32);
    less = e.either(less, descending ? e.both(nj, number_i) : e.both(ni, number_j));
  }
  int before = e.either(less, e.both(equal, e.test(Fn::lt, a.j(e), a.i(e))));
  int rank = e.sum(e.g.cast(before, Nest::kInt), {a.last(e)}, Nest::kInt);  // [..., i]
  // The element that goes to r: the i whose rank is r.
  int rank_i = a.spread(e, e.unsqueeze(rank, e.shape(rank).size() - 1));
  int here = e.test(Fn::eq, rank_i, a.i(e));
  return e.g.reduce(ReduceKind::kMax, e.where(here, a.j(e), e.number(0), Nest::kInt), {a.last(e)}, false, Nest::kInt);
}

void sort_first(Translator& t, const Operation& op, bool descending, const Index* k) {
  Nest e(t);
  Along a(e, op, "axis", false);
  a.flat = e.shape(t.node(op.operand(size_t{0}))).empty();
  int at = sorted_places(e, a, descending);
  if (k) {
    Shape part = e.shape(at);
    part.back() = *k;
    at = e.g.slice(at, Shape(part.size(), Index(0)), Shape(part.size(), Index(1)), part);
  }
  const int last = static_cast<int>(e.shape(a.x).size()) - 1;
  t.set(op.result(0), a.back(e, e.g.take(a.x, at, last)));
  t.set(op.result(1), a.back(e, e.g.cast(at, op.result(1).dtype())));
}

void argsort(Translator& t, const Operation& op) { sort_first(t, op, flag(op, "descending"), nullptr); }

void topk(Translator& t, const Operation& op) {
  std::vector<Index> k = t.ints(op, "k");
  pir::Attribute largest = op.attr("largest");
  sort_first(t, op, !largest || largest.as_bool(), &k.at(0));
}

}  // namespace

RuleTable order_rules() {
  static constexpr NamedRule rules[] = {{"argsort", argsort}, {"topk", topk}};
  return rules;
}

}  // namespace paddle::cinn
