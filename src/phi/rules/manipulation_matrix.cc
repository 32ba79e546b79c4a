// Rules of ops/manipulation.yaml: matrices and indicators, in the order of the records.
#include <algorithm>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules_manipulation.h"

namespace paddle::rules {

// -- matrices and indicators

void tril::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("tril", "x", a.x, 2, 64);
  out.shape = a.x.shape();
}

void tril::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::tril(v.out_grad, v.diagonal);
}

void triu::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("triu", "x", a.x, 2, 64);
  out.shape = a.x.shape();
}

void triu::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::triu(v.out_grad, v.diagonal);
}

void diag::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("diag", "x", a.x, 1, 2);
  const Dim off(std::abs(infer::extent_of("diag", "offset", a.offset)));
  if (a.x.rank() == 1) {
    out.shape = {a.x.dim(0) + off, a.x.dim(0) + off};
    return;
  }
  const Dim rows = a.x.dim(0) + Dim(std::min<int64_t>(a.offset, 0));
  const Dim columns = a.x.dim(1) - Dim(std::max<int64_t>(a.offset, 0));
  out.shape = {paddle::max(0, paddle::min(rows, columns))};
}

Tensor diag::decompose(const Args& a) {
  if (a.x.rank() == 2) return ops::assign(ops::diagonal(a.x, a.offset, 0, 1));
  Tensor square = ops::diag_embed(a.x, a.offset, 0, 1);
  if (a.padding_value == 0) return square;
  Tensor on = ops::diag_embed(ops::full(a.x.shape(), true, DType::kBool), a.offset, 0, 1);
  return ops::where(on, square, ops::full({}, a.padding_value, a.x.dtype()));
}

void diag_embed::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("diag_embed", "input", a.input, 1, 64);
  const int64_t rank = a.input.rank() + 1;
  const int64_t one = infer::axis_of("diag_embed", a.dim1, rank, "dim1");
  const int64_t two = infer::axis_of("diag_embed", a.dim2, rank, "dim2");
  check(one != two, ErrorKind::kValue, "[diag_embed] expected two different axes, got {} and {}", a.dim1, a.dim2);
  const Dim n = a.input.dim(-1) + Dim(std::abs(infer::extent_of("diag_embed", "offset", a.offset)));
  int64_t next = 0;
  for (int64_t i = 0; i < rank; ++i) out.shape.push_back(i == one || i == two ? n : a.input.shape()[next++]);
}

void diag_embed::vjp(Vjp& v) {
  if (v.need_input) v.input_grad = ops::diagonal(v.out_grad, v.offset, v.dim1, v.dim2);
}

void one_hot::shape(const Args& a, TensorMeta& out) {
  out.shape = a.x.shape();
  const bool unknown = a.num_classes.kind() == Scalar::Kind::kTensor && !a.num_classes.tensor().is_dense();
  const Dim n = unknown ? new_symbol()
                : a.num_classes.kind() == Scalar::Kind::kDim
                    ? a.num_classes.dim()
                    : Dim(infer::extent_of("one_hot", "num_classes", a.num_classes.to_int()));
  check(n.is_symbolic() || n.value() > 0, ErrorKind::kValue, "[one_hot] expected num_classes > 0, got {}", n.str());
  out.shape.push_back(n);
}

}  // namespace paddle::rules
