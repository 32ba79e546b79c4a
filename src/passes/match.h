// Small questions that several passes ask of operations.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

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
