// Rules of ops/vision.yaml: patches and grids. The interpolations are in interpolation.cc.
#include "phi/rules_vision.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/window.h"

namespace paddle::rules {
namespace {

// -- patches

// Paddings as official Paddle orders them here: top, left, bottom, right.
template <class A>
Window patch_window(std::string_view op, const A& a) {
  check(a.kernel_sizes.size() == 2, ErrorKind::kValue, "[{}] expected 2 kernel sizes, got {}", op,
        a.kernel_sizes.size());
  check(a.paddings.size() == 4, ErrorKind::kValue, "[{}] expected 4 paddings (top, left, bottom, right), got {}", op,
        a.paddings.size());
  const int64_t paddings[] = {a.paddings[0], a.paddings[2], a.paddings[1], a.paddings[3]};
  for (int64_t p : paddings) check(p >= 0, ErrorKind::kValue, "[{}] expected paddings of at least 0, got {}", op, p);
  return resolved_window(op, a.kernel_sizes, a.strides, a.dilations, paddings, "NCHW");
}

Dim padded(const Window& w, size_t axis, Dim size) {
  return size + Dim(w.paddings[2 * axis] + w.paddings[2 * axis + 1]);
}

// start, start + step, ... as a vector that lies along axis `at` of four.
Tensor steps(Dim count, int64_t step, size_t at) {
  Shape shape(4, Dim(1));
  shape[at] = count;
  Tensor t = ops::arange(Scalar(0), Scalar(count), Scalar(1), DType::kInt64);
  return compose::reshape_to(ops::scale(t, Scalar(step)), shape);
}

// Where in a flattened padded image of the given width each element of the patches lies: one row after another of the
// kernel, and for each of its elements the patches.
Tensor patch_places(const Window& w, Dim width, Dim rows, Dim columns) {
  Tensor y = steps(Dim(w.kernel[0]), w.dilations[0], 0) + steps(rows, w.strides[0], 2);
  Tensor x = steps(Dim(w.kernel[1]), w.dilations[1], 1) + steps(columns, w.strides[1], 3);
  return compose::reshape_to(ops::scale(y, Scalar(width)) + x, {Dim(w.kernel[0] * w.kernel[1]) * rows * columns});
}

// -- grids

// Item i of a list argument: a number, a symbolic size, or a tensor that only running fills.
Scalar item_of(const Ints& v, size_t i) {
  const auto at = static_cast<int64_t>(i);
  if (v.whole().defined())
    return Scalar(ops::cast(ops::slice(v.whole(), {0}, Ints{at}, Ints{at + 1}, {}, {0}), DType::kInt64));
  if (i < v.tensors().size() && v.tensors()[i].defined())
    return Scalar(ops::cast(compose::reshape_to(v.tensors()[i], {}), DType::kInt64));
  return Scalar(v.values()[i]);
}

// The coordinates of pixel centres on [-1, 1].
Tensor centres(const Scalar& size, bool align_corners, DType dtype) {
  Tensor place = ops::arange(Scalar(0), size, Scalar(1), dtype);
  Tensor extent = size.kind() == Scalar::Kind::kTensor ? ops::cast(size.tensor(), dtype) : ops::full({}, size, dtype);
  if (!align_corners) return (place * 2.0 + 1.0) / extent - 1.0;
  // One pixel has no gap beside it: it lies at -1.
  return place * 2.0 / ops::maximum(extent - 1.0, ops::full({}, Scalar(1.0), dtype)) - 1.0;
}

Tensor number(Dim d, DType dtype) { return ops::full({}, Scalar(d), dtype); }

Tensor clipped(const Tensor& x, const Tensor& low, const Tensor& high) {
  return ops::minimum(ops::maximum(x, low), high);
}

// Coordinates folded into [low, low + span].
Tensor reflected(const Tensor& place, double low, const Tensor& span) {
  Tensor off = ops::abs(place - low);
  Tensor turns = ops::floor(off / span);
  Tensor rest = off - turns * span;
  Tensor even = ops::equal(ops::remainder(turns, ops::full_like(turns, Scalar(2.0))), ops::full_like(turns, 0.0));
  return ops::where(even, rest + low, span + low - rest);
}

struct Grid {
  const grid_sample::Args& a;
  size_t n = static_cast<size_t>(a.x.rank()) - 2;
  Tensor flat;  // [N, C, pixels]

  Dim size(size_t i) const { return a.x.dim(static_cast<int64_t>(i) + 2); }

  // The coordinate along spatial axis i, in pixels: [N, points].
  Tensor place(const Tensor& points, size_t i) const {
    const DType t = points.dtype();
    const Dim at(static_cast<int64_t>(n - 1 - i));  // x belongs to the last axis
    Tensor c = ops::slice(points, {2}, Ints(Shape{at}), Ints(Shape{at + Dim(1)}), {}, {2});
    Tensor last = number(size(i) - Dim(1), t), zero = number(Dim(0), t);
    Tensor p = a.align_corners ? (c + 1.0) * (last * 0.5) : ((c + 1.0) * number(size(i), t) - 1.0) * 0.5;
    if (a.padding_mode == "border") return clipped(p, zero, last);
    if (a.padding_mode != "reflection") return p;
    if (!a.align_corners) return clipped(reflected(p, -0.5, number(size(i), t)), zero, last);
    if (paddle::equal(size(i), Dim(1))) return p * 0.0;
    return clipped(reflected(p, 0.0, last), zero, last);
  }

  // Pixels at whole coordinates, zero outside: [N, C, points].
  Tensor fetch(const Tensors& places) const {
    Tensor index, inside;
    for (size_t i = 0; i < n; ++i) {
      const Tensor& p = places[i];
      Tensor zero = number(Dim(0), p.dtype()), last = number(size(i) - Dim(1), p.dtype());
      Tensor within = ops::logical_and(ops::greater_equal(p, zero), ops::less_equal(p, last));
      inside = inside.defined() ? ops::logical_and(inside, within) : within;
      Tensor whole = ops::cast(clipped(p, zero, last), DType::kInt64);
      index = index.defined() ? ops::scale(index, Scalar(size(i))) + whole : whole;
    }
    index = ops::expand(ops::unsqueeze(index, {1}), Ints(Shape{a.x.dim(0), a.x.dim(1), index.dim(1)}));
    return ops::take_along_axis(flat, index, 2) * ops::cast(ops::unsqueeze(inside, {1}), flat.dtype());
  }

  Tensor sample() {
    Dim pixels = 1, count = 1;
    for (size_t i = 0; i < n; ++i) pixels = pixels * size(i), count = count * a.grid.dim(static_cast<int64_t>(i) + 1);
    flat = compose::reshape_to(a.x, {a.x.dim(0), a.x.dim(1), pixels});
    Tensor points = compose::reshape_to(a.grid, {a.grid.dim(0), count, Dim(n)});
    Tensors places;
    for (size_t i = 0; i < n; ++i) places.push_back(place(points, i));
    if (a.mode == "nearest") {
      for (Tensor& p : places) p = ops::round(p);
      return fetch(places);
    }
    Tensors low, share;
    for (const Tensor& p : places) {
      low.push_back(ops::floor(p));
      share.push_back(p - low.back());
    }
    Tensor out;
    for (size_t corner = 0; corner < size_t{1} << n; ++corner) {
      Tensors at;
      Tensor weight;
      for (size_t i = 0; i < n; ++i) {
        const bool upper = corner >> i & 1;
        at.push_back(upper ? low[i] + 1.0 : low[i]);
        Tensor w = upper ? share[i] : 1.0 - share[i];
        weight = weight.defined() ? weight * w : w;
      }
      Tensor part = fetch(at) * ops::unsqueeze(weight, {1});
      out = out.defined() ? out + part : part;
    }
    return out;
  }
};

}  // namespace

void unfold::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("unfold", "x", a.x, 4, 4);
  Window w = patch_window("unfold", a);
  Dim count = positions("unfold", w, 0, a.x.dim(2)) * positions("unfold", w, 1, a.x.dim(3));
  out.shape = {a.x.dim(0), a.x.dim(1) * Dim(w.kernel[0] * w.kernel[1]), count};
}

Tensor unfold::decompose(const Args& a) {
  Window w = patch_window("unfold", a);
  const Dim n = a.x.dim(0), c = a.x.dim(1);
  const Dim rows = positions("unfold", w, 0, a.x.dim(2)), columns = positions("unfold", w, 1, a.x.dim(3));
  const Dim height = padded(w, 0, a.x.dim(2)), width = padded(w, 1, a.x.dim(3));
  Tensor x = a.x;
  if (std::any_of(w.paddings.begin(), w.paddings.end(), [](int64_t p) { return p != 0; })) {
    const int64_t around[] = {0, 0, 0, 0, w.paddings[0], w.paddings[1], w.paddings[2], w.paddings[3]};
    x = ops::pad(x, std::span<const int64_t>(around), Scalar(0.0));
  }
  Tensor picked =
      ops::index_select(compose::reshape_to(x, {n, c, height * width}), patch_places(w, width, rows, columns), 2);
  return compose::reshape_to(picked, {n, c * Dim(w.kernel[0] * w.kernel[1]), rows * columns});
}

void fold::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("fold", "x", a.x, 3, 3);
  check(a.output_sizes.size() == 2, ErrorKind::kValue, "[fold] expected 2 output sizes, got {}", a.output_sizes.size());
  for (int64_t s : a.output_sizes) infer::extent_of("fold", "output_sizes", s);
  Window w = patch_window("fold", a);
  const Dim height(a.output_sizes[0]), width(a.output_sizes[1]);
  const Dim taps(w.kernel[0] * w.kernel[1]);
  check(paddle::equal(mod(a.x.dim(1), taps), Dim(0)), ErrorKind::kValue,
        "[fold] expected a second axis divisible by the kernel's {} elements, got {}", taps.str(), a.x.dim(1).str());
  infer::check_size("fold", "the last axis (number of patches)",
                    positions("fold", w, 0, height) * positions("fold", w, 1, width), a.x.dim(2));
  out.shape = {a.x.dim(0), floor_div(a.x.dim(1), taps), height, width};
}

Tensor fold::decompose(const Args& a) {
  Window w = patch_window("fold", a);
  const Dim n = a.x.dim(0), taps(w.kernel[0] * w.kernel[1]), c = floor_div(a.x.dim(1), taps);
  const Dim inner_height(a.output_sizes[0]), inner_width(a.output_sizes[1]);
  const Dim rows = positions("fold", w, 0, inner_height), columns = positions("fold", w, 1, inner_width);
  const Dim height = padded(w, 0, inner_height), width = padded(w, 1, inner_width);
  Tensor image = ops::full(Shape{n, c, height * width}, Scalar(0.0), a.x.dtype());
  image = ops::index_add(image, patch_places(w, width, rows, columns),
                         compose::reshape_to(a.x, {n, c, taps * rows * columns}), 2);
  image = compose::reshape_to(image, {n, c, height, width});
  const Dim top(w.paddings[0]), left(w.paddings[2]);
  return ops::slice(image, {2, 3}, Ints(Shape{top, left}), Ints(Shape{top + inner_height, left + inner_width}));
}

void affine_grid::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("affine_grid", "input", a.input, 3, 3);
  Shape sizes = infer::dims_of("affine_grid", a.output_shape);
  check(sizes.size() == 4 || sizes.size() == 5, ErrorKind::kValue,
        "[affine_grid] expected an output_shape of 4 or 5 sizes, got {}", sizes.size());
  const Dim n(sizes.size() - 2);
  infer::check_size("affine_grid", "input's second axis (number of spatial axes)", n, a.input.dim(1));
  infer::check_size("affine_grid", "input's last axis (number of spatial axes + 1)", n + Dim(1), a.input.dim(2));
  out.shape = {a.input.dim(0)};
  for (size_t i = 2; i < sizes.size(); ++i) out.shape.push_back(sizes[i]);
  out.shape.push_back(n);
}

Tensor affine_grid::decompose(const Args& a) {
  const Tensor& whole = a.output_shape.whole();
  const size_t n = (whole.defined() ? static_cast<size_t>(guard_int(whole.dim(0))) : a.output_shape.size()) - 2;
  const DType t = a.input.dtype();
  Tensors columns;
  for (size_t i = n; i-- > 0;) {  // x belongs to the last axis
    Tensor axis = centres(item_of(a.output_shape, i + 2), a.align_corners, t);
    Shape alone(n, Dim(1));
    alone[i] = axis.dim(0);
    columns.push_back(compose::reshape_to(axis, alone));
  }
  columns.push_back(ops::full(Shape(n, Dim(1)), Scalar(1.0), t));
  columns = ops::broadcast_tensors(columns);
  Dim count = 1;
  Shape out{a.input.dim(0)};
  for (Dim d : columns[0].shape()) {
    count = count * d;
    out.push_back(d);
  }
  out.push_back(Dim(n));
  Tensor base = compose::reshape_to(ops::stack(columns, -1), {Dim(1), count, Dim(n + 1)});
  return compose::reshape_to(ops::matmul(base, a.input, false, true), out);
}

void grid_sample::shape(const Args& a, TensorMeta& out) {
  constexpr const char* op = "grid_sample";
  infer::check_rank(op, "x", a.x, 4, 5);
  infer::check_rank(op, "grid", a.grid, a.x.rank(), a.x.rank());
  check(a.mode == "bilinear" || a.mode == "nearest", ErrorKind::kValue,
        "[grid_sample] expected mode bilinear or nearest, got {}", a.mode);
  check(a.padding_mode == "zeros" || a.padding_mode == "border" || a.padding_mode == "reflection", ErrorKind::kValue,
        "[grid_sample] expected padding_mode zeros, border or reflection, got {}", a.padding_mode);
  infer::check_size(op, "grid's batch", a.x.dim(0), a.grid.dim(0));
  infer::check_size(op, "grid's last axis (number of spatial axes)", Dim(a.x.rank() - 2), a.grid.dim(-1));
  out.shape = {a.x.dim(0), a.x.dim(1)};
  for (int64_t i = 1; i + 1 < a.grid.rank(); ++i) out.shape.push_back(a.grid.dim(i));
}

Tensor grid_sample::decompose(const Args& a) {
  if (size_of(a.x.dtype()) == 2) {  // a coordinate in pixels has more digits than 16-bit floats
    Tensor x = ops::cast(a.x, DType::kFloat32), grid = ops::cast(a.grid, DType::kFloat32);
    return ops::cast(ops::grid_sample(x, grid, a.mode, a.padding_mode, a.align_corners), a.x.dtype());
  }
  Shape out{a.x.dim(0), a.x.dim(1)};
  for (int64_t i = 1; i + 1 < a.grid.rank(); ++i) out.push_back(a.grid.dim(i));
  return compose::reshape_to(Grid{a}.sample(), out);
}

}  // namespace paddle::rules
