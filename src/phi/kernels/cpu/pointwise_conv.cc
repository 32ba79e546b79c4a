#include "phi/kernels/cpu/pointwise_conv.h"

#include <algorithm>

#include "phi/kernels/cpu/dnnl/matmul.h"
#include "phi/kernels/cpu/rows/row_table.h"

namespace paddle::kernels {
namespace {

constexpr int64_t kPositions = 256;  // of an image, from which on its products are no slower than oneDNN's convolution

int64_t positions(const Tensor& image) { return image.numel() / (image.size(0) * image.size(1)); }

// a, b: images on both sides of the filter.
bool taken(const Tensor& a, const Tensor& b, const Tensor& filter, const ConvGeometry& g) {
  auto all = [](const std::vector<int64_t>& v, int64_t n) {
    return std::all_of(v.begin(), v.end(), [n](int64_t x) { return x == n; });
  };
  if (a.dtype() != DType::kFloat32 || g.channels_last || g.groups != 1 || filter.numel() == 0 || a.numel() == 0 ||
      filter.numel() != filter.size(0) * filter.size(1))
    return false;
  if (!all(g.strides, 1) || !all(g.pad_left, 0) || !all(g.pad_right, 0)) return false;
  return a.is_contiguous() && b.is_contiguous() && filter.is_contiguous() && positions(a) >= kPositions;
}

// One image: [channels, positions].
Tensor image(const Tensor& t, int64_t n) {
  const int64_t size = positions(t);
  return t.as_view(Shape{t.dim(1), Dim(size)}, Strides{size, 1}, t->offset + n * t.size(1) * size);
}
Tensor as_matrix(const Tensor& filter) {  // [filters, channels]
  return filter.as_view(Shape{filter.dim(0), filter.dim(1)}, Strides{filter.size(1), 1}, filter->offset);
}

}  // namespace

bool pointwise_forward(const Tensor& input, const Tensor& filter, const Tensor& out, const ConvGeometry& g) {
  if (!taken(input, out, filter, g)) return false;
  for (int64_t n = 0; n < input.size(0); ++n) matmul(as_matrix(filter), image(input, n), image(out, n));
  return true;
}

bool pointwise_backward_input(const Tensor& out_grad, const Tensor& filter, const Tensor& out, const ConvGeometry& g) {
  if (!taken(out_grad, out, filter, g)) return false;
  const Tensor turned = matrix_view(as_matrix(filter), true, true);
  for (int64_t n = 0; n < out.size(0); ++n) matmul(turned, image(out_grad, n), image(out, n));
  return true;
}

bool pointwise_backward_filter(const Tensor& input, const Tensor& out_grad, const Tensor& out, const ConvGeometry& g) {
  if (!taken(input, out_grad, out, g)) return false;
  const Tensor sum = as_matrix(out);
  Tensor part;
  for (int64_t n = 0; n < input.size(0); ++n) {
    if (n == 1) part = Tensor::empty(sum.shape(), DType::kFloat32, sum.place());
    const Tensor& to = n == 0 ? sum : part;
    matmul(image(out_grad, n), matrix_view(image(input, n), true, false), to);
    if (n > 0) rows::row_fns<float>().add_to(sum.data<float>(), part.data<float>(), sum.numel());
  }
  return true;
}

}  // namespace paddle::kernels
