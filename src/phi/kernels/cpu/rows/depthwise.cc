#include "phi/kernels/cpu/rows/depthwise.h"

#include <cstring>

#include "phi/kernels/cpu/rows/row_span.h"

namespace paddle::kernels {
namespace {

template <class T>
void run(const Tensor& input, const Tensor& filter, const Tensor& out, const ConvGeometry& g,
         rows::DepthwiseFn<T> plane) {
  int64_t channels = input.size(1), h = input.size(2), w = input.size(3);
  int64_t out_channels = out.size(1), out_h = out.size(2), out_w = out.size(3), kh = filter.size(2),
          kw = filter.size(3);
  int64_t multiplier = out_channels / channels;
  int64_t pitch = w + g.pad_left[1] + g.pad_right[1], padded_h = h + g.pad_left[0] + g.pad_right[0];
  bool padded = pitch != w || padded_h != h;
  const T* x = input.data<T>();
  rows::each_row_range(input.size(0) * channels, out_h * out_w * multiplier, [&](int64_t begin, int64_t end) {
    std::vector<T> scratch(padded ? static_cast<size_t>(padded_h * pitch) : 0, T(0));
    for (int64_t i = begin; i < end; ++i) {
      const T* from = x + i * h * w;
      if (padded) {
        T* inside = scratch.data() + g.pad_left[0] * pitch + g.pad_left[1];
        for (int64_t r = 0; r < h; ++r)
          std::memcpy(inside + r * pitch, from + r * w, static_cast<size_t>(w) * sizeof(T));
        from = scratch.data();
      }
      int64_t batch = i / channels, channel = i % channels;
      for (int64_t m = 0; m < multiplier; ++m) {
        int64_t k = channel * multiplier + m;
        plane(out.data<T>() + (batch * out_channels + k) * out_h * out_w, out_h, out_w, from, pitch,
              filter.data<T>() + k * kh * kw, kh, kw, g.dilations[0], g.dilations[1]);
      }
    }
  });
}

}  // namespace

bool depthwise_conv2d(const Tensor& input, const Tensor& filter, const Tensor& out, const ConvGeometry& g) {
  if (input.rank() != 4 || g.channels_last || g.groups != input.size(1) || filter.size(1) != 1) return false;
  for (size_t i = 0; i < 2; ++i)
    if (g.strides[i] != 1 || g.pad_left[i] < 0 || g.pad_right[i] < 0) return false;
  if (!input.is_contiguous() || !filter.is_contiguous() || !out.is_contiguous()) return false;
  switch (input.dtype()) {
    case DType::kFloat32:
      run<float>(input, filter, out, g, rows::row_table().depthwise_f32);
      return true;
    case DType::kFloat64:
      run<double>(input, filter, out, g, rows::row_table().depthwise_f64);
      return true;
    default:
      return false;
  }
}

}  // namespace paddle::kernels
