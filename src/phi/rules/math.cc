// Rules of ops/math.yaml that a scalar expression can't say, in the order of the records.
#include "phi/rules_math.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"

namespace paddle::rules {

void conj::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::conj(v.out_grad);
}

void real::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::cast(v.out_grad, v.x.dtype);
}

void cast::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = compose::cast_to(v.out_grad, v.x.dtype);
}

}  // namespace paddle::rules
