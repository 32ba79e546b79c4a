// Rules of ops/detection.yaml: YOLO.
#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules_detection.h"

namespace paddle::rules {
namespace {

int64_t anchor_pairs(std::string_view op, std::span<const int64_t> anchors) {
  check(!anchors.empty() && anchors.size() % 2 == 0, ErrorKind::kValue,
        "[{}] expected anchors as pairs of width and height, got {} numbers", op, anchors.size());
  return static_cast<int64_t>(anchors.size() / 2);
}

int64_t class_count(std::string_view op, int64_t class_num) {
  check(class_num > 0, ErrorKind::kValue, "[{}] expected a class_num above 0, got {}", op, class_num);
  return infer::extent_of(op, "class_num", class_num);
}

// 0, 1, 2 ... along an axis of five.
Tensor counted(Dim n, size_t axis, DType dtype) {
  Shape shape(5, Dim(1));
  shape[axis] = n;
  return compose::reshape_to(ops::arange(Scalar(0), Scalar(n), Scalar(1), dtype), shape);
}

Tensor numbers(std::span<const int64_t> all, size_t first, size_t step, const Tensor& like) {
  std::vector<Tensor> picked;
  for (size_t i = first; i < all.size(); i += step) picked.push_back(compose::lift(static_cast<double>(all[i]), like));
  return ops::stack(picked, 0);
}

// Channel i of [N, anchors, channels, H, W], kept as an axis of 1.
Tensor channel(const Tensor& x, int64_t i, int64_t end = 0) {
  return ops::slice(x, {2}, Ints{i}, Ints{end ? end : i + 1});
}

}  // namespace

void yolo_box::shape(const Args& a, TensorMeta& boxes, TensorMeta& scores) {
  constexpr const char* op = "yolo_box";
  infer::check_rank(op, "x", a.x, 4, 4);
  infer::check_rank(op, "img_size", a.img_size, 2, 2);
  infer::check_size(op, "images of img_size", a.x.dim(0), a.img_size.dim(0));
  infer::check_size(op, "an image's size, the last axis of img_size,", Dim(2), a.img_size.dim(1));
  const int64_t anchors = anchor_pairs(op, a.anchors), classes = class_count(op, a.class_num);
  infer::check_size(op, "channels of x", Dim(anchors * ((a.iou_aware ? 6 : 5) + classes)), a.x.dim(1));
  const Dim count = Dim(anchors) * a.x.dim(2) * a.x.dim(3);
  boxes.shape = {a.x.dim(0), count, Dim(4)};
  scores.shape = {a.x.dim(0), count, Dim(a.class_num)};
}

ops::yolo_box_out yolo_box::decompose(const Args& a) {
  const int64_t anchors = static_cast<int64_t>(a.anchors.size() / 2);
  const Dim n = a.x.dim(0), height = a.x.dim(2), width = a.x.dim(3);
  const DType dtype = a.x.dtype();
  Tensor x = a.x, overlap;
  if (a.iou_aware) {
    overlap = ops::sigmoid(ops::unsqueeze(ops::slice(x, {1}, Ints{0}, Ints{anchors}), {2}));
    x = ops::slice(x, {1}, Ints{anchors}, Ints(Shape{a.x.dim(1)}));
  }
  x = compose::reshape_to(x, {n, Dim(anchors), Dim(5 + a.class_num), height, width});
  auto per_anchor = [&](size_t first) { return ops::reshape(numbers(a.anchors, first, 2, a.x), {1, -1, 1, 1, 1}); };
  auto per_image = [&](int64_t i) {
    Tensor size = ops::cast(ops::slice(a.img_size, {1}, Ints{i}, Ints{i + 1}), dtype);
    return compose::reshape_to(size, {n, Dim(1), Dim(1), Dim(1), Dim(1)});
  };
  Tensor image_h = per_image(0), image_w = per_image(1);
  const double bias = -0.5 * (a.scale_x_y - 1.0);
  Tensor h = ops::full({}, Scalar(height), dtype), w = ops::full({}, Scalar(width), dtype);
  Tensor cx = (ops::sigmoid(channel(x, 0)) * a.scale_x_y + bias + counted(width, 4, dtype)) * image_w / w;
  Tensor cy = (ops::sigmoid(channel(x, 1)) * a.scale_x_y + bias + counted(height, 3, dtype)) * image_h / h;
  const Scalar across(width * Dim(a.downsample_ratio)), down(height * Dim(a.downsample_ratio));
  Tensor half_w = ops::exp(channel(x, 2)) * per_anchor(0) * image_w / ops::full({}, across, dtype) * 0.5;
  Tensor half_h = ops::exp(channel(x, 3)) * per_anchor(1) * image_h / ops::full({}, down, dtype) * 0.5;
  Tensor sure = ops::sigmoid(channel(x, 4));
  if (a.iou_aware)
    sure = ops::pow(sure, Scalar(1.0 - a.iou_aware_factor)) * ops::pow(overlap, Scalar(a.iou_aware_factor));
  Tensor kept = ops::cast(ops::greater_equal(sure, ops::full_like(sure, Scalar(a.conf_thresh))), dtype);
  Tensor left = cx - half_w, top = cy - half_h, right = cx + half_w, bottom = cy + half_h;
  if (a.clip_bbox) {
    left = ops::maximum(left, compose::zeros_like(left));
    top = ops::maximum(top, compose::zeros_like(top));
    right = ops::minimum(right, image_w - 1.0);
    bottom = ops::minimum(bottom, image_h - 1.0);
  }
  const std::vector<Tensor> edges = {left * kept, top * kept, right * kept, bottom * kept};
  Tensor scores = ops::sigmoid(channel(x, 5, 5 + a.class_num)) * (sure * kept);
  auto listed = [&](const Tensor& t, int64_t last) {
    Tensor moved = ops::transpose(t, {0, 1, 3, 4, 2});
    return compose::reshape_to(moved, {n, Dim(anchors) * height * width, Dim(last)});
  };
  return {listed(ops::concat(edges, Scalar(2)), 4), listed(scores, a.class_num)};
}

namespace {

template <class A>
void check_targets(std::string_view op, const A& a) {
  infer::check_rank(op, "x", a.x, 4, 4);
  infer::check_rank(op, "gt_box", a.gt_box, 3, 3);
  infer::check_size(op, "a box, the last axis of gt_box,", Dim(4), a.gt_box.dim(2));
  infer::check_size(op, "images of gt_box", a.x.dim(0), a.gt_box.dim(0));
  const int64_t anchors = anchor_pairs(op, a.anchors);
  const auto used = static_cast<int64_t>(a.anchor_mask.size());
  check(used > 0, ErrorKind::kValue, "[{}] expected at least one number in anchor_mask", op);
  for (int64_t i : a.anchor_mask)
    check(i >= 0 && i < anchors, ErrorKind::kValue, "[{}] expected numbers of anchor_mask in [0, {}), got {}", op,
          anchors, i);
  infer::check_size(op, "channels of x", Dim(used * (5 + class_count(op, a.class_num))), a.x.dim(1));
  infer::check_size(op, "columns of x, which is square,", a.x.dim(2), a.x.dim(3));
  if (a.gt_score.defined()) {
    infer::check_rank(op, "gt_score", a.gt_score, 2, 2);
    infer::check_size(op, "images of gt_score", a.x.dim(0), a.gt_score.dim(0));
    infer::check_size(op, "boxes of gt_score", a.gt_box.dim(1), a.gt_score.dim(1));
  }
}

template <class A>
void target_shapes(const A& a, TensorMeta& objectness_mask, TensorMeta& gt_match_mask) {
  objectness_mask.shape = {a.x.dim(0), Dim(static_cast<int64_t>(a.anchor_mask.size())), a.x.dim(2), a.x.dim(3)};
  gt_match_mask.shape = {a.gt_box.dim(0), a.gt_box.dim(1)};
}

// Cross entropy of a logit and a probability, and the same against a number.
Tensor cross_entropy(const Tensor& x, const Tensor& label) {
  return ops::maximum(x, compose::zeros_like(x)) - x * label + ops::log1p(ops::exp(-ops::abs(x)));
}
Tensor summed(const Tensor& t) {  // over all but the images
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < t.rank(); ++i) axes.push_back(i);
  return ops::sum(t, Ints(axes));
}

}  // namespace

void yolo_match::shape(const Args& a, TensorMeta& objectness_mask, TensorMeta& gt_match_mask) {
  check_targets("yolo_match", a);
  target_shapes(a, objectness_mask, gt_match_mask);
}

void yolo_loss::shape(const Args& a, TensorMeta& loss, TensorMeta& objectness_mask, TensorMeta& gt_match_mask) {
  check_targets("yolo_loss", a);
  infer::check_rank("yolo_loss", "gt_label", a.gt_label, 2, 2);
  infer::check_size("yolo_loss", "images of gt_label", a.x.dim(0), a.gt_label.dim(0));
  infer::check_size("yolo_loss", "boxes of gt_label", a.gt_box.dim(1), a.gt_label.dim(1));
  loss.shape = {a.x.dim(0)};
  target_shapes(a, objectness_mask, gt_match_mask);
}

ops::yolo_loss_out yolo_loss::decompose(const Args& a) {
  const DType dtype = a.x.dtype();
  const auto used = static_cast<int64_t>(a.anchor_mask.size());
  const Dim n = a.x.dim(0), size = a.x.dim(2), boxes = a.gt_box.dim(1), depth(5 + a.class_num);
  auto [objectness, match] = ops::yolo_match(a.x, a.gt_box, a.gt_score, a.anchors, a.anchor_mask, a.class_num,
                                             a.ignore_thresh, a.downsample_ratio, a.scale_x_y);
  Tensor x = compose::reshape_to(a.x, {n, Dim(used), depth, size, size});

  // What is predicted for each box, at its cell and anchor: [N, boxes, 5 + classes].
  auto coordinate = [&](int64_t i) { return ops::slice(a.gt_box, {2}, Ints{i}, Ints{i + 1}, {}, {2}); };
  Tensor gx = ops::scale(coordinate(0), Scalar(size)), gy = ops::scale(coordinate(1), Scalar(size));
  Tensor gw = coordinate(2), gh = coordinate(3);
  Tensor column = ops::floor(gx), row = ops::floor(gy);
  Tensor none = compose::zeros_like(match), there = ops::cast(ops::greater_equal(match, none), dtype);
  Tensor anchor = ops::cast(ops::maximum(match, none), DType::kInt64);
  auto inside = [&](const Tensor& t) {
    return ops::cast(ops::clip(t, Scalar(0), Scalar(size - Dim(1))), DType::kInt64);
  };
  Tensor at = ops::scale(ops::scale(anchor, Scalar(size)) + inside(row), Scalar(size)) + inside(column);
  Tensor flat = compose::reshape_to(ops::transpose(x, {0, 1, 3, 4, 2}), {n, Dim(used) * size * size, depth});
  at = ops::expand(ops::unsqueeze(at, {2}), Ints(Shape{n, boxes, depth}));
  Tensor predicted = ops::take_along_axis(flat, at, 1);
  auto logit = [&](int64_t i) { return ops::slice(predicted, {2}, Ints{i}, Ints{i + 1}, {}, {2}); };

  // Places and sizes, small boxes weighing more.
  Tensor picked = ops::gather(numbers(a.anchor_mask, 0, 1, a.x), ops::reshape(anchor, {-1}));
  picked = ops::cast(picked, DType::kInt64);
  auto extent = [&](size_t first) {
    return compose::reshape_to(ops::gather(numbers(a.anchors, first, 2, a.x), picked), {n, boxes});
  };
  const Scalar input(size * Dim(a.downsample_ratio));
  Tensor one = ops::full_like(gw, Scalar(1.0)), real = ops::cast(there, DType::kBool);
  Tensor tw = ops::log(ops::where(real, ops::scale(gw, input) / extent(0), one));
  Tensor th = ops::log(ops::where(real, ops::scale(gh, input) / extent(1), one));
  Tensor score = a.gt_score.defined() ? a.gt_score * there : there;
  Tensor weight = (2.0 - gw * gh) * score;
  Tensor place = cross_entropy(logit(0), gx - column) + cross_entropy(logit(1), gy - row) + ops::abs(logit(2) - tw) +
                 ops::abs(logit(3) - th);

  // Kinds.
  const double smooth = a.use_label_smooth ? std::min(1.0 / static_cast<double>(a.class_num), 1.0 / 40.0) : 0.0;
  Tensor kind = ops::cast(ops::one_hot(a.gt_label, Scalar(a.class_num)), dtype);
  Tensor label = kind * (1.0 - 2.0 * smooth) + smooth;
  Tensor kinds = ops::slice(predicted, {2}, Ints{5}, Ints(Shape{depth}));
  Tensor of_boxes = summed(place * weight) + summed(cross_entropy(kinds, label) * ops::unsqueeze(score, {2}));

  // Whether there is a box.
  Tensor sure = compose::reshape_to(channel(x, 4), objectness.shape());
  Tensor yes = ops::cast(ops::greater_than(objectness, ops::full_like(objectness, Scalar(1e-5))), dtype);
  Tensor judged = ops::cast(ops::greater_than(objectness, ops::full_like(objectness, Scalar(-0.5))), dtype);
  Tensor positive = cross_entropy(sure, ops::full_like(sure, Scalar(1.0))) * objectness * yes;
  Tensor negative = cross_entropy(sure, compose::zeros_like(sure)) * judged * (1.0 - yes);
  return {of_boxes + summed(positive + negative), objectness, match};
}

}  // namespace paddle::rules
