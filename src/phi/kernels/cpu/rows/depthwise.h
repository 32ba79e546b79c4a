#pragma once
#include "phi/kernels/cpu/dnnl/conv.h"

namespace paddle::kernels {
// A convolution where each group has one input channel, [N, C, H, W], stride 1, f32 or f64: plane by plane, without the
// blocked layout that oneDNN needs (whose reorders cost several times the convolution). False, with nothing done, for
// any other.
bool depthwise_conv2d(const Tensor& input, const Tensor& filter, const Tensor& out, const ConvGeometry& g);
}  // namespace paddle::kernels
