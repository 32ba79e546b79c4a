// Widths of numbers in Paddle's files: our attributes are as wide as their values need, pd_op's as wide as its
// signatures say.
#pragma once
#include "pir/op_def.h"

namespace paddle::pir {

// Who knows the records' `wide` installs it here, as set_record_source.
void set_widths(bool (*is_wide)(const OpInfo& op, size_t arg));

// The attribute in the form that Paddle's operator expects.
Attribute to_wire(const OpDef& op, const AttrDef* def, const Attribute& value);

}  // namespace paddle::pir
