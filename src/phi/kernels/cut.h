// A strided part of a tensor along single axes: what slices read and what assignments to slices write.
#pragma once
#include <algorithm>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "tensor/tensor.h"

namespace paddle::kernels {

struct Cut {
  Shape shape;
  Strides strides;
  int64_t offset;
};

// An axis that is dropped has an element to look at.
inline void check_one_index(std::string_view op, int64_t size, int64_t axis) {
  check(size > 0, ErrorKind::kIndex, "[{}] expected one index along axis {}, got an axis of size 0", op, axis);
}

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

}  // namespace paddle::kernels
