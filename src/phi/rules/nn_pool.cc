// Rules of ops/nn.yaml: pooling, in the order of the records.
#include "phi/rules_nn.h"

#include <algorithm>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/window.h"
#include "tensor/shown_shape.h"

namespace paddle::rules {
namespace {

template <class A>
Window pool_window(std::string_view op, const A& a, size_t n) {
  std::vector<int64_t> kernel = [&] {
    if constexpr (requires { a.kernel_size.resolved(); }) {
      Sizes k = infer::numbers_of(op, a.kernel_size, "kernel_size");
      return std::vector<int64_t>(k.begin(), k.end());
    } else {
      return std::vector<int64_t>(a.kernel_size.begin(), a.kernel_size.end());
    }
  }();
  if (kernel.size() == 1) kernel.resize(n, kernel[0]);
  check(kernel.size() == n, ErrorKind::kValue, "[{}] expected {} kernel sizes, got {}", op, n, kernel.size());
  std::string_view format = "NCHW", algorithm = "EXPLICIT";
  if constexpr (requires { a.data_format; }) format = a.data_format;
  if constexpr (requires { a.padding_algorithm; }) algorithm = a.padding_algorithm;
  Window w = make_window(op, a.x, kernel, a.strides, {},
                         a.adaptive || a.global_pooling ? std::span<const int64_t>{} : a.paddings, algorithm, format);
  w.ceil_mode = a.ceil_mode;
  if (a.global_pooling)
    for (size_t i = 0; i < n; ++i) w.kernel[i] = guard_int(a.x.shape()[w.axis(i)]);
  return w;
}

Shape pooled(std::string_view op, const Window& w, const Tensor& x, bool adaptive) {
  Shape out = x.shape();
  for (size_t i = 0; i < w.rank(); ++i) {
    Dim& d = out[w.axis(i)];
    if (adaptive) {
      d = Dim(w.kernel[i]);
      continue;
    }
    Dim n = positions(op, w, i, d);
    // A window must not start in the padding after the end, as rounding up could make it.
    if (w.ceil_mode && d.is_const() && (n.value() - 1) * w.strides[i] >= d.value() + w.paddings[2 * i]) n = n - Dim(1);
    d = n;
  }
  return out;
}

template <class V>
void pool_vjp(std::string_view op, V& v, size_t n) {
  if (!v.need_x) return;
  Window w = pool_window(op, v, n);
  if (v.pooling_type == "avg") {
    v.x_grad = ops::avg_pool_grad(v.out_grad, Ints(v.x.shape()), w.kernel, w.strides, w.paddings, v.exclusive,
                                  v.adaptive, v.data_format);
    return;
  }
  // Through the form that knows where each maximum was. Channels go in front for it.
  Tensor x = v.x, g = v.out_grad;
  std::vector<int64_t> first(static_cast<size_t>(x.rank())), back(first.size());
  for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<int64_t>(i);
  if (w.channels_last) {
    std::rotate(first.begin() + 1, first.end() - 1, first.end());
    x = ops::transpose(x, first);
    g = ops::transpose(g, first);
  }
  Tensor mask =
      n == 3 ? ops::max_pool3d_with_index(x, w.kernel, w.strides, w.paddings, false, v.adaptive, v.ceil_mode).mask
             : ops::max_pool2d_with_index(x, w.kernel, w.strides, w.paddings, false, v.adaptive, v.ceil_mode).mask;
  Tensor gx = ops::max_pool_scatter(g, mask, Ints(x.shape()));
  if (w.channels_last) {
    for (size_t i = 0; i < first.size(); ++i) back[static_cast<size_t>(first[i])] = static_cast<int64_t>(i);
    gx = ops::transpose(gx, back);
  }
  v.x_grad = gx;
}

}  // namespace

void pool2d::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("pool2d", "x", a.x, 4, 4);
  out.shape = pooled("pool2d", pool_window("pool2d", a, 2), a.x, a.adaptive);
}
void pool2d::vjp(Vjp& v) { pool_vjp("pool2d", v, 2); }
void pool3d::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("pool3d", "x", a.x, 5, 5);
  out.shape = pooled("pool3d", pool_window("pool3d", a, 3), a.x, a.adaptive);
}
void pool3d::vjp(Vjp& v) { pool_vjp("pool3d", v, 3); }

void avg_pool_grad::shape(const Args& a, TensorMeta& out) {
  constexpr const char* op = "avg_pool_grad";
  out.shape = infer::from_arg(op, a.input_shape);
  const auto rank = static_cast<int64_t>(a.kernel_size.size()) + 2;
  check((rank == 4 || rank == 5) && a.out_grad.rank() == rank && static_cast<int64_t>(out.shape.size()) == rank,
        ErrorKind::kValue,
        "[{}] expected out_grad and input_shape with two axes more than kernel sizes (2 or 3), got {}, {} and {} "
        "kernel sizes",
        op, shown(a.out_grad.shape()), shown(out.shape), a.kernel_size.size());
  const std::vector<int64_t> ones(a.kernel_size.size(), 1);
  const Window w = resolved_window(op, a.kernel_size, a.strides, ones, a.paddings, a.data_format);
  for (size_t i : {size_t{0}, w.channel_axis()})
    infer::check_size(op, "batch and channels of out_grad", out.shape[i], a.out_grad.shape()[i]);
}
void avg_pool_grad::vjp(Vjp& v) {
  const Tensor& g = v.x_grad_grad;
  // Linear in out_grad: the adjoint is the pooling itself, over windows whose number is known.
  v.out_grad_grad = g.rank() == 5 ? ops::pool3d(g, v.kernel_size, v.strides, v.paddings, false, v.exclusive,
                                                v.data_format, "avg", false, v.adaptive)
                                  : ops::pool2d(g, Ints(v.kernel_size), v.strides, v.paddings, false, v.exclusive,
                                                v.data_format, "avg", false, v.adaptive);
}

void max_pool2d_with_index::shape(const Args& a, TensorMeta& out, TensorMeta& mask) {
  infer::check_rank("max_pool2d_with_index", "x", a.x, 4, 4);
  out.shape = mask.shape = pooled("max_pool2d_with_index", pool_window("max_pool2d_with_index", a, 2), a.x, a.adaptive);
}
void max_pool2d_with_index::vjp(Vjp& v) { v.x_grad = ops::max_pool_scatter(v.out_grad, v.mask, Ints(v.x.shape)); }
void max_pool3d_with_index::shape(const Args& a, TensorMeta& out, TensorMeta& mask) {
  infer::check_rank("max_pool3d_with_index", "x", a.x, 5, 5);
  out.shape = mask.shape = pooled("max_pool3d_with_index", pool_window("max_pool3d_with_index", a, 3), a.x, a.adaptive);
}
void max_pool3d_with_index::vjp(Vjp& v) { v.x_grad = ops::max_pool_scatter(v.out_grad, v.mask, Ints(v.x.shape)); }

void max_pool_scatter::shape(const Args& a, TensorMeta& out) {
  out.shape = infer::from_arg("max_pool_scatter", a.shape);
  infer::same_shape("max_pool_scatter", "mask", a.mask, "x", a.x);
  infer::check_rank("max_pool_scatter", "x", a.x, 3, 5);
  check(out.shape.size() == a.x.shape().size(), ErrorKind::kValue,
        "[max_pool_scatter] expected a shape of x's rank {}, got {}", a.x.rank(), shown(out.shape));
  for (size_t i : {size_t{0}, size_t{1}})
    infer::check_size("max_pool_scatter", "batch and channels of x", out.shape[i], a.x.shape()[i]);
}
// Its adjoint picks the scattered places: a gather along the flattened positions.
void max_pool_scatter::vjp(Vjp& v) {
  const Shape& s = v.mask.shape();
  Ints flat{0, 0, -1};
  Tensor g = ops::reshape(v.out_grad, flat);
  Tensor at = ops::reshape(v.mask, flat);
  v.x_grad = compose::reshape_to(ops::take_along_axis(g, at, 2), s);
}

}  // namespace paddle::rules
