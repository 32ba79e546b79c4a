// Rules of ops/fused.yaml, in the order of the records.
#include "phi/rules_fused.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules/window.h"

namespace paddle::rules {
namespace {

void check_activation(std::string_view op, std::string_view name) {
  for (std::string_view known :
       {"", "none", "identity", "relu", "gelu", "gelu_tanh", "silu", "swish", "sigmoid", "tanh"})
    if (name == known) return;
  fail(ErrorKind::kValue,
       "[{}] expected activation none, identity, relu, gelu, gelu_tanh, silu, swish, sigmoid or tanh, got \"{}\"", op,
       name);
}

Tensor activated(const Tensor& x, std::string_view name) {
  if (name == "relu") return ops::relu(x);
  if (name == "gelu") return ops::gelu_erf(x);
  if (name == "gelu_tanh") return ops::gelu_tanh(x);
  if (name == "silu" || name == "swish") return ops::silu(x);
  if (name == "sigmoid") return ops::sigmoid(x);
  if (name == "tanh") return ops::tanh(x);
  return x;
}

// The shape that another operator's rule gives for these arguments.
Shape shape_by(std::string_view op, std::span<Arg> args) {
  OpCall c(op_named(op), args);
  c.op.meta(c);
  return c.first_meta.shape;
}

void check_residual(std::string_view op, const Tensor& residual, const Shape& out) {
  if (!residual.defined()) return;
  infer::check_rank(op, "the residual", residual, static_cast<int64_t>(out.size()), static_cast<int64_t>(out.size()));
  for (size_t i = 0; i < out.size(); ++i)
    infer::check_size(op, "the residual's sizes (those of the result)", out[i], residual.shape()[i]);
}

void check_bias(std::string_view op, const Tensor& bias, Dim size) {
  if (!bias.defined()) return;
  infer::check_rank(op, "bias", bias, 1, 1);
  infer::check_size(op, "the size of bias", size, bias.dim(0));
}

}  // namespace

void fused_conv2d_add_act::shape(const Args& a, TensorMeta& out) {
  check_activation("fused_conv2d_add_act", a.activation);
  Arg args[] = {a.input, a.filter, a.strides, a.paddings, a.padding_algorithm, a.dilations, a.groups, a.data_format};
  out.shape = shape_by("conv2d", args);
  const bool last = channels_last("fused_conv2d_add_act", a.data_format);
  check_bias("fused_conv2d_add_act", a.bias, out.shape[last ? out.shape.size() - 1 : 1]);
  check_residual("fused_conv2d_add_act", a.residual_data, out.shape);
  if (!a.filter_scale.defined()) return;
  infer::check_rank("fused_conv2d_add_act", "filter_scale", a.filter_scale, 1, 1);
  infer::check_size("fused_conv2d_add_act", "the size of filter_scale", a.filter.dim(0), a.filter_scale.dim(0));
}

Tensor fused_conv2d_add_act::decompose(const Args& a) {
  Tensor filter = a.filter;
  if (a.filter_scale.defined()) {
    Shape s(4, Dim(1));
    s[0] = a.filter_scale.dim(0);
    filter = filter * compose::reshape_to(a.filter_scale, s);
  }
  Tensor out =
      ops::conv2d(a.input, filter, a.strides, a.paddings, a.padding_algorithm, a.dilations, a.groups, a.data_format);
  if (a.bias.defined()) {
    const bool last = channels_last("fused_conv2d_add_act", a.data_format);
    Shape s(4, Dim(1));
    s[last ? 3 : 1] = a.bias.dim(0);
    out = out + compose::cast_to(compose::reshape_to(a.bias, s), out.dtype());
  }
  if (a.residual_data.defined()) out = out + a.residual_data;
  return activated(out, a.activation);
}

void fused_gemm_epilogue::shape(const Args& a, TensorMeta& out) {
  check_activation("fused_gemm_epilogue", a.activation);
  infer::check_rank("fused_gemm_epilogue", "x", a.x, 2, 64);
  infer::check_rank("fused_gemm_epilogue", "y", a.y, 2, 64);
  Arg args[] = {a.x, a.y, a.trans_x, a.trans_y};
  out.shape = shape_by("matmul", args);
  check_bias("fused_gemm_epilogue", a.bias, out.shape.back());
  check_residual("fused_gemm_epilogue", a.residual, out.shape);
}

Tensor fused_gemm_epilogue::decompose(const Args& a) {
  Tensor out = ops::matmul(a.x, a.y, a.trans_x, a.trans_y);
  if (a.bias.defined()) out = out + compose::cast_to(a.bias, out.dtype());
  if (a.residual.defined()) out = out + a.residual;
  return activated(out, a.activation);
}

}  // namespace paddle::rules
