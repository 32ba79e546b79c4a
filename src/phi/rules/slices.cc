#include "phi/rules/slices.h"

#include <algorithm>

#include "phi/rules/infer.h"

namespace paddle::infer {

std::vector<std::optional<Dim>> items_of(std::string_view op, std::string_view name, const Ints& v, size_t n) {
  std::vector<std::optional<Dim>> items;
  if (v.whole().defined() && !v.whole().is_dense()) {
    items.assign(n, std::nullopt);
    return items;
  }
  const Shape dims = dims_of(op, v);
  check(dims.size() == n, ErrorKind::kValue, "[{}] expected {} of length {}, got {}", op, name, n, dims.size());
  for (size_t i = 0; i < n; ++i) {
    const bool unknown = i < v.tensors().size() && v.tensors()[i].defined() && !v.tensors()[i].is_dense();
    items.push_back(unknown ? std::nullopt : std::optional(dims[i]));
  }
  return items;
}

namespace {
bool at_least(Dim a, Dim b) { return !paddle::less(a, b); }

// Is nothing known about the sizes, so that a comparison would be a guess about every later call?
bool unseen(std::initializer_list<Dim> dims) { return !std::all_of(dims.begin(), dims.end(), has_hint); }

// d counted from the back where negative, then limited to [low, high]. Of sizes that were not seen it is an expression:
// min(1, max(0, -d)) is 1 where d is negative.
Dim limited(Dim d, Dim size, Dim low, Dim high) {
  if (unseen({d, size})) {
    const Dim counted = d + size * paddle::min(Dim(1), paddle::max(Dim(0), -d));
    return paddle::max(low, paddle::min(counted, high));
  }
  if (paddle::less(d, 0)) d = d + size;
  if (paddle::less(d, low)) return low;
  return at_least(d, high) ? high : d;
}
}  // namespace

// How many steps lead over the distance; 0 where it is negative.
static Dim steps_over(Dim distance, int64_t step) {
  if (unseen({distance}))
    distance = paddle::max(Dim(0), distance);
  else if (at_least(0, distance))
    return 0;
  return step == 1 ? distance : ceil_div(distance, step);
}

Dim slice_size(std::string_view op, Dim size, Dim start, Dim end, int64_t step) {
  check(step != 0, ErrorKind::kValue, "[{}] expected strides other than 0, got 0", op);
  if (step > 0) {
    const Dim from = limited(start, size, 0, size), to = limited(end, size, 0, size);
    return steps_over(to - from, step);
  }
  // Backwards: from at most the last element; an end before the first is -1 - size or less.
  const Dim from = limited(start, size, -1, size - 1), to = limited(end, size, -1, size - 1);
  return steps_over(from - to, -step);
}

Shape sliced_shape(std::string_view op, std::span<const Dim> x, std::span<const int64_t> axes, const Ints& starts,
                   const Ints& ends, const Ints* steps) {
  Shape out(x);
  const Sizes at = axes_of(op, axes, static_cast<int64_t>(x.size()), false, "axes");
  const auto from = items_of(op, "starts", starts, axes.size()), to = items_of(op, "ends", ends, axes.size());
  std::vector<std::optional<Dim>> by(axes.size(), Dim(1));
  if (steps) by = items_of(op, "strides", *steps, axes.size());
  for (size_t i = 0; i < at.size(); ++i) {
    check(!x.empty(), ErrorKind::kValue, "[{}] expected a tensor with axes, got shape []", op);
    Dim& d = out[at[i]];
    d = from[i] && to[i] && by[i] ? slice_size(op, d, *from[i], *to[i], guard_int(*by[i])) : new_symbol();
  }
  return out;
}

Shape without_axes(std::string_view op, std::span<const Dim> shape, std::span<const int64_t> axes) {
  const Sizes at = axes_of(op, axes, static_cast<int64_t>(shape.size()), false, "decrease_axis");
  Shape out;
  for (size_t i = 0; i < shape.size(); ++i)
    if (std::find(at.begin(), at.end(), static_cast<int64_t>(i)) == at.end()) out.push_back(shape[i]);
  return out;
}

}  // namespace paddle::infer
