#include "cinn/compute/group.h"

#include <fmt/format.h>

#include "base/error.h"

namespace paddle::cinn {

Index element_count(const Shape& shape) {
  Index n = 1;
  for (const Index& d : shape) n = n * d;
  return n;
}

DType compute_type(DType t) {
  if (t == DType::kFloat16 || t == DType::kBFloat16 || is_float8(t)) return DType::kFloat32;
  return t == DType::kBool ? DType::kInt32 : t;
}

std::string_view name_of(NodeKind kind) {
  constexpr std::string_view names[] = {"input", "constant", "size",      "iota",    "pointwise",
                                        "cast",  "reduce",   "broadcast", "reshape", "transpose",
                                        "slice", "gather",   "take",      "concat",  "pad"};
  return names[static_cast<int>(kind)];
}

std::string_view name_of(ReduceKind kind) {
  constexpr std::string_view names[] = {"sum", "prod", "max", "min", "any", "all"};
  return names[static_cast<int>(kind)];
}

int Group::add(Node node) {
  nodes.push_back(std::move(node));
  return static_cast<int>(nodes.size()) - 1;
}

int Group::input(DType dtype, Shape shape) {
  Node n{NodeKind::kInput, dtype, std::move(shape)};
  n.slot = static_cast<int>(inputs.size());
  inputs.push_back(add(std::move(n)));
  return inputs.back();
}

int Group::constant(DType dtype, double value, Shape shape) {
  Node n{NodeKind::kConstant, dtype, std::move(shape)};
  n.value = value;
  n.integer = is_float(dtype) ? 0 : static_cast<int64_t>(value);
  return add(std::move(n));
}

int Group::constant_int(DType dtype, int64_t value, Shape shape) {
  Node n{NodeKind::kConstant, dtype, std::move(shape)};
  n.value = static_cast<double>(value);
  n.integer = value;
  return add(std::move(n));
}

int Group::size(DType dtype, const Index& value) {
  if (value.is_const()) return constant_int(dtype, value.value());
  Node n{NodeKind::kSize, dtype};
  n.starts = {value};
  return add(std::move(n));
}

int Group::iota(DType dtype, Shape shape, int axis) {
  PD_INVARIANT(axis >= 0 && axis < static_cast<int>(shape.size()));
  Node n{NodeKind::kIota, dtype, std::move(shape)};
  n.axis = axis;
  return add(std::move(n));
}

int Group::broadcast(int x, const Shape& target) {
  const Shape from = shape(x);
  if (from == target) return x;
  check(from.size() <= target.size(), ErrorKind::kNotImplemented, "[cinn] a broadcast to fewer dimensions");
  Node n{NodeKind::kBroadcast, nodes[x].dtype, target, {x}};
  n.dims.assign(target.size(), -1);
  size_t shift = target.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    bool same = from[i] == target[i + shift];
    check(same || from[i].is(1), ErrorKind::kNotImplemented, "[cinn] sizes {} and {} are not known to be equal",
          pool.str(from[i]), pool.str(target[i + shift]));
    if (same) n.dims[i + shift] = static_cast<int>(i);
  }
  return add(std::move(n));
}

int Group::pointwise(const scalar::Program& program, std::vector<int> operands, std::vector<double> params,
                     DType result, DType compute, int output) {
  PD_INVARIANT(operands.size() == program.num_inputs && params.size() == program.num_params);
  Shape common;
  for (int x : operands) {
    const Shape& s = shape(x);
    if (s.size() > common.size()) common.insert(common.begin(), s.size() - common.size(), Index(1));
    size_t shift = common.size() - s.size();
    for (size_t i = 0; i < s.size(); ++i)
      if (!s[i].is(1)) {
        check(common[i + shift].is(1) || common[i + shift] == s[i], ErrorKind::kNotImplemented,
              "[cinn] sizes {} and {} are not known to be equal", pool.str(common[i + shift]), pool.str(s[i]));
        common[i + shift] = s[i];
      }
  }
  for (int& x : operands) x = broadcast(x, common);
  Node n{NodeKind::kPointwise, result, common, std::move(operands)};
  n.program.assign(program.instrs.begin(), program.instrs.end());
  n.params = std::move(params);
  n.result_register = program.outputs[output];
  n.compute = compute == DType::kUndefined ? compute_type(result) : compute;
  return add(std::move(n));
}

int Group::pointwise(scalar::Fn fn, std::vector<int> operands, DType result, DType compute) {
  const uint8_t arity = static_cast<uint8_t>(operands.size());
  scalar::Instr instr{fn, 0, static_cast<uint8_t>(arity > 1 ? 1 : 0), static_cast<uint8_t>(arity > 2 ? 2 : 0), 0};
  scalar::Program program;
  program.instrs = {&instr, 1};
  program.num_inputs = arity;
  program.outputs = {&arity, 1};
  return pointwise(program, std::move(operands), {}, result, compute);
}

int Group::cast(int x, DType dtype) {
  if (nodes[x].dtype == dtype) return x;
  return add(Node{NodeKind::kCast, dtype, shape(x), {x}});
}

int Group::reduce(ReduceKind kind, int x, std::vector<int> dims, bool keepdim, DType dtype) {
  Shape kept, with_ones;
  std::vector<bool> reduced(shape(x).size());
  for (int d : dims) reduced.at(d) = true;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) kept.push_back(shape(x)[i]);
    with_ones.push_back(reduced[i] ? Index(1) : shape(x)[i]);
  }
  Node n{NodeKind::kReduce, dtype, kept, {x}};
  n.reduce = kind;
  n.dims = std::move(dims);
  int r = add(std::move(n));
  return keepdim ? reshape(r, with_ones) : r;
}

int Group::reshape(int x, Shape target) {
  if (shape(x) == target) return x;
  return add(Node{NodeKind::kReshape, nodes[x].dtype, std::move(target), {x}});
}

int Group::transpose(int x, std::vector<int> perm) {
  Shape target;
  for (int d : perm) target.push_back(shape(x).at(d));
  PD_INVARIANT(perm.size() == shape(x).size());
  Node n{NodeKind::kTranspose, nodes[x].dtype, std::move(target), {x}};
  n.dims = std::move(perm);
  return add(std::move(n));
}

int Group::slice(int x, std::vector<Index> starts, std::vector<Index> steps, Shape target) {
  PD_INVARIANT(starts.size() == shape(x).size() && steps.size() == starts.size() && target.size() == starts.size());
  Node n{NodeKind::kSlice, nodes[x].dtype, std::move(target), {x}};
  n.starts = std::move(starts);
  n.steps = std::move(steps);
  return add(std::move(n));
}

int Group::gather(int data, int rows, int axis) {
  const Shape& d = shape(data);
  PD_INVARIANT(axis >= 0 && axis < static_cast<int>(d.size()) && is_integer(nodes[rows].dtype));
  Shape target(d.begin(), d.begin() + axis);
  target.insert(target.end(), shape(rows).begin(), shape(rows).end());
  target.insert(target.end(), d.begin() + axis + 1, d.end());
  Node n{NodeKind::kGather, nodes[data].dtype, std::move(target), {data, rows}};
  n.axis = axis;
  return add(std::move(n));
}

int Group::take(int data, int index, int axis) {
  PD_INVARIANT(shape(data).size() == shape(index).size() && is_integer(nodes[index].dtype));
  Node n{NodeKind::kTake, nodes[data].dtype, shape(index), {data, index}};
  n.axis = axis;
  return add(std::move(n));
}

int Group::concat(std::vector<int> parts, int axis) {
  PD_INVARIANT(!parts.empty());
  Shape target = shape(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) target[axis] = target[axis] + shape(parts[i])[axis];
  Node n{NodeKind::kConcat, nodes[parts[0]].dtype, std::move(target), std::move(parts)};
  n.axis = axis;
  return add(std::move(n));
}

int Group::pad(int x, std::vector<Index> before, Shape target, double value) {
  Node n{NodeKind::kPad, nodes[x].dtype, std::move(target), {x}};
  n.starts = std::move(before);
  n.value = value;
  return add(std::move(n));
}

static std::string describe(const Group& g, const Node& n) {
  std::string out(name_of(n.kind));
  if (n.kind == NodeKind::kReduce) out = std::string(name_of(n.reduce)) + (n.combine_inline ? " inline" : "");
  if (n.kind == NodeKind::kPointwise) {
    out.clear();
    for (const auto& i : n.program) {
      if (!out.empty()) out += ".";
      out += scalar::info(i.fn).name;
      if (i.fn == scalar::Fn::constant) out += fmt::format("({})", i.imm);
    }
    if (out.empty()) out = "identity";
    for (double p : n.params) out += fmt::format(" {}", p);
  }
  if (n.kind == NodeKind::kConstant) out += fmt::format(" {}", n.value);
  if (!n.dims.empty()) out += fmt::format(" dims=[{}]", fmt::join(n.dims, ","));
  for (const Index& s : n.starts) out += " " + g.pool.str(s);
  for (const Index& s : n.steps) out += " step " + g.pool.str(s);
  return out;
}

std::string Group::str() const {
  std::string out;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    std::string shape;
    for (const Index& d : n.shape) shape += (shape.empty() ? "" : ", ") + pool.str(d);
    std::string operands;
    for (int x : n.operands) operands += fmt::format(" %{}", x);
    out += fmt::format("%{} = {}{} : {}[{}]\n", i, describe(*this, n), operands, paddle::name_of(n.dtype), shape);
  }
  out += fmt::format("return %{}\n", fmt::join(outputs, " %"));
  return out;
}

}  // namespace paddle::cinn
