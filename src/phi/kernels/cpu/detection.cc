// Boxes that are left of many: ops/detection.yaml's suppression, and what its boxes start from.
#include <cmath>

#include "phi/kernels/cpu/boxes.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/rules/aspect_ratios.h"
#include "phi/rules_detection.h"

namespace paddle::kernels {
namespace {

template <class F>
void dispatch_box(std::string_view op, DType t, F&& f) {
  if (t == DType::kFloat32) return f(float{});
  if (t == DType::kFloat64) return f(double{});
  fail(ErrorKind::kType, "[{}] expected float32 or float64, got {}", op, name_of(t));
}

template <class T, class V>
Tensor listed(const std::vector<V>& values, const Shape& shape, DType dtype) {
  Tensor t = Tensor::empty(shape, dtype, Place::cpu());
  std::transform(values.begin(), values.end(), t.data<T>(), [](V v) { return static_cast<T>(v); });
  return t;
}

void prior_box(OpCall& c) {
  rules::prior_box::Args a(c);
  const int64_t height = a.input.size(2), width = a.input.size(3);
  const auto image_h = static_cast<double>(a.image.size(2)), image_w = static_cast<double>(a.image.size(3));
  const bool stepped = a.step_w != 0 && a.step_h != 0;  // else places share the image evenly, as official Paddle has it
  const double step_w = stepped ? a.step_w : image_w / static_cast<double>(width);
  const double step_h = stepped ? a.step_h : image_h / static_cast<double>(height);
  const std::vector<double> ratios = rules::expanded_ratios(a.aspect_ratios, a.flip);
  std::vector<std::pair<double, double>> sizes;
  for (size_t i = 0; i < a.min_sizes.size(); ++i) {
    const double least = a.min_sizes[i];
    auto larger = [&] {
      if (i < a.max_sizes.size())
        sizes.emplace_back(std::sqrt(least * a.max_sizes[i]), std::sqrt(least * a.max_sizes[i]));
    };
    sizes.emplace_back(least, least);
    if (a.min_max_aspect_ratios_order) larger();
    for (double r : std::span(ratios).subspan(1))  // all but 1
      sizes.emplace_back(least * std::sqrt(r), least / std::sqrt(r));
    if (!a.min_max_aspect_ratios_order) larger();
  }
  dispatch_box("prior_box", a.input.dtype(), [&](auto t) {
    using T = decltype(t);
    T *boxes = c.out(0).data<T>(), *var = c.out(1).data<T>();
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        for (auto [w, h] : sizes) {
          const double cx = (static_cast<double>(x) + a.offset) * step_w;
          const double cy = (static_cast<double>(y) + a.offset) * step_h;
          const double edges[] = {(cx - w / 2) / image_w, (cy - h / 2) / image_h, (cx + w / 2) / image_w,
                                  (cy + h / 2) / image_h};
          for (int i = 0; i < 4; ++i) {
            *boxes++ = static_cast<T>(a.clip ? std::clamp(edges[i], 0.0, 1.0) : edges[i]);
            *var++ = static_cast<T>(a.variances[static_cast<size_t>(i)]);
          }
        }
  });
}

void nms(OpCall& c) {
  rules::nms::Args a(c);
  const Tensor x = dense(a.x);
  dispatch_box("nms", x.dtype(), [&](auto t) {
    using T = decltype(t);
    std::vector<int64_t> order(static_cast<size_t>(x.size(0)));
    std::iota(order.begin(), order.end(), 0);
    const auto kept = suppressed(x.data<T>(), order, static_cast<T>(a.threshold), T(1), T(0));
    c.out(0) = listed<int64_t>(kept, {Dim(static_cast<int64_t>(kept.size()))}, DType::kInt64);
  });
}

// -- detections of several classes

template <class T>
struct Found {
  int64_t label, box;
  T score;
};

// The best of an image's, at most `most`.
template <class T>
void keep_best(std::vector<Found<T>>& found, int64_t most) {
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  if (most > -1 && most < static_cast<int64_t>(found.size())) found.resize(static_cast<size_t>(most));
}

// `find`(boxes, scores, label, found) adds one class of one image, `finish`(found) orders an image's.
template <class T, class Find, class Finish>
void detect(OpCall& c, const Tensor& boxes, const Tensor& scores, int64_t background, Find&& find, Finish&& finish) {
  const int64_t images = boxes.size(0), count = boxes.size(1), classes = scores.size(1);
  std::vector<T> rows;
  std::vector<int64_t> places, numbers;
  for (int64_t n = 0; n < images; ++n) {
    const T* pb = boxes.data<T>() + n * count * 4;
    std::vector<Found<T>> found;
    for (int64_t k = 0; k < classes; ++k)
      if (k != background) find(pb, scores.data<T>() + (n * classes + k) * count, k, found);
    finish(found);
    for (const Found<T>& f : found) {
      rows.insert(rows.end(), {static_cast<T>(f.label), f.score});
      rows.insert(rows.end(), pb + 4 * f.box, pb + 4 * f.box + 4);
      places.push_back(n * count + f.box);
    }
    numbers.push_back(static_cast<int64_t>(found.size()));
  }
  const Dim total(static_cast<int64_t>(places.size()));
  c.out(0) = listed<T>(rows, {total, Dim(6)}, boxes.dtype());
  c.out(1) = listed<int32_t>(places, {total, Dim(1)}, DType::kInt32);
  c.out(2) = listed<int32_t>(numbers, {Dim(images)}, DType::kInt32);
}

void matrix_nms(OpCall& c) {
  rules::matrix_nms::Args a(c);
  const Tensor boxes = dense(a.bboxes), scores = dense(a.scores);
  dispatch_box("matrix_nms", boxes.dtype(), [&](auto t) {
    using T = decltype(t);
    const T extra = a.normalized ? T(0) : T(1), least = static_cast<T>(a.score_threshold);
    const T sigma = static_cast<T>(a.gaussian_sigma), post = static_cast<T>(a.post_threshold);
    auto find = [&](const T* pb, const T* ps, int64_t label, std::vector<Found<T>>& found) {
      const auto order = ranked(ps, boxes.size(1), &least, a.nms_top_k);
      std::vector<T> most(order.size(), 0);  // the largest overlap with a better one
      for (size_t i = 0; i < order.size(); ++i) {
        T decay = 1;
        std::vector<T> overlaps(i);
        for (size_t j = 0; j < i; ++j) {
          overlaps[j] = box_overlap(pb + 4 * order[i], pb + 4 * order[j], extra);
          most[i] = std::max(most[i], overlaps[j]);
          const T o = overlaps[j], m = most[j];
          decay = std::min(decay, a.use_gaussian ? std::exp((m * m - o * o) * sigma) : (T(1) - o) / (T(1) - m));
        }
        const T score = decay * ps[order[i]];
        if (score > post) found.push_back({label, order[i], score});
      }
    };
    detect<T>(c, boxes, scores, a.background_label, find, [&](auto& found) { keep_best(found, a.keep_top_k); });
  });
}

void multiclass_nms3(OpCall& c) {
  rules::multiclass_nms3::Args a(c);
  const Tensor boxes = dense(a.bboxes), scores = dense(a.scores);
  dispatch_box("multiclass_nms3", boxes.dtype(), [&](auto t) {
    using T = decltype(t);
    const T extra = a.normalized ? T(0) : T(1), least = static_cast<T>(a.score_threshold);
    auto find = [&](const T* pb, const T* ps, int64_t label, std::vector<Found<T>>& found) {
      const auto order = ranked(ps, boxes.size(1), &least, a.nms_top_k);
      for (int64_t i : suppressed(pb, order, static_cast<T>(a.nms_threshold), static_cast<T>(a.nms_eta), extra))
        found.push_back({label, i, ps[i]});
    };
    auto finish = [&](std::vector<Found<T>>& found) {
      if (a.keep_top_k < 0 || static_cast<int64_t>(found.size()) <= a.keep_top_k) return;
      keep_best(found, a.keep_top_k);
      std::stable_sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.label < y.label; });
    };
    detect<T>(c, boxes, scores, a.background_label, find, finish);
  });
}

// -- proposals

void distribute_fpn_proposals(OpCall& c) {
  rules::distribute_fpn_proposals::Args a(c);
  const Tensor boxes = dense(a.fpn_rois);
  const int64_t count = boxes.size(0), levels = a.max_level - a.min_level + 1;
  const std::vector<int64_t> per_image =
      a.rois_num.defined() ? boxes_per_image("distribute_fpn_proposals", "rois_num", a.rois_num, count)
                           : std::vector<int64_t>{count};
  dispatch_box("distribute_fpn_proposals", boxes.dtype(), [&](auto t) {
    using T = decltype(t);
    std::vector<std::vector<T>> parts(static_cast<size_t>(levels));
    std::vector<std::vector<int64_t>> numbers(parts.size(), std::vector<int64_t>(per_image.size(), 0)),
        members(parts.size());
    int64_t box = 0;
    for (size_t n = 0; n < per_image.size(); ++n)
      for (int64_t k = 0; k < per_image[n]; ++k, ++box) {
        const T* p = boxes.data<T>() + 4 * box;
        const T size = std::sqrt(box_area(p, a.pixel_offset ? T(1) : T(0)));
        const T level =
            std::floor(std::log2(size / static_cast<T>(a.refer_scale) + T(1e-6)) + static_cast<T>(a.refer_level));
        const auto at = static_cast<size_t>(clamped_index(level - static_cast<T>(a.min_level), levels - 1));
        parts[at].insert(parts[at].end(), p, p + 4);
        ++numbers[at][n];
        members[at].push_back(box);
      }
    std::vector<int64_t> restore(static_cast<size_t>(count));
    int64_t place = 0;
    for (const auto& level : members)
      for (int64_t i : level) restore[static_cast<size_t>(i)] = place++;
    c.out_list(0).resize(parts.size());
    c.out_list(1).resize(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      c.out_list(0)[i] = listed<T>(parts[i], {Dim(static_cast<int64_t>(parts[i].size() / 4)), Dim(4)}, boxes.dtype());
      c.out_list(1)[i] = listed<int32_t>(numbers[i], {Dim(static_cast<int64_t>(per_image.size()))}, DType::kInt32);
    }
    c.out(2) = listed<int32_t>(restore, {Dim(count), Dim(1)}, DType::kInt32);
  });
}

// One image of a region proposal network: its anchors moved, clipped, and those that are left.
template <class T>
struct Proposals {
  const rules::generate_proposals::Args& a;
  const T *anchors, *variances;
  T extra, height, width;

  // Element (anchor, y, x) of [anchors, H, W] in the order of [H, W, anchors].
  static std::vector<T> channels_last(const T* p, int64_t channels, int64_t plane) {
    std::vector<T> out(static_cast<size_t>(channels * plane));
    for (int64_t k = 0; k < channels; ++k)
      for (int64_t i = 0; i < plane; ++i) out[static_cast<size_t>(i * channels + k)] = p[k * plane + i];
    return out;
  }

  void decode(int64_t i, const T* delta, T* box) const {
    const T *anchor = anchors + 4 * i, *var = variances + 4 * i;
    const T w = anchor[2] - anchor[0] + extra, h = anchor[3] - anchor[1] + extra;
    const T most = static_cast<T>(std::log(1000.0 / 16.0));
    const T cx = var[0] * delta[0] * w + anchor[0] + T(0.5) * w, cy = var[1] * delta[1] * h + anchor[1] + T(0.5) * h;
    const T bw = std::exp(std::min(var[2] * delta[2], most)) * w, bh = std::exp(std::min(var[3] * delta[3], most)) * h;
    const T edges[] = {cx - bw / 2, cy - bh / 2, cx + bw / 2 - extra, cy + bh / 2 - extra};
    for (int k = 0; k < 4; ++k) {
      const T limit = (k % 2 ? height : width) - extra;
      box[k] = std::max(std::min(edges[k], limit), T(0));
    }
  }

  bool large_enough(const T* box) const {
    const T least = std::max(static_cast<T>(a.min_size), T(1));
    const T w = box[2] - box[0] + extra, h = box[3] - box[1] + extra;
    if (w < least || h < least) return false;
    return !a.pixel_offset || (box[0] + w / 2 <= width && box[1] + h / 2 <= height);
  }
};

void generate_proposals(OpCall& c) {
  rules::generate_proposals::Args a(c);
  const Tensor scores = dense(a.scores), deltas = dense(a.bbox_deltas), sizes = dense(a.im_shape);
  const Tensor anchors = dense(a.anchors), variances = dense(a.variances);
  const int64_t images = scores.size(0), per_place = scores.size(1), plane = scores.size(2) * scores.size(3);
  dispatch_box("generate_proposals", scores.dtype(), [&](auto t) {
    using T = decltype(t);
    std::vector<T> rois, probs;
    std::vector<int64_t> numbers;
    for (int64_t n = 0; n < images; ++n) {
      const Proposals<T> p{a,
                           anchors.data<T>(),
                           variances.data<T>(),
                           a.pixel_offset ? T(1) : T(0),
                           sizes.data<T>()[2 * n],
                           sizes.data<T>()[2 * n + 1]};
      const auto s = p.channels_last(scores.data<T>() + n * per_place * plane, per_place, plane);
      const auto d = p.channels_last(deltas.data<T>() + n * 4 * per_place * plane, 4 * per_place, plane);
      const int64_t most = a.pre_nms_top_n > 0 ? a.pre_nms_top_n : -1;
      std::vector<T> boxes, kept_scores;
      for (int64_t i : ranked<T>(s.data(), per_place * plane, nullptr, most)) {
        T box[4];
        p.decode(i, d.data() + 4 * i, box);
        if (!p.large_enough(box)) continue;
        boxes.insert(boxes.end(), box, box + 4);
        kept_scores.push_back(s[static_cast<size_t>(i)]);
      }
      if (kept_scores.empty()) boxes.assign(4, 0), kept_scores.assign(1, 0);  // an image has at least one box
      std::vector<int64_t> order(kept_scores.size());
      std::iota(order.begin(), order.end(), 0);
      if (a.nms_thresh > 0) {
        order = suppressed(boxes.data(), order, static_cast<T>(a.nms_thresh), static_cast<T>(a.eta), p.extra);
        if (a.post_nms_top_n > 0 && a.post_nms_top_n < static_cast<int64_t>(order.size()))
          order.resize(static_cast<size_t>(a.post_nms_top_n));
      }
      for (int64_t i : order) {
        rois.insert(rois.end(), boxes.begin() + 4 * i, boxes.begin() + 4 * i + 4);
        probs.push_back(kept_scores[static_cast<size_t>(i)]);
      }
      numbers.push_back(static_cast<int64_t>(order.size()));
    }
    const Dim total(static_cast<int64_t>(probs.size()));
    c.out(0) = listed<T>(rois, {total, Dim(4)}, scores.dtype());
    c.out(1) = listed<T>(probs, {total, Dim(1)}, scores.dtype());
    c.out(2) = listed<int32_t>(numbers, {Dim(images)}, DType::kInt32);
  });
}

const RegisterCpu registered[] = {
    {"prior_box", prior_box},
    {"nms", nms},
    {"matrix_nms", matrix_nms},
    {"multiclass_nms3", multiclass_nms3},
    {"distribute_fpn_proposals", distribute_fpn_proposals},
    {"generate_proposals", generate_proposals},
};

}  // namespace
}  // namespace paddle::kernels
