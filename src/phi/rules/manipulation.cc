// Rules of ops/manipulation.yaml: views, joining and cutting, in the order of the records.
#include "phi/rules_manipulation.h"

#include <algorithm>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules/slices.h"
#include "tensor/shown_shape.h"

namespace paddle::rules {

// -- views

// 0 is the operand's size at that place. Where that can't be meant, since nothing is left of a tensor without elements
// only by a size that is 0, it is that: a program's size may come to be 0.
static void take_sizes_for_zeros(Shape& to, const Shape& from) {
  Shape taken = to;
  for (size_t i = 0; i < std::min(to.size(), from.size()); ++i)
    if (to[i] == Dim(0)) taken[i] = from[i];
  const bool rest = std::find(to.begin(), to.end(), Dim(-1)) != to.end();
  if (rest || !(paddle::numel(from) == Dim(0)) || paddle::numel(taken) == Dim(0)) to = taken;
}

void reshape::shape(const Args& a, TensorMeta& out) {
  const Shape& from = a.x.shape();
  Shape to = infer::dims_of("reshape", a.shape);
  take_sizes_for_zeros(to, from);
  int64_t rest = -1;
  Dim known = 1;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == Dim(-1)) {
      check(rest < 0, ErrorKind::kValue, "[reshape] expected one -1 in shape, got {}", shown(to));
      rest = static_cast<int64_t>(i);
      continue;
    }
    check(to[i].is_symbolic() || to[i].value() >= 0, ErrorKind::kValue, "[reshape] expected sizes >= -1, got {}",
          shown(to));
    known = known * to[i];
  }
  const Dim total = paddle::numel(from);
  bool fits;
  if (rest < 0) {
    fits = infer::agree(known, total);
  } else if (known == Dim(0)) {
    // Nothing to count: what remains is what the sizes other than 0 leave, as official has it.
    auto nonzero = [](const Shape& s) {
      Dim n = 1;
      for (Dim d : s)
        if (!(d == Dim(0)) && !(d == Dim(-1))) n = n * d;
      return n;
    };
    fits = total == Dim(0);
    if (fits) to[rest] = paddle::floor_div(nonzero(from), nonzero(to));
  } else {
    fits = infer::agree(paddle::mod(total, known), 0);
    if (fits) to[rest] = paddle::floor_div(total, known);
  }
  check(fits, ErrorKind::kValue, "[reshape] expected a shape for {} elements (x is {}), got {}", total.str(),
        shown(from), a.shape.str());
  out.shape = to;
}

void reshape::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = compose::reshape_to(v.out_grad, v.x.shape);
}

namespace {
Sizes checked_perm(std::span<const int64_t> perm, int64_t rank) {
  check(static_cast<int64_t>(perm.size()) == rank, ErrorKind::kValue, "[transpose] expected perm of length {}, got {}",
        rank, perm.size());
  return infer::axes_of("transpose", perm, rank, false, "perm");
}
}  // namespace

void transpose::shape(const Args& a, TensorMeta& out) {
  for (int64_t axis : checked_perm(a.perm, a.x.rank())) out.shape.push_back(a.x.shape()[axis]);
}

void transpose::vjp(Vjp& v) {
  if (!v.need_x) return;
  const Sizes perm = checked_perm(v.perm, v.out_grad.rank());
  std::vector<int64_t> back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[perm[i]] = static_cast<int64_t>(i);
  v.x_grad = ops::transpose(v.out_grad, back);
}

void squeeze::shape(const Args& a, TensorMeta& out) {
  const Sizes axes = infer::axes_of("squeeze", infer::numbers_of("squeeze", a.axis), a.x.rank(), true);
  for (int64_t i = 0; i < a.x.rank(); ++i) {
    const bool named = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!named || !(a.x.shape()[i] == Dim(1))) out.shape.push_back(a.x.shape()[i]);
  }
}

void squeeze::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = compose::reshape_to(v.out_grad, v.x.shape);
}

void unsqueeze::shape(const Args& a, TensorMeta& out) {
  out.shape = a.x.shape();
  for (int64_t axis : infer::numbers_of("unsqueeze", a.axis)) {
    const int64_t rank = static_cast<int64_t>(out.shape.size()) + 1;
    check(axis >= -rank && axis < rank, ErrorKind::kValue, "[unsqueeze] expected axis in [{}, {}), got {}", -rank, rank,
          axis);
    out.shape.insert(static_cast<size_t>(axis < 0 ? axis + rank : axis), Dim(1));
  }
}

void unsqueeze::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = compose::reshape_to(v.out_grad, v.x.shape);
}

void flatten::shape(const Args& a, TensorMeta& out) {
  if (a.x.rank() == 0) {
    out.shape = {Dim(1)};
    return;
  }
  const int64_t start = infer::axis_of("flatten", a.start_axis, a.x.rank(), "start_axis");
  const int64_t stop = infer::axis_of("flatten", a.stop_axis, a.x.rank(), "stop_axis");
  check(start <= stop, ErrorKind::kValue, "[flatten] expected start_axis <= stop_axis, got {} and {}", a.start_axis,
        a.stop_axis);
  for (int64_t i = 0; i < a.x.rank(); ++i) {
    if (i > start && i <= stop) {
      out.shape.back() = out.shape.back() * a.x.shape()[i];
    } else {
      out.shape.push_back(a.x.shape()[i]);
    }
  }
}

void flatten::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = compose::reshape_to(v.out_grad, v.x.shape);
}

void expand::shape(const Args& a, TensorMeta& out) {
  const Shape& from = a.x.shape();
  Shape to = infer::dims_of("expand", a.shape);
  check(to.size() >= from.size(), ErrorKind::kValue,
        "[expand] expected shape with at least the {} axes of x {}, got {}", from.size(), shown(from), shown(to));
  const size_t extra = to.size() - from.size();
  for (size_t i = 0; i < to.size(); ++i) {
    const Dim have = i < extra ? Dim(1) : from[i - extra];
    if (to[i] == Dim(-1)) {
      check(i >= extra, ErrorKind::kValue, "[expand] expected -1 only at axes of x {}, got {}", shown(from), shown(to));
      to[i] = have;
    }
    check(to[i].is_symbolic() || to[i].value() >= 0, ErrorKind::kValue, "[expand] expected sizes >= -1, got {}",
          shown(to));
    check(have == Dim(1) || infer::agree(have, to[i]), ErrorKind::kValue,
          "[expand] expected a shape that x {} broadcasts to, got {}", shown(from), shown(to));
  }
  out.shape = to;
}

void expand::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = compose::unbroadcast(v.out_grad, v.x);
}

namespace {
Shape as_shape(std::span<const int64_t> sizes) { return Shape(sizes.begin(), sizes.end()); }

// y's shape where it is given, else the numbers.
Shape target_of(const expand_as::Args& a) { return a.y.defined() ? a.y.shape() : as_shape(a.target_shape); }
}  // namespace

void expand_as::shape(const Args& a, TensorMeta& out) {
  const Shape to = target_of(a);
  check(to.size() >= a.x.shape().size() && infer::broadcast_shapes("expand_as", a.x.shape(), to) == to,
        ErrorKind::kValue, "[expand_as] expected a shape that x {} broadcasts to, got {}", shown(a.x.shape()),
        shown(to));
  out.shape = to;
}

Tensor expand_as::decompose(const Args& a) { return ops::expand(a.x, target_of(a)); }

namespace {
Shape common_shape(std::string_view op, std::span<const Tensor> tensors) {
  Shape out;
  for (const Tensor& t : tensors) out = infer::broadcast_shapes(op, out, t.shape());
  return out;
}
}  // namespace

void broadcast_tensors::shape(const Args& a, std::vector<TensorMeta>& out) {
  out.assign(a.input.size(), TensorMeta{DType::kUndefined, common_shape("broadcast_tensors", a.input)});
}

Tensors broadcast_tensors::decompose(const Args& a) {
  const Shape to = common_shape("broadcast_tensors", a.input);
  Tensors out;
  for (const Tensor& t : a.input) out.push_back(ops::expand(t, to));
  return out;
}

void slice::shape(const Args& a, TensorMeta& out) {
  out.shape = infer::sliced_shape("slice", a.input.shape(), a.axes, a.starts, a.ends, nullptr);
  out.shape = infer::without_axes("slice", out.shape, a.decrease_axis);
}

namespace {
Ints ones(size_t n) { return Ints(Shape(n, Dim(1))); }
}  // namespace

void slice::vjp(Vjp& v) {
  if (!v.need_input) return;
  if (v.axes.empty()) {
    v.input_grad = v.out_grad;
    return;
  }
  v.input_grad = ops::set_value_with_tensor(compose::zeros_like(v.input), v.out_grad, v.starts, v.ends,
                                            ones(v.axes.size()), v.axes, v.decrease_axis);
}

void strided_slice::shape(const Args& a, TensorMeta& out) {
  out.shape = infer::sliced_shape("strided_slice", a.x.shape(), a.axes, a.starts, a.ends, &a.strides);
}

void strided_slice::vjp(Vjp& v) {
  if (v.need_x)
    v.x_grad = ops::set_value_with_tensor(compose::zeros_like(v.x), v.out_grad, v.starts, v.ends, v.strides, v.axes);
}

namespace {
// The elements [low, high] of a storage of n that a strided view reads; it must lie inside, or memory would be read
// that is not the tensor's.
void check_inside(std::string_view op, std::span<const int64_t> shape, std::span<const int64_t> stride, int64_t first,
                  int64_t offset, int64_t n) {
  check(shape.size() == stride.size(), ErrorKind::kValue, "[{}] expected as many strides as sizes, got {} and {}", op,
        stride.size(), shape.size());
  int64_t low = first, high = first;
  bool empty = false, overflow = __builtin_add_overflow(first, offset, &low);
  high = low;
  for (size_t i = 0; i < shape.size(); ++i) {
    check(shape[i] >= 0, ErrorKind::kValue, "[{}] expected sizes >= 0, got {}", op, shape[i]);
    empty |= shape[i] == 0;
    int64_t reach = 0, &end = stride[i] < 0 ? low : high;
    overflow |= __builtin_mul_overflow(shape[i] - 1, stride[i], &reach) || __builtin_add_overflow(end, reach, &end);
  }
  check(empty || n < 0 || (!overflow && low >= 0 && high < n), ErrorKind::kValue,
        "[{}] expected a view inside the {} elements of the storage, got a view that reaches outside", op, n);
}
}  // namespace

void as_strided::shape(const Args& a, TensorMeta& out) {
  // A traced tensor is taken to be contiguous; of one whose size is unknown nothing can be said.
  const bool dense = a.x.is_dense();
  const int64_t n = dense                    ? static_cast<int64_t>(a.x->storage->bytes() / size_of(a.x.dtype()))
                    : is_static(a.x.shape()) ? a.x.numel()
                                             : -1;
  check_inside("as_strided", a.shape, a.stride, dense ? a.x->offset : 0, a.offset, n);
  out.shape = as_shape(a.shape);
}

void as_strided::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::as_strided_scatter_add(v.out_grad, v.x.shape, v.shape, v.stride, v.offset);
}

void as_strided_scatter_add::shape(const Args& a, TensorMeta& out) {
  out.shape = infer::from_arg("as_strided_scatter_add", a.x_shape);
  const Shape shape = as_shape(a.shape);
  infer::check_rank("as_strided_scatter_add", "out_grad", a.out_grad, static_cast<int64_t>(shape.size()));
  for (size_t i = 0; i < shape.size(); ++i)
    infer::check_size("as_strided_scatter_add", "out_grad", shape[i], a.out_grad.shape()[i]);
  int64_t n = is_static(out.shape) ? 1 : -1;
  for (size_t i = 0; n >= 0 && i < out.shape.size(); ++i)
    check(!__builtin_mul_overflow(n, out.shape[i].value(), &n), ErrorKind::kValue,
          "[as_strided_scatter_add] a tensor of shape {} is too large", shown(out.shape));
  check_inside("as_strided_scatter_add", a.shape, a.stride, 0, a.offset, n);
}

void as_strided_scatter_add::vjp(Vjp& v) {
  // The strides are those of a contiguous tensor; a gradient may be expanded.
  if (v.need_out_grad) v.out_grad_grad = ops::as_strided(ops::assign(v.x_grad_grad), v.shape, v.stride, v.offset);
}

namespace {
struct Diagonal {
  int64_t axis1, axis2;
};
Diagonal diagonal_axes(std::string_view op, int64_t axis1, int64_t axis2, int64_t rank) {
  check(rank >= 2, ErrorKind::kIndex, "[{}] expected x with at least 2 axes, got {}", op, rank);
  Diagonal d{infer::axis_of(op, axis1, rank, "axis1"), infer::axis_of(op, axis2, rank, "axis2")};
  check(d.axis1 != d.axis2, ErrorKind::kValue, "[{}] expected two different axes, got {} and {}", op, axis1, axis2);
  return d;
}
}  // namespace

void diagonal::shape(const Args& a, TensorMeta& out) {
  const auto [one, two] = diagonal_axes("diagonal", a.axis1, a.axis2, a.x.rank());
  for (int64_t i = 0; i < a.x.rank(); ++i)
    if (i != one && i != two) out.shape.push_back(a.x.shape()[i]);
  const Dim rows = a.x.shape()[one] + Dim(std::min<int64_t>(a.offset, 0));
  const Dim columns = a.x.shape()[two] - Dim(std::max<int64_t>(a.offset, 0));
  out.shape.push_back(paddle::max(0, paddle::min(rows, columns)));
}

namespace {
// Cut or padded with zeros behind, to `size` along an axis.
Tensor fitted(const Tensor& x, int64_t axis, Dim size) {
  const Dim have = x.dim(axis);
  if (paddle::equal(have, size)) return x;
  if (paddle::less(size, have)) return ops::slice(x, {axis}, {0}, Ints(Shape{size}));
  Shape rest = x.shape();
  rest[axis] = size - have;
  return ops::concat(Tensors{x, ops::full(rest, 0.0, x.dtype())}, axis);
}
}  // namespace

void diagonal::vjp(Vjp& v) {
  if (!v.need_x) return;
  const auto [one, two] = diagonal_axes("diagonal", v.axis1, v.axis2, static_cast<int64_t>(v.x.shape.size()));
  Tensor square = ops::diag_embed(v.out_grad, v.offset, one, two);
  v.x_grad = fitted(fitted(square, one, v.x.shape[one]), two, v.x.shape[two]);
}

void tensor_unfold::shape(const Args& a, TensorMeta& out) {
  const int64_t axis = infer::axis_of("tensor_unfold", a.axis, a.input.rank());
  check(a.size > 0 && a.step > 0, ErrorKind::kValue, "[tensor_unfold] expected size and step > 0, got {} and {}",
        a.size, a.step);
  out.shape = a.input.rank() == 0 ? Shape{Dim(1)} : a.input.shape();
  Dim& d = out.shape[axis];
  check(!paddle::less(d, a.size), ErrorKind::kValue, "[tensor_unfold] expected size <= {}, got {}", d.str(), a.size);
  d = paddle::floor_div(d - Dim(a.size), a.step) + Dim(1);
  out.shape.push_back(a.size);
}

void tensor_unfold::vjp(Vjp& v) {
  if (!v.need_input) return;
  // Element (.., w, .., s) came from position w * step + s.
  const int64_t rank = static_cast<int64_t>(v.input.shape.size());
  if (rank == 0) {
    v.input_grad = ops::reshape(v.out_grad, Ints{});
    return;
  }
  const int64_t axis = infer::axis_of("tensor_unfold", v.axis, rank);
  std::vector<int64_t> perm;
  for (int64_t i = 0; i <= rank; ++i)
    if (i != rank) {
      perm.push_back(i);
      if (i == axis) perm.push_back(rank);
    }
  Tensor moved = ops::transpose(v.out_grad, perm);
  const Dim windows = moved.dim(axis);
  Shape folded = moved.shape();
  folded[axis] = windows * Dim(v.size);
  folded.erase(static_cast<size_t>(axis) + 1);
  Tensor starts = ops::arange(0, Scalar(windows * Dim(v.step)), v.step, DType::kInt64);
  Tensor places = ops::unsqueeze(starts, {1}) + ops::arange(0, v.size, 1, DType::kInt64);
  v.input_grad = ops::index_add(compose::zeros_like(v.input), ops::reshape(places, {-1}),
                                compose::reshape_to(moved, folded), axis);
}

}  // namespace paddle::rules
