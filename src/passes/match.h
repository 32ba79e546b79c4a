// Small questions that several passes ask of operations.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "api/pass_info.h"
#include "pir/op_args.h"
#include "pir/operation.h"

namespace paddle::passes {

// The operation of that name that makes v; null if another one does.
inline pir::Operation* made_by(pir::Value v, std::string_view name) {
  pir::Operation* op = v && v.is_result() ? v.defining_op() : nullptr;
  return op && op->is(name) ? op : nullptr;
}

// The one operation that reads v, in v's own block; null if there are several, or none.
inline pir::Operation* only_user(pir::Value v) {
  if (!v.has_one_use()) return nullptr;
  pir::Operation* user = v.users()[0];
  return user->block() == v.owner_block() ? user : nullptr;
}

inline bool static_shape(pir::Value v) { return v && v.type().is_tensor() && is_static(view(v.shape())); }

// Is v one number for each index along `axis` of a tensor of this rank: 1 along all other axes (leading ones may be
// absent)?
inline bool along_axis(pir::Value v, size_t axis, size_t rank, Dim size) {
  if (!static_shape(v) || v.shape().size() > rank) return false;
  const size_t lead = rank - v.shape().size();
  if (axis < lead) return false;
  for (size_t i = 0; i < v.shape().size(); ++i)
    if (v.shape()[i] != (lead + i == axis ? size : Dim(1))) return false;
  return true;
}

// Is it the operator whose `expr` is just this function of its tensors?
inline bool computes(const pir::Operation& op, scalar::Fn fn) {
  const scalar::Program* p = op.info() ? op.info()->expr : nullptr;
  if (!p || op.has(kReduction) || p->instrs.size() != 1 || p->num_params) return false;
  const scalar::Instr& only = p->instrs[0];
  return only.fn == fn && only.a == 0 && (p->num_inputs < 2 || only.b == 1);
}

// Does the record's `evaluation` hold: do outputs that are written in place stay as they were?
inline bool evaluates(const pir::Operation& op) {
  if (!op.info()) return false;
  bool holds = true;
  for (const FlagTerm& term : pass_info(*op.info()).evaluation) {
    holds = holds && op.attr(op.info()->args[term.arg].name).as_bool() == term.value;
    if (!term.last) continue;
    if (holds) return true;
    holds = true;
  }
  return false;
}

// The argument that names the layout, as the record's `layout` says; empty if it says nothing.
inline std::string_view layout_argument(const pir::Operation& op) {
  const int at = op.info() ? pass_info(*op.info()).layout : -1;
  return at < 0 ? std::string_view() : op.info()->args[static_cast<size_t>(at)].name;
}
inline std::string_view layout_of(const pir::Operation& op) {  // "NHWC"
  const std::string_view name = layout_argument(op);
  return name.empty() ? name : op.attr(name).as_string();
}
// Which axis of the result are channels: the layout's, else the last.
inline size_t channel_axis(const pir::Operation& op) {
  const std::string_view layout = layout_of(op);
  return !layout.empty() && layout.back() != 'C' ? 1 : op.result().shape().size() - 1;
}
// A matrix product of patches: with a filter [channels, ...], groups, strides, paddings and dilations.
inline bool is_convolution(const pir::Operation& op) { return op.has(kMatmulLike) && !layout_of(op).empty(); }

// An attribute, or an operand whose value is known, as integers.
inline std::optional<std::vector<int64_t>> known_ints(const pir::Operation& op, std::string_view name) {
  pir::Attribute a = op.attr(name);
  if (!a && op.def().operand_index(name) >= 0)
    if (pir::Value v = op.operand(name)) a = pir::known_value(v);
  if (!a) return {};
  if (a.kind() == pir::AttrKind::kScalar) a = a.inner();
  std::vector<int64_t> out;
  if (a.kind() != pir::AttrKind::kIntArray && a.kind() != pir::AttrKind::kArray) return {};
  for (Dim d : a.as_ints()) {
    if (!d.is_const()) return {};
    out.push_back(d.value());
  }
  return out;
}

}  // namespace paddle::passes
