// Rules of ops/nn.yaml: convolution, in the order of the records.
#include "phi/rules_nn.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/window.h"
#include "tensor/shown_shape.h"

namespace paddle::rules {
namespace {

std::vector<int64_t> spatial(const Tensor& filter) {
  std::vector<int64_t> out;
  for (int64_t i = 2; i < filter.rank(); ++i) out.push_back(guard_int(filter.dim(i)));
  return out;
}

template <class A>
Window conv_window(std::string_view op, const A& a) {
  std::vector<int64_t> kernel = spatial(a.filter);
  return make_window(op, a.input, kernel, a.strides, a.dilations, a.paddings, a.padding_algorithm, a.data_format);
}

template <class A>
void conv_shape(std::string_view op, int64_t n, const A& a, TensorMeta& out) {
  infer::check_rank(op, "filter", a.filter, n + 2, n + 2);
  Window w = conv_window(op, a);
  check(a.groups >= 1 && a.groups <= INT32_MAX, ErrorKind::kValue, "[{}] expected groups of at least 1, got {}", op,
        a.groups);
  Dim channels = a.input.shape()[w.channel_axis()];
  infer::check_size(op, "input channels (filter's times groups)", a.filter.dim(1) * Dim(a.groups), channels);
  Dim k = a.filter.dim(0);
  check(!k.is_const() || k.value() % a.groups == 0, ErrorKind::kValue,
        "[{}] expected output channels divisible by groups ({}), got {}", op, a.groups, k.str());
  out.shape = a.input.shape();
  out.shape[w.channel_axis()] = k;
  for (size_t i = 0; i < w.rank(); ++i) out.shape[w.axis(i)] = positions(op, w, i, out.shape[w.axis(i)]);
}

// Both gradients, with paddings resolved. v.data_format and groups carry over.
template <class V>
void conv_vjp(std::string_view op, V& v) {
  Window w = conv_window(op, v);
  if (v.need_input)
    v.input_grad = ops::conv_input_grad(v.out_grad, v.filter, Ints(v.input.shape()), w.strides, w.paddings, w.dilations,
                                        v.groups, v.data_format);
  if (v.need_filter)
    v.filter_grad = ops::conv_filter_grad(v.input, v.out_grad, Ints(v.filter.shape()), w.strides, w.paddings,
                                          w.dilations, v.groups, v.data_format);
}

// The convolution whose gradient is asked for must lead from shape `input` to shape `out`.
template <class A>
void check_conv_grad(std::string_view op, const A& a, const Shape& input, const Shape& filter, const Shape& out) {
  check(filter.size() >= 3 && filter.size() <= 5 && input.size() == filter.size() && out.size() == filter.size(),
        ErrorKind::kValue, "[{}] expected input, filter and out_grad of one rank from 3 to 5, got {}, {} and {}", op,
        shown(input), shown(filter), shown(out));
  std::vector<int64_t> kernel;
  for (size_t i = 2; i < filter.size(); ++i) kernel.push_back(guard_int(filter[i]));
  const Window w = resolved_window(op, kernel, a.strides, a.dilations, a.paddings, a.data_format);
  check(a.groups >= 1 && a.groups <= INT32_MAX, ErrorKind::kValue, "[{}] expected groups of at least 1, got {}", op,
        a.groups);
  check(!filter[0].is_const() || filter[0].value() % a.groups == 0, ErrorKind::kValue,
        "[{}] expected output channels divisible by groups ({}), got {}", op, a.groups, filter[0].str());
  infer::check_size(op, "the batch of out_grad", input[0], out[0]);
  infer::check_size(op, "input channels (filter's times groups)", filter[1] * Dim(a.groups), input[w.channel_axis()]);
  infer::check_size(op, "the channels of out_grad (the filter's first axis)", filter[0], out[w.channel_axis()]);
  for (size_t i = 0; i < w.rank(); ++i)
    infer::check_size(op, "the spatial axes of out_grad", positions(op, w, i, input[w.axis(i)]), out[w.axis(i)]);
}

Tensor conv(const Tensor& x, const Tensor& filter, std::span<const int64_t> strides, std::span<const int64_t> paddings,
            std::span<const int64_t> dilations, int64_t groups, std::string_view format) {
  return x.rank() == 5 ? ops::conv3d(x, filter, strides, paddings, "EXPLICIT", groups, dilations, format)
                       : ops::conv2d(x, filter, strides, paddings, "EXPLICIT", dilations, groups, format);
}

// The convolution whose adjoint a transposed convolution is, and the sizes of the result.
template <class A>
Window transposed_window(std::string_view op, const A& a, Shape& out) {
  std::vector<int64_t> kernel = spatial(a.filter);
  Window w = make_window(op, a.x, kernel, a.strides, a.dilations, a.paddings,
                         a.padding_algorithm == "SAME" ? "EXPLICIT" : a.padding_algorithm, a.data_format);
  size_t n = w.rank();
  check(a.output_padding.empty() || a.output_padding.size() == n, ErrorKind::kValue,
        "[{}] expected {} output paddings, got {}", op, n, a.output_padding.size());
  Shape wanted = infer::dims_of(op, a.output_size);
  check(wanted.empty() || wanted.size() == n, ErrorKind::kValue, "[{}] expected {} output sizes, got {}", op, n,
        wanted.size());
  check(a.groups >= 1 && a.groups <= INT32_MAX, ErrorKind::kValue, "[{}] expected groups of at least 1, got {}", op,
        a.groups);
  for (int64_t p : a.output_padding) infer::extent_of(op, "output_padding", p);
  infer::check_size(op, "input channels (the filter's first axis)", a.filter.dim(0), a.x.shape()[w.channel_axis()]);
  out = a.x.shape();
  out[w.channel_axis()] = a.filter.dim(1) * Dim(a.groups);
  for (size_t i = 0; i < n; ++i) {
    Dim size = a.x.shape()[w.axis(i)];
    int64_t extent = w.dilations[i] * (w.kernel[i] - 1) + 1;
    if (a.padding_algorithm == "SAME") {  // the result is stride times the input
      int64_t total = std::max<int64_t>(0, extent - w.strides[i]);
      w.paddings[2 * i] = total / 2;
      w.paddings[2 * i + 1] = total - total / 2;
    }
    Dim base = (size - Dim(1)) * Dim(w.strides[i]) + Dim(extent - w.paddings[2 * i] - w.paddings[2 * i + 1]);
    if (!a.output_padding.empty()) base = base + Dim(a.output_padding[i]);
    if (!wanted.empty()) {
      check(!less(wanted[i], base) && less(wanted[i], base + Dim(w.strides[i])), ErrorKind::kValue,
            "[{}] expected an output size in [{}, {}), got {}", op, base.str(), (base + Dim(w.strides[i])).str(),
            wanted[i].str());
      base = wanted[i];
    }
    out[w.axis(i)] = base;
  }
  // The adjoint must map the result's sizes back onto the input's: what is too much is padding at the end.
  for (size_t i = 0; i < n; ++i) {
    Dim size = a.x.shape()[w.axis(i)];
    int64_t extent = w.dilations[i] * (w.kernel[i] - 1) + 1;
    if (!out[w.axis(i)].is_const() || !size.is_const()) continue;
    w.paddings[2 * i + 1] = (size.value() - 1) * w.strides[i] + extent - out[w.axis(i)].value() - w.paddings[2 * i];
  }
  return w;
}

template <class A>
Tensor transposed(std::string_view op, const A& a) {
  Shape out;
  Window w = transposed_window(op, a, out);
  return ops::conv_input_grad(a.x, a.filter, Ints(out), w.strides, w.paddings, w.dilations, a.groups, a.data_format);
}

}  // namespace

void conv2d::shape(const Args& a, TensorMeta& out) { conv_shape("conv2d", 2, a, out); }
void conv2d::vjp(Vjp& v) { conv_vjp("conv2d", v); }
void conv3d::shape(const Args& a, TensorMeta& out) { conv_shape("conv3d", 3, a, out); }
void conv3d::vjp(Vjp& v) { conv_vjp("conv3d", v); }

void conv_input_grad::shape(const Args& a, TensorMeta& out) {
  out.shape = infer::from_arg("conv_input_grad", a.input_shape);
  check_conv_grad("conv_input_grad", a, out.shape, a.filter.shape(), a.out_grad.shape());
}
void conv_input_grad::vjp(Vjp& v) {
  const Tensor& g = v.input_grad_grad;
  if (v.need_out_grad) v.out_grad_grad = conv(g, v.filter, v.strides, v.paddings, v.dilations, v.groups, v.data_format);
  if (v.need_filter)
    v.filter_grad = ops::conv_filter_grad(g, v.out_grad, Ints(v.filter.shape()), v.strides, v.paddings, v.dilations,
                                          v.groups, v.data_format);
}

void conv_filter_grad::shape(const Args& a, TensorMeta& out) {
  out.shape = infer::from_arg("conv_filter_grad", a.filter_shape);
  check_conv_grad("conv_filter_grad", a, a.input.shape(), out.shape, a.out_grad.shape());
}
void conv_filter_grad::vjp(Vjp& v) {
  const Tensor& g = v.filter_grad_grad;
  if (v.need_input)
    v.input_grad = ops::conv_input_grad(v.out_grad, g, Ints(v.input.shape()), v.strides, v.paddings, v.dilations,
                                        v.groups, v.data_format);
  if (v.need_out_grad) v.out_grad_grad = conv(v.input, g, v.strides, v.paddings, v.dilations, v.groups, v.data_format);
}

void conv2d_transpose::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("conv2d_transpose", "filter", a.filter, 4, 4);
  transposed_window("conv2d_transpose", a, out.shape);
}
Tensor conv2d_transpose::decompose(const Args& a) { return transposed("conv2d_transpose", a); }
void conv3d_transpose::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("conv3d_transpose", "filter", a.filter, 5, 5);
  transposed_window("conv3d_transpose", a, out.shape);
}
Tensor conv3d_transpose::decompose(const Args& a) { return transposed("conv3d_transpose", a); }

}  // namespace paddle::rules
