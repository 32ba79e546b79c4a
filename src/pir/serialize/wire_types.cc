#include "pir/serialize/wire_types.h"

#include <atomic>

namespace paddle::pir {
namespace {

std::atomic<bool (*)(const OpInfo&, size_t)> widths = nullptr;

Attribute number(const Attribute& a, bool wide) {
  if (a.kind() == AttrKind::kInt32 && wide) return Attribute::i64(a.as_int());
  if (a.kind() == AttrKind::kFloat && wide) return Attribute::f64(a.as_double());
  if (a.kind() == AttrKind::kDouble && !wide) return Attribute::f32(static_cast<float>(a.as_double()));
  return a;
}

}  // namespace

void set_widths(bool (*is_wide)(const OpInfo& op, size_t arg)) { widths.store(is_wide, std::memory_order_release); }

Attribute to_wire(const OpDef& op, const AttrDef* def, const Attribute& value) {
  auto* is_wide = widths.load(std::memory_order_acquire);
  if (!def || !op.info || def->arg < 0 || !is_wide) return value;
  const auto arg = static_cast<size_t>(def->arg);
  const ArgKind kind = op.info->args[arg].kind;
  const bool wide = is_wide(*op.info, arg);
  const bool real = kind == ArgKind::kFloat || kind == ArgKind::kOptFloat || kind == ArgKind::kFloatList;
  if (!wide && !real) return value;
  std::vector<Attribute> items;
  const bool list = value.kind() == AttrKind::kIntArray && !def->kinds.empty() && def->kinds.back() == AttrKind::kArray;
  if (list) {
    for (Dim d : value.as_ints()) items.push_back(d.is_const() ? Attribute::i64(d.value()) : Attribute::dim(d));
  } else if (value.kind() == AttrKind::kArray) {
    for (const Attribute& a : value.items()) items.push_back(number(a, wide));
  } else {
    return number(value, wide);
  }
  return Attribute::array(items);
}

}  // namespace paddle::pir
