// Vector-Jacobian products of operations, through the records' vjps.
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "pir/op_args.h"

namespace paddle::dispatch {
namespace {

OutSlot slot_of(pir::Value v, const TensorOfValue& tensor_of) {
  OutSlot s;
  if (!v || !v.type()) return s;
  if (!v.type().is_vector()) {
    s.tensor = tensor_of(v);
    return s;
  }
  // A list: its items are the operands of the combine or the results of the split next to it.
  if (v.is_result() && v.defining_op()->is("builtin.combine")) {
    for (pir::Value item : v.defining_op()->operands()) s.list.push_back(item ? tensor_of(item) : Tensor());
    return s;
  }
  for (const pir::OpOperand& use : v.uses()) {
    if (!use.owner()->is("builtin.split")) continue;
    for (pir::Value item : use.owner()->results_vector()) s.list.push_back(tensor_of(item));
    return s;
  }
  for (pir::Type t : v.type().elements()) s.list.push_back(Tensor::meta(view(t.shape()), t.dtype(), Place::cpu()));
  return s;
}

Arg arg_of(const OutSlot& s, bool list) {
  if (list) return s.list.empty() ? Arg() : Arg(s.list);
  return Arg(s.tensor);
}

}  // namespace

std::vector<OutSlot> call_vjp(const pir::Operation& op, const TensorOfValue& tensor_of,
                              std::span<const OutSlot> out_grads, const std::function<bool(size_t)>& needs) {
  const OpInfo& info = *op.info();
  const pir::OpDef& def = op.def();
  pir::BoundArgs bound(op, [&](pir::Value v) { return slot_of(v, tensor_of); });
  std::vector<OutSlot> outs;
  std::vector<Arg> out_args, grad_args;
  outs.reserve(info.outs.size());
  for (size_t i = 0; i < info.outs.size(); ++i) {
    bool list = info.outs[i].kind == ArgKind::kTensors;
    outs.push_back(info.outs[i].saved == SaveKind::kNo ? OutSlot() : slot_of(op.result(i), tensor_of));
    out_args.push_back(arg_of(outs.back(), list));
    grad_args.push_back(arg_of(out_grads[i], list));
  }
  VjpCall v{info,
            bound.args(),
            out_args,
            grad_args,
            std::vector<uint8_t>(info.args.size()),
            std::vector<OutSlot>(info.args.size())};
  for (size_t i = 0; i < def.operands.size(); ++i)
    if (def.operands[i].arg >= 0 && is_tensor_kind(info.args[static_cast<size_t>(def.operands[i].arg)].kind) &&
        op.operand(i))
      v.needs[static_cast<size_t>(def.operands[i].arg)] = needs(i);
  info.vjp(v);
  std::vector<OutSlot> result(op.num_operands());
  for (size_t i = 0; i < def.operands.size(); ++i)
    if (def.operands[i].arg >= 0) result[i] = std::move(v.in_grads[static_cast<size_t>(def.operands[i].arg)]);
  return result;
}

Tensor transpose_of_view(Trace& trace, const TracedPayload& view, const Tensor& base, const Tensor& value) {
  GradMode mode(state().grad_enabled);
  const pir::Operation& op = *view.view_op;
  std::vector<OutSlot> grads(op.num_results());
  // The view's own dtype is kept: a mask of another type goes through the same index map.
  OutSlot& given = grads[view.view_result];
  if (view.view_item < 0) {
    given.tensor = value;
  } else {
    given.list.resize(op.result(view.view_result).type().elements().size());
    given.list[static_cast<size_t>(view.view_item)] = value;
  }
  auto tensor_of = [&](pir::Value v) { return v == op.operand(view.view_operand) ? base : trace.tensor_of(v, true); };
  return std::move(
      call_vjp(op, tensor_of, grads, [&](size_t i) { return i == view.view_operand; })[view.view_operand].tensor);
}

}  // namespace paddle::dispatch
