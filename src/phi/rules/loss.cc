// Rules of ops/loss.yaml, in the order of the records.
#include "phi/rules_loss.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"

namespace paddle::rules {
namespace {

constexpr DType kSame = DType::kUndefined;

// Which labels count, as 0 or 1 in the logits' dtype, and labels with the ignored ones replaced by a class that exists.
struct Labels {
  Tensor counts, safe;
};
Labels labels(const Tensor& label, int64_t ignore_index, DType t) {
  Tensor ignored = ops::equal(label, ops::full({}, Scalar(ignore_index), label.dtype(), label.place()));
  Tensor zero = ops::full({}, Scalar(int64_t{0}), label.dtype(), label.place());
  return {ops::cast(ops::logical_not(ignored), t), ops::where(ignored, zero, label)};
}

}  // namespace

void cross_entropy_with_softmax::shape(const Args& a, TensorMeta& softmax, TensorMeta& loss) {
  constexpr const char* op = "cross_entropy_with_softmax";
  infer::check_rank(op, "input", a.input, 1, 64);
  int64_t axis = infer::axis_of(op, a.axis, a.input.rank());
  infer::check_rank(op, "label", a.label, a.input.rank(), a.input.rank());
  softmax.shape = loss.shape = a.input.shape();
  loss.shape[static_cast<size_t>(axis)] = Dim(1);
  for (int64_t i = 0; i < a.input.rank(); ++i)
    infer::check_size(op, "labels", i == axis && !a.soft_label ? Dim(1) : a.input.dim(i), a.label.dim(i));
  if (a.soft_label)
    check(is_float(a.label.dtype()), ErrorKind::kType, "[{}] expected soft labels of a floating-point dtype, got {}",
          op, name_of(a.label.dtype()));
  else
    check(is_integer(a.label.dtype()), ErrorKind::kType, "[{}] expected labels of an integer dtype, got {}", op,
          name_of(a.label.dtype()));
}

ops::cross_entropy_with_softmax_out cross_entropy_with_softmax::decompose(const Args& a) {
  DType t = a.input.dtype();
  Tensor softmax, log_p;
  if (a.use_softmax) {
    log_p = ops::log_softmax(a.input, a.axis);
    softmax = ops::exp(log_p);
  } else {
    softmax = ops::assign(a.input);
    log_p = ops::log(a.input);
  }
  if (a.soft_label) {
    Tensor weighted = compose::cast_to(a.label, t) * log_p;
    return {softmax, ops::scale(ops::sum(weighted, {a.axis}, kSame, true), Scalar(-1.0), Scalar(0.0), true)};
  }
  Labels l = labels(a.label, a.ignore_index, t);
  Tensor picked = ops::take_along_axis(log_p, l.safe, a.axis);
  // Where the probability is 0 its log is infinite, and an ignored label must not make NaN of it.
  Tensor zero = ops::full({}, Scalar(0.0), t, a.input.place());
  Tensor loss =
      ops::where(ops::cast(l.counts, DType::kBool), ops::scale(picked, Scalar(-1.0), Scalar(0.0), true), zero);
  return {softmax, loss};
}

void cross_entropy_with_softmax::vjp(Vjp& v) {
  DType t = v.softmax.dtype();
  Tensor g;
  if (v.loss_grad.defined() && v.soft_label) {
    Tensor target = compose::cast_to(v.label, t);
    if (v.use_softmax)
      g = v.loss_grad * (v.softmax * ops::sum(target, {v.axis}, kSame, true) - target);
    else
      g = ops::scale(v.loss_grad * target / v.softmax, Scalar(-1.0), Scalar(0.0), true);
  } else if (v.loss_grad.defined()) {
    g = ops::cross_entropy_with_softmax_grad(v.label, v.softmax, v.loss_grad, v.use_softmax, v.ignore_index, v.axis);
  }
  if (v.softmax_grad.defined()) {
    Tensor through = v.softmax_grad;
    if (v.use_softmax) {
      Tensor s = v.softmax_grad * v.softmax;
      through = s - v.softmax * ops::sum(s, {v.axis}, kSame, true);
    }
    g = g.defined() ? g + through : through;
  }
  if (v.need_input) v.input_grad = g;
  if (v.need_label && v.soft_label && v.loss_grad.defined())
    v.label_grad = ops::scale(v.loss_grad * ops::log(v.softmax), Scalar(-1.0), Scalar(0.0), true);
}

void cross_entropy_with_softmax_grad::shape(const Args& a, TensorMeta& out) {
  constexpr const char* op = "cross_entropy_with_softmax_grad";
  const int64_t axis = infer::axis_of(op, a.axis, a.softmax.rank());
  out.shape = a.softmax.shape();
  for (const Tensor* t : {&a.label, &a.loss_grad}) {
    infer::check_rank(op, "labels and loss_grad", *t, a.softmax.rank());
    for (int64_t i = 0; i < a.softmax.rank(); ++i)
      infer::check_size(op, "labels and loss_grad", i == axis ? Dim(1) : a.softmax.dim(i), t->dim(i));
  }
}

Tensor cross_entropy_with_softmax_grad::decompose(const Args& a) {
  DType t = a.softmax.dtype();
  Labels l = labels(a.label, a.ignore_index, t);
  Tensor weight = compose::cast_to(a.loss_grad, t) * l.counts;
  Shape classes{Dim(a.softmax.dim(a.axis))};
  Tensor range =
      ops::arange(Scalar(int64_t{0}), Scalar(classes[0]), Scalar(int64_t{1}), a.label.dtype(), a.label.place());
  int64_t axis = a.axis < 0 ? a.axis + a.softmax.rank() : a.axis;
  Shape lifted(static_cast<size_t>(a.softmax.rank()), Dim(1));
  lifted[static_cast<size_t>(axis)] = classes[0];
  Tensor target = ops::cast(ops::equal(l.safe, compose::reshape_to(range, lifted)), t);
  if (!a.use_softmax) return ops::scale(weight * target / a.softmax, Scalar(-1.0), Scalar(0.0), true);
  return weight * (a.softmax - target);
}

}  // namespace paddle::rules
