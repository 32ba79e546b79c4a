#include "pir/sizes.h"

namespace paddle::pir {
namespace {

Attribute with_sizes(const Attribute& a, const std::function<Dim(Dim)>& to) {
  if (a.kind() == AttrKind::kDim) return Attribute::dim(to(a.as_dim()));
  if (a.kind() == AttrKind::kScalar) return Attribute::scalar(with_sizes(a.inner(), to));
  if (a.kind() != AttrKind::kIntArray) return a;
  Shape s = a.as_ints();
  for (Dim& d : s) d = to(d);
  return Attribute::ints(view(s));
}

}  // namespace

void map_sizes(Operation& op, const std::function<Dim(Dim)>& to) {
  for (Value v : op.results_vector())
    if (v.type()) v.set_type(map_dims(v.type(), to));
  AttrMap attrs = op.attrs();
  for (const NamedAttr& a : op.attrs()) attrs.set(a.name, with_sizes(a.value, to));
  op.set_attrs(std::move(attrs));
}

}  // namespace paddle::pir
