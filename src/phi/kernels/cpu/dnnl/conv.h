// Convolutions on the CPU by oneDNN, always in its blocked layout: reordering costs less than the plain layout loses.
#pragma once
#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace paddle::kernels {

struct ConvGeometry {
  std::vector<int64_t> strides, dilations;  // per spatial axis
  std::vector<int64_t> pad_left, pad_right;
  int64_t groups = 1;
  bool channels_last = false;  // NHWC: input and output; the filter is [out, in / groups, spatial...] always
};

// What comes right after: the sum with a number per output channel, and with a tensor of the result's shape. Either may
// be undefined. A bias is f32 or of the result's dtype.
struct ConvFollow {
  Tensor bias, residual;
};

// input [n, c, spatial...] (or channels last), filter [k, c / groups, spatial...], out likewise. Rank 3 to 5; f32,
// bf16, f16.
void conv_forward(const Tensor& input, const Tensor& filter, const Tensor& out, const ConvGeometry& g,
                  const ConvFollow& follow = {});
// The same with a filter that stays: it lies in the layout that the primitive wants.
class HeldConvolution {
 public:
  virtual ~HeldConvolution() = default;
  virtual void run(const Tensor& input, const Tensor& out, const ConvFollow& follow) = 0;
};
// `scale`: a number that each filter is multiplied by, or undefined. `follow`: what will follow it, with tensors like
// those of the runs.
std::unique_ptr<HeldConvolution> hold_convolution(const Tensor& input, const Tensor& filter, const Tensor& scale,
                                                  const Tensor& out, const ConvGeometry& g, const ConvFollow& follow);
void conv_backward_input(const Tensor& out_grad, const Tensor& filter, const Tensor& input_grad, const ConvGeometry& g);
void conv_backward_filter(const Tensor& input, const Tensor& out_grad, const Tensor& filter_grad,
                          const ConvGeometry& g);

}  // namespace paddle::kernels
