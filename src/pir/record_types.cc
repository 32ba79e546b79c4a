// Result types by the shape rule of the record.
#include "base/error.h"
#include "pir/op_args.h"

namespace paddle::pir {
namespace {

OutSlot meta_of(Type t) {
  OutSlot s;
  if (t.is_vector()) {
    for (Type e : t.elements()) s.list.push_back(meta_of(e).tensor);
  } else if (t.has_shape()) {
    s.tensor = Tensor::meta(view(t.shape()), t.dtype(), Place::cpu());
  }
  return s;
}

Type type_of(const TensorMeta& m) { return m.dtype == DType::kUndefined ? Type() : Type::tensor(m.dtype, m.shape); }

}  // namespace

std::vector<Type> infer_record_types(const OpDef& def, std::span<const Value> operands, const AttrMap& attrs) {
  const OpInfo& info = *def.info;
  if (!info.meta) throw InternalError("operator " + def.name + " has no shape rule");
  for (size_t i = 0; i < def.operands.size(); ++i) {
    const OperandDef& o = def.operands[i];
    check(o.optional || (i < operands.size() && operands[i]), ErrorKind::kType, "[{}] operand \"{}\" is missing",
          def.short_name(), o.name);
  }
  BoundArgs bound(def, operands, attrs, [](Value v) { return meta_of(v.type()); });
  OpCall call(info, bound.args());
  info.meta(call);
  std::vector<Type> types;
  for (size_t i = 0; i < info.outs.size(); ++i) {
    if (info.outs[i].kind == ArgKind::kTensors) {
      std::vector<Type> items;
      for (const TensorMeta& m : call.list_metas) items.push_back(type_of(m));
      types.push_back(Type::vector(items));
    } else {
      types.push_back(type_of(call.meta(i)));
    }
  }
  return types;
}

}  // namespace paddle::pir
