// Rules of ops/manipulation.yaml: operators that make tensors, in the order of the records.
#include <cmath>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules_manipulation.h"

namespace paddle::rules {

Tensor full_like::decompose(const Args& a) {
  const DType dtype = a.dtype == DType::kUndefined ? a.x.dtype() : a.dtype;
  if (a.value.kind() == Scalar::Kind::kTensor) return ops::full_with_tensor(a.value.tensor(), a.x.shape(), dtype);
  return ops::full(a.x.shape(), a.value, dtype, a.place);
}

void full_int_array::shape(const Args& a, TensorMeta& out) { out.shape = {Dim(a.value.size())}; }

void assign_value::shape(const Args& a, TensorMeta& out) {
  Dim n = 1;
  for (int64_t d : a.shape) {
    check(d >= 0, ErrorKind::kValue, "[assign_value] expected sizes >= 0, got {}", d);
    out.shape.push_back(d);
    n = n * Dim(d);
  }
  infer::check_size("assign_value", "values", n, a.values.size());
}

namespace {
bool valueless(const Scalar& s) { return s.kind() == Scalar::Kind::kTensor && !s.tensor().is_dense(); }
bool whole(const Scalar& s) {
  return s.kind() == Scalar::Kind::kInt || s.kind() == Scalar::Kind::kDim || s.kind() == Scalar::Kind::kBool ||
         (s.kind() == Scalar::Kind::kTensor && !is_inexact(s.tensor().dtype()));
}
// An end of an interval: two of them must have a difference.
Dim bound_of(std::string_view op, const Scalar& s) {
  if (s.kind() == Scalar::Kind::kDim) return s.dim();
  const int64_t v = s.to_int(), most = int64_t{1} << 60;
  check(v >= -most && v <= most, ErrorKind::kValue, "[{}] expected bounds between -2**60 and 2**60, got {}", op, v);
  return Dim(v);
}
Dim dim_of(std::string_view op, const Scalar& s) {
  return s.kind() == Scalar::Kind::kDim ? s.dim() : Dim(infer::extent_of(op, "sizes and bounds", s.to_int()));
}
}  // namespace

void arange::shape(const Args& a, TensorMeta& out) {
  if (valueless(a.start) || valueless(a.end) || valueless(a.step)) {
    out.shape = {new_symbol()};
    return;
  }
  if (whole(a.start) && whole(a.end) && whole(a.step)) {
    const Dim start = bound_of("arange", a.start), end = bound_of("arange", a.end);
    const int64_t step = guard_int(bound_of("arange", a.step));
    check(step != 0, ErrorKind::kValue, "[arange] expected a step other than 0, got 0");
    const Dim span = step > 0 ? end - start : start - end;
    out.shape = {paddle::less(0, span) ? ceil_div(span, step > 0 ? step : -step) : Dim(0)};
    return;
  }
  const double start = a.start.to_double(), end = a.end.to_double(), step = a.step.to_double();
  check(step != 0, ErrorKind::kValue, "[arange] expected a step other than 0, got 0");
  const double n = std::ceil((end - start) / step);
  check(std::fabs(n) < 0x1p62, ErrorKind::kValue, "[arange] expected finite start, end and step, got {}, {}, {}", start,
        end, step);
  out.shape = {Dim(n > 0 ? static_cast<int64_t>(n) : int64_t(0))};
}

void linspace::shape(const Args& a, TensorMeta& out) {
  if (valueless(a.number)) {
    out.shape = {new_symbol()};
    return;
  }
  const Dim n = dim_of("linspace", a.number);
  check(!paddle::less(n, 0), ErrorKind::kValue, "[linspace] expected number >= 0, got {}", n.str());
  out.shape = {n};
}

void eye::shape(const Args& a, TensorMeta& out) {
  for (const Scalar* s : {&a.num_rows, &a.num_columns}) {
    const Dim n = valueless(*s) ? new_symbol() : dim_of("eye", *s);
    check(n.is_symbolic() || n.value() >= 0, ErrorKind::kValue, "[eye] expected sizes >= 0, got {}", n.str());
    out.shape.push_back(n);
  }
}

Tensor fill::decompose(const Args& a) { return ops::full(a.x.shape(), a.value, a.x.dtype()); }

void shape64::shape(const Args& a, TensorMeta& out) { out.shape = {Dim(a.input.rank())}; }

}  // namespace paddle::rules

// The operator `shape` has a rule named shape, so its namespace is opened apart.
namespace paddle::rules::shape {
void shape(const Args& a, TensorMeta& out) { out.shape = {Dim(a.input.rank())}; }
}  // namespace paddle::rules::shape
