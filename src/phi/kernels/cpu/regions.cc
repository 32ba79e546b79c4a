// Features of regions: ops/detection.yaml's pooling over boxes.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/parallel_for.h"
#include "phi/kernels/cpu/boxes.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/rules_detection.h"

namespace paddle::kernels {
namespace {

// Which image each box belongs to. Without numbers all belong to the first.
std::vector<int64_t> images_of(std::string_view op, const Tensor& boxes_num, const Tensor& boxes, const Shape& images) {
  const int64_t count = boxes.size(0);
  std::vector<int64_t> image(static_cast<size_t>(count), 0);
  if (count == 0 && !boxes_num.defined()) return image;
  check(count == 0 || (images[0].value() > 0 && images[2].value() > 0 && images[3].value() > 0), ErrorKind::kValue,
        "[{}] expected images with at least one pixel for {} boxes, got shape {}", op, count, to_string(images));
  if (!boxes_num.defined()) return image;
  auto at = image.begin();
  int64_t n = 0;
  for (int64_t k : boxes_per_image(op, "boxes_num", boxes_num, count)) at = std::fill_n(at, k, n++);
  return image;
}

struct Plane {
  int64_t height, width;
};

// A box's corners in pixels of the features.
template <class C, class T>
std::array<C, 4> scaled(std::string_view op, const T* box, double scale) {
  std::array<C, 4> corners;
  for (size_t k = 0; k < 4; ++k) {
    corners[k] = to_compute(box[k]) * static_cast<C>(scale);
    check(std::isfinite(corners[k]), ErrorKind::kValue, "[{}] expected boxes of finite numbers, got {} (times {})", op,
          static_cast<double>(to_compute(box[k])), scale);
  }
  return corners;
}

// -- aligned

struct Alignment {
  double scale;
  int64_t sampling;
  bool aligned;
};

// What the points along one axis of one cell weigh on the lines of pixels between which they lie.
template <class C>
struct Weights {
  int64_t first = 0;
  std::vector<C> of;

  // `points` points share [start, start + length) evenly. Up to a pixel outside counts as the border, what is further
  // outside as nothing. Weights are linear between two lines, so points there count as one at their middle: the work is
  // bounded by the lines, however many points there are.
  void set(C start, C length, int64_t points, int64_t size) {
    of.clear();
    if (length < 0) start += length, length = -length;
    if (length == 0 && points > 0) return add(start, static_cast<C>(points), size);
    auto at = [&](int64_t i) { return start + (static_cast<C>(i) + C(0.5)) * length / static_cast<C>(points); };
    auto first_at = [&](C position, int64_t low, int64_t high) {  // the first of [low, high) that lies there or later
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        (at(middle) < position ? low : high) = at(middle) < position ? middle + 1 : middle;
      }
      return low;
    };
    const auto last = static_cast<C>(size);
    const int64_t end = first_at(std::nextafter(last, std::numeric_limits<C>::max()), 0, points);
    for (int64_t i = first_at(C(-1), 0, end); i < end;) {
      const C line = std::floor(at(i)) + 1;
      const int64_t next = line < last ? std::max(first_at(line, i, end), i + 1) : end;
      add((at(i) + at(next - 1)) / 2, static_cast<C>(next - i), size);
      i = next;
    }
  }

  // As many points as `times` at one place.
  void add(C at, C times, int64_t size) {
    if (at < -1 || at > static_cast<C>(size)) return;
    at = std::max(at, C(0));
    const int64_t low = std::min(static_cast<int64_t>(at), size - 1), high = std::min(low + 1, size - 1);
    const C share = low == size - 1 ? C(0) : at - static_cast<C>(low);
    if (of.empty()) first = low;
    of.resize(static_cast<size_t>(std::max(high - first + 1, static_cast<int64_t>(of.size()))));
    of[static_cast<size_t>(low - first)] += times * (1 - share);
    of[static_cast<size_t>(high - first)] += times * share;
  }
};

// A box on the features, cut into cells; each cell is the mean of rows x columns points.
template <class C>
struct Cells {
  C top, left, cell_height, cell_width;
  int64_t rows, columns;

  template <class T>
  Cells(std::string_view op, const T* box, const Alignment& a, const Plane& cells) {
    const auto corners = scaled<C>(op, box, a.scale);
    const C shift = a.aligned ? C(0.5) : C(0);
    left = corners[0] - shift;
    top = corners[1] - shift;
    C w = corners[2] - shift - left, h = corners[3] - shift - top;
    if (!a.aligned) w = std::max(w, C(1)), h = std::max(h, C(1));
    check(std::isfinite(w) && std::isfinite(h), ErrorKind::kValue, "[{}] expected boxes of finite sizes, got {} x {}",
          op, static_cast<double>(w), static_cast<double>(h));
    cell_height = h / static_cast<C>(cells.height);
    cell_width = w / static_cast<C>(cells.width);
    rows = points(a, cell_height);
    columns = points(a, cell_width);
  }
  static int64_t points(const Alignment& a, C length) {
    constexpr double kMost = 1LL << 52;
    if (a.sampling > 0) return a.sampling;
    return static_cast<int64_t>(std::clamp(std::ceil(static_cast<double>(length)), 0.0, kMost));
  }
  C count() const { return std::max(static_cast<C>(rows) * static_cast<C>(columns), C(1)); }
};

// f(cell, offset, weight) for all that a box's cells read of a channel. Weights of a point are a product over the axes,
// and so are their sums over a cell.
template <class C, class F>
void over_points(const Cells<C>& g, const Plane& out, const Plane& in, F&& f) {
  std::vector<Weights<C>> across(static_cast<size_t>(out.width));
  for (int64_t j = 0; j < out.width; ++j)
    across[static_cast<size_t>(j)].set(g.left + static_cast<C>(j) * g.cell_width, g.cell_width, g.columns, in.width);
  Weights<C> down;
  for (int64_t i = 0; i < out.height; ++i) {
    down.set(g.top + static_cast<C>(i) * g.cell_height, g.cell_height, g.rows, in.height);
    for (int64_t j = 0; j < out.width; ++j) {
      const Weights<C>& row = across[static_cast<size_t>(j)];
      for (size_t a = 0; a < down.of.size(); ++a)
        for (size_t b = 0; b < row.of.size(); ++b)
          f(i * out.width + j, (down.first + static_cast<int64_t>(a)) * in.width + row.first + static_cast<int64_t>(b),
            down.of[a] * row.of[b] / g.count());
    }
  }
}

void roi_align(OpCall& c) {
  rules::roi_align::Args a(c);
  const Tensor x = dense(a.x), boxes = dense(a.boxes), out = c.out(0);
  const int64_t channels = x.size(1);
  const Plane from{x.size(2), x.size(3)}, to{a.pooled_height, a.pooled_width};
  const auto image = images_of("roi_align", a.boxes_num, boxes, x.shape());
  if (out.numel() == 0) return;
  dispatch_float("roi_align", x.dtype(), [&](auto t) {
    using T = decltype(t);
    using C = Accumulator<T>;
    const int64_t cells = to.height * to.width, plane = from.height * from.width;
    parallel_for(0, boxes.size(0), 1, [&](int64_t begin, int64_t end) {
      std::vector<C> sums(static_cast<size_t>(channels * cells));
      for (int64_t r = begin; r < end; ++r) {
        const Cells<C> g("roi_align", boxes.data<T>() + 4 * r, {a.spatial_scale, a.sampling_ratio, a.aligned}, to);
        std::fill(sums.begin(), sums.end(), C(0));
        const T* px = x.data<T>() + image[static_cast<size_t>(r)] * channels * plane;
        over_points(g, to, from, [&](int64_t cell, int64_t at, C weight) {
          for (int64_t k = 0; k < channels; ++k)
            sums[static_cast<size_t>(k * cells + cell)] += weight * to_compute(px[k * plane + at]);
        });
        T* po = out.data<T>() + r * channels * cells;
        for (int64_t i = 0; i < channels * cells; ++i) po[i] = from_compute<T>(sums[static_cast<size_t>(i)]);
      }
    });
  });
}

void roi_align_grad(OpCall& c) {
  rules::roi_align_grad::Args a(c);
  const Tensor g = dense(a.out_grad), boxes = dense(a.boxes), out = c.out(0);
  zero(out);
  const int64_t channels = out.size(1);
  const Plane from{out.size(2), out.size(3)}, to{g.size(2), g.size(3)};
  const auto image = images_of("roi_align_grad", a.boxes_num, boxes, out.shape());
  if (g.numel() == 0) return;
  dispatch_float("roi_align_grad", g.dtype(), [&](auto t) {
    using T = decltype(t);
    using C = Accumulator<T>;
    const int64_t cells = to.height * to.width, plane = from.height * from.width;
    for (int64_t r = 0; r < boxes.size(0); ++r) {
      const Cells<C> grid("roi_align_grad", boxes.data<T>() + 4 * r, {a.spatial_scale, a.sampling_ratio, a.aligned},
                          to);
      T* px = out.data<T>() + image[static_cast<size_t>(r)] * channels * plane;
      const T* pg = g.data<T>() + r * channels * cells;
      over_points(grid, to, from, [&](int64_t cell, int64_t at, C weight) {
        for (int64_t k = 0; k < channels; ++k) {
          T& e = px[k * plane + at];
          e = from_compute<T>(to_compute(e) + weight * to_compute(pg[k * cells + cell]));
        }
      });
    }
  });
}

// -- cells with whole edges

struct Span {
  int64_t begin, end;
};
template <class C>
Span cell_of(int64_t i, C size, C start, int64_t limit) {
  return {clamped_index(std::floor(static_cast<C>(i) * size + start), limit),
          clamped_index(std::ceil(static_cast<C>(i + 1) * size + start), limit)};
}
// The same where the edges are rounded before they are moved to the start.
template <class C>
Span moved_cell_of(int64_t i, C size, C start, int64_t limit) {
  return {clamped_index(std::floor(static_cast<C>(i) * size) + start, limit),
          clamped_index(std::ceil(static_cast<C>(i + 1) * size) + start, limit)};
}

void roi_pool(OpCall& c) {
  rules::roi_pool::Args a(c);
  const Tensor x = dense(a.x), boxes = dense(a.boxes), out = c.out(0), where = c.out(1);
  const int64_t channels = x.size(1), height = x.size(2), width = x.size(3);
  const auto image = images_of("roi_pool", a.boxes_num, boxes, x.shape());
  if (out.numel() == 0) return;
  dispatch_float("roi_pool", x.dtype(), [&](auto t) {
    using T = decltype(t);
    using C = Accumulator<T>;
    T* po = out.data<T>();
    int64_t* pw = where.data<int64_t>();
    for (int64_t r = 0; r < boxes.size(0); ++r) {
      auto edge = scaled<C>("roi_pool", boxes.data<T>() + 4 * r, a.spatial_scale);
      for (C& e : edge) e = std::round(e);
      const C rows = std::max(edge[3] - edge[1] + 1, C(1)) / static_cast<C>(a.pooled_height);
      const C columns = std::max(edge[2] - edge[0] + 1, C(1)) / static_cast<C>(a.pooled_width);
      for (int64_t k = 0; k < channels; ++k) {
        const int64_t start = (image[static_cast<size_t>(r)] * channels + k) * height * width;
        for (int64_t i = 0; i < a.pooled_height; ++i) {
          const Span ys = moved_cell_of(i, rows, edge[1], height);
          for (int64_t j = 0; j < a.pooled_width; ++j) {
            const Span xs = moved_cell_of(j, columns, edge[0], width);
            const bool empty = ys.end <= ys.begin || xs.end <= xs.begin;
            T best = empty ? from_compute<T>(C(0)) : x.data<T>()[start + ys.begin * width + xs.begin];
            int64_t at = empty ? -1 : start + ys.begin * width + xs.begin;
            for (int64_t y = ys.begin; y < ys.end && !empty; ++y)
              for (int64_t z = xs.begin; z < xs.end; ++z) {
                const T e = x.data<T>()[start + y * width + z];
                if (to_compute(e) > to_compute(best)) best = e, at = start + y * width + z;
              }
            *po++ = best;
            *pw++ = at;
          }
        }
      }
    }
  });
}

// f(element of the output, first of the channel, rows, columns) for every cell, each of a channel of its own.
template <class T, class F>
void over_own_channels(std::string_view op, const Tensor& boxes, const Tensor& boxes_num, double spatial_scale,
                       const Shape& images, int64_t outputs, const Plane& to, F&& f) {
  using C = Accumulator<T>;
  const int64_t channels = images[1].value(), height = images[2].value(), width = images[3].value();
  const auto image = images_of(op, boxes_num, boxes, images);
  const C scale = static_cast<C>(spatial_scale);
  if (outputs * to.height * to.width == 0) return;
  int64_t element = 0;
  for (int64_t r = 0; r < boxes.size(0); ++r) {
    const T* box = boxes.data<T>() + 4 * r;
    scaled<C>(op, box, spatial_scale);
    const C left = std::round(to_compute(box[0])) * scale, top = std::round(to_compute(box[1])) * scale;
    const C right = (std::round(to_compute(box[2])) + 1) * scale, bottom = (std::round(to_compute(box[3])) + 1) * scale;
    const C rows = std::max(bottom - top, C(0.1)) / static_cast<C>(to.height);
    const C columns = std::max(right - left, C(0.1)) / static_cast<C>(to.width);
    for (int64_t k = 0; k < outputs; ++k)
      for (int64_t i = 0; i < to.height; ++i)
        for (int64_t j = 0; j < to.width; ++j, ++element) {
          const int64_t channel = (k * to.height + i) * to.width + j;
          const int64_t start = (image[static_cast<size_t>(r)] * channels + channel) * height * width;
          f(element, start, cell_of(i, rows, top, height), cell_of(j, columns, left, width));
        }
  }
}

void psroi_pool(OpCall& c) {
  rules::psroi_pool::Args a(c);
  const Tensor x = dense(a.x), boxes = dense(a.boxes), out = c.out(0);
  dispatch_float("psroi_pool", x.dtype(), [&](auto t) {
    using T = decltype(t);
    over_own_channels<T>("psroi_pool", boxes, a.boxes_num, a.spatial_scale, x.shape(), a.output_channels,
                         {a.pooled_height, a.pooled_width},
                         [&](int64_t element, int64_t start, Span rows, Span columns) {
                           Accumulator<T> sum = 0;
                           for (int64_t y = rows.begin; y < rows.end; ++y)
                             for (int64_t z = columns.begin; z < columns.end; ++z)
                               sum += to_compute(x.data<T>()[start + y * x.size(3) + z]);
                           const int64_t count = std::max<int64_t>(rows.end - rows.begin, 0) *
                                                 std::max<int64_t>(columns.end - columns.begin, 0);
                           out.data<T>()[element] =
                               from_compute<T>(count ? sum / static_cast<Accumulator<T>>(count) : Accumulator<T>(0));
                         });
  });
}

void psroi_pool_grad(OpCall& c) {
  rules::psroi_pool_grad::Args a(c);
  const Tensor g = dense(a.out_grad), boxes = dense(a.boxes), out = c.out(0);
  zero(out);
  dispatch_float("psroi_pool_grad", g.dtype(), [&](auto t) {
    using T = decltype(t);
    over_own_channels<T>("psroi_pool_grad", boxes, a.boxes_num, a.spatial_scale, out.shape(), g.size(1),
                         {g.size(2), g.size(3)}, [&](int64_t element, int64_t start, Span rows, Span columns) {
                           const int64_t count = std::max<int64_t>(rows.end - rows.begin, 0) *
                                                 std::max<int64_t>(columns.end - columns.begin, 0);
                           if (!count) return;
                           const auto share = to_compute(g.data<T>()[element]) / static_cast<Accumulator<T>>(count);
                           for (int64_t y = rows.begin; y < rows.end; ++y)
                             for (int64_t z = columns.begin; z < columns.end; ++z) {
                               T& e = out.data<T>()[start + y * out.size(3) + z];
                               e = from_compute<T>(to_compute(e) + share);
                             }
                         });
  });
}

const RegisterCpu registered[] = {
    {"roi_align", roi_align},   {"roi_align_grad", roi_align_grad},   {"roi_pool", roi_pool},
    {"psroi_pool", psroi_pool}, {"psroi_pool_grad", psroi_pool_grad},
};

}  // namespace
}  // namespace paddle::kernels
