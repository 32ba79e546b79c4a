// Sliding windows: what convolution and pooling share about paddings and output sizes.
#pragma once
#include "phi/rules/infer.h"

namespace paddle::rules {

// Paddings as [before, after] per spatial axis, all forms resolved.
struct Window {
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<int64_t> paddings;  // 2 per axis
  bool channels_last = false;
  bool ceil_mode = false;

  size_t rank() const { return kernel.size(); }
  // Index of spatial axis i in a tensor of rank() + 2.
  size_t axis(size_t i) const { return channels_last ? i + 1 : i + 2; }
  size_t channel_axis() const { return channels_last ? rank() + 1 : 1; }
};

bool channels_last(std::string_view op, std::string_view data_format);
// Checks lengths and signs; "SAME" needs the input's sizes, which it guards when they are symbolic.
Window make_window(std::string_view op, const Tensor& x, std::span<const int64_t> kernel,
                   std::span<const int64_t> strides, std::span<const int64_t> dilations,
                   std::span<const int64_t> paddings, std::string_view algorithm, std::string_view data_format);
// For gradients, whose windows come with every form resolved: [before, after] paddings per axis.
Window resolved_window(std::string_view op, std::span<const int64_t> kernel, std::span<const int64_t> strides,
                       std::span<const int64_t> dilations, std::span<const int64_t> paddings,
                       std::string_view data_format);
// Number of window positions along axis i.
Dim positions(std::string_view op, const Window& w, size_t i, Dim size);

}  // namespace paddle::rules
