// A strided part of a tensor along single axes: what slices read and what assignments to slices write.
#pragma once
#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

#include "base/error.h"
#include "tensor/scalar_value.h"
#include "tensor/tensor.h"

namespace paddle::kernels {

struct Cut {
  Shape shape;
  Strides strides;
  int64_t offset;
};

// Where the one index from `start` ends: that of -1 ends at the end, which start + 1 does not say.
inline int64_t end_of(int64_t start, int64_t end, bool dropped) {
  return dropped && start == -1 ? std::numeric_limits<int64_t>::max() : end;
}

inline Cut whole(const Tensor& x) { return {x.shape(), x.strides(), x->offset}; }

// One axis from start to end by step, with Python's meaning of negative bounds and of bounds beyond the ends.
inline void cut(Cut& v, int64_t axis, int64_t start, int64_t end, int64_t step) {
  size_t i = static_cast<size_t>(axis);
  int64_t n = v.shape[i].value();
  if (start < 0) start += n;
  if (end < 0) end += n;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, n);
    end = std::clamp<int64_t>(end, start, n);
  } else {
    start = std::clamp<int64_t>(start, -1, n - 1);
    end = std::clamp<int64_t>(end, -1, start);
  }
  int64_t length = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
  v.offset += (length > 0 ? start : 0) * v.strides[i];
  v.shape[i] = Dim(length);
  v.strides[i] *= step;
}

// The part of x that bounds along `axes` name, without the axes that are dropped. Such an axis has one index: the
// element must be there, which the kernel is the last to say where only running tells bounds. (A layout without memory
// is asked with any bounds.) `steps`: null for 1.
inline Cut cut_out(std::string_view op, const Tensor& x, std::span<const int64_t> axes, const Ints& starts,
                   const Ints& ends, const Ints* steps, std::span<const int64_t> dropped_axes) {
  const int64_t rank = x.rank();
  auto dropped = [&](int64_t axis) {
    return std::any_of(dropped_axes.begin(), dropped_axes.end(),
                       [&](int64_t d) { return (d < 0 ? d + rank : d) == axis; });
  };
  Cut all = whole(x);
  const bool layout_only = !x->storage->data() && x.numel() != 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i], start = starts.values()[i].value();
    const int64_t end = end_of(start, ends.values()[i].value(), dropped(axis));
    cut(all, axis, start, end, steps ? steps->values()[i].value() : 1);
    check(layout_only || !dropped(axis) || all.shape[static_cast<size_t>(axis)].value() > 0, ErrorKind::kIndex,
          "[{}] expected one index along axis {} of size {}, got {}", op, axis, x.size(axis), start);
  }
  Cut part{{}, {}, all.offset};
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (dropped(axis)) continue;
    part.shape.push_back(all.shape[static_cast<size_t>(axis)]);
    part.strides.push_back(all.strides[static_cast<size_t>(axis)]);
  }
  return part;
}

}  // namespace paddle::kernels
