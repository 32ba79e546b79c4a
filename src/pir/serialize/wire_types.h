// Which attributes Paddle's files hold as 64-bit integers: our records say only "int".
#pragma once
#include <string_view>

#include "pir/op_def.h"

namespace paddle::pir {

// The attribute in the form that Paddle's operator of this name expects.
Attribute to_wire(std::string_view op, const AttrDef* def, std::string_view name, const Attribute& value);

}  // namespace paddle::pir
