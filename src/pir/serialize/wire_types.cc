#include "pir/serialize/wire_types.h"

#include "base/error.h"

namespace paddle::pir {
namespace {

struct Wide {
  std::string_view op, attr;
};
// From the signatures of Paddle's operators (int64_t and int64_t[] arguments).
constexpr Wide kWide[] = {
    {"all", "axis"},
    {"amax", "axis"},
    {"amin", "axis"},
    {"any", "axis"},
    {"as_strided", "dims"},
    {"as_strided", "offset"},
    {"as_strided", "stride"},
    {"embedding", "padding_idx"},
    {"embedding_grad", "padding_idx"},
    {"expand_as", "target_shape"},
    {"fft_c2c", "axes"},
    {"fft_c2r", "axes"},
    {"fft_c2r", "last_dim_size"},
    {"fft_r2c", "axes"},
    {"frobenius_norm", "axis"},
    {"full_int_array", "value"},
    {"kthvalue", "k"},
    {"mean", "axis"},
    {"pool2d", "paddings"},
    {"pool2d", "strides"},
    {"pool3d", "kernel_size"},
    {"pool3d", "paddings"},
    {"pool3d", "strides"},
    {"repeat_interleave", "output_size"},
    {"repeat_interleave_with_tensor_index", "output_size"},
    {"roll", "axis"},
    {"set_value", "axes"},
    {"set_value", "decrease_axes"},
    {"set_value", "none_axes"},
    {"set_value", "shape"},
    {"set_value", "steps"},
    {"set_value_", "axes"},
    {"set_value_", "decrease_axes"},
    {"set_value_", "none_axes"},
    {"set_value_with_tensor", "axes"},
    {"set_value_with_tensor", "decrease_axes"},
    {"set_value_with_tensor", "none_axes"},
    {"set_value_with_tensor_", "axes"},
    {"set_value_with_tensor_", "decrease_axes"},
    {"set_value_with_tensor_", "none_axes"},
    {"slice", "axes"},
    {"slice", "decrease_axis"},
    {"slice", "infer_flags"},
    {"std", "axis"},
    {"var", "axis"},
};

// The same for double arguments.
constexpr Wide kDouble[] = {
    {"leaky_relu", "negative_slope"},
    {"leaky_relu_grad", "negative_slope"},
    {"logit", "eps"},
    {"logit_grad", "eps"},
    {"pad3d", "pad_value"},
    {"softplus", "beta"},
    {"softplus", "threshold"},
    {"softplus_grad", "beta"},
    {"softplus_grad", "threshold"},
    {"std", "correction"},
    {"var", "correction"},
};

// float lists that Paddle holds as doubles: scales of the interpolations.
bool is_double_list(std::string_view op, std::string_view attr) { return attr == "scale" && op.ends_with("_interp"); }

bool listed(std::span<const Wide> table, std::string_view op, std::string_view attr) {
  for (const Wide& w : table)
    if (w.op == op && w.attr == attr) return true;
  return false;
}

}  // namespace

Attribute to_wire(std::string_view op, const AttrDef* def, std::string_view name, const Attribute& value) {
  if (is_double_list(op, name) && value.kind() == AttrKind::kArray) {
    std::vector<Attribute> items;
    for (const Attribute& a : value.items())
      items.push_back(a.kind() == AttrKind::kFloat ? Attribute::f64(a.as_double()) : a);
    return Attribute::array(items);
  }
  if (value.kind() == AttrKind::kFloat && listed(kDouble, op, name)) return Attribute::f64(value.as_double());
  bool wide = listed(kWide, op, name);
  if (wide && value.kind() == AttrKind::kInt32) return Attribute::i64(value.as_int());
  bool list = value.kind() == AttrKind::kIntArray && def && !def->kinds.empty() &&
              def->kinds.back() == AttrKind::kArray && wide;
  bool narrow_list = wide && value.kind() == AttrKind::kArray;
  if (!list && !narrow_list) return value;
  std::vector<Attribute> items;
  if (list) {
    for (Dim d : value.as_ints()) items.push_back(d.is_const() ? Attribute::i64(d.value()) : Attribute::dim(d));
  } else {
    for (const Attribute& a : value.items())
      items.push_back(a.kind() == AttrKind::kInt32 ? Attribute::i64(a.as_int()) : a);
  }
  return Attribute::array(items);
}

}  // namespace paddle::pir
