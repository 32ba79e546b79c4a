// Convolutions with filters of one element, channels first: products of matrices that lie in memory as they are, where
// oneDNN reorders images before and after.
#pragma once
#include "phi/kernels/cpu/dnnl/conv.h"

namespace paddle::kernels {

// Each computes `out` if it is such a convolution, and says whether. Shapes as in dnnl/conv.h.
bool pointwise_forward(const Tensor& input, const Tensor& filter, const Tensor& out, const ConvGeometry& g);
bool pointwise_backward_input(const Tensor& out_grad, const Tensor& filter, const Tensor& out, const ConvGeometry& g);
bool pointwise_backward_filter(const Tensor& input, const Tensor& out_grad, const Tensor& out, const ConvGeometry& g);

}  // namespace paddle::kernels
