#include "cinn/loop/emitter.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "cinn/schedule/cost.h"

namespace paddle::cinn {

using scalar::Fn;

void Emitter::begin_kernel(AtomId parallel_var) {
  scopes_.clear();
  known_.clear();
  var_depth_.clear();
  acc_depth_.clear();
  scopes_.push_back({next_scope_++, {}, {}});
  var_depth_[parallel_var] = 0;
}

std::vector<Stmt> Emitter::end_kernel() {
  PD_INVARIANT(scopes_.size() == 1);
  return std::move(scopes_[0].body);
}

Index Emitter::open_loop(const Index& extent, bool vectorize, int unroll) {
  Stmt loop{StmtKind::kFor};
  loop.extent = extent;
  loop.vectorize = vectorize;
  loop.unroll = unroll;
  Index var = m_.pool.var(extent);
  loop.var = var.terms()[0].first[0];
  scopes_.push_back({next_scope_++, std::move(loop), {}});
  var_depth_[scopes_.back().loop.var] = depth();
  return var;
}

void Emitter::close_loop() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  if (scope.loop.unroll == kByCost) {
    const double cost = cost_of(scope.body);
    scope.loop.unroll = cost <= 50 ? 4 : cost <= 100 ? 2 : 1;
  }
  scope.loop.body = std::move(scope.body);
  scopes_.back().body.push_back(std::move(scope.loop));
}

double Emitter::cost_of(const std::vector<Stmt>& body) const {
  double sum = 0;
  for (const Stmt& s : body) {
    if (s.kind == StmtKind::kFor) sum += 4 * cost_of(s.body);
    if (s.kind != StmtKind::kLet) continue;
    const Value& v = m_.values[s.value];
    sum += v.op == ValueOp::kFn ? cinn::cost_of(v.fn) : 1;
  }
  return sum;
}

int Emitter::new_accumulator(ReduceKind kind, DType dtype) {
  Stmt s{StmtKind::kAcc};
  s.acc = next_acc_++;
  s.reduce = kind;
  s.dtype = dtype;
  acc_depth_[s.acc] = depth();
  scopes_.back().body.push_back(s);
  return s.acc;
}

void Emitter::update(int acc, ReduceKind kind, ValueId value) {
  Stmt s{StmtKind::kUpdate};
  s.acc = acc;
  s.reduce = kind;
  s.value = value;
  scopes_.back().body.push_back(std::move(s));
}

ValueId Emitter::read(int acc, DType dtype) {
  Value v{ValueOp::kReadAcc, dtype};
  v.integer = acc;
  return make(std::move(v));
}

void Emitter::store(int buffer, const Index& index, ValueId value, bool streaming) {
  Stmt s{StmtKind::kStore};
  s.buffer = buffer;
  s.index = index;
  s.value = value;
  s.streaming = streaming;
  scopes_.back().body.push_back(std::move(s));
}

bool Emitter::vectorizing() const {
  return std::any_of(scopes_.begin(), scopes_.end(), [](const Scope& s) { return s.loop.vectorize; });
}

void Emitter::prefetch_loads(AtomId var, int64_t step, int level) {
  std::vector<Stmt>& body = scopes_.back().body;
  const size_t count = body.size();
  for (size_t i = 0; i < count; ++i) {
    if (body[i].kind != StmtKind::kLet) continue;
    const Value& v = m_.values[body[i].value];
    if (v.op != ValueOp::kLoad || !v.args.empty() || m_.buffers[v.buffer].role != BufferRole::kInput) continue;
    if (size_of(m_.buffers[v.buffer].dtype) < 2) continue;  // of single bytes little is read
    const Index stride = v.index.coefficient(var);
    if (stride.is(0) || !v.index.coefficient(scopes_.back().loop.var).is(1)) continue;
    Stmt s{StmtKind::kPrefetch};
    s.buffer = v.buffer;
    s.index = v.index + stride * step;
    s.level = level;
    body.push_back(std::move(s));
  }
}

bool Emitter::alive(ValueId v) const {
  const Place& p = places_[v];
  return p.depth < static_cast<int>(scopes_.size()) && scopes_[p.depth].id == p.scope_id;
}

int Emitter::depth_of(const Index& index) const {
  std::vector<AtomId> leaves;
  m_.pool.leaves(index, leaves);
  int depth = 0;
  for (AtomId id : leaves) {
    const Atom& x = m_.pool.atom(id);
    if (x.kind == AtomKind::kVar) depth = std::max(depth, var_depth_.at(id));
    if (x.kind == AtomKind::kValue) depth = std::max(depth, places_[x.number].depth);
  }
  return depth;
}

ValueId Emitter::make(Value v) {
  Key key{v.op, v.dtype, v.fn, v.args, std::bit_cast<int64_t>(v.imm), v.integer, v.buffer, v.index};
  auto found = known_.find(key);
  if (found != known_.end() && alive(found->second)) return found->second;
  int depth = depth_of(v.index);
  for (ValueId a : v.args) depth = std::max(depth, places_[a].depth);
  if (v.op == ValueOp::kReadAcc) depth = std::max(depth, acc_depth_.at(static_cast<int>(v.integer)));
  ValueId id = static_cast<ValueId>(m_.values.size());
  m_.values.push_back(std::move(v));
  places_.resize(m_.values.size());
  places_[id] = {scopes_[depth].id, depth};
  Stmt let{StmtKind::kLet};
  let.value = id;
  scopes_[depth].body.push_back(std::move(let));
  known_[std::move(key)] = id;
  return id;
}

ValueId Emitter::constant(DType dtype, double x) {
  Value v{ValueOp::kConst, register_type(dtype)};
  if (is_float(v.dtype))
    v.imm = v.dtype == DType::kFloat32 ? static_cast<float>(x) : x;
  else
    v.integer = v.dtype == DType::kBool ? x != 0 : static_cast<int64_t>(x);
  return make(std::move(v));
}

ValueId Emitter::constant_int(DType dtype, int64_t x) {
  if (is_float(dtype)) return constant(dtype, static_cast<double>(x));
  Value v{ValueOp::kConst, dtype};
  v.integer = dtype == DType::kBool ? x != 0 : x;
  return make(std::move(v));
}

ValueId Emitter::index(const Index& index) {
  if (index.is_const()) return constant_int(DType::kInt64, index.value());
  Value v{ValueOp::kIndex, DType::kInt64};
  v.index = index;
  return make(std::move(v));
}

ValueId Emitter::load(int buffer, const Index& index, ValueId predicate) {
  Value v{ValueOp::kLoad, register_type(m_.buffers[buffer].dtype)};
  v.buffer = buffer;
  v.index = index;
  if (predicate >= 0) v.args = {predicate};
  return make(std::move(v));
}

Index Emitter::as_index(ValueId value, const Index& extent) {
  const Value& v = m_.values[value];
  if (v.op == ValueOp::kConst) return v.integer;
  if (v.op == ValueOp::kIndex) return v.index;
  return m_.pool.value(cast(value, DType::kInt64), extent);
}

// What storing x as type t and reading it back gives, for constants.
static int64_t wrap(int64_t x, DType t) {
  switch (t) {
    case DType::kBool:
      return x != 0;
    case DType::kUInt8:
      return static_cast<uint8_t>(x);
    case DType::kInt8:
      return static_cast<int8_t>(x);
    case DType::kInt16:
      return static_cast<int16_t>(x);
    case DType::kInt32:
      return static_cast<int32_t>(x);
    case DType::kUInt32:
      return static_cast<uint32_t>(x);
    default:
      return x;
  }
}

ValueId Emitter::cast(ValueId value, DType dtype) {
  dtype = register_type(dtype);
  const Value v = m_.values[value];
  if (v.dtype == dtype) return value;
  if (v.op == ValueOp::kConst) {
    if (!is_float(v.dtype) && !is_float(dtype)) return constant_int(dtype, wrap(v.integer, dtype));
    if (!is_float(v.dtype) && v.dtype != DType::kUInt64) return constant(dtype, static_cast<double>(v.integer));
    if (is_float(dtype) || dtype == DType::kBool) return constant(dtype, v.imm);
  }
  // A truth value that went through a number and back.
  if (dtype == DType::kBool && v.op == ValueOp::kCast && m_.values[v.args[0]].dtype == DType::kBool) return v.args[0];
  Value c{ValueOp::kCast, dtype};
  c.args = {value};
  return make(std::move(c));
}

ValueId Emitter::round(ValueId value, DType half) {
  const Value& v = m_.values[value];
  if (v.op == ValueOp::kLoad && m_.buffers[v.buffer].dtype == half) return value;
  Value c{ValueOp::kCast, DType::kFloat32};
  c.args = {value};
  c.integer = static_cast<int64_t>(half);
  return make(std::move(c));
}

bool Emitter::is_constant(ValueId v, double x) const {
  const Value& c = m_.values[v];
  return c.op == ValueOp::kConst && (is_float(c.dtype) ? c.imm == x : c.integer == static_cast<int64_t>(x));
}

// a / b, where b is known outside of the loop that a belongs to: one division there, multiplications here. The scale
// keeps the reciprocal of very small and very large divisors exact enough: 0, infinities and NaN come out as of the
// division. None is needed where bounds show b to be of ordinary size.
ValueId Emitter::divide(ValueId a, ValueId b, DType compute) {
  Value plain{ValueOp::kFn, compute, Fn::div};
  plain.args = {a, b};
  if (!is_float(compute) || places_[b].depth >= places_[a].depth || m_.values[a].op == ValueOp::kConst)
    return make(std::move(plain));
  const double small = compute == DType::kFloat32 ? 0x1p-64 : 0x1p-512, large = 1 / small;
  if (m_.values[b].op == ValueOp::kConst) {
    const double d = m_.values[b].imm, magnitude = std::fabs(d);
    int exponent;
    const bool power_of_two = magnitude > 0 && std::isfinite(d) && std::frexp(magnitude, &exponent) == 0.5;
    if (!power_of_two || magnitude < small || magnitude > large) return make(std::move(plain));
    return fn(Fn::mul, {a, constant(compute, 1 / d)}, compute);
  }
  const ValueId one = constant(compute, 1);
  const auto reciprocal = [&](ValueId x) {
    Value v{ValueOp::kFn, compute, Fn::div};
    v.args = {one, x};
    return make(std::move(v));
  };
  if (bounds_.within(b, small, large)) return fn(Fn::mul, {a, reciprocal(b)}, compute);
  ValueId low = constant(compute, small), high = constant(compute, large);
  ValueId size = fn(Fn::abs, {b}, compute);
  ValueId scale = fn(
      Fn::where,
      {fn(Fn::lt, {size, low}, compute), high, fn(Fn::where, {fn(Fn::gt, {size, high}, compute), low, one}, compute)},
      compute);
  const ValueId scaled = reciprocal(fn(Fn::mul, {b, scale}, compute));
  return fn(Fn::mul, {fn(Fn::mul, {a, scaled}, compute), scale}, compute);
}

std::optional<ValueId> Emitter::simplified(Fn f, const std::vector<ValueId>& args, DType compute) {
  switch (f) {
    case Fn::real:
    case Fn::conj:
      return args[0];
    case Fn::mul:
      if (is_constant(args[1], 1)) return args[0];
      if (is_constant(args[0], 1)) return args[1];
      return {};
    case Fn::sub:
      if (is_constant(args[1], 0)) return args[0];
      return {};
    case Fn::square:
      return fn(Fn::mul, {args[0], args[0]}, compute);
    case Fn::pow: {  // whole exponents, as powers of a polynomial are written
      if (is_constant(args[1], 1)) return args[0];
      if (is_constant(args[1], 2)) return fn(Fn::mul, {args[0], args[0]}, compute);
      if (is_constant(args[1], 3)) return fn(Fn::mul, {fn(Fn::mul, {args[0], args[0]}, compute), args[0]}, compute);
      if (is_constant(args[1], 4)) {
        ValueId square = fn(Fn::mul, {args[0], args[0]}, compute);
        return fn(Fn::mul, {square, square}, compute);
      }
      if (is_float(compute) && is_constant(args[1], -1)) return fn(Fn::reciprocal, {args[0]}, compute);
      return {};
    }
    case Fn::div:
      if (is_constant(args[1], 1)) return args[0];
      return divide(args[0], args[1], compute);
    case Fn::where: {
      const Value& c = m_.values[args[0]];
      if (c.op == ValueOp::kConst) return args[c.integer != 0 ? 1 : 2];
      if (args[1] == args[2]) return args[1];
      return {};
    }
    case Fn::logical_and:
      if (args[0] == args[1] || is_constant(args[1], 1)) return args[0];
      if (is_constant(args[0], 1)) return args[1];
      return {};
    default:
      return {};
  }
}

ValueId Emitter::fn(Fn f, std::vector<ValueId> args, DType compute, bool coarse) {
  using enum Fn;
  const bool truth_operands = f == logical_and || f == logical_or || f == logical_not || f == logical_xor;
  for (size_t i = 0; i < args.size(); ++i)
    args[i] = cast(args[i], truth_operands || (f == where && i == 0) ? DType::kBool : compute);
  if (auto v = simplified(f, args, compute)) return *v;
  Value v{ValueOp::kFn, scalar::info(f).boolean ? DType::kBool : compute, f};
  v.args = std::move(args);
  if (coarse && compute == DType::kFloat32 && cinn::cost_of(f) >= 10) v.integer |= kCoarse;
  if (f == exp || f == exp2) v.integer |= bounds_.traits_of_power(f, v.args[0]);
  return make(std::move(v));
}

ValueId Emitter::sub_not_positive(ValueId a, ValueId b, DType compute) {
  a = cast(a, compute), b = cast(b, compute);
  if (!bounds_.rounds_alike(a)) return fn(Fn::sub, {a, b}, compute);
  Value v{ValueOp::kFn, compute, Fn::sub};
  v.args = {a, b};
  v.integer = kRoundsAlone;
  const ValueId id = make(std::move(v));
  bounds_.narrow(id, -std::numeric_limits<double>::infinity(), 0);
  return id;
}

}  // namespace paddle::cinn
