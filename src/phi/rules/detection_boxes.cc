// Rules of ops/detection.yaml: boxes, and labels of sequences.
#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/aspect_ratios.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules_detection.h"

namespace paddle::rules {
namespace {

void check_boxes(std::string_view op, std::string_view name, const Tensor& t, int64_t rank) {
  infer::check_rank(op, name, t, rank, rank);
  infer::check_size(op, "a box, the last axis,", Dim(4), t.dim(rank - 1));
}

// Column i of boxes along the last axis.
Tensor column(const Tensor& boxes, int64_t i) {
  const int64_t last = boxes.rank() - 1;
  return ops::slice(boxes, {last}, Ints{i}, Ints{i + 1}, {}, {last});
}

struct Centred {
  Tensor x, y, width, height;
};
Centred centred(const Tensor& boxes, bool normalized) {
  const double extra = normalized ? 0.0 : 1.0;
  Centred c;
  c.width = column(boxes, 2) - column(boxes, 0) + extra;
  c.height = column(boxes, 3) - column(boxes, 1) + extra;
  c.x = column(boxes, 0) + c.width * 0.5;
  c.y = column(boxes, 1) + c.height * 0.5;
  return c;
}

// The variances as a tensor whose last axis is 4 and that goes with [n, m, 4]; undefined: all 1.
Tensor variances(const box_coder::Args& a, int64_t axis) {
  if (a.prior_box_var.defined()) return ops::unsqueeze(a.prior_box_var, {axis});
  if (a.variance.empty()) return {};
  std::vector<Tensor> numbers;
  for (double v : a.variance) numbers.push_back(compose::lift(v, a.target_box));
  return ops::stack(numbers, 0);
}

Tensor encoded(const box_coder::Args& a) {
  const Centred prior = centred(a.prior_box, a.box_normalized);
  auto down = [](const Tensor& t) { return ops::unsqueeze(t, {1}); };
  const double extra = a.box_normalized ? 0.0 : 1.0;
  Tensor width = down(column(a.target_box, 2) - column(a.target_box, 0) + extra);
  Tensor height = down(column(a.target_box, 3) - column(a.target_box, 1) + extra);
  Tensor x = down((column(a.target_box, 2) + column(a.target_box, 0)) * 0.5);
  Tensor y = down((column(a.target_box, 3) + column(a.target_box, 1)) * 0.5);
  const std::vector<Tensor> parts = {(x - prior.x) / prior.width, (y - prior.y) / prior.height,
                                     ops::log(ops::abs(width / prior.width)),
                                     ops::log(ops::abs(height / prior.height))};
  Tensor out = ops::stack(parts, -1), var = variances(a, 0);
  return var.defined() ? out / var : out;
}

Tensor decoded(const box_coder::Args& a) {
  const Centred prior = centred(a.prior_box, a.box_normalized);
  auto lift = [&](const Tensor& t) { return ops::unsqueeze(t, {a.axis}); };
  Tensor var = variances(a, a.axis), t = var.defined() ? a.target_box * var : a.target_box;
  const double extra = a.box_normalized ? 0.0 : 1.0;
  Tensor x = column(t, 0) * lift(prior.width) + lift(prior.x), y = column(t, 1) * lift(prior.height) + lift(prior.y);
  Tensor w = ops::exp(column(t, 2)) * lift(prior.width), h = ops::exp(column(t, 3)) * lift(prior.height);
  const std::vector<Tensor> edges = {x - w * 0.5, y - h * 0.5, x + w * 0.5 - extra, y + h * 0.5 - extra};
  return ops::stack(edges, -1);
}

}  // namespace

void box_coder::shape(const Args& a, TensorMeta& out) {
  constexpr const char* op = "box_coder";
  check_boxes(op, "prior_box", a.prior_box, 2);
  if (a.prior_box_var.defined()) check_boxes(op, "prior_box_var", a.prior_box_var, 2);
  check(a.variance.empty() || a.variance.size() == 4, ErrorKind::kValue, "[{}] expected 4 variances, got {}", op,
        a.variance.size());
  const bool encode = a.code_type == "encode_center_size";
  check(encode || a.code_type == "decode_center_size", ErrorKind::kValue,
        "[{}] expected code_type encode_center_size or decode_center_size, got {}", op, a.code_type);
  if (encode) {
    check_boxes(op, "target_box", a.target_box, 2);
    out.shape = {a.target_box.dim(0), a.prior_box.dim(0), Dim(4)};
    return;
  }
  check(a.axis == 0 || a.axis == 1, ErrorKind::kValue, "[{}] expected axis 0 or 1, got {}", op, a.axis);
  check_boxes(op, "target_box", a.target_box, 3);
  infer::check_size(op, "target_box along the priors' axis", a.prior_box.dim(0), a.target_box.dim(1 - a.axis));
  out.shape = a.target_box.shape();
}
Tensor box_coder::decompose(const Args& a) { return a.code_type == "encode_center_size" ? encoded(a) : decoded(a); }

void prior_box::shape(const Args& a, TensorMeta& out, TensorMeta& var) {
  constexpr const char* op = "prior_box";
  infer::check_rank(op, "input", a.input, 4, 4);
  infer::check_rank(op, "image", a.image, 4, 4);
  check(a.variances.size() == 4, ErrorKind::kValue, "[{}] expected 4 variances, got {}", op, a.variances.size());
  check(!a.min_sizes.empty(), ErrorKind::kValue, "[{}] expected at least one of min_sizes", op);
  check(a.max_sizes.empty() || a.max_sizes.size() == a.min_sizes.size(), ErrorKind::kValue,
        "[{}] expected as many max_sizes as min_sizes, {}, got {}", op, a.min_sizes.size(), a.max_sizes.size());
  for (size_t i = 0; i < a.max_sizes.size(); ++i)
    check(a.max_sizes[i] > a.min_sizes[i], ErrorKind::kValue, "[{}] expected max_sizes above min_sizes, got {} and {}",
          op, a.max_sizes[i], a.min_sizes[i]);
  const size_t ratios = expanded_ratios(a.aspect_ratios, a.flip).size();
  out.shape = {a.input.dim(2), a.input.dim(3),
               Dim(static_cast<int64_t>(ratios * a.min_sizes.size() + a.max_sizes.size())), Dim(4)};
  var.shape = out.shape;
}

void nms::shape(const Args& a, TensorMeta& out) {
  check_boxes("nms", "x", a.x, 2);
  out.shape = {new_symbol()};
}

namespace {

// Detections of a batch: rows [label, score, box], their places, how many each image has.
void detections(std::string_view op, const Tensor& boxes, const Tensor& scores, TensorMeta& out, TensorMeta& index,
                TensorMeta& count) {
  infer::check_rank(op, "bboxes", boxes, 3, 3);
  infer::check_rank(op, "scores", scores, 3, 3);
  infer::check_size(op, "images of scores", boxes.dim(0), scores.dim(0));
  infer::check_size(op, "boxes of scores", boxes.dim(1), scores.dim(2));
  infer::check_size(op, "a box, the last axis,", Dim(4), boxes.dim(2));
  const Dim n = new_symbol();
  out.shape = {n, Dim(6)};
  index.shape = {n, Dim(1)};
  count.shape = {boxes.dim(0)};
}

}  // namespace

void matrix_nms::shape(const Args& a, TensorMeta& out, TensorMeta& index, TensorMeta& roisnum) {
  detections("matrix_nms", a.bboxes, a.scores, out, index, roisnum);
}
void multiclass_nms3::shape(const Args& a, TensorMeta& out, TensorMeta& index, TensorMeta& nms_rois_num) {
  detections("multiclass_nms3", a.bboxes, a.scores, out, index, nms_rois_num);
}

void distribute_fpn_proposals::shape(const Args& a, std::vector<TensorMeta>& multi_fpn_rois,
                                     std::vector<TensorMeta>& multi_level_rois_num, TensorMeta& restore_index) {
  constexpr const char* op = "distribute_fpn_proposals";
  check_boxes(op, "fpn_rois", a.fpn_rois, 2);
  check(a.max_level >= a.min_level, ErrorKind::kValue, "[{}] expected max_level of at least min_level {}, got {}", op,
        a.min_level, a.max_level);
  check(a.min_level >= 0 && a.max_level < 64, ErrorKind::kValue, "[{}] expected levels from 0 to 63, got {} to {}", op,
        a.min_level, a.max_level);
  check(a.refer_scale > 0, ErrorKind::kValue, "[{}] expected a refer_scale above 0, got {}", op, a.refer_scale);
  const auto levels = static_cast<size_t>(a.max_level - a.min_level + 1);
  multi_fpn_rois.assign(levels, TensorMeta{a.fpn_rois.dtype(), {}});
  for (TensorMeta& m : multi_fpn_rois) m.shape = {new_symbol(), Dim(4)};
  const Dim images = a.rois_num.defined() ? a.rois_num.dim(0) : Dim(1);
  multi_level_rois_num.assign(levels, TensorMeta{DType::kInt32, {images}});
  restore_index.shape = {a.fpn_rois.dim(0), Dim(1)};
}

void generate_proposals::shape(const Args& a, TensorMeta& rpn_rois, TensorMeta& rpn_roi_probs,
                               TensorMeta& rpn_rois_num) {
  constexpr const char* op = "generate_proposals";
  infer::check_rank(op, "scores", a.scores, 4, 4);
  infer::check_rank(op, "bbox_deltas", a.bbox_deltas, 4, 4);
  infer::check_rank(op, "im_shape", a.im_shape, 2, 2);
  infer::check_size(op, "images of bbox_deltas", a.scores.dim(0), a.bbox_deltas.dim(0));
  infer::check_size(op, "channels of bbox_deltas", a.scores.dim(1) * Dim(4), a.bbox_deltas.dim(1));
  infer::check_size(op, "rows of bbox_deltas", a.scores.dim(2), a.bbox_deltas.dim(2));
  infer::check_size(op, "columns of bbox_deltas", a.scores.dim(3), a.bbox_deltas.dim(3));
  infer::check_size(op, "images of im_shape", a.scores.dim(0), a.im_shape.dim(0));
  infer::check_size(op, "an image's size, the last axis of im_shape,", Dim(2), a.im_shape.dim(1));
  infer::check_size(op, "elements of anchors", a.scores.dim(1) * a.scores.dim(2) * a.scores.dim(3) * Dim(4),
                    paddle::numel(a.anchors.shape()));
  infer::check_size(op, "elements of variances", paddle::numel(a.anchors.shape()), paddle::numel(a.variances.shape()));
  const Dim n = new_symbol();
  rpn_rois.shape = {n, Dim(4)};
  rpn_roi_probs.shape = {n, Dim(1)};
  rpn_rois_num.shape = {a.scores.dim(0)};
}

void viterbi_decode::shape(const Args& a, TensorMeta& scores, TensorMeta& path) {
  constexpr const char* op = "viterbi_decode";
  infer::check_rank(op, "potentials", a.potentials, 3, 3);
  infer::check_rank(op, "transition_params", a.transition_params, 2, 2);
  infer::check_rank(op, "lengths", a.lengths, 1, 1);
  infer::check_size(op, "rows of transition_params", a.potentials.dim(2), a.transition_params.dim(0));
  infer::check_size(op, "columns of transition_params", a.potentials.dim(2), a.transition_params.dim(1));
  infer::check_size(op, "lengths", a.potentials.dim(0), a.lengths.dim(0));
  scores.shape = {a.potentials.dim(0)};
  path.shape = {a.potentials.dim(0), new_symbol()};  // as long as the longest sequence
}

}  // namespace paddle::rules
