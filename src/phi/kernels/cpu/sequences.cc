// Labels of sequences, and the targets of YOLO: searches over small tables.
#include <algorithm>
#include <cmath>

#include "phi/kernels/cpu/boxes.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/rules_detection.h"

namespace paddle::kernels {
namespace {

// -- the best labels

template <class T>
struct Viterbi {
  using C = Accumulator<T>;
  const T *potentials, *transitions;
  int64_t labels;
  bool ends;  // the last label is the beginning, the last but one the end

  C score(int64_t from, int64_t to) const { return to_compute(transitions[from * labels + to]); }

  // The best score; its labels go to `path`.
  C decode(int64_t length, int64_t* path) const {
    const auto n = static_cast<size_t>(labels);
    std::vector<C> best(n), next(n);
    for (int64_t k = 0; k < labels; ++k)
      best[static_cast<size_t>(k)] = to_compute(potentials[k]) + (ends ? score(labels - 1, k) : C(0));
    std::vector<std::vector<int64_t>> from;
    for (int64_t i = 1; i < length; ++i) {
      from.emplace_back(n);
      for (int64_t to = 0; to < labels; ++to) {
        int64_t arg = 0;
        for (int64_t k = 1; k < labels; ++k)
          if (best[static_cast<size_t>(k)] + score(k, to) > best[static_cast<size_t>(arg)] + score(arg, to)) arg = k;
        from.back()[static_cast<size_t>(to)] = arg;
        next[static_cast<size_t>(to)] =
            best[static_cast<size_t>(arg)] + score(arg, to) + to_compute(potentials[i * labels + to]);
      }
      best.swap(next);
    }
    for (int64_t k = 0; k < labels && ends; ++k) best[static_cast<size_t>(k)] += score(labels - 2, k);
    int64_t at = std::max_element(best.begin(), best.end()) - best.begin();
    const C top = best[static_cast<size_t>(at)];
    for (int64_t i = length - 1; i >= 0; --i) {
      path[i] = at;
      if (i > 0) at = from[static_cast<size_t>(i - 1)][static_cast<size_t>(at)];
    }
    return top;
  }
};

void viterbi_decode(OpCall& c) {
  rules::viterbi_decode::Args a(c);
  const Tensor x = dense(a.potentials), transitions = dense(a.transition_params), lengths = dense(a.lengths);
  const int64_t batch = x.size(0), longest = x.size(1), labels = x.size(2);
  check(!a.include_bos_eos_tag || labels >= 2, ErrorKind::kValue,
        "[viterbi_decode] expected at least two labels with include_bos_eos_tag, got {}", labels);
  check(labels > 0 || x.size(0) == 0, ErrorKind::kValue, "[viterbi_decode] expected at least one label, got none");
  int64_t most = 0;
  for (int64_t n = 0; n < batch; ++n) {
    const int64_t length = lengths.data<int64_t>()[n];
    check(length >= 0 && length <= longest, ErrorKind::kValue, "[viterbi_decode] expected lengths in [0, {}], got {}",
          longest, length);
    most = std::max(most, length);
  }
  Tensor scores = Tensor::empty({batch}, x.dtype()), path = Tensor::empty({batch, most}, DType::kInt64);
  zero(path);
  dispatch_float("viterbi_decode", x.dtype(), [&](auto t) {
    using T = decltype(t);
    for (int64_t n = 0; n < batch; ++n) {
      const Viterbi<T> v{x.data<T>() + n * longest * labels, transitions.data<T>(), labels, a.include_bos_eos_tag};
      const int64_t length = lengths.data<int64_t>()[n];
      const auto score = length ? v.decode(length, path.data<int64_t>() + n * most) : Accumulator<T>(0);
      scores.data<T>()[n] = from_compute<T>(score);
    }
  });
  c.out(0) = scores;
  c.out(1) = path;
}

// -- YOLO's targets

struct Centred {
  double x, y, w, h;
};
double overlap(const Centred& a, const Centred& b) {
  auto common = [](double x1, double w1, double x2, double w2) {
    return std::min(x1 + w1 / 2, x2 + w2 / 2) - std::max(x1 - w1 / 2, x2 - w2 / 2);
  };
  const double w = common(a.x, a.w, b.x, b.w), h = common(a.y, a.h, b.y, b.h);
  const double inside = w < 0 || h < 0 ? 0.0 : w * h;
  return inside / (a.w * a.h + b.w * b.h - inside);
}

void yolo_match(OpCall& c) {
  rules::yolo_match::Args a(c);
  const Tensor x = dense(a.x), boxes = dense(a.gt_box), scores = a.gt_score.defined() ? dense(a.gt_score) : Tensor();
  const auto used = static_cast<int64_t>(a.anchor_mask.size());
  const int64_t n = x.size(0), size = x.size(2), count = boxes.size(1), depth = 5 + a.class_num, plane = size * size;
  const double input = static_cast<double>(size) * static_cast<double>(a.downsample_ratio);
  const double bias = -0.5 * (a.scale_x_y - 1.0);
  const Tensor judged = c.out(0), match = c.out(1);
  check(size > 0 || n * count == 0, ErrorKind::kValue, "[yolo_match] expected x with at least one cell, got none");
  zero(judged);
  dispatch_float("yolo_match", x.dtype(), [&](auto t) {
    using T = decltype(t);
    auto value = [](T v) { return static_cast<double>(to_compute(v)); };
    auto sigmoid = [](double v) { return 1.0 / (1.0 + std::exp(-v)); };
    for (int64_t i = 0; i < n; ++i) {
      std::vector<Centred> real(static_cast<size_t>(count));
      auto there = [](const Centred& b) { return b.w >= 1e-6 && b.h >= 1e-6; };
      for (int64_t k = 0; k < count; ++k) {
        const T* p = boxes.data<T>() + (i * count + k) * 4;
        real[static_cast<size_t>(k)] = {value(p[0]), value(p[1]), value(p[2]), value(p[3])};
      }
      T* objects = judged.data<T>() + i * used * plane;
      for (int64_t m = 0; m < used; ++m)
        for (int64_t at = 0; at < plane; ++at) {
          const T* p = x.data<T>() + (i * used + m) * depth * plane + at;
          const auto anchor = static_cast<size_t>(2 * a.anchor_mask[static_cast<size_t>(m)]);
          auto placed = [&](T logit, int64_t cell) {
            return (static_cast<double>(cell) + sigmoid(value(logit)) * a.scale_x_y + bias) / static_cast<double>(size);
          };
          auto sized = [&](T logit, size_t k) {
            return std::exp(value(logit)) * static_cast<double>(a.anchors[anchor + k]) / input;
          };
          const Centred guess{placed(p[0], at % size), placed(p[plane], at / size), sized(p[2 * plane], 0),
                              sized(p[3 * plane], 1)};
          double best = 0;
          for (const Centred& b : real)
            if (there(b)) best = std::max(best, overlap(guess, b));
          if (best > a.ignore_thresh) objects[m * plane + at] = from_compute<T>(-1);
        }
      for (int64_t k = 0; k < count; ++k) {
        const Centred& b = real[static_cast<size_t>(k)];
        int64_t found = -1;
        if (there(b)) {
          double best = 0;
          int64_t anchor = 0;
          for (size_t s = 0; 2 * s < a.anchors.size(); ++s) {
            const Centred shape{0, 0, static_cast<double>(a.anchors[2 * s]) / input,
                                static_cast<double>(a.anchors[2 * s + 1]) / input};
            const double o = overlap(shape, {0, 0, b.w, b.h});
            if (o > best) best = o, anchor = static_cast<int64_t>(s);
          }
          const auto* begin = a.anchor_mask.data();
          const auto* place = std::find(begin, begin + used, anchor);
          if (place != begin + used) found = place - begin;
        }
        match.data<int32_t>()[i * count + k] = static_cast<int32_t>(found);
        if (found < 0) continue;
        auto cell = [&](double v) { return clamped_index(v * static_cast<double>(size), size - 1); };
        const T score = scores.defined() ? scores.data<T>()[i * count + k] : from_compute<T>(1);
        objects[found * plane + cell(b.y) * size + cell(b.x)] = score;
      }
    }
  });
}

const RegisterCpu registered[] = {{"viterbi_decode", viterbi_decode}, {"yolo_match", yolo_match}};

}  // namespace
}  // namespace paddle::kernels
