#include "pir/dialects.h"

#include "base/error.h"
#include "pir/custom_gradient.h"
#include "pir/operation.h"

namespace paddle::pir {
namespace {

[[noreturn]] void bad(const Operation& op, const std::string& what) {
  throw Error(ErrorKind::kValue, op.describe() + " " + what);
}

// Equal up to sizes that one of the two doesn't know.
bool compatible(Type a, Type b) {
  if (a == b) return true;
  if (a.kind() != b.kind()) return false;
  if (a.is_vector()) {
    if (a.elements().size() != b.elements().size()) return false;
    for (size_t i = 0; i < a.elements().size(); ++i)
      if (!compatible(a.elements()[i], b.elements()[i])) return false;
    return true;
  }
  if (!a.has_shape()) return false;
  if (a.dtype() != b.dtype() || a.rank() != b.rank()) return false;
  auto known = [](Dim d) { return d.is_const() && d.value() >= 0; };
  for (size_t i = 0; i < a.shape().size(); ++i)
    if (known(a.shape()[i]) && known(b.shape()[i]) && a.shape()[i] != b.shape()[i]) return false;
  return true;
}

void check_yield(const Operation& op, const Block& block, size_t skip, std::string_view where) {
  Operation* yield = block.terminator();
  if (!yield) bad(op, fmt::format("expected {} to end in cf.yield", where));
  if (yield->num_operands() != op.num_results() + skip)
    bad(op,
        fmt::format("expected {} to yield {} values, got {}", where, op.num_results() + skip, yield->num_operands()));
  for (size_t i = 0; i < op.num_results(); ++i) {
    Value v = yield->operand(i + skip);
    if (v && !compatible(v.type(), op.result(i).type()))
      bad(op, fmt::format("expected {} to yield {} as value {}, got {}", where, op.result(i).type().str(), i,
                          v.type().str()));
  }
}

void check_condition(const Operation& op) {
  Type t = op.operand(0).type();
  if (!t.has_shape() || t.dtype() != DType::kBool) bad(op, "expected a condition of dtype bool, got " + t.str());
}

void verify_if(const Operation& op) {
  check_condition(op);
  const char* names[] = {"the branch for true", "the branch for false"};
  for (size_t i = 0; i < 2; ++i) {
    if (op.region(i).empty()) {
      if (op.num_results()) bad(op, fmt::format("expected {} to have a block", names[i]));
      continue;
    }
    if (op.region(i).front().empty() && op.num_results() == 0) continue;
    check_yield(op, op.region(i).front(), 0, names[i]);
  }
}

void verify_while(const Operation& op) {
  check_condition(op);
  if (op.region(0).empty()) bad(op, "expected a body");
  const Block& body = op.region(0).front();
  size_t n = op.num_operands() - 1;
  if (body.num_args() != n || op.num_results() != n)
    bad(op,
        fmt::format("expected {} block arguments and results, got {} and {}", n, body.num_args(), op.num_results()));
  for (size_t i = 0; i < n; ++i)
    if (!compatible(body.arg(i).type(), op.operand(i + 1).type()))
      bad(op, fmt::format("loop variable {} enters as {} but the block argument is {}", i,
                          op.operand(i + 1).type().str(), body.arg(i).type().str()));
  check_yield(op, body, 1, "the body");
}

std::vector<Type> infer_combine(const OpDef&, std::span<const Value> operands, const AttrMap&) {
  std::vector<Type> items;
  for (Value v : operands) items.push_back(v ? v.type() : Type());
  return {Type::vector(items)};
}

const Type& expect_list(const OpDef& def, std::span<const Value> operands, Type& hold) {
  hold = operands.size() == 1 && operands[0] ? operands[0].type() : Type();
  check(hold.is_vector(), ErrorKind::kType, "[{}] expected one operand of a list type, got {}", def.name, hold.str());
  return hold;
}

std::vector<Type> infer_split(const OpDef& def, std::span<const Value> operands, const AttrMap&) {
  Type list;
  expect_list(def, operands, list);
  return {list.elements().begin(), list.elements().end()};
}

std::vector<Type> infer_slice(const OpDef& def, std::span<const Value> operands, const AttrMap& attrs) {
  Type list;
  expect_list(def, operands, list);
  Attribute at = attrs.get("index");
  check(at.kind() == AttrKind::kInt32 || at.kind() == AttrKind::kInt64, ErrorKind::kType,
        "[{}] expected an integer attribute \"index\"", def.name);
  auto n = static_cast<int64_t>(list.elements().size());
  check(at.as_int() >= 0 && at.as_int() < n, ErrorKind::kIndex, "[{}] expected index in [0, {}), got {}", def.name, n,
        at.as_int());
  return {list.elements()[static_cast<size_t>(at.as_int())]};
}

void verify_combine(const Operation& op) {
  Type t = op.result().type();
  if (!t.is_vector() || t.elements().size() != op.num_operands())
    bad(op, fmt::format("expected a list type of {} items, got {}", op.num_operands(), t.str()));
  for (size_t i = 0; i < op.num_operands(); ++i)
    if (op.operand(i) && op.operand(i).type() != t.elements()[i])
      bad(op, fmt::format("expected item {} of type {}, got {}", i, t.elements()[i].str(), op.operand(i).type().str()));
}

void verify_split(const Operation& op) {
  Type t = op.operand(0).type();
  if (!t.is_vector() || t.elements().size() != op.num_results())
    bad(op, fmt::format("expected a list of {} items, got {}", op.num_results(), t.str()));
  for (size_t i = 0; i < op.num_results(); ++i)
    if (op.result(i).type() != t.elements()[i])
      bad(op,
          fmt::format("expected result {} of type {}, got {}", i, t.elements()[i].str(), op.result(i).type().str()));
}

bool fold_combine(Operation& op, std::vector<Value>& results) {
  if (op.num_operands() == 0 || !op.operand(0) || !op.operand(0).is_result()) return false;
  Operation* split = op.operand(0).defining_op();
  if (!split->is("builtin.split") || split->num_results() != op.num_operands()) return false;
  for (size_t i = 0; i < op.num_operands(); ++i)
    if (op.operand(i) != split->result(i)) return false;
  results.push_back(split->operand(0));
  return true;
}

Operation* combined(Value list) {
  Operation* op = list && list.is_result() ? list.defining_op() : nullptr;
  return op && op->is("builtin.combine") ? op : nullptr;
}

bool fold_split(Operation& op, std::vector<Value>& results) {
  Operation* combine = combined(op.operand(0));
  if (!combine) return false;
  results = combine->operands();
  return true;
}

bool fold_slice(Operation& op, std::vector<Value>& results) {
  Operation* combine = combined(op.operand(0));
  if (!combine) return false;
  results.push_back(combine->operand(static_cast<size_t>(op.attr("index").as_int())));
  return true;
}

std::vector<Type> infer_constant(const OpDef& def, std::span<const Value>, const AttrMap& attrs) {
  Attribute v = attrs.get("value");
  check(v.kind() == AttrKind::kDense, ErrorKind::kType, "[{}] the type of a named constant must be given", def.name);
  const DenseData& d = v.as_dense();
  return {Type::tensor(d.dtype, Shape(d.shape.begin(), d.shape.end()))};
}

std::vector<Type> infer_data(const OpDef& def, std::span<const Value>, const AttrMap& attrs) {
  Attribute shape = attrs.get("shape"), dtype = attrs.get("dtype");
  check(shape.kind() == AttrKind::kIntArray && dtype.kind() == AttrKind::kDType, ErrorKind::kType,
        "[{}] expected attributes \"shape\" and \"dtype\"", def.name);
  return {Type::tensor(dtype.as_dtype(), shape.as_ints())};
}

std::vector<Type> infer_same(const OpDef& def, std::span<const Value> operands, const AttrMap&) {
  check(operands.size() == 1 && operands[0], ErrorKind::kType, "[{}] expected one operand", def.name);
  return {operands[0].type()};
}

std::vector<Type> infer_none(const OpDef&, std::span<const Value>, const AttrMap&) { return {}; }

std::vector<Type> infer_stack(const OpDef&, std::span<const Value>, const AttrMap&) {
  return {Type::marker(TypeKind::kStack), Type::marker(TypeKind::kInlet), Type::marker(TypeKind::kOutlet)};
}

std::vector<Type> infer_has_elements(const OpDef&, std::span<const Value>, const AttrMap&) {
  return {Type::tensor(DType::kBool, Shape{1})};
}

// Short forms for the tables below.
using Kinds = std::vector<AttrKind>;
OperandDef operand(const char* name) { return {name, false, false, false, -1}; }
OperandDef list(const char* name) { return {name, false, true, false, -1}; }
OperandDef many(const char* name) { return {name, true, false, true, -1}; }
AttrDef attr(const char* name, Kinds kinds) { return {name, true, std::move(kinds), -1, {}}; }
AttrDef maybe(const char* name, Kinds kinds) { return {name, false, std::move(kinds), -1, {}}; }
ResultDef result(const char* name) { return {name, false, false, false}; }
ResultDef list_result(const char* name) { return {name, false, true, false}; }
ResultDef many_results(const char* name) { return {name, true, false, true}; }

OpDef make(const char* name, std::vector<OperandDef> operands, std::vector<AttrDef> attrs,
           std::vector<ResultDef> results, uint64_t traits = 0) {
  OpDef d;
  d.name = name;
  d.dialect = d.name.substr(0, d.name.find('.'));
  d.operands = std::move(operands);
  d.attrs = std::move(attrs);
  d.results = std::move(results);
  d.traits = traits;
  return d;
}
OpDef with(OpDef d, InferTypesFn infer, VerifyFn verify = nullptr, FoldFn fold = nullptr) {
  d.infer = infer;
  d.verify = verify;
  d.fold = fold;
  return d;
}
OpDef regions(OpDef d, int min, int max, VerifyFn verify = nullptr) {
  d.min_regions = min;
  d.max_regions = max;
  d.verify = verify;
  return d;
}

const Kinds kStr = {AttrKind::kString};
const Kinds kAnyInt = {AttrKind::kInt32, AttrKind::kInt64};

}  // namespace

std::vector<OpDef> builtin_dialects() {
  std::vector<OpDef> r;
  // builtin
  r.push_back(regions(make("builtin.module", {}, {}, {}, kIsolated), 1, 1));
  r.push_back(regions(make("builtin.group", {many("inputs")}, {}, {many_results("outs")}), 1, 1));
  r.push_back(make("builtin.parameter", {}, {attr("parameter_name", kStr)}, {result("out")}, kGraphInput));
  r.push_back(with(make("builtin.set_parameter", {operand("parameter")}, {attr("parameter_name", kStr)}, {},
                        uint64_t{kGraphOutput} | kSideEffect),
                   infer_none));
  r.push_back(
      with(make("builtin.shadow_output", {operand("x")}, {attr("output_name", kStr)}, {}, kGraphOutput), infer_none));
  r.push_back(with(make("builtin.combine", {many("inputs")}, {}, {list_result("out")}), infer_combine, verify_combine,
                   fold_combine));
  r.push_back(
      with(make("builtin.split", {list("x")}, {}, {many_results("outs")}), infer_split, verify_split, fold_split));
  r.push_back(with(make("builtin.slice", {list("x")}, {attr("index", kAnyInt)}, {result("out")}), infer_slice, nullptr,
                   fold_slice));
  r.push_back(
      with(make("builtin.constant", {}, {attr("value", {AttrKind::kDense, AttrKind::kString, AttrKind::kSymbol})},
                {result("out")}, kConstantLike),
           infer_constant));
  r.push_back(
      with(make("builtin.barrier", {operand("x")}, {}, {result("out")}, uint64_t{kIdentity} | kBarrier), infer_same));
  // What follows from weights alone: computed at the first run, and again when an input was changed.
  r.push_back(regions(make("builtin.hold", {many("inputs")}, {}, {many_results("outs")}), 1, 1));
  // cf
  r.push_back(with(make("cf.yield", {many("values")}, {}, {}, kTerminator), infer_none));
  r.push_back(with(make("cf.stack_create", {}, {}, {result("stack"), result("inlet"), result("outlet")}, kSideEffect),
                   infer_stack));
  // The same items once more, to be popped where the first ones stay.
  r.push_back(with(
      make("cf.stack_copy", {operand("outlet")}, {}, {result("stack"), result("inlet"), result("outlet")}, kSideEffect),
      infer_stack));
  r.push_back(with(make("cf.tuple_push", {operand("inlet"), many("values")}, {}, {}, kSideEffect), infer_none));
  r.push_back(make("cf.tuple_pop", {operand("outlet")}, {}, {many_results("values")}, kSideEffect));
  for (OpDef& d : custom_gradient_ops()) r.push_back(std::move(d));
  // pd_op: programs' edges and control flow
  r.push_back(with(make("pd_op.data", {},
                        {attr("name", kStr), attr("shape", {AttrKind::kIntArray}), attr("dtype", {AttrKind::kDType}),
                         attr("place", {AttrKind::kPlace})},
                        {result("out")}, kGraphInput),
                   infer_data));
  r.push_back(make("pd_op.feed", {}, {attr("name", kStr), attr("col", kAnyInt)}, {result("out")}, kGraphInput));
  r.push_back(with(
      make("pd_op.fetch", {operand("x")}, {attr("name", kStr), attr("col", kAnyInt)}, {result("out")}, kGraphOutput),
      infer_same));
  r.push_back(
      with(make("pd_op.shadow_feed", {operand("x")}, {maybe("dst_place_type", kAnyInt)}, {result("out")}, kIdentity),
           infer_same));
  r.push_back(regions(make("pd_op.if", {operand("cond")}, {}, {many_results("outs")}, kControlFlow), 2, 2, verify_if));
  r.push_back(regions(make("pd_op.while", {operand("cond"), many("inputs")}, {}, {many_results("outs")}, kControlFlow),
                      1, 1, verify_while));
  r.push_back(
      with(make("pd_op.has_elements", {operand("input")}, {}, {result("out")}, kSideEffect), infer_has_elements));
  // cinn_op, dist_op
  r.push_back(regions(make("cinn_op.group", {many("inputs")}, {}, {many_results("outs")}), 1, 1));
  r.push_back(make("dist_op.shard_tensor", {operand("input")}, {maybe("tensor_dist_attr", {AttrKind::kDist})},
                   {result("out")}));
  r.push_back(
      make("dist_op.reshard", {operand("input")}, {maybe("dst", {AttrKind::kDist})}, {result("out")}, kCollective));
  r.push_back(make("dist_op.dtensor_from_local", {operand("input")}, {maybe("tensor_dist_attr", {AttrKind::kDist})},
                   {result("out")}));
  r.push_back(make("dist_op.dtensor_to_local", {operand("input")}, {}, {result("out")}));
  return r;
}

}  // namespace paddle::pir
