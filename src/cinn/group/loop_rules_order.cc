// Scans, sorting, searching and the places of extremes, each element by itself: out[i] combines what stands before i.
#include "cinn/group/loop_rules.h"
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

// Which j take part in out[i].
int reaches(Nest& e, const Along& a, bool exclusive, bool reverse) {
  return e.test(reverse ? (exclusive ? Fn::gt : Fn::ge) : (exclusive ? Fn::lt : Fn::le), a.j(e), a.i(e));
}

void scan(Translator& t, const Operation& op, std::string_view axis, ReduceKind kind, double identity) {
  Nest e(t);
  Along a(e, op, axis, flag(op, "flatten"));
  const DType dtype = op.result(0).dtype();
  int none = is_float(dtype) ? e.g.constant(dtype, identity) : e.g.constant_int(dtype, static_cast<int64_t>(identity));
  int parts =
      e.where(reaches(e, a, flag(op, "exclusive"), flag(op, "reverse")), e.g.cast(a.at_j(e), dtype), none, dtype);
  t.set(op.result(0), a.back(e, e.g.reduce(kind, parts, {a.last(e)}, false, dtype)));
}

void cumsum(Translator& t, const Operation& op) { scan(t, op, "axis", ReduceKind::kSum, 0); }
void cumprod(Translator& t, const Operation& op) { scan(t, op, "dim", ReduceKind::kProd, 1); }

void logcumsumexp(Translator& t, const Operation& op) {
  Nest e(t);
  Along a(e, op, "axis", flag(op, "flatten"));
  const DType dtype = compute_type(op.result(0).dtype());
  const double inf = std::numeric_limits<double>::infinity();
  int in = reaches(e, a, flag(op, "exclusive"), flag(op, "reverse")), x = e.g.cast(a.at_j(e), dtype);
  int most = e.g.reduce(ReduceKind::kMax, e.where(in, x, e.g.constant(dtype, -inf), dtype), {a.last(e)}, true, dtype);
  int shift = e.where(e.test(Fn::eq, most, e.g.constant(dtype, -inf), dtype), e.zero(dtype), most, dtype);
  int terms = e.where(in, e.op(Fn::exp, {e.sub(x, shift, dtype)}, dtype), e.zero(dtype), dtype);
  int sum = e.g.reduce(ReduceKind::kSum, terms, {a.last(e)}, true, dtype);
  int out = e.add(e.op(Fn::log, {sum}, dtype), shift, dtype);
  Shape drop = e.shape(a.x);
  t.set(op.result(0), a.back(e, e.g.cast(e.g.reshape(out, drop), op.result(0).dtype())));
}

// NaN counts as the extreme, as everywhere.
int is_extreme(Nest& e, int x, int extreme) {
  const DType compute = compute_type(e.dtype(x));
  int same = e.test(Fn::eq, x, extreme, compute);
  return is_float(compute) ? e.either(same, e.is_nan(x, compute)) : same;
}

void running_extreme(Translator& t, const Operation& op, ReduceKind kind) {
  Nest e(t);
  Along a(e, op, "axis", false);
  const DType dtype = op.result(0).dtype();
  int in = reaches(e, a, false, false), x = a.at_j(e);
  // What lies beyond i must not win: the element at i stands in for it.
  int seen = e.where(in, x, a.at_i(e), dtype);
  int most = e.g.reduce(kind, seen, {a.last(e)}, true, dtype);
  int hit = e.both(in, is_extreme(e, x, most));
  int at = e.g.reduce(ReduceKind::kMax, e.where(hit, a.j(e), e.number(0), Nest::kInt), {a.last(e)}, false, Nest::kInt);
  t.set(op.result(0), a.back(e, e.g.reshape(most, e.shape(a.x))));
  t.set(op.result(1), a.back(e, e.g.cast(at, op.result(1).dtype())));
}

void cummax(Translator& t, const Operation& op) { running_extreme(t, op, ReduceKind::kMax); }
void cummin(Translator& t, const Operation& op) { running_extreme(t, op, ReduceKind::kMin); }

void place_of_extreme(Translator& t, const Operation& op, ReduceKind kind) {
  Nest e(t);
  Along a(e, op, "axis", flag(op, "flatten"));
  const int last = static_cast<int>(e.shape(a.x).size()) - 1;
  int most = e.g.reduce(kind, a.x, {last}, true, e.dtype(a.x));
  int at = e.where(is_extreme(e, a.x, most), e.iota(e.shape(a.x), static_cast<size_t>(last)), e.count(a.n), Nest::kInt);
  int first = e.g.reduce(ReduceKind::kMin, at, {last}, false, Nest::kInt);
  t.set(op.result(0), e.g.cast(first, op.result(0).dtype()));
}

void argmax(Translator& t, const Operation& op) { place_of_extreme(t, op, ReduceKind::kMax); }
void argmin(Translator& t, const Operation& op) { place_of_extreme(t, op, ReduceKind::kMin); }

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

void searchsorted(Translator& t, const Operation& op) {
  Nest e(t);
  int row = t.node(op.operand("sorted_sequence")), x = t.node(op.operand("values"));
  const DType compute = compute_type(e.dtype(row));
  const size_t rank = e.shape(x).size();
  Shape pairs = e.shape(x);
  pairs.push_back(e.shape(row).back());
  if (e.shape(row).size() > 1) row = e.unsqueeze(row, e.shape(row).size() - 1);
  int before = e.test(flag(op, "right") ? Fn::le : Fn::lt, e.g.broadcast(row, pairs),
                      e.g.broadcast(e.unsqueeze(x, rank), pairs), compute);
  int n = e.sum(e.g.cast(before, Nest::kInt), {static_cast<int>(rank)}, Nest::kInt);
  t.set(op.result(0), e.g.cast(n, op.result(0).dtype()));
}

}  // namespace

RuleTable order_rules() {
  static constexpr std::pair<const char*, IndexRule> rules[] = {{"cumsum", cumsum},
                                                                {"cumprod", cumprod},
                                                                {"logcumsumexp", logcumsumexp},
                                                                {"cummax", cummax},
                                                                {"cummin", cummin},
                                                                {"argmax", argmax},
                                                                {"argmin", argmin},
                                                                {"argsort", argsort},
                                                                {"topk", topk},
                                                                {"searchsorted", searchsorted}};
  return rules;
}

}  // namespace paddle::cinn
