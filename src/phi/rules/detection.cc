// Rules of ops/detection.yaml: regions of images. Those of boxes and of YOLO are in files of their own.
#include "phi/rules_detection.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/window.h"

namespace paddle::rules {
namespace {

// -- pooling

void check_boxes(std::string_view op, const Tensor& boxes) {
  infer::check_rank(op, "boxes", boxes, 2, 2);
  infer::check_size(op, "a box, [x1, y1, x2, y2],", Dim(4), boxes.dim(1));
}

void check_numbers(std::string_view op, const Tensor& boxes_num, Dim images) {
  if (boxes_num.defined()) infer::check_size(op, "boxes_num", images, paddle::numel(boxes_num.shape()));
}

Shape pooled_shape(std::string_view op, const Tensor& x, const Tensor& boxes, const Tensor& boxes_num, int64_t height,
                   int64_t width) {
  infer::check_rank(op, "x", x, 4, 4);
  check_boxes(op, boxes);
  check_numbers(op, boxes_num, x.dim(0));
  check(height > 0 && width > 0, ErrorKind::kValue, "[{}] expected at least one cell each way, got {} x {}", op, height,
        width);
  return {boxes.dim(0), x.dim(1), Dim(infer::extent_of(op, "pooled_height", height)),
          Dim(infer::extent_of(op, "pooled_width", width))};
}

// The images whose pooled regions have the gradient out_grad; `channels` of theirs go with one of out_grad's.
Shape images_shape(std::string_view op, const Tensor& out_grad, const Tensor& boxes, const Tensor& boxes_num,
                   const Ints& input_shape, Dim channels) {
  infer::check_rank(op, "out_grad", out_grad, 4, 4);
  check_boxes(op, boxes);
  infer::check_size(op, "boxes of out_grad", boxes.dim(0), out_grad.dim(0));
  Shape images = infer::from_arg(op, input_shape);
  check(images.size() == 4, ErrorKind::kValue, "[{}] expected an input_shape of 4 sizes, got {}", op, images.size());
  infer::check_size(op, "channels of input_shape", out_grad.dim(1) * channels, images[1]);
  check_numbers(op, boxes_num, images[0]);
  return images;
}

int64_t cells(const Tensor& x, int64_t axis) { return guard_int(x.dim(axis)); }

}  // namespace

void roi_align::shape(const Args& a, TensorMeta& out) {
  out.shape = pooled_shape("roi_align", a.x, a.boxes, a.boxes_num, a.pooled_height, a.pooled_width);
}
void roi_align::vjp(Vjp& v) {
  v.x_grad = ops::roi_align_grad(v.out_grad, v.boxes, v.boxes_num, Ints(v.x.shape), v.spatial_scale, v.sampling_ratio,
                                 v.aligned);
}

void roi_align_grad::shape(const Args& a, TensorMeta& out) {
  out.shape = images_shape("roi_align_grad", a.out_grad, a.boxes, a.boxes_num, a.input_shape, Dim(1));
}
// Linear in out_grad: the adjoint is the pooling itself.
void roi_align_grad::vjp(Vjp& v) {
  const Shape& s = v.out_grad.shape;
  v.out_grad_grad = ops::roi_align(v.x_grad_grad, v.boxes, v.boxes_num, guard_int(s[2]), guard_int(s[3]),
                                   v.spatial_scale, v.sampling_ratio, v.aligned);
}

void roi_pool::shape(const Args& a, TensorMeta& out, TensorMeta& arg_max) {
  out.shape = arg_max.shape = pooled_shape("roi_pool", a.x, a.boxes, a.boxes_num, a.pooled_height, a.pooled_width);
}
// arg_max counts all elements of x; an empty cell has -1.
void roi_pool::vjp(Vjp& v) {
  Tensor at = ops::reshape(v.arg_max, {-1}), none = compose::zeros_like(at);
  Tensor g = compose::reshape_to(v.out_grad, at.shape());
  Tensor there = ops::cast(ops::greater_equal(at, none), g.dtype());
  Tensor flat = compose::zeros_like(TensorMeta{v.x.dtype, {paddle::numel(v.x.shape)}});
  v.x_grad = compose::reshape_to(ops::index_add(flat, ops::maximum(at, none), g * there, 0), v.x.shape);
}

void psroi_pool::shape(const Args& a, TensorMeta& out) {
  constexpr const char* op = "psroi_pool";
  out.shape = pooled_shape(op, a.x, a.boxes, a.boxes_num, a.pooled_height, a.pooled_width);
  int64_t channels;
  check(a.output_channels > 0 && !__builtin_mul_overflow(a.pooled_height, a.pooled_width, &channels) &&
            !__builtin_mul_overflow(channels, a.output_channels, &channels),
        ErrorKind::kValue, "[{}] expected output_channels above 0 that x can have for every cell, got {}", op,
        a.output_channels);
  infer::check_size(op, "channels of x", Dim(channels), a.x.dim(1));
  out.shape[1] = Dim(a.output_channels);
}
void psroi_pool::vjp(Vjp& v) {
  v.x_grad = ops::psroi_pool_grad(v.out_grad, v.boxes, v.boxes_num, Ints(v.x.shape), v.spatial_scale);
}

void psroi_pool_grad::shape(const Args& a, TensorMeta& out) {
  out.shape = images_shape("psroi_pool_grad", a.out_grad, a.boxes, a.boxes_num, a.input_shape,
                           a.out_grad.dim(2) * a.out_grad.dim(3));
}
void psroi_pool_grad::vjp(Vjp& v) {
  const Shape& s = v.out_grad.shape;
  v.out_grad_grad = ops::psroi_pool(v.x_grad_grad, v.boxes, v.boxes_num, guard_int(s[2]), guard_int(s[3]),
                                    guard_int(s[1]), v.spatial_scale);
}

// -- deformable convolution
namespace {

struct Deformed {
  const deformable_conv::Args& a;
  int64_t groups = a.deformable_groups;
  int64_t kh = guard_int(a.filter.dim(2)), kw = guard_int(a.filter.dim(3)), taps = kh * kw;
  Dim n = a.x.dim(0), channels = a.x.dim(1), height = a.x.dim(2), width = a.x.dim(3);
  Dim rows = a.offset.dim(2), columns = a.offset.dim(3);
  Dim images = n * Dim(groups);  // every group of channels as an image of its own
  // What places are computed in: 8 or 11 bits hold no place and the fraction that lies beyond it.
  DType place = size_of(a.x.dtype()) < 4 ? DType::kFloat32 : a.x.dtype();

  // Where the taps lie without offsets, along one axis: [1, taps, rows or 1, columns or 1].
  Tensor base(size_t axis) const {
    const int64_t along = axis == 0 ? kh : kw;
    Tensor tap = ops::arange(Scalar(0), Scalar(along), Scalar(1), place) * static_cast<double>(a.dilations[axis]);
    tap = axis == 0 ? ops::reshape(ops::expand(ops::unsqueeze(tap, {1}), Ints{kh, kw}), {1, taps, 1, 1})
                    : ops::reshape(ops::expand(ops::unsqueeze(tap, {0}), Ints{kh, kw}), {1, taps, 1, 1});
    Tensor at = ops::arange(Scalar(0), Scalar(axis == 0 ? rows : columns), Scalar(1), place) *
                static_cast<double>(a.strides[axis]);
    at = compose::reshape_to(at, axis == 0 ? Shape{1, 1, rows, 1} : Shape{1, 1, 1, columns});
    return at + tap - static_cast<double>(a.paddings[axis]);
  }

  // The places that are read, along one axis: [images, taps * rows * columns].
  Tensor places(size_t axis) const {
    Tensor moved = compose::reshape_to(ops::cast(a.offset, place), {images, Dim(taps), Dim(2), rows, columns});
    const auto i = static_cast<int64_t>(axis);
    Tensor at = ops::slice(moved, {2}, Ints{i}, Ints{i + 1}, {}, {2}) + base(axis);
    return compose::reshape_to(at, {images, points()});
  }
  Dim points() const { return Dim(taps) * rows * columns; }

  Tensor within(const Tensor& at, Dim size) const {
    Tensor first = compose::zeros_like(at), last = ops::full_like(at, Scalar(size - Dim(1)));
    return ops::cast(ops::logical_and(ops::greater_equal(at, first), ops::less_equal(at, last)), place);
  }

  // Interpolated elements, zeros outside: [images, channels / groups, points].
  Tensor gathered() const {
    Tensor y = places(0), x = places(1);
    Tensor top = ops::floor(y), left = ops::floor(x);
    Tensor low = y - top, off = x - left;
    const Dim part = paddle::floor_div(channels, Dim(groups));
    Tensor flat = compose::reshape_to(a.x, {images, part, height * width});
    Tensor total;
    for (int corner = 0; corner < 4; ++corner) {
      const bool down = corner & 1, right = corner & 2;
      Tensor yi = down ? top + 1.0 : top, xi = right ? left + 1.0 : left;
      Tensor weight = (down ? low : 1.0 - low) * (right ? off : 1.0 - off) * within(yi, height) * within(xi, width);
      Tensor row = ops::clip(yi, Scalar(0), Scalar(height - Dim(1))),
             column = ops::clip(xi, Scalar(0), Scalar(width - Dim(1)));
      Tensor at = ops::scale(ops::cast(row, DType::kInt64), Scalar(width)) + ops::cast(column, DType::kInt64);
      at = ops::expand(ops::unsqueeze(at, {1}), Ints(Shape{images, part, points()}));
      Tensor one = ops::take_along_axis(flat, at, 2) * ops::cast(ops::unsqueeze(weight, {1}), a.x.dtype());
      total = total.defined() ? total + one : one;
    }
    return total;
  }
};

}  // namespace

void deformable_conv::shape(const Args& a, TensorMeta& out) {
  constexpr const char* op = "deformable_conv";
  infer::check_rank(op, "x", a.x, 4, 4);
  infer::check_rank(op, "offset", a.offset, 4, 4);
  infer::check_rank(op, "filter", a.filter, 4, 4);
  check(a.groups > 0 && a.deformable_groups > 0, ErrorKind::kValue, "[{}] expected groups above 0, got {} and {}", op,
        a.groups, a.deformable_groups);
  infer::check_size(op, "channels of filter (times groups)", a.x.dim(1),
                    a.filter.dim(1) * Dim(infer::extent_of(op, "groups", a.groups)));
  const Dim parts(infer::extent_of(op, "deformable_groups", a.deformable_groups));
  infer::check_size(op, "channels of x (a multiple of deformable_groups)", paddle::floor_div(a.x.dim(1), parts) * parts,
                    a.x.dim(1));
  infer::check_size(op, "outputs of filter (a multiple of groups)",
                    paddle::floor_div(a.filter.dim(0), Dim(a.groups)) * Dim(a.groups), a.filter.dim(0));
  const int64_t kernel[] = {cells(a.filter, 2), cells(a.filter, 3)};
  const Window w =
      resolved_window(op, kernel, a.strides, a.dilations,
                      std::vector<int64_t>{a.paddings[0], a.paddings[0], a.paddings[1], a.paddings[1]}, "NCHW");
  const Dim rows = positions(op, w, 0, a.x.dim(2)), columns = positions(op, w, 1, a.x.dim(3));
  const Dim taps(kernel[0] * kernel[1] * a.deformable_groups);
  infer::check_size(op, "images of offset", a.x.dim(0), a.offset.dim(0));
  infer::check_size(op, "channels of offset", Dim(2) * taps, a.offset.dim(1));
  infer::check_size(op, "rows of offset", rows, a.offset.dim(2));
  infer::check_size(op, "columns of offset", columns, a.offset.dim(3));
  if (a.mask.defined()) {
    infer::check_rank(op, "mask", a.mask, 4, 4);
    infer::check_size(op, "images of mask", a.x.dim(0), a.mask.dim(0));
    infer::check_size(op, "channels of mask", taps, a.mask.dim(1));
    infer::check_size(op, "rows of mask", rows, a.mask.dim(2));
    infer::check_size(op, "columns of mask", columns, a.mask.dim(3));
  }
  out.shape = {a.x.dim(0), a.filter.dim(0), rows, columns};
}

Tensor deformable_conv::decompose(const Args& a) {
  const Deformed d{a};
  Tensor columns = d.gathered();
  if (a.mask.defined()) columns = columns * compose::reshape_to(a.mask, {d.images, Dim(1), d.points()});
  const Dim groups(a.groups), depth = paddle::floor_div(d.channels, groups) * Dim(d.taps), outputs = a.filter.dim(0);
  columns = compose::reshape_to(columns, {d.n, groups, depth, d.rows * d.columns});
  Tensor filter = compose::reshape_to(a.filter, {Dim(1), groups, paddle::floor_div(outputs, groups), depth});
  return compose::reshape_to(ops::matmul(filter, columns), {d.n, outputs, d.rows, d.columns});
}

}  // namespace paddle::rules
