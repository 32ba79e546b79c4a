// Rules of ops/manipulation.yaml, in the order of the records.
#include "phi/rules_manipulation.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"

namespace paddle::rules {

void reshape::shape(const Args& a, TensorMeta& out) {
  const Shape& from = a.x.shape();
  Shape to = infer::dims_of("reshape", a.shape);
  int64_t rest = -1;
  Dim known = 1;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == Dim(-1)) {
      check(rest < 0, ErrorKind::kValue, "[reshape] expected one -1 in shape, got {}", to_string(to));
      rest = static_cast<int64_t>(i);
      continue;
    }
    if (to[i] == Dim(0)) {
      check(i < from.size(), ErrorKind::kValue, "[reshape] expected 0 in shape only at axes of x {}, got {}",
            to_string(from), to_string(to));
      to[i] = from[i];
    }
    if (to[i].is_const() && to[i].value() < 0)
      fail(ErrorKind::kValue, "[reshape] expected sizes >= -1, got {}", to_string(to));
    known = known * to[i];
  }
  const Dim total = paddle::numel(from);
  bool fits = true;
  if (rest >= 0) {
    if (known == Dim(0)) {
      fits = total == Dim(0);
      to[rest] = 0;
    } else {
      fits = paddle::equal(paddle::mod(total, known), Dim(0));
      if (fits) to[rest] = paddle::floor_div(total, known);
    }
  } else {
    fits = paddle::equal(known, total);
  }
  check(fits, ErrorKind::kValue, "[reshape] expected a shape for {} elements (x is {}), got {}", total.str(),
        to_string(from), a.shape.str());
  out.shape = to;
}

void reshape::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::reshape(v.out_grad, v.x.shape);
}

void expand::shape(const Args& a, TensorMeta& out) {
  const Shape& from = a.x.shape();
  Shape to = infer::dims_of("expand", a.shape);
  check(to.size() >= from.size(), ErrorKind::kValue, "[expand] expected shape with at least the {} axes of x {}, got {}",
        from.size(), to_string(from), to_string(to));
  const size_t extra = to.size() - from.size();
  for (size_t i = 0; i < to.size(); ++i) {
    const Dim have = i < extra ? Dim(1) : from[i - extra];
    if (to[i] == Dim(-1)) {
      check(i >= extra, ErrorKind::kValue, "[expand] expected -1 only at axes of x {}, got {}", to_string(from),
            to_string(to));
      to[i] = have;
    }
    check(to[i].is_symbolic() || to[i].value() >= 0, ErrorKind::kValue, "[expand] expected sizes >= -1, got {}",
          to_string(to));
    check(have == Dim(1) || paddle::equal(have, to[i]), ErrorKind::kValue,
          "[expand] expected a shape that x {} broadcasts to, got {}", to_string(from), to_string(to));
  }
  out.shape = to;
}

void expand::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = compose::unbroadcast(v.out_grad, v.x);
}

}  // namespace paddle::rules
