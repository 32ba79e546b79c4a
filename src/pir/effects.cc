#include "pir/effects.h"

#include <algorithm>

namespace paddle::pir {
namespace {

bool free_of(const Operation& op, uint64_t traits) {
  if (op.has(traits)) return false;
  bool free = true;
  const_cast<Operation&>(op).walk([&](Operation& inner) {
    // Inside, yields end blocks and that is all they do.
    if (&inner != &op && inner.has(traits & ~uint64_t{kTerminator})) free = false;
  });
  return free;
}

void symbols_in(const Shape& shape, std::vector<Dim>& out) {
  for (Dim d : shape)
    if (d.is_symbolic()) symbols_of(d, out);
}
void symbols_in(const Attribute& a, std::vector<Dim>& out) {
  if (a.kind() == AttrKind::kScalar) return symbols_in(a.inner(), out);
  if (a.kind() == AttrKind::kDim && a.as_dim().is_symbolic()) symbols_of(a.as_dim(), out);
  if (a.kind() == AttrKind::kIntArray) symbols_in(a.as_ints(), out);
}
void symbols_in(Type t, std::vector<Dim>& out) {
  if (!t) return;
  if (t.is_vector()) {
    for (Type e : t.elements()) symbols_in(e, out);
  } else if (t.has_shape()) {
    symbols_in(t.shape(), out);
  }
}
void symbols_in(Value v, std::vector<Dim>& out) {
  if (v) symbols_in(v.type(), out);
}

}  // namespace

bool is_removable(const Operation& op) { return op.num_regions() ? free_of(op, kKeep) : !op.has(kKeep); }
bool is_identity(const Operation& op) {
  if (op.num_operands() != 1 || op.num_results() != 1 || !op.operand(0) || op.num_regions()) return false;
  if (op.operand(0).type() != op.result().type()) return false;
  if (op.has(kIdentity)) return true;
  const scalar::Program* e = op.info() && !op.has(kKeep) ? op.info()->expr : nullptr;
  return e && e->instrs.empty() && e->num_inputs == 1 && e->outputs.size() == 1;
}

void sizes_in(const Operation& op, std::vector<Dim>& out) {
  for (const NamedAttr& a : op.attrs()) symbols_in(a.value, out);
  for (Value v : op.results_vector()) symbols_in(v, out);
}

std::vector<Dim> sizes_told_by(const Operation& op) {
  std::vector<Dim> told, known;
  for (Value v : op.results_vector()) symbols_in(v, told);
  if (told.empty()) return told;
  for (size_t i = 0; i < op.num_operands(); ++i) symbols_in(op.operand(i), known);
  std::erase_if(told, [&](Dim d) { return std::find(known.begin(), known.end(), d) != known.end(); });
  return told;
}

bool is_mergeable(const Operation& op) { return op.num_regions() ? free_of(op, kDistinct) : !op.has(kDistinct); }

}  // namespace paddle::pir
