// 3x3 convolutions with stride 1 in f32 by Winograd's algorithm. The error is some times that of the direct sum (about
// 1e-5 of the largest result), so it is for inference, or where FLAGS_winograd asks for it.
#pragma once
#include "tensor/tensor.h"

namespace paddle::kernels {

struct WinogradFollow {              // what comes right after
  const Tensor* bias = nullptr;      // [filters]
  const Tensor* residual = nullptr;  // of the result's shape
  bool relu = false;
};

class WinogradFilter {
 public:
  // filter: [filters, channels, 3, 3], whatever the images' layout; scale: a number for each, or undefined.
  WinogradFilter(const Tensor& filter, const Tensor& scale, bool channels_last);
  // x, out and the residual: [batch, channels, height, width], or channels last; pad: top, left.
  void run(const Tensor& x, const Tensor& out, int64_t pad_top, int64_t pad_left, const WinogradFollow& follow) const;

 private:
  Ref<Storage> u_;  // transformed
  int64_t filters_, channels_, padded_;
  bool channels_last_;
};

// Whether it is there and quicker than the direct sum: enough tiles to fill vectors, and results to pay for larger
// filters. For channels last, the filter is one that stays.
bool winograd_pays(const Tensor& x, const Tensor& filter, const Tensor& out, bool channels_last);

}  // namespace paddle::kernels
