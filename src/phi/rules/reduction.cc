// Rules of ops/reduction.yaml, in the order of the records.
#include "phi/rules_reduction.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"

namespace paddle::rules {

namespace {
// The gradient of a reduction, spread over the reduced axes again.
Tensor spread(std::string_view op, const Tensor& g, const Ints& axis, std::span<const Dim> shape) {
  return ops::expand(compose::keep_dims(g, infer::numbers_of(op, axis), shape), Shape(shape));
}
}  // namespace

void sum::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = compose::cast_to(spread("sum", v.out_grad, v.axis, v.x.shape), v.x.dtype);
}

}  // namespace paddle::rules
