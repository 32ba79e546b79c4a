// Rows for the generic argument parser: for each operator its Python names. Argument names, kinds, order and defaults
// are those of OpInfo::args; an argument with a default may be omitted or None. `name=` is accepted and ignored, `out=`
// writes the result into a tensor. The table itself is generated: bindings/py_ops.inc.
#pragma once
#include <cstdint>
#include <span>

namespace paddle {

struct PyAlias {
  const char* name;  // another keyword that means
  uint8_t arg;       // this argument
};

struct PyOp {
  uint16_t op;         // id in all_ops()
  const char* c_name;  // name in paddle._C_ops
  std::span<const PyAlias> aliases;
  std::span<const char* const> names;  // public names exported as this entry point: "paddle.tanh", "paddle.Tensor.tanh"
  std::span<const char* const> inplace_names;  // the same for the in-place form: "paddle.tanh_"
  bool owns;                                   // what it returns to Python shares no memory with an argument
};

}  // namespace paddle
