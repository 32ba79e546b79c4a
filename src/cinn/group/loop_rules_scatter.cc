// Writing by index, from the side of what is written: an element of the result looks for the updates that name it. So
// no two threads write one place, and sums have one order.
#include "cinn/group/loops.h"
#include "cinn/group/nest.h"

namespace paddle::cinn {
namespace {

using pir::Operation;
using pir::Value;
using scalar::Fn;

// rows [r, inner], index [n], updates [n, inner]: hits [r, n] says which updates name a row.
struct Rows {
  Nest& e;
  Index count, n;
  int hits;

  Rows(Nest& nest, const Index& rows, int index) : e(nest), count(rows), n(e.shape(index)[0]) {
    const Shape pairs{rows, n};
    hits = e.test(Fn::eq, e.g.broadcast(e.unsqueeze(e.wrapped(index, rows), 0), pairs), e.iota(pairs, 0));
  }
  // Sums of the updates of each row [r, inner].
  int sums(int updates) {
    const DType dtype = e.dtype(updates), wide = compute_type(dtype);
    int each = e.where(e.unsqueeze(hits, 2), e.g.cast(e.unsqueeze(updates, 0), wide), e.zero(wide), wide);
    return e.sum(each, {1}, wide);
  }
  int any() { return e.g.reduce(ReduceKind::kAny, hits, {1}, true, DType::kBool); }  // [r, 1]
  // The last update that names each row, -1 where none does: [r].
  int last() {
    int at = e.where(hits, e.iota({count, n}, 1), e.number(-1), Nest::kInt);
    return e.g.reduce(ReduceKind::kMax, at, {1}, false, Nest::kInt);
  }
  // base [r, inner] with the rows that are named replaced by the last update of each.
  int replaced(int base, int updates) {
    int at = last();
    int named = e.test(Fn::ge, e.unsqueeze(at, 1), e.number(0));
    return e.where(named, e.g.gather(updates, at, 0), base, e.dtype(base));
  }
  int added(int base, int updates) {
    const DType dtype = e.dtype(base), wide = compute_type(dtype);
    return e.g.cast(e.add(e.g.cast(base, wide), sums(updates), wide), dtype);
  }
};

Index product(const Shape& s, size_t begin, size_t end) {
  Index n = 1;
  for (size_t i = begin; i < end; ++i) n = n * s[i];
  return n;
}

void scatter(Translator& t, const Operation& op) {
  Nest e(t);
  int x = t.node(op.operand("x")), index = e.flatten(t.node(op.operand("index"))),
      updates = t.node(op.operand("updates"));
  const Shape shape = e.shape(x);
  const Index inner = product(shape, 1, shape.size());
  int base = e.g.reshape(x, {shape[0], inner});
  Rows rows(e, shape[0], index);
  updates = e.g.reshape(updates, {rows.n, inner});
  pir::Attribute overwrite = op.attr("overwrite");
  int out = !overwrite || overwrite.as_bool()
                ? rows.replaced(base, updates)
                : e.where(rows.any(), e.g.cast(rows.sums(updates), e.dtype(x)), base, e.dtype(x));
  t.set(op.result(0), e.g.reshape(out, shape));
}

// One number for the coordinates along the last axis of index.
int flat_coordinates(Nest& e, int index, const Shape& shape) {
  const Shape s = e.shape(index);
  const size_t last = s.size() - 1;
  Index n = product(s, 0, last);
  int table = e.g.reshape(index, {n, s[last]}), flat = -1;
  for (int64_t d = 0; d < s[last].value(); ++d) {
    int column = e.g.reshape(e.g.slice(table, {0, d}, {1, 1}, {n, Index(1)}), {n});
    int at = e.wrapped(column, shape[static_cast<size_t>(d)]);
    flat = flat < 0 ? at : e.add(e.mul(flat, e.count(shape[static_cast<size_t>(d)])), at);
  }
  return flat;
}

void scatter_nd_add(Translator& t, const Operation& op) {
  Nest e(t);
  int x = t.node(op.operand("x")), index = t.node(op.operand("index")), updates = t.node(op.operand("updates"));
  const Shape shape = e.shape(x);
  const Index depth = e.shape(index).back();
  if (!depth.is_const() || depth.is(0)) no_nest(op, "the number of coordinates is no positive constant");
  const size_t d = static_cast<size_t>(depth.value());
  int flat = flat_coordinates(e, index, shape);
  const Index r = product(shape, 0, d), inner = product(shape, d, shape.size());
  Rows rows(e, r, flat);
  int out = rows.added(e.g.reshape(x, {r, inner}), e.g.reshape(updates, {rows.n, inner}));
  t.set(op.result(0), e.g.reshape(out, shape));
}

void gather_nd(Translator& t, const Operation& op) {
  Nest e(t);
  int x = t.node(op.operand("x")), index = t.node(op.operand("index"));
  const Shape shape = e.shape(x);
  const Index depth = e.shape(index).back();
  if (!depth.is_const() || depth.is(0)) no_nest(op, "the number of coordinates is no positive constant");
  const size_t d = static_cast<size_t>(depth.value());
  int rows = e.g.reshape(x, {product(shape, 0, d), product(shape, d, shape.size())});
  t.set(op.result(0), e.g.gather(rows, flat_coordinates(e, index, shape), 0));
}

void index_put(Translator& t, const Operation& op) {
  Nest e(t);
  int x = t.node(op.operand("x")), value = t.node(op.operand("value"));
  const Shape shape = e.shape(x);
  Shape selected;
  std::vector<int> indices = t.nodes(op.operand("indices"));
  for (int i : indices) {
    if (e.dtype(i) == DType::kBool) no_nest(op, "a mask selects as many as running tells");
    const Shape& s = e.shape(i);
    if (s.size() > selected.size()) selected.insert(selected.begin(), s.size() - selected.size(), Index(1));
    for (size_t k = 0; k < s.size(); ++k)
      if (!s[k].is(1)) selected[selected.size() - s.size() + k] = s[k];
  }
  int flat = -1;
  for (size_t d = 0; d < indices.size(); ++d) {
    int at = e.wrapped(e.g.broadcast(indices[d], selected), shape[d]);
    flat = flat < 0 ? at : e.add(e.mul(flat, e.count(shape[d])), at);
  }
  const size_t d = indices.size();
  const Index r = product(shape, 0, d), inner = product(shape, d, shape.size());
  Rows rows(e, r, e.flatten(flat));
  Shape whole_value = selected;
  whole_value.insert(whole_value.end(), shape.begin() + static_cast<std::ptrdiff_t>(d), shape.end());
  int updates = e.g.reshape(e.g.broadcast(value, whole_value), {rows.n, inner});
  int base = e.g.reshape(x, {r, inner});
  t.set(op.result(0),
        e.g.reshape(flag(op, "accumulate") ? rows.added(base, updates) : rows.replaced(base, updates), shape));
}

// arr [..., r], values and indices [..., n], the axis last.
void put_along_axis(Translator& t, const Operation& op) {
  Nest e(t);
  int arr = t.node(op.operand("arr")), index = t.node(op.operand("indices")), values = t.node(op.operand("values"));
  const size_t rank = e.shape(arr).size(), axis = static_cast<size_t>(t.axis(op, "axis", static_cast<int>(rank)));
  for (size_t d = 0; d < rank; ++d)
    if (d != axis && !(e.shape(index)[d] == e.shape(arr)[d])) no_nest(op, "indices cover a part of the other axes");
  if (!(e.shape(index) == e.shape(values))) no_nest(op, "values broadcast to the indices");
  const std::string how = word(op, "reduce", "assign");
  const Index extent = e.shape(arr)[axis];
  arr = e.move(arr, axis, rank - 1);
  index = e.wrapped(e.move(index, axis, rank - 1), extent);
  values = e.move(values, axis, rank - 1);
  Shape pairs = e.shape(arr);
  pairs.push_back(e.shape(index).back());
  const int j = static_cast<int>(rank);
  int hit = e.test(Fn::eq, e.g.broadcast(e.unsqueeze(index, rank - 1), pairs), e.iota(pairs, rank - 1));
  int named = e.g.reduce(ReduceKind::kAny, hit, {j}, false, DType::kBool);
  const DType dtype = e.dtype(arr), wide = compute_type(dtype);
  int spread = e.g.cast(e.g.broadcast(e.unsqueeze(values, rank - 1), pairs), wide), base = e.g.cast(arr, wide),
      out = -1;
  auto combined = [&](ReduceKind kind, int none) {
    return e.g.reduce(kind, e.where(hit, spread, none, wide), {j}, false, wide);
  };
  const bool with_self = !op.attr("include_self") || flag(op, "include_self");
  if (how == "assign") {
    int last = e.g.reduce(ReduceKind::kMax, e.where(hit, e.iota(pairs, rank), e.number(0), Nest::kInt), {j}, false,
                          Nest::kInt);
    out = e.g.cast(e.g.take(values, last, static_cast<int>(rank) - 1), wide);
  } else if (how == "add" || how == "mean") {
    out = combined(ReduceKind::kSum, e.zero(wide));
    if (with_self) out = e.add(base, out, wide);
    if (how == "mean") {
      if (!is_float(wide)) no_nest(op, "a mean of integers");
      int n = e.sum(e.g.cast(hit, Nest::kInt), {j}, Nest::kInt);
      if (with_self) n = e.add(n, e.number(1));
      out = e.div(out, e.g.cast(n, wide), wide);
    }
  } else if (how == "multiply" || how == "mul") {
    int one = is_float(wide) ? e.g.constant(wide, 1) : e.g.constant_int(wide, 1);
    out = combined(ReduceKind::kProd, one);
    if (with_self) out = e.mul(base, out, wide);
  } else if ((how == "amax" || how == "amin") && is_float(wide)) {
    const bool most = how == "amax";
    const double inf = std::numeric_limits<double>::infinity();
    out = combined(most ? ReduceKind::kMax : ReduceKind::kMin, e.g.constant(wide, most ? -inf : inf));
    if (with_self) out = e.op(most ? Fn::max : Fn::min, {base, out}, wide);
  } else {
    no_nest(op, "reduce=" + how);
  }
  out = e.g.cast(e.where(named, out, base, wide), dtype);
  t.set(op.result(0), e.move(out, rank - 1, axis));
}

// x shifted along an axis: its end stands first.
int rolled(Nest& e, int x, size_t axis, int64_t shift) {
  const Shape shape = e.shape(x);
  if (!shape[axis].is_const()) fail(ErrorKind::kNotImplemented, "[roll] along an axis of symbolic size");
  const int64_t n = shape[axis].value();
  if (n == 0) return x;
  const int64_t cut = ((-shift % n) + n) % n;
  if (cut == 0) return x;
  Shape from(shape.size(), Index(0)), steps(shape.size(), Index(1)), back = shape, front = shape;
  from[axis] = cut;
  back[axis] = n - cut;
  front[axis] = cut;
  int end = e.g.slice(x, from, steps, back);
  int start = e.g.slice(x, Shape(shape.size(), Index(0)), steps, front);
  return e.g.concat({end, start}, static_cast<int>(axis));
}

void roll(Translator& t, const Operation& op) {
  Nest e(t);
  int x = t.node(op.operand("x"));
  const Shape shape = e.shape(x);
  std::vector<Index> shifts = t.ints(op, "shifts");
  std::vector<int> axes = t.axes(op, "axis", static_cast<int>(shape.size()));
  for (const Index& s : shifts)
    if (!s.is_const()) no_nest(op, "a shift is symbolic");
  if (axes.empty()) {
    x = e.flatten(x);
    for (const Index& s : shifts) x = rolled(e, x, 0, s.value());
  }
  for (size_t i = 0; i < axes.size(); ++i) x = rolled(e, x, static_cast<size_t>(axes[i]), shifts.at(i).value());
  t.set(op.result(0), e.g.reshape(x, shape));
}

void diag_embed(Translator& t, const Operation& op) {
  Nest e(t);
  int x = t.node(op.operand(size_t{0}));
  const Shape shape = t.shape_of(op.result(0));
  const int rank = static_cast<int>(shape.size());
  const int64_t offset = whole(op, "offset", 0);
  auto dim = [&](std::string_view name, int64_t absent) {
    const int64_t d = whole(op, name, absent);
    return static_cast<size_t>(d < 0 ? d + rank : d);
  };
  const size_t first = dim("dim1", -2), second = dim("dim2", -1);
  const Index n = shape[first];
  int row = e.iota({n, n}, 0), column = e.iota({n, n}, 1);
  int hit = e.test(Fn::eq, e.sub(column, row), e.number(offset));
  int square = e.g.gather(x, offset >= 0 ? row : column, rank - 2);  // [..., n, n]
  int out = e.where(hit, square, e.zero(e.dtype(x)), e.dtype(x));
  // The two square dimensions go where they belong, the smaller first.
  std::vector<int> order;
  int next = 0;
  for (int d = 0; d < rank; ++d)
    order.push_back(static_cast<size_t>(d) == first ? rank - 2 : static_cast<size_t>(d) == second ? rank - 1 : next++);
  t.set(op.result(0), e.g.transpose(out, order));
}

}  // namespace

RuleTable scatter_rules() {
  static constexpr NamedRule rules[] = {
      {"scatter", scatter},      {"scatter_nd_add", scatter_nd_add}, {"gather_nd", gather_nd},
      {"index_put", index_put},  {"put_along_axis", put_along_axis}, {"roll", roll},
      {"diag_embed", diag_embed}};
  return rules;
}

}  // namespace paddle::cinn
