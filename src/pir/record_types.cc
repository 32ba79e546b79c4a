#include "pir/record_types.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "pir/op_args.h"
#include "tensor/dim_expr.h"

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

template <class F>
void each_meta(OpCall& call, F&& f) {
  for (size_t i = 0; i < call.num_outs(); ++i)
    if (call.op.outs[i].kind != ArgKind::kTensors) f(call.meta(i));
  for (TensorMeta& m : call.list_metas) f(m);
}

// Sizes that follow from a tensor's value and that no result has by itself get symbols of their own. Of a tensor that
// is tiled v times, 4 * v long, the program could say how long it is, but not what v is.
void give_own_symbols(OpCall& call, int64_t first_new) {
  std::set<int64_t> told;
  each_meta(call, [&](const TensorMeta& m) {
    for (Dim d : m.shape)
      if (d.is_symbolic() && node_of(d).op == DimOp::kSymbol) told.insert(node_of(d).value);
  });
  auto unclear = [&](Dim d) {
    std::vector<Dim> symbols;
    if (d.is_symbolic()) symbols_of(d, symbols);
    return std::any_of(symbols.begin(), symbols.end(), [&](Dim s) {
      const int64_t id = node_of(s).value;
      return id >= first_new && !told.count(id);
    });
  };
  each_meta(call, [&](TensorMeta& m) {
    for (Dim& d : m.shape)
      if (unclear(d)) d = new_symbol();
  });
}

}  // namespace

void infer_metas(OpCall& call) {
  const int64_t first_new = dim_detail::symbols_made();
  call.op.meta(call);
  if (dim_detail::symbols_made() != first_new) give_own_symbols(call, first_new);
}

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
  infer_metas(call);
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
