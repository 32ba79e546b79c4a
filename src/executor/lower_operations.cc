// Instructions of operations: structure, lists, compiled groups.
#include "base/error.h"
#include "executor/lowering.h"
#include "phi/kernels/registry.h"
#include "pir/constant.h"
#include "pir/effects.h"

namespace paddle::executor {

using pir::Block;
using pir::Operation;
using pir::Value;

void Lowering::lower(Operation& op, Instruction& i, std::unordered_map<Value, const Operation*>& last) {
  if (!op.is("cinn_op.group"))
    for (Value v : op.operands()) i.operands.push_back(v ? slot_of(v) : kNone);
  for (Value v : op.results_vector()) {
    i.results.push_back(v.type() ? slot_of(v) : kNone);
    i.result_lists.push_back(v.type() && is_list(v.type()));
    bind_shape(v, i.binds);
  }
  if (op.is("builtin.combine"))
    i.kind = Kind::kCombine;
  else if (op.is("builtin.split"))
    i.kind = Kind::kSplit;
  else if (op.is("builtin.slice"))
    i.kind = Kind::kListItem, i.number = op.attr("index").as_int();
  else if (op.is("builtin.constant"))
    i.kind = Kind::kConstant, i.constant = at_place(pir::constant_tensor(op, e_.program_));
  else if (pir::is_identity(op))
    i.kind = Kind::kAlias;
  else if (op.is("pd_op.if"))
    branch(op, i);
  else if (op.is("pd_op.while"))
    loop(op, i);
  else if (op.is("builtin.hold"))
    hold(op, i);
  else if (op.is("cinn_op.group"))
    group(op, i);
  else if (op.is("cf.array_create"))
    i.kind = Kind::kArrayCreate;
  else if (op.is("cf.array_write"))
    i.kind = Kind::kArrayWrite;
  else if (op.is("cf.array_read"))
    i.kind = Kind::kArrayRead;
  else if (op.is("cf.array_length"))
    i.kind = Kind::kArrayLength;
  else if (op.is("cf.array_pop"))
    i.kind = Kind::kArrayPop;
  else if (op.is("cf.array_stack"))
    i.kind = Kind::kArrayStack, i.number = op.attr("axis").as_int();
  else if (op.is("cf.array_concat"))
    i.kind = Kind::kArrayConcat, i.number = op.attr("axis").as_int();
  else if (op.is("cf.array_zeros_like"))
    i.kind = Kind::kArrayZerosLike;
  else if (op.is("cf.array_add"))
    i.kind = Kind::kArrayAdd;
  else if (op.is("cf.array_add_at"))
    i.kind = Kind::kArrayAddAt;
  else if (op.is("cf.array_insert"))
    i.kind = Kind::kArrayInsert;
  else if (op.is("cf.array_unwrite"))
    i.kind = Kind::kArrayUnwrite;
  else if (op.is("cf.array_unstack"))
    i.kind = Kind::kArrayUnstack, i.number = op.attr("axis").as_int();
  else if (op.is("cf.array_split"))
    i.kind = Kind::kArraySplit, i.number = op.attr("axis").as_int();
  else if (op.is("cf.stack_create"))
    i.kind = Kind::kStackCreate, stack(op, i);
  else if (op.is("cf.stack_copy"))
    i.kind = Kind::kStackCopy, stack(op, i);
  else if (op.is("cf.tuple_push"))
    i.kind = Kind::kPush;
  else if (op.is("cf.tuple_pop"))
    i.kind = Kind::kPop;
  else if (op.is("pd_op.has_elements"))
    i.kind = Kind::kHasElements;
  else if (op.is("cf.assert"))
    i.kind = Kind::kAssert, i.message = message_of(op);
  else if (op.is("cf.print"))
    i.kind = Kind::kPrint, i.message = message_of(op);
  else if (op.is("cf.host_call"))
    i.kind = Kind::kHostCall;
  else if (op.info()) {
    kernel(op, i, last);
  } else {
    fail(ErrorKind::kNotImplemented, "[{}] can't be run", op.name());
  }
  if (i.kind != Kind::kKernel && i.kind != Kind::kGroup) list_flags(op, i);
  if (!vouched(i))
    for (size_t k = 0; k < op.num_results(); ++k)
      if (i.results[k] != kNone && !op.result(k).use_empty())
        expect_type(op.result(k), fmt::format("result {}", k), i.checks);
}

Tensor Lowering::at_place(const Tensor& t) const {
  if (t.place() == e_.place_) return t;
  Tensor out = Tensor::empty(t.shape(), t.dtype(), e_.place_);
  kernels::copy_elements(out, t);
  return out;
}

void Lowering::list_flags(Operation& op, Instruction& i) {
  // For combine and its like an operand that is a list itself would be an array of arrays: not supported by the IR
  // either.
  for (size_t k = 0; k < op.num_operands(); ++k)
    if (op.operand(k) && is_list(op.operand(k).type()))
      i.patches.push_back({Patch::kTensors, static_cast<uint8_t>(k), slot_of(op.operand(k)), false});
}

void Lowering::stack(Operation& op, Instruction& i) {
  // Stack, inlet and outlet share one list slot.
  uint32_t s = slot_of(op.result(0));
  slots_[op.result(1)] = s;
  slots_[op.result(2)] = s;
  i.results = {s, s, s};
}

void Lowering::branch(Operation& op, Instruction& i) {
  i.kind = Kind::kIf;
  auto sub = [&](pir::Region& r) {
    auto* saved = last_;
    Code c = r.empty() ? Code() : block(r.front(), false);
    last_ = saved;
    return std::make_unique<Code>(std::move(c));
  };
  i.body = sub(op.region(0));
  i.otherwise = sub(op.region(1));
}

void Lowering::loop(Operation& op, Instruction& i) {
  i.kind = Kind::kWhile;
  auto* saved = last_;
  i.body = std::make_unique<Code>(block(op.region(0).front(), false));
  last_ = saved;
}

void Lowering::hold(Operation& op, Instruction& i) {
  i.kind = Kind::kHold;
  i.held = std::make_shared<HeldResults>();
  auto* saved = last_;
  i.body = std::make_unique<Code>(block(op.region(0).front(), false));
  last_ = saved;
}

void Lowering::group(Operation& op, Instruction& i) {
  i.kind = Kind::kGroup;
  i.group = std::move(groups_.at(&op));
  i.operands.clear();
  for (Value v : i.group.inputs) i.operands.push_back(slot_of(v));
  i.static_metas = true;
  for (Value v : op.results_vector()) {
    i.static_metas &= is_static(view(v.shape()));
    i.metas.push_back({v.dtype(), v.shape()});
  }
  i.prepared = true;
  for (const TensorMeta& m : i.metas) i.prepared &= follows_from_inputs(m.shape);
  i.prepared &= follows_from_inputs(Shape(i.group.symbols.begin(), i.group.symbols.end()));
  for (Operation& inner : op.region(0).front()) note_agreements(inner, i);
}

void Lowering::note_agreements(Operation& op, Instruction& i) const {
  if (!op.info() || !op.info()->has(kElementwise | kBroadcast) || op.num_results() != 1) return;
  if (!op.result().type().has_shape()) return;
  const auto result = op.result().shape();
  for (Value v : op.operands()) {
    if (!v || is_list(v.type()) || !v.type().has_shape() || v.shape().size() > result.size()) continue;
    const auto shape = v.shape();
    const size_t before = result.size() - shape.size();
    for (size_t k = 0; k < shape.size(); ++k) {
      const Dim d = shape[k], r = result[before + k];
      if (d == r || d == Dim(1)) continue;
      i.agreements.push_back({d, r, &op});
      i.prepared &= follows_from_inputs({d, r});
    }
  }
}

}  // namespace paddle::executor
