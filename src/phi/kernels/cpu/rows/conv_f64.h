#pragma once
#include "phi/kernels/cpu/dnnl/conv.h"

namespace paddle::kernels {
// Convolutions of doubles, which oneDNN has not: patches are unfolded to columns and multiplied with the filter, one
// batch item and group at a time. Layouts as in dnnl/conv.h.
void conv_forward_f64(const Tensor& input, const Tensor& filter, const Tensor& out, const ConvGeometry& g);
void conv_backward_input_f64(const Tensor& out_grad, const Tensor& filter, const Tensor& input_grad,
                             const ConvGeometry& g);
void conv_backward_filter_f64(const Tensor& input, const Tensor& out_grad, const Tensor& filter_grad,
                              const ConvGeometry& g);
}  // namespace paddle::kernels
