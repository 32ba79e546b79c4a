// Rules of ops/manipulation.yaml: joining, cutting, repeating, in the order of the records.
#include <algorithm>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules_manipulation.h"
#include "tensor/shown_shape.h"

namespace paddle::rules {

// -- joining and cutting

void concat::shape(const Args& a, TensorMeta& out) {
  check(!a.x.empty(), ErrorKind::kValue, "[concat] expected at least one tensor, got an empty list");
  const int64_t rank = a.x[0].rank();
  const int64_t axis = infer::axis_of("concat", infer::number_of("concat", a.axis), rank);
  check(rank > 0, ErrorKind::kValue, "[concat] expected tensors with axes, got shape []");
  out.shape = a.x[0].shape();
  for (const Tensor& t : a.x.subspan(1)) {
    bool fits = t.rank() == rank;
    for (int64_t i = 0; fits && i < rank; ++i) fits = i == axis || infer::agree(t.shape()[i], out.shape[i]);
    check(fits, ErrorKind::kValue, "[concat] expected shapes that agree except along axis {}, got {} and {}", axis,
          shown(a.x[0].shape()), shown(t.shape()));
    out.shape[axis] = out.shape[axis] + t.shape()[axis];
  }
  for (const Tensor& t : a.x)
    check(t.dtype() == a.x[0].dtype(), ErrorKind::kValue, "[concat] expected tensors of one dtype, got {} and {}",
          name_of(a.x[0].dtype()), name_of(t.dtype()));
}

void concat::vjp(Vjp& v) {
  if (!v.need_x) return;
  const int64_t axis =
      infer::axis_of("concat", infer::number_of("concat", v.axis), static_cast<int64_t>(v.x[0].shape.size()));
  Shape sections;
  for (const TensorMeta& m : v.x) sections.push_back(m.shape[axis]);
  v.x_grad = ops::split(v.out_grad, sections, axis);
}

void stack::shape(const Args& a, TensorMeta& out) {
  check(!a.x.empty(), ErrorKind::kValue, "[stack] expected at least one tensor, got an empty list");
  const Shape& first = a.x[0].shape();
  const int64_t axis = infer::axis_of("stack", a.axis, static_cast<int64_t>(first.size()) + 1);
  for (const Tensor& t : a.x) {
    bool same = t.shape().size() == first.size();
    for (size_t i = 0; same && i < first.size(); ++i) same = infer::agree(t.shape()[i], first[i]);
    check(same, ErrorKind::kValue, "[stack] expected tensors of one shape, got {} and {}", shown(first),
          shown(t.shape()));
    check(t.dtype() == a.x[0].dtype(), ErrorKind::kValue, "[stack] expected tensors of one dtype, got {} and {}",
          name_of(a.x[0].dtype()), name_of(t.dtype()));
  }
  out.shape = first;
  out.shape.insert(static_cast<size_t>(axis), Dim(a.x.size()));
}

Tensor stack::decompose(const Args& a) {
  const int64_t axis = infer::axis_of("stack", a.axis, a.x[0].rank() + 1);
  Tensors parts;
  for (const Tensor& t : a.x) parts.push_back(ops::unsqueeze(t, {axis}));
  return ops::concat(parts, axis);
}

void stack::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::unbind(v.out_grad, v.axis);
}

void split::shape(const Args& a, std::vector<TensorMeta>& out) {
  const int64_t axis = infer::axis_of("split", infer::number_of("split", a.axis), a.x.rank());
  check(a.x.rank() > 0, ErrorKind::kValue, "[split] expected x with axes, got shape []");
  Shape sizes = infer::dims_of("split", a.sections);
  int64_t rest = -1;
  Dim sum = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == Dim(-1)) {
      check(rest < 0, ErrorKind::kValue, "[split] expected one -1 in sections, got {}", shown(sizes));
      rest = static_cast<int64_t>(i);
    } else {
      check(sizes[i].is_symbolic() || sizes[i].value() >= 0, ErrorKind::kValue,
            "[split] expected sections >= -1, got {}", shown(sizes));
      sum = sum + sizes[i];
    }
  }
  const Dim have = a.x.dim(axis);
  // A size that only running tells is taken on trust.
  const bool fits = rest < 0 ? infer::agree(have, sum) : !has_hint(have - sum) || !paddle::less(have, sum);
  check(fits, ErrorKind::kValue, "[split] expected sections that sum to {}, the size of x along axis {}, got {}",
        have.str(), axis, shown(sizes));
  if (rest >= 0) sizes[rest] = have - sum;
  for (Dim d : sizes) {
    out.push_back({DType::kUndefined, a.x.shape()});
    out.back().shape[axis] = d;
  }
}

namespace {
// The parts' gradients joined; zeros for those that nobody asked for.
Tensors with_zeros(std::span<const Tensor> grads, const std::vector<TensorMeta>& outs) {
  Tensors parts;
  for (size_t i = 0; i < outs.size(); ++i)
    parts.push_back(i < grads.size() ? compose::or_zeros(grads[i], outs[i]) : compose::zeros_like(outs[i]));
  return parts;
}
}  // namespace

void split::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::concat(with_zeros(v.out_grad, v.out), v.axis);
}

void split_with_num::shape(const Args& a, std::vector<TensorMeta>& out) {
  const int64_t axis = infer::axis_of("split", infer::number_of("split", a.axis), a.x.rank());
  check(a.x.rank() > 0, ErrorKind::kValue, "[split] expected x with axes, got shape []");
  const Dim have = a.x.dim(axis);
  check(a.num > 0 && a.num <= INT32_MAX, ErrorKind::kValue, "[split] expected num in [1, 2**31), got {}", a.num);
  check(paddle::equal(paddle::mod(have, a.num), 0), ErrorKind::kValue,
        "[split] expected a size along axis {} that {} divides, got {}", axis, a.num, have.str());
  out.assign(static_cast<size_t>(a.num), {DType::kUndefined, a.x.shape()});
  for (TensorMeta& m : out) m.shape[axis] = paddle::floor_div(have, a.num);
}

void split_with_num::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::concat(with_zeros(v.out_grad, v.out), v.axis);
}

void unbind::shape(const Args& a, std::vector<TensorMeta>& out) {
  check(a.input.rank() > 0, ErrorKind::kValue, "[unbind] expected a tensor with axes, got shape []");
  const int64_t axis = infer::axis_of("unbind", a.axis, a.input.rank());
  Shape rest = a.input.shape();
  rest.erase(static_cast<size_t>(axis));
  out.assign(static_cast<size_t>(guard_int(a.input.dim(axis))), {DType::kUndefined, rest});
}

void unbind::vjp(Vjp& v) {
  if (v.need_input) v.input_grad = ops::stack(with_zeros(v.out_grad, v.out), v.axis);
}

void unstack::shape(const Args& a, std::vector<TensorMeta>& out) {
  check(a.x.rank() > 0, ErrorKind::kValue, "[unstack] expected a tensor with axes, got shape []");
  const int64_t axis = infer::axis_of("unstack", a.axis, a.x.rank());
  if (a.num > 0) infer::check_size("unstack", "the axis of x", a.num, a.x.dim(axis));
  Shape rest = a.x.shape();
  rest.erase(static_cast<size_t>(axis));
  out.assign(static_cast<size_t>(guard_int(a.x.dim(axis))), {DType::kUndefined, rest});
}

Tensors unstack::decompose(const Args& a) { return ops::unbind(a.x, a.axis); }

void meshgrid::shape(const Args& a, std::vector<TensorMeta>& out) {
  Shape grid;
  for (const Tensor& t : a.inputs) {
    infer::check_rank("meshgrid", "each input", t, 0, 1);
    grid.push_back(t.rank() == 0 ? Dim(1) : t.dim(0));
  }
  out.assign(a.inputs.size(), {DType::kUndefined, grid});
}

Tensors meshgrid::decompose(const Args& a) {
  Shape grid;
  for (const Tensor& t : a.inputs) grid.push_back(t.rank() == 0 ? Dim(1) : t.dim(0));
  Tensors out;
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    Shape own(grid.size(), Dim(1));
    own[i] = grid[i];
    out.push_back(ops::expand(compose::reshape_to(a.inputs[i], own), grid));
  }
  return out;
}

namespace {
// x's sizes and the repeats, each filled up with ones in front to the longer of both.
std::pair<Shape, Shape> tile_shapes(const Tensor& x, Shape repeats) {
  Shape sizes = x.shape();
  for (Dim d : repeats)
    check(d.is_symbolic() || d.value() >= 0, ErrorKind::kValue, "[tile] expected repeat_times >= 0, got {}",
          shown(repeats));
  while (repeats.size() < sizes.size()) repeats.insert(0, Dim(1));
  while (sizes.size() < repeats.size()) sizes.insert(0, Dim(1));
  return {sizes, repeats};
}
}  // namespace

void tile::shape(const Args& a, TensorMeta& out) {
  const auto [sizes, repeats] = tile_shapes(a.x, infer::dims_of("tile", a.repeat_times));
  for (size_t i = 0; i < sizes.size(); ++i) out.shape.push_back(sizes[i] * repeats[i]);
}

Tensor tile::decompose(const Args& a) {
  const auto [sizes, repeats] = tile_shapes(a.x, compose::dims_of("tile", a.repeat_times));
  Shape apart, spread, out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!(repeats[i] == Dim(1))) {
      apart.push_back(1);
      spread.push_back(repeats[i]);
    }
    apart.push_back(sizes[i]);
    spread.push_back(sizes[i]);
    out.push_back(sizes[i] * repeats[i]);
  }
  if (spread == sizes) return ops::assign(compose::reshape_to(a.x, out));
  return compose::reshape_to(ops::expand(compose::reshape_to(a.x, apart), spread), out);
}

void repeat_interleave::shape(const Args& a, TensorMeta& out) {
  const int64_t axis = infer::axis_of("repeat_interleave", a.axis, a.x.rank());
  check(a.repeats >= 0, ErrorKind::kValue, "[repeat_interleave] expected repeats >= 0, got {}", a.repeats);
  infer::extent_of("repeat_interleave", "repeats", a.repeats);
  out.shape = a.x.rank() == 0 ? Shape{Dim(1)} : a.x.shape();
  out.shape[axis] = out.shape[axis] * Dim(a.repeats);
}

Tensor repeat_interleave::decompose(const Args& a) {
  const int64_t axis = infer::axis_of("repeat_interleave", a.axis, a.x.rank());
  Shape apart = a.x.rank() == 0 ? Shape{Dim(1)} : a.x.shape();
  Shape out = apart;
  out[axis] = out[axis] * Dim(a.repeats);
  apart.insert(static_cast<size_t>(axis) + 1, Dim(1));
  Shape spread = apart;
  spread[axis + 1] = a.repeats;
  return compose::reshape_to(ops::expand(compose::reshape_to(a.x, apart), spread), out);
}

void repeat_interleave_with_tensor_index::shape(const Args& a, TensorMeta& out) {
  const char* op = "repeat_interleave";
  const int64_t axis = infer::axis_of(op, a.axis, a.x.rank());
  infer::check_rank(op, "x", a.x, 1, 64);
  infer::check_rank(op, "repeats", a.repeats, 1);
  if (!(a.repeats.dim(0) == Dim(1))) infer::check_size(op, "repeats", a.x.dim(axis), a.repeats.dim(0));
  out.shape = a.x.shape();
  out.shape[axis] = a.output_size >= 0 ? Dim(a.output_size) : new_symbol();
}

void repeat_interleave_with_tensor_index::vjp(Vjp& v) {
  if (!v.need_x) return;
  const int64_t axis = infer::axis_of("repeat_interleave", v.axis, static_cast<int64_t>(v.x.shape.size()));
  Tensor places = ops::arange(0, Scalar(v.x.shape[axis]), 1, DType::kInt64);
  Tensor from = ops::repeat_interleave_with_tensor_index(places, v.repeats, 0, v.output_size);
  v.x_grad = ops::index_add(compose::zeros_like(v.x), from, v.out_grad, axis);
}

void flip::shape(const Args& a, TensorMeta& out) {
  infer::axes_of("flip", a.axis, a.x.rank(), false);
  out.shape = a.x.shape();
}

void flip::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::flip(v.out_grad, v.axis);
}

namespace {

// Shifts may be tensors whose values only running tells.
size_t count_of(const Ints& shifts) {
  return shifts.whole().defined() ? static_cast<size_t>(guard_int(paddle::numel(shifts.whole().shape())))
                                  : shifts.size();
}

Ints negative(const Ints& shifts) {
  if (shifts.whole().defined()) return Ints(ops::scale(shifts.whole(), Scalar(-1)));
  Shape numbers = shifts.values();
  for (Dim& n : numbers) n = -n;
  if (shifts.resolved()) return Ints(numbers);
  Tensors tensors = shifts.tensors();
  for (Tensor& t : tensors)
    if (t.defined()) t = ops::scale(t, Scalar(-1));
  return Ints(view(numbers), std::move(tensors));
}

}  // namespace

void roll::shape(const Args& a, TensorMeta& out) {
  infer::axes_of("roll", a.axis, a.x.rank(), false);
  const size_t n = count_of(a.shifts);
  check(n == std::max<size_t>(a.axis.size(), 1), ErrorKind::kValue, "[roll] expected one shift per axis, got {} for {}",
        n, a.axis.size());
  out.shape = a.x.shape();
}

void roll::vjp(Vjp& v) {
  if (!v.need_x) return;
  v.x_grad = ops::roll(v.out_grad, negative(v.shifts), v.axis);
}

}  // namespace paddle::rules
