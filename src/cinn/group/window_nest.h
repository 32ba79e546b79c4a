// Sliding windows in loop rules: which element of the input each offset of each window position reads.
#pragma once
#include <span>

#include "cinn/group/nest.h"

namespace paddle::cinn {

class WindowNest {
 public:
  // Strides, dilations, paddings and layout are the operation's attributes; the window's sizes are those of `filter`
  // from its third dimension on, or `kernel`.
  WindowNest(Nest& e, const pir::Operation& op, const Shape& filter);
  WindowNest(Nest& e, const pir::Operation& op, std::vector<int64_t> kernel);

  size_t rank() const { return kernel_.size(); }
  int64_t kernel(int a) const { return kernel_[static_cast<size_t>(a)]; }
  // The size of spatial axis a of a value in the operation's layout.
  Index outputs(pir::Value v, int a);
  int to_channels_first(int x);
  int from_channels_first(int x);

  // Dimension `at` of x, along spatial axis a, as [n positions, window]; `fill` where the window hangs over.
  int windows(int x, size_t at, int a, const Index& n, int fill);
  // The other way: dimension `at` of y counts positions; for each of n inputs and each offset the position that reads
  // this input with this offset.
  int sources(int y, size_t at, int a, const Index& n, int fill);
  // Whether the window of position i covers the input with offset u: [n positions, window].
  int inside(int a, const Index& n, const Index& size);

 private:
  void read(const pir::Operation& op);
  int gathered(int x, size_t at, int rows, int valid, int fill);
  int position(int a, const Shape& pairs);  // i * stride + u * dilation - padding

  Nest& e_;
  std::vector<int64_t> kernel_, strides_, dilations_, before_;
  bool channels_last_ = false;
};

}  // namespace paddle::cinn
