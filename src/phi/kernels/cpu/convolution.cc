// Convolutions and their gradients on the CPU, from records to kernels.
#include <atomic>

#include "base/flags.h"
#include "phi/kernels/cpu/activate.h"
#include "phi/kernels/cpu/dnnl/conv.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/pointwise_conv.h"
#include "phi/kernels/cpu/rows/conv_f64.h"
#include "phi/kernels/cpu/rows/depthwise.h"
#include "phi/kernels/cpu/rows/row_span.h"
#include "phi/kernels/cpu/rows/winograd.h"
#include "phi/kernels/registry.h"
#include "phi/rules/window.h"
#include "phi/rules_fused.h"
#include "phi/rules_nn.h"

namespace paddle::kernels {
namespace {

using rules::Window;

ConvGeometry geometry(const Window& w, int64_t groups) {
  ConvGeometry g;
  g.strides = w.strides;
  g.dilations = w.dilations;
  for (size_t i = 0; i < w.rank(); ++i) {
    g.pad_left.push_back(w.paddings[2 * i]);
    g.pad_right.push_back(w.paddings[2 * i + 1]);
  }
  g.groups = groups;
  g.channels_last = w.channels_last;
  return g;
}

std::vector<int64_t> spatial(const Shape& filter) {
  std::vector<int64_t> out;
  for (size_t i = 2; i < filter.size(); ++i) out.push_back(filter[i].value());
  return out;
}

template <class A>
ConvGeometry geometry_of(std::string_view op, const Tensor& x, const Tensor& w, const A& a) {
  return geometry(rules::make_window(op, x, spatial(w.shape()), a.strides, a.dilations, a.paddings, a.padding_algorithm,
                                     a.data_format),
                  a.groups);
}

// A convolution and what follows it, whichever record says so.
struct Convolution {
  explicit Convolution(OpCall& c) : x(c.tensor(0)), w(c.tensor(1)), out(c.out(0)) {
    if (c.op.name == "conv3d") {
      g = geometry_of("conv3d", x, w, rules::conv3d::Args(c));
    } else if (c.op.name == "conv2d") {
      g = geometry_of("conv2d", x, w, rules::conv2d::Args(c));
    } else {
      rules::fused_conv2d_add_act::Args a(c);
      g = geometry_of("fused_conv2d_add_act", x, w, a);
      scale = a.filter_scale;
      follow = {a.bias, a.residual_data};
      activation = a.activation;
    }
  }
  const Tensor &x, &w, &out;
  Tensor scale;  // of the filters; undefined: none
  ConvGeometry g;
  ConvFollow follow;
  std::string_view activation;
};

bool winograd_computes(const Convolution& v) {
  if (v.x.dtype() != DType::kFloat32 || v.x.rank() != 4 || v.w.size(2) != 3 || v.w.size(3) != 3) return false;
  for (size_t i = 0; i < 2; ++i)
    if (v.g.strides[i] != 1 || v.g.dilations[i] != 1 || v.g.pad_left[i] < 0 || v.g.pad_right[i] < 0) return false;
  const Tensor &b = v.follow.bias, &r = v.follow.residual;
  if (b.defined() && (b.dtype() != DType::kFloat32 || !b.is_contiguous())) return false;
  return v.g.groups == 1 && v.out.is_contiguous() && (!r.defined() || r.is_contiguous());
}

// FLAGS_winograd: outside of inference too.
std::atomic<bool> winograd_everywhere{false};
[[maybe_unused]] const bool winograd_flag = [] {
  flags::on_change("winograd", [](const flags::Value& v) { winograd_everywhere = std::get<bool>(v); });
  return true;
}();

WinogradFollow winograd_follow(const Convolution& v) {
  WinogradFollow f;
  if (v.follow.bias.defined()) f.bias = &v.follow.bias;
  if (v.follow.residual.defined()) f.residual = &v.follow.residual;
  f.relu = v.activation == "relu";
  return f;
}

void run_conv(OpCall& c) {
  const Convolution v(c);
  if (v.out.numel() == 0) return;
  if (v.w.numel() == 0) return zero(v.out);
  if (depthwise_conv2d(v.x, v.w, v.out, v.g) || pointwise_forward(v.x, v.w, v.out, v.g)) return;
  if (winograd_everywhere.load(std::memory_order_relaxed) && !v.g.channels_last && winograd_computes(v) &&
      winograd_pays(v.x, v.w, v.out, false))
    return WinogradFilter(v.w, {}, false).run(v.x, v.out, v.g.pad_left[0], v.g.pad_left[1], {});
  v.x.dtype() == DType::kFloat64 ? conv_forward_f64(v.x, v.w, v.out, v.g) : conv_forward(v.x, v.w, v.out, v.g);
}

// By oneDNN, then the activation by the kernel that computes it alone: oneDNN's own lose NaN.
void run_fused_conv(OpCall& c) {
  const Convolution v(c);
  if (v.out.numel() == 0) return;
  if (v.w.numel() == 0 || v.x.dtype() == DType::kFloat64 || v.scale.defined()) return rows::by_composition(c);
  conv_forward(v.x, v.w, v.out, v.g, v.follow);
  activate(v.out, v.activation);
}

// A filter that stays: transformed for Winograd's algorithm, else in oneDNN's layout.
class HeldConv final : public HeldKernel {
 public:
  void run(OpCall& c) override {
    const Convolution v(c);
    if (winograd) {
      winograd->run(v.x, v.out, v.g.pad_left[0], v.g.pad_left[1], winograd_follow(v));
      if (v.activation != "relu") activate(v.out, v.activation);
      return;
    }
    direct->run(v.x, v.out, v.follow);
    activate(v.out, v.activation);
  }
  std::unique_ptr<WinogradFilter> winograd;  // one of the two
  std::unique_ptr<HeldConvolution> direct;
};

constexpr uint64_t kFilterStays = 1 << 1, kScaleStays = 1 << 4;  // by the records

std::unique_ptr<HeldKernel> hold_conv(OpCall& c, uint64_t constant) {
  const Convolution v(c);
  if (v.scale.defined() && (!(constant & kScaleStays) || v.w.dtype() != DType::kFloat32)) return nullptr;
  if (!(constant & kFilterStays) || v.out.numel() == 0 || v.w.numel() == 0) return nullptr;
  if (v.g.groups == v.x.size(v.g.channels_last ? v.x.rank() - 1 : 1) && v.g.groups > 1 && !v.g.channels_last)
    return nullptr;  // depthwise
  auto held = std::make_unique<HeldConv>();
  if (winograd_computes(v) && winograd_pays(v.x, v.w, v.out, v.g.channels_last))
    held->winograd = std::make_unique<WinogradFilter>(v.w, v.scale, v.g.channels_last);
  else
    held->direct = hold_convolution(v.x, v.w, v.scale, v.out, v.g, v.follow);
  if (!held->winograd && !held->direct) return nullptr;
  return held;
}

// Windows of the gradient operators come resolved: [before, after] per axis.
template <class A>
ConvGeometry resolved(const A& a) {
  ConvGeometry g;
  g.strides.assign(a.strides.begin(), a.strides.end());
  g.dilations.assign(a.dilations.begin(), a.dilations.end());
  for (size_t i = 0; i < g.strides.size(); ++i) {
    g.pad_left.push_back(a.paddings[2 * i]);
    g.pad_right.push_back(a.paddings[2 * i + 1]);
  }
  g.groups = a.groups;
  g.channels_last = rules::channels_last("conv", a.data_format);
  return g;
}

void conv_input_grad(OpCall& c) {
  rules::conv_input_grad::Args a(c);
  const Tensor& out = c.out(0);
  if (out.numel() == 0) return;
  if (a.out_grad.numel() == 0) return zero(out);
  ConvGeometry g = resolved(a);
  if (pointwise_backward_input(a.out_grad, a.filter, out, g)) return;
  auto backward = out.dtype() == DType::kFloat64 ? conv_backward_input_f64 : conv_backward_input;
  backward(a.out_grad, a.filter, out, g);
}

void conv_filter_grad(OpCall& c) {
  rules::conv_filter_grad::Args a(c);
  const Tensor& out = c.out(0);
  if (out.numel() == 0) return;
  if (a.out_grad.numel() == 0) return zero(out);
  ConvGeometry g = resolved(a);
  if (pointwise_backward_filter(a.input, a.out_grad, out, g)) return;
  auto backward = out.dtype() == DType::kFloat64 ? conv_backward_filter_f64 : conv_backward_filter;
  backward(a.input, a.out_grad, out, g);
}

const RegisterCpu registered[] = {
    {"conv2d", run_conv},
    {"conv3d", run_conv},
    {"fused_conv2d_add_act", run_fused_conv},
    {"conv_input_grad", conv_input_grad},
    {"conv_filter_grad", conv_filter_grad},
};
const HoldCpu held[] = {{"conv2d", hold_conv}, {"conv3d", hold_conv}, {"fused_conv2d_add_act", hold_conv}};

}  // namespace
}  // namespace paddle::kernels
