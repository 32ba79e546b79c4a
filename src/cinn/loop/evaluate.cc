#include "cinn/loop/evaluate.h"

#include "base/error.h"
#include "cinn/schedule/axis_sets.h"

namespace paddle::cinn {

using scalar::Fn;

Index Evaluator::trip_count(int axis, const Binding& where) {
  const Axis& a = axes_.axes[axis];
  if (a.chunk < 0) return a.extent;
  return m_.pool.clamp(a.total - where.at(a.chunk) * a.extent, 0, a.extent);
}

// Walks a list of axes from the right. A cut axis and the chunk before it are one index below the axis' total.
static Index linear(const Axes& axes, const AxisList& list, const Binding& where) {
  Index sum = 0, stride = 1;
  for (size_t i = list.size(); i-- > 0;) {
    const Axis& a = axes.axes[list[i]];
    Index at = where.at(list[i]);
    if (a.chunk >= 0) {
      PD_INVARIANT(i > 0 && list[i - 1] == a.chunk);
      at = at + where.at(a.chunk) * a.extent;
      --i;
    }
    sum = sum + at * stride;
    stride = stride * (a.chunk >= 0 ? a.total : a.extent);
  }
  return sum;
}

Index Evaluator::offset(int node, const Binding& where) {
  return m_.pool.joined(linear(axes_, axes_.nodes[node].all, where));
}

Index Evaluator::dim_index(int node, size_t dim, const Binding& where) {
  return linear(axes_, axes_.nodes[node].dims[dim], where);
}

std::vector<Index> Evaluator::dim_indices(int node, const Binding& where) {
  std::vector<Index> out;
  for (size_t d = 0; d < axes_.nodes[node].dims.size(); ++d) out.push_back(dim_index(node, d, where));
  return out;
}

Binding Evaluator::bind(int node, const std::vector<Index>& dims) {
  Binding out;
  for (size_t d = 0; d < dims.size(); ++d) {
    const AxisList& list = axes_.nodes[node].dims[d];
    Index rest = dims[d];
    for (size_t i = list.size(); i-- > 0;) {
      const Axis& a = axes_.axes[list[i]];
      const Index size = a.chunk >= 0 ? a.total : a.extent;
      const bool outermost = i == (a.chunk >= 0 ? 1u : 0u);
      Index at = outermost ? rest : m_.pool.mod(rest, size);
      if (!outermost) rest = m_.pool.div(rest, size);
      if (a.chunk >= 0) {
        out[a.chunk] = m_.pool.div(at, a.extent);
        at = m_.pool.mod(at, a.extent);
        out[list[i]] = at;
        --i;
      } else {
        out[list[i]] = at;
      }
    }
  }
  return out;
}

ValueId Evaluator::eval(int node, const Binding& where, ValueId predicate) {
  std::vector<Index> at;
  for (int a : axes_.nodes[node].all) at.push_back(where.at(a));
  auto key = std::make_tuple(node, std::move(at), predicate);
  auto it = known_.find(key);
  if (it != known_.end() && emit_.alive(it->second)) return it->second;
  ValueId v = available ? available(node, where, predicate) : -1;
  if (v < 0) v = compute(node, where, predicate);
  known_[std::move(key)] = v;
  return v;
}

// The operand's element that result element `where` needs, where both run over the same dimensions or the same
// elements.
ValueId Evaluator::operand(int node, size_t k, const Binding& where, ValueId predicate) {
  const Node& n = group_.nodes[node];
  const int x = n.operands[k];
  if (!axes_.mapped[node][k]) return eval(x, where, predicate);
  std::vector<Index> at = dim_indices(node, where);
  if (n.kind == NodeKind::kReshape) {
    Index flat = 0;
    for (size_t d = 0; d < at.size(); ++d) flat = flat * n.shape[d] + at[d];
    const Shape& shape = group_.nodes[x].shape;
    at.assign(shape.size(), 0);
    for (size_t d = shape.size(); d-- > 0;) {
      at[d] = d == 0 ? flat : m_.pool.mod(flat, shape[d]);
      flat = m_.pool.div(flat, shape[d]);
    }
  } else if (n.kind == NodeKind::kSlice) {
    for (size_t d = 0; d < at.size(); ++d) at[d] = n.starts[d] + n.steps[d] * at[d];
  }
  return eval(x, bind(x, at), predicate);
}

ValueId Evaluator::eval_to_store(int node, const Binding& where) {
  const Node& n = group_.nodes[node];
  const bool rounds = n.kind == NodeKind::kCast && register_type(n.dtype) != n.dtype;
  return emit_.cast(rounds ? operand(node, 0, where, -1) : eval(node, where), n.dtype);
}

ValueId Evaluator::compute(int node, const Binding& where, ValueId predicate) {
  const Node& n = group_.nodes[node];
  check(!is_complex(n.dtype) && !is_float8(n.dtype), ErrorKind::kNotImplemented, "[cinn] {} is not compiled",
        paddle::name_of(n.dtype));
  switch (n.kind) {
    case NodeKind::kInput:
      return emit_.load(input_buffers[n.slot], offset(node, where), predicate);
    case NodeKind::kConstant:
      return is_float(n.dtype) ? emit_.constant(n.dtype, n.value) : emit_.constant_int(n.dtype, n.integer);
    case NodeKind::kSize:
      return emit_.cast(emit_.index(n.starts[0]), n.dtype);
    case NodeKind::kIota:
      return emit_.cast(emit_.index(dim_index(node, n.axis, where)), n.dtype);
    case NodeKind::kPointwise: {
      std::vector<ValueId> operands;
      for (size_t k = 0; k < n.operands.size(); ++k) operands.push_back(operand(node, k, where, predicate));
      return pointwise(node, operands);
    }
    case NodeKind::kCast: {
      ValueId v = emit_.cast(operand(node, 0, where, predicate), n.dtype);
      return register_type(n.dtype) == n.dtype ? v : emit_.round(v, n.dtype);
    }
    case NodeKind::kReduce:
      PD_INVARIANT(n.combine_inline);  // all others are made available by their kernel, or by a temporary
      return reduce_inline(node, where, predicate);
    case NodeKind::kBroadcast:
    case NodeKind::kReshape:
    case NodeKind::kTranspose:
    case NodeKind::kSlice:
      return operand(node, 0, where, predicate);
    case NodeKind::kGather:
      return gather(node, where, predicate);
    case NodeKind::kTake:
      return take(node, where, predicate);
    case NodeKind::kConcat:
      return concat(node, where, predicate);
    case NodeKind::kPad:
      return pad(node, where, predicate);
  }
  return -1;
}

// m, where the instruction is x - m and m is the maximum of x over some axes; else -1.
int Evaluator::maximum_above(int node, const scalar::Instr& i) const {
  const Node& n = group_.nodes[node];
  if (i.fn != Fn::sub || i.a >= n.operands.size() || i.b >= n.operands.size() || !is_float(n.compute)) return -1;
  if (axes_.mapped[node][i.a] || axes_.mapped[node][i.b]) return -1;
  const int x = behind_views(group_, axes_, n.operands[i.a]);
  int found = -1;
  for (int m = n.operands[i.b];;) {
    m = behind_views(group_, axes_, m);
    const Node& r = group_.nodes[m];
    if (r.kind != NodeKind::kReduce || r.reduce != ReduceKind::kMax || axes_.mapped[m][0]) return -1;
    if (found < 0) found = m;
    m = r.operands[0];
    if (behind_views(group_, axes_, m) == x) return found;
  }
}

bool Evaluator::is_at_least_one(int node) const {
  const Node& n = group_.nodes[node];
  if (n.kind != NodeKind::kReduce || n.reduce != ReduceKind::kSum || !is_float(n.dtype) || axes_.mapped[node][0])
    return false;
  const int e = behind_views(group_, axes_, n.operands[0]);
  const Node& power = group_.nodes[e];
  if (power.kind != NodeKind::kPointwise || power.program.size() != 1 || axes_.mapped[e][0]) return false;
  if (power.program[0].fn != Fn::exp && power.program[0].fn != Fn::exp2) return false;
  const int d = behind_views(group_, axes_, power.operands[0]);
  const Node& difference = group_.nodes[d];
  if (difference.kind != NodeKind::kPointwise || difference.program.size() != 1) return false;
  const int m = maximum_above(d, difference.program[0]);
  return m >= 0 && subset(axes_.nodes[node].all, axes_.nodes[m].all);
}

ValueId Evaluator::pointwise(int node, const std::vector<ValueId>& operands) {
  const Node& n = group_.nodes[node];
  check(!is_complex(n.compute), ErrorKind::kNotImplemented, "[cinn] {} is not compiled", paddle::name_of(n.compute));
  std::vector<ValueId> registers = operands;
  // Operands take part with the value that the compute type gives them, but truth values stay such for `where`.
  for (ValueId& v : registers) {
    if (emit_.value(v).dtype != DType::kBool) v = emit_.cast(v, n.compute);
  }
  for (double p : n.params) registers.push_back(emit_.constant(n.compute, p));
  for (const scalar::Instr& i : n.program) {
    if (i.fn == Fn::constant) {
      registers.push_back(emit_.constant(n.compute, i.imm));
      continue;
    }
    if (i.fn == Fn::imag) {
      registers.push_back(emit_.constant(n.compute, 0));
      continue;
    }
    std::vector<ValueId> args;
    const uint8_t operand[] = {i.a, i.b, i.c};
    for (uint8_t k = 0; k < scalar::info(i.fn).arity; ++k) args.push_back(registers[operand[k]]);
    if (maximum_above(node, i) >= 0) {
      registers.push_back(emit_.sub_not_positive(args[0], args[1], n.compute));
      continue;
    }
    // Only what itself counts as a 16-bit float may be coarse: in 1 + erf(x) the digits that cancel are needed.
    const bool counts = (size_of(n.dtype) == 2 && is_float(n.dtype)) || as_bfloat_[static_cast<size_t>(node)];
    const bool coarse = counts && registers.size() == static_cast<size_t>(n.result_register);
    registers.push_back(emit_.fn(i.fn, std::move(args), n.compute, coarse));
  }
  return emit_.cast(registers.at(n.result_register), n.dtype);
}

ValueId Evaluator::within(const Index& index, const Index& low, const Index& high) {
  ValueId ok = -1;
  if (!m_.pool.at_least(index - low, 0)) ok = emit_.fn(Fn::ge, {emit_.index(index), emit_.index(low)}, DType::kInt64);
  if (!m_.pool.at_least(high - index, 1))
    ok = both(ok, emit_.fn(Fn::lt, {emit_.index(index), emit_.index(high)}, DType::kInt64));
  return ok;
}

ValueId Evaluator::both(ValueId a, ValueId b) {
  if (a < 0 || b < 0) return a < 0 ? b : a;
  return emit_.fn(Fn::logical_and, {a, b}, DType::kInt32);
}

// Whatever an index tensor holds, no address outside of the data is touched.
Index Evaluator::row_index(ValueId row, const Index& extent) {
  row = emit_.cast(row, DType::kInt64);
  row = emit_.fn(Fn::max, {row, emit_.constant_int(DType::kInt64, 0)}, DType::kInt64);
  row = emit_.fn(Fn::min, {row, emit_.index(extent - 1)}, DType::kInt64);
  return emit_.as_index(row, extent);
}

ValueId Evaluator::take(int node, const Binding& where, ValueId predicate) {
  const Node& n = group_.nodes[node];
  std::vector<Index> at = dim_indices(node, where);
  at[n.axis] = row_index(eval(n.operands[1], where, predicate), group_.nodes[n.operands[0]].shape[n.axis]);
  return eval(n.operands[0], bind(n.operands[0], at), predicate);
}

ValueId Evaluator::gather(int node, const Binding& where, ValueId predicate) {
  const Node& n = group_.nodes[node];
  const size_t axis = n.axis, rows_rank = group_.nodes[n.operands[1]].shape.size();
  std::vector<Index> at = dim_indices(node, where);
  std::vector<Index> rows(at.begin() + axis, at.begin() + axis + rows_rank);
  const Index extent = group_.nodes[n.operands[0]].shape[axis];
  std::vector<Index> data(at.begin(), at.begin() + axis);
  data.push_back(row_index(eval(n.operands[1], bind(n.operands[1], rows), predicate), extent));
  data.insert(data.end(), at.begin() + axis + rows_rank, at.end());
  return eval(n.operands[0], bind(n.operands[0], data), predicate);
}

ValueId Evaluator::concat(int node, const Binding& where, ValueId predicate) {
  const Node& n = group_.nodes[node];
  std::vector<Index> at = dim_indices(node, where);
  ValueId result = -1;
  Index high = n.shape[n.axis];
  for (size_t k = n.operands.size(); k-- > 0;) {  // innermost choice last
    const int x = n.operands[k];
    const Index low = high - group_.nodes[x].shape[n.axis];
    const Index& here = at[n.axis];
    const bool elsewhere = m_.pool.at_least(low - here, 1) || m_.pool.at_least(here - high, 0);
    if (!elsewhere) {
      std::vector<Index> part = at;
      part[n.axis] = here - low;
      ValueId v = eval(x, bind(x, part), both(predicate, within(here, low, high)));
      ValueId first = result < 0 ? -1 : within(here, 0, high);
      result = first < 0 ? v : emit_.fn(Fn::where, {first, v, result}, register_type(n.dtype));
    }
    high = low;
  }
  return result;
}

ValueId Evaluator::pad(int node, const Binding& where, ValueId predicate) {
  const Node& n = group_.nodes[node];
  const int x = n.operands[0];
  std::vector<Index> at = dim_indices(node, where);
  ValueId inside = -1;
  for (size_t d = 0; d < at.size(); ++d) {
    at[d] = at[d] - n.starts[d];
    inside = both(inside, within(at[d], 0, group_.nodes[x].shape[d]));
  }
  ValueId v = eval(x, bind(x, at), both(predicate, inside));
  if (inside < 0) return v;
  return emit_.fn(Fn::where, {inside, v, emit_.constant(register_type(n.dtype), n.value)}, register_type(n.dtype));
}

ValueId Evaluator::identity(ReduceKind kind, DType dtype) {
  Value v = identity_of(kind, dtype);
  return is_float(dtype) ? emit_.constant(dtype, v.imm) : emit_.constant_int(dtype, v.integer);
}

static constexpr int64_t kWorthVectors = 64;  // iterations of a short reduction

// A short reduction as a loop of its own, in the outermost scope that its indices allow.
ValueId Evaluator::reduce_inline(int node, const Binding& where, ValueId predicate) {
  const Node& n = group_.nodes[node];
  const int x = n.operands[0];
  int depth = predicate >= 0 ? emit_.depth() : 0;
  for (int a : axes_.nodes[node].all) depth = std::max(depth, emit_.depth_of(where.at(a)));
  return emit_.at_depth(depth, [&] {
    const DType type = register_type(n.dtype);
    int acc = emit_.new_accumulator(n.reduce, type);
    Binding inner = where;
    AxisList reduced;
    for (int a : axes_.nodes[x].all)
      if (!axes_.contains(node, a)) reduced.push_back(a);
    for (int a : reduced) {
      const Index n = trip_count(a, inner);
      const bool vectorize = a == reduced.back() && !emit_.vectorizing() && n.is_const() && n.value() >= kWorthVectors;
      inner[a] = emit_.open_loop(n, vectorize, vectorize ? 4 : 1);
    }
    emit_.update(acc, n.reduce, emit_.cast(eval(x, inner, predicate), type));
    for (size_t i = 0; i < reduced.size(); ++i) emit_.close_loop();
    return emit_.read(acc, type);
  });
}

}  // namespace paddle::cinn
