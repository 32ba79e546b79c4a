#include "cinn/group/translate.h"

#include "base/error.h"
#include "cinn/group/loops.h"
#include "cinn/group/translator.h"

namespace paddle::cinn {
namespace {

using pir::Attribute;
using pir::AttrKind;
using pir::Operation;
using pir::Value;

[[noreturn]] void cannot(const Operation& op, std::string_view what) {
  fail(ErrorKind::kNotImplemented, "{} can't be compiled: {}", op.describe(), what);
}

bool computable(DType t) { return t != DType::kUndefined && !is_complex(t) && !is_float8(t); }

bool computable(Value v) {
  if (!v || v.type().kind() == pir::TypeKind::kNone) return true;
  if (v.type().is_vector()) {
    for (pir::Type t : v.type().elements())
      if (t && (!t.is_tensor() || !computable(t.dtype()))) return false;
    return true;
  }
  return v.type().is_tensor() && computable(v.dtype());
}

// What to compute in: inputs decide, unless they are integers whose result is not (the square root of an integer). The
// rule of eager's kernels.
DType compute_of(const std::vector<DType>& ins, DType out) {
  bool inexact_in = false;
  for (DType t : ins) inexact_in |= is_float(t);
  std::vector<DType> types = ins.empty() || (is_float(out) && !inexact_in) ? std::vector<DType>{out} : ins;
  bool f64 = false, f32 = false, wide = false, i64 = false, u64 = false;
  for (DType t : types) {
    f64 |= t == DType::kFloat64;
    f32 |= is_float(t);
    wide |= t == DType::kInt64 || t == DType::kUInt32;
    i64 |= t == DType::kInt64;
    u64 |= t == DType::kUInt64;
  }
  if (f64) return DType::kFloat64;
  if (f32) return DType::kFloat32;
  if (u64) return i64 ? DType::kInt64 : DType::kUInt64;
  return wide ? DType::kInt64 : DType::kInt32;
}

ReduceKind kind_of(Combine c) {
  switch (c) {
    case Combine::kProd:
      return ReduceKind::kProd;
    case Combine::kMax:
      return ReduceKind::kMax;
    case Combine::kMin:
      return ReduceKind::kMin;
    case Combine::kAny:
      return ReduceKind::kAny;
    case Combine::kAll:
      return ReduceKind::kAll;
    default:
      return ReduceKind::kSum;
  }
}

// The program's registers are its tensor inputs, then its parameters; a parameter may be a tensor of one element too.
int apply(Translator& t, const Operation& op, const scalar::Program& program, size_t output, DType dtype) {
  const OpInfo& info = *op.info();
  std::vector<int> operands;
  std::vector<DType> types;
  for (size_t i = 0; i < program.num_inputs; ++i) {
    Value v = op.operand(info.args[info.expr_args[i]].name);
    if (!v || !v.type().is_tensor()) cannot(op, "an operand is absent");
    operands.push_back(t.node(v));
    types.push_back(v.dtype());
  }
  const DType compute = compute_of(types, dtype);
  for (size_t i = 0; i < program.num_params; ++i)
    operands.push_back(t.scalar(op, info.args[info.expr_args[program.num_inputs + i]].name, compute));
  scalar::Program all = program;
  all.num_inputs = static_cast<uint8_t>(operands.size());
  all.num_params = 0;
  return t.group().pointwise(all, std::move(operands), {}, dtype, compute, static_cast<int>(output));
}

void pointwise(Translator& t, const Operation& op) {
  const scalar::Program& program = *op.info()->expr;
  const bool identity = program.instrs.empty() && program.num_inputs == 1 && program.outputs.size() == 1;
  if (identity) {  // assign, cast
    int x = t.node(op.operand(op.info()->args[op.info()->expr_args[0]].name));
    return t.set(op.result(0), t.group().cast(x, op.result(0).dtype()));
  }
  for (size_t i = 0; i < program.outputs.size(); ++i)
    t.set(op.result(i), apply(t, op, program, i, op.result(i).dtype()));
}

// Names that the family of reductions shares: axis, keepdim, reduce_all.
void reduction(Translator& t, const Operation& op) {
  Value x = op.operand(size_t{0});
  const DType out = op.result(0).dtype();
  const int rank = static_cast<int>(x.shape().size());
  std::vector<int> axes;
  Attribute all = op.attr("reduce_all");
  if (!(all && all.as_bool())) axes = t.axes(op, "axis", rank);
  if (axes.empty())
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  const ReduceKind kind = kind_of(op.info()->combine);
  int value = t.node(x);
  if (const scalar::Program* program = op.info()->expr) {
    const bool truth = kind == ReduceKind::kAny || kind == ReduceKind::kAll;
    value = apply(t, op, *program, 0, truth ? x.dtype() : out);
  }
  t.set(op.result(0), t.group().reduce(kind, value, axes, false, out));
}

}  // namespace

bool translatable(const Operation& op) { return translatable(op, {}); }

bool translatable(const Operation& op, const TranslateOptions& options) {
  if (op.num_regions()) return false;
  if (op.has(pir::kDistinct) && !(options.loops && op.has(kInplaceOnly))) return false;
  for (Value v : op.operands())
    if (!computable(v)) return false;
  for (size_t i = 0; i < op.num_results(); ++i)
    if (!computable(op.result(i))) return false;
  const Loops& loops = loops_of(op);
  if (loops.exist() && (loops.everywhere || options.loops)) return true;
  return op.info() && op.num_results() > 0 && (op.info()->expr || op.info()->combine != Combine::kNone);
}

TranslatedGroup translate(std::span<Operation* const> ops, std::span<const Value> outputs,
                          const TranslateOptions& options) {
  Translator t(options);
  for (const Operation* op : ops) {
    if (!translatable(*op, options)) cannot(*op, "no rule, or a type that has no code");
    const Loops& loops = loops_of(*op);
    if (loops.rule)
      loops.rule(t, *op);
    else if (!loops.nest.empty())
      translate_nest(t, *op, loops.nest);
    else if (op->info()->combine != Combine::kNone)
      reduction(t, *op);
    else
      pointwise(t, *op);
  }
  for (Value v : outputs) t.add_output(v);
  return std::move(t).take();
}

// -- Translator

int Translator::node(Value v) {
  auto it = nodes_.find(v.impl());
  if (it != nodes_.end()) return it->second;
  int n = -1;
  // Numbers that the program has written down become part of the code.
  Attribute number = pir::known_value(v);
  if (number.kind() == AttrKind::kScalar && v.type().is_tensor() && v.dtype() != DType::kUndefined) {
    const Attribute x = number.inner();
    if (x.kind() == AttrKind::kDim)
      n = group().size(v.dtype(), index(x.as_dim()));
    else if (x.kind() == AttrKind::kInt64 || x.kind() == AttrKind::kInt32 || x.kind() == AttrKind::kBool)
      n = group().constant_int(v.dtype(), x.as_int());
    else
      n = group().constant(v.dtype(), x.as_double());
    n = group().reshape(n, shape_of(v));
  } else {
    n = group().input(v.dtype(), shape_of(v));
    out_.inputs.push_back(v);
  }
  return nodes_[v.impl()] = n;
}

std::vector<int> Translator::nodes(Value list) {
  auto it = lists_.find(list.impl());
  if (it != lists_.end()) return it->second;
  std::vector<int> out;
  const Operation* op = list.is_result() ? list.defining_op() : nullptr;
  if (op && op->is("builtin.combine"))
    for (Value v : op->operands()) out.push_back(node(v));
  else if (list.type().is_tensor())
    out.push_back(node(list));
  else
    fail(ErrorKind::kNotImplemented, "[cinn] a list of tensors that another kernel makes");
  return out;
}

void Translator::set(Value v, int node) { nodes_[v.impl()] = group().reshape(node, shape_of(v)); }

Index Translator::index(Dim d) {
  if (d.is_const()) return d.value();
  const DimNode& n = node_of(d);
  if (n.op == DimOp::kAdd || n.op == DimOp::kMul) {
    Index r = n.op == DimOp::kAdd ? 0 : 1;
    for (Dim x : n.operands) r = n.op == DimOp::kAdd ? r + index(x) : r * index(x);
    return r;
  }
  if (n.op == DimOp::kConst) return n.value;
  // A symbol, or an expression that is one for us: its value is what the caller evaluates it to.
  auto [it, fresh] = symbols_.try_emplace(d.bits(), static_cast<int>(out_.symbols.size()));
  if (fresh) out_.symbols.push_back(d);
  return group().symbol(it->second);
}

Shape Translator::shape(const paddle::Shape& dims) {
  Shape out;
  for (Dim d : dims) out.push_back(index(d));
  return out;
}

Attribute Translator::known(const Operation& op, std::string_view name) {
  if (Attribute a = op.attr(name)) return a;
  const int at = op.def().operand_index(name);
  Value v = at >= 0 ? op.operand(name) : Value();
  if (!v) return {};
  Attribute a = pir::known_value(v);
  if (!a) cannot(op, std::string(name) + " is known only when the program runs");
  return a;
}

std::vector<Index> Translator::ints(const Operation& op, std::string_view name) {
  Attribute a = known(op, name);
  std::vector<Index> out;
  if (!a) return out;
  if (a.kind() == AttrKind::kScalar) a = a.inner();
  if (a.kind() == AttrKind::kIntArray || a.kind() == AttrKind::kArray) {
    for (Dim d : a.as_ints()) out.push_back(index(d));
  } else {
    out.push_back(index(a.as_dim()));
  }
  return out;
}

std::vector<int> Translator::axes(const Operation& op, std::string_view name, int rank) {
  std::vector<int> out;
  for (const Index& i : ints(op, name)) {
    if (!i.is_const()) cannot(op, std::string(name) + " is no constant");
    const int64_t a = i.value() < 0 ? i.value() + rank : i.value();
    if (rank == 0) continue;
    if (a < 0 || a >= rank) cannot(op, std::string(name) + " is out of range");
    out.push_back(static_cast<int>(a));
  }
  return out;
}

int Translator::axis(const Operation& op, std::string_view name, int rank) {
  std::vector<int> all = axes(op, name, rank);
  if (all.size() != 1) cannot(op, std::string(name) + " is absent");
  return all[0];
}

int Translator::run_time_number(const Operation& op, std::string_view name, DType dtype, double absent) {
  Attribute a = op.attr(name);
  if (!options_.numbers_at_run) return group().constant(dtype, a ? a.as_double() : absent);
  auto [it, fresh] = numbers_.try_emplace({&op, std::string(name)}, -1);
  if (fresh) {
    it->second = group().input(DType::kFloat64, {});
    out_.numbers.push_back({out_.inputs.size(), &op, std::string(name)});
    out_.inputs.emplace_back();
  }
  return group().cast(it->second, dtype);
}

int Translator::scalar(const Operation& op, std::string_view name, DType dtype) {
  Attribute a = op.attr(name);
  if (!a) {
    const int at = op.def().operand_index(name);
    Value v = at >= 0 ? op.operand(name) : Value();
    if (v) {
      int n = node(v);
      if (!group().shape(n).empty()) n = group().reshape(n, {});
      return n;
    }
    const pir::AttrDef* def = op.def().attr(name);
    if (!def || !def->default_value) cannot(op, std::string(name) + " is absent");
    a = def->default_value;
  }
  if (a.kind() == AttrKind::kScalar) a = a.inner();
  if (a.kind() == AttrKind::kDim) return group().size(dtype, index(a.as_dim()));
  if (a.kind() == AttrKind::kFloat || a.kind() == AttrKind::kDouble) return group().constant(dtype, a.as_double());
  return group().constant_int(dtype, a.as_int());
}

}  // namespace paddle::cinn
