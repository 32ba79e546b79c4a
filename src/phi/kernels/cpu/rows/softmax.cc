// softmax, log_softmax, their gradients, and cross-entropy of logits, row by row where the axis is the last one. Along
// another axis the composition runs.
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/rows/row_span.h"
#include "phi/kernels/registry.h"
#include "phi/rules_activation.h"
#include "phi/rules_loss.h"

namespace paddle::kernels {
namespace {

using rows::by_composition;
using rows::each_row_range;
using rows::in_compute_type;
using rows::row_fns;
using rows::RowSpan;

// Rows are what lies along the last axis with more than one element behind it.
struct Rows {
  int64_t count = 0, n = 0;
  bool contiguous = false;  // the axis is innermost
};
Rows rows_along(const Tensor& t, int64_t axis) {
  AroundAxis a = around(t, axis);
  return {a.outer, a.axis, t.rank() > 0 && a.inner == 1};
}

void softmax(OpCall& c) {
  rules::softmax::Args a(c);
  Rows r = rows_along(a.x, a.axis);
  if (!r.contiguous) return by_composition(c);
  Tensor x = dense(a.x);
  DenseTarget target(c.out(0), false);
  in_compute_type("softmax", x.dtype(), [&](auto t) {
    using T = decltype(t);
    each_row_range(r.count, r.n, [&](int64_t begin, int64_t end) {
      RowSpan<T> in(x, r.n), out(target.tensor(), r.n);
      for (int64_t i = begin; i < end; ++i) {
        row_fns<T>().softmax(out.target(i), in.read(i), r.n);
        out.done(i);
      }
    });
  });
  target.finish();
}

void log_softmax(OpCall& c) {
  rules::log_softmax::Args a(c);
  Rows r = rows_along(a.x, a.axis);
  if (!r.contiguous) return by_composition(c);
  Tensor x = dense(a.x);
  DenseTarget target(c.out(0), false);
  in_compute_type("log_softmax", x.dtype(), [&](auto t) {
    using T = decltype(t);
    each_row_range(r.count, r.n, [&](int64_t begin, int64_t end) {
      RowSpan<T> in(x, r.n), out(target.tensor(), r.n);
      for (int64_t i = begin; i < end; ++i) {
        row_fns<T>().log_softmax(out.target(i), in.read(i), r.n);
        out.done(i);
      }
    });
  });
  target.finish();
}

template <class Args, bool kLog>
void softmax_gradient(OpCall& c) {
  Args a(c);
  Rows r = rows_along(a.out, a.axis);
  if (!r.contiguous || a.out_grad.dtype() != a.out.dtype()) return by_composition(c);
  Tensor y = dense(a.out), g = dense(a.out_grad);
  in_compute_type(c.op.name, y.dtype(), [&](auto t) {
    using T = decltype(t);
    const auto fn = kLog ? row_fns<T>().log_softmax_grad : row_fns<T>().softmax_grad;
    each_row_range(r.count, r.n, [&](int64_t begin, int64_t end) {
      RowSpan<T> ys(y, r.n), gs(g, r.n), out(c.out(0), r.n);
      for (int64_t i = begin; i < end; ++i) {
        fn(out.target(i), ys.read(i), gs.read(i), r.n);
        out.done(i);
      }
    });
  });
}

int64_t checked_label(int64_t label, int64_t classes) {
  check(label >= 0 && label < classes, ErrorKind::kIndex,
        "[cross_entropy_with_softmax] expected labels in [0, {}) or the ignored one, got {}", classes, label);
  return label;
}

void cross_entropy(OpCall& c) {
  rules::cross_entropy_with_softmax::Args a(c);
  Rows r = rows_along(a.input, a.axis);
  DType index = a.label.dtype();
  if (a.soft_label || !a.use_softmax || !r.contiguous || r.n == 0 || (index != DType::kInt64 && index != DType::kInt32))
    return by_composition(c);
  Tensor x = dense(a.input), label = dense(a.label);
  const Tensor &softmax = c.out(0), &loss = c.out(1);
  dispatch_index("cross_entropy_with_softmax", index, [&](auto l) {
    const auto* labels = label.data<decltype(l)>();
    in_compute_type("cross_entropy_with_softmax", x.dtype(), [&](auto t) {
      using T = decltype(t);
      each_row_range(r.count, r.n, [&](int64_t begin, int64_t end) {
        RowSpan<T> in(x, r.n), out(softmax, r.n), losses(loss, 1);
        for (int64_t i = begin; i < end; ++i) {
          int64_t at = labels[i];
          bool ignored = at == a.ignore_index;
          const T* row = in.read(i);
          T logit = ignored ? T(0) : row[checked_label(at, r.n)];
          T low = row_fns<T>().softmax(out.target(i), row, r.n);
          out.done(i);
          *losses.target(i) = ignored ? T(0) : low - logit;
          losses.done(i);
        }
      });
    });
  });
}

void cross_entropy_grad(OpCall& c) {
  rules::cross_entropy_with_softmax_grad::Args a(c);
  Rows r = rows_along(a.softmax, a.axis);
  DType index = a.label.dtype();
  if (!a.use_softmax || !r.contiguous || a.loss_grad.dtype() != a.softmax.dtype() ||
      (index != DType::kInt64 && index != DType::kInt32))
    return by_composition(c);
  Tensor y = dense(a.softmax), label = dense(a.label), g = dense(a.loss_grad);
  dispatch_index("cross_entropy_with_softmax_grad", index, [&](auto l) {
    const auto* labels = label.data<decltype(l)>();
    in_compute_type("cross_entropy_with_softmax_grad", y.dtype(), [&](auto t) {
      using T = decltype(t);
      each_row_range(r.count, r.n, [&](int64_t begin, int64_t end) {
        RowSpan<T> ys(y, r.n), gs(g, 1), out(c.out(0), r.n);
        for (int64_t i = begin; i < end; ++i) {
          int64_t at = labels[i];
          bool ignored = at == a.ignore_index;
          T weight = ignored ? T(0) : *gs.read(i);
          T* row = out.target(i);
          row_fns<T>().times(row, ys.read(i), weight, r.n);
          if (!ignored) row[checked_label(at, r.n)] -= weight;
          out.done(i);
        }
      });
    });
  });
}

const RegisterCpu registered[] = {
    {"softmax", softmax},
    {"log_softmax", log_softmax},
    {"softmax_grad", softmax_gradient<rules::softmax_grad::Args, false>},
    {"log_softmax_grad", softmax_gradient<rules::log_softmax_grad::Args, true>},
    {"cross_entropy_with_softmax", cross_entropy},
    {"cross_entropy_with_softmax_grad", cross_entropy_grad},
};

}  // namespace
}  // namespace paddle::kernels
