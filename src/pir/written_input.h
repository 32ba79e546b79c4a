// On a builtin.shadow_output: the pd_op.data of that name is written with this result when the program is done.
#pragma once

namespace paddle::pir {

inline constexpr const char* kWritesInput = "writes_input";

}  // namespace paddle::pir
