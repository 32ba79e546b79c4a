// Rules of ops/fft.yaml, in the order of the records. A transform's derivative is the transform of the other direction
// with the same factor, which is the other name of the normalization.
#include "phi/rules_fft.h"

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"

namespace paddle::rules {
namespace {

void check_transform(std::string_view op, const Tensor& x, std::span<const int64_t> axes, std::string_view norm) {
  infer::check_rank(op, "x", x, 1, 64);
  infer::axes_of(op, axes, x.rank(), false, "axes");
  check(!axes.empty(), ErrorKind::kValue, "[{}] expected at least one axis, got none", op);
  check(norm == "backward" || norm == "ortho" || norm == "forward", ErrorKind::kValue,
        "[{}] expected normalization 'backward', 'ortho' or 'forward', got '{}'", op, norm);
}

int64_t last_of(std::span<const int64_t> axes, int64_t rank) {
  return axes.back() < 0 ? axes.back() + rank : axes.back();
}

std::string_view turned(std::string_view norm) {
  if (norm == "ortho") return norm;
  return norm == "backward" ? "forward" : "backward";
}

// 1, 2, 2 ... along an axis of half a spectrum, 1 again at the frequency n / 2: how often each number stands in the
// whole.
Tensor multiplicity(Dim n, Dim half, int64_t axes_behind, DType t) {
  const Shape single{Dim(1)};
  const bool even = paddle::equal(mod(n, Dim(2)), Dim(0));
  std::vector<Tensor> parts{ops::full(single, 1.0, t)};
  const Dim middle = half - Dim(even ? 2 : 1);
  if (!paddle::equal(middle, Dim(0))) parts.push_back(ops::full(Shape{middle}, 2.0, t));
  if (even) parts.push_back(ops::full(single, 1.0, t));
  Tensor w = ops::concat(parts, 0);
  Shape shape{half};
  for (int64_t i = 0; i < axes_behind; ++i) shape.push_back(Dim(1));
  return ops::reshape(w, shape);
}

}  // namespace

void fft_c2c::shape(const Args& a, TensorMeta& out) {
  check_transform("fft_c2c", a.x, a.axes, a.normalization);
  out.shape = a.x.shape();
}

void fft_c2c::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::fft_c2c(v.out_grad, v.axes, turned(v.normalization), !v.forward);
}

void fft_r2c::shape(const Args& a, TensorMeta& out) {
  check_transform("fft_r2c", a.x, a.axes, a.normalization);
  out.shape = a.x.shape();
  if (!a.onesided) return;
  Dim& last = out.shape[static_cast<size_t>(last_of(a.axes, a.x.rank()))];
  check(!paddle::equal(last, Dim(0)), ErrorKind::kValue,
        "[fft_r2c] expected elements along the last of the axes, got shape {}", to_string(a.x.shape()));
  last = floor_div(last, Dim(2)) + Dim(1);
}

void fft_r2c::vjp(Vjp& v) {
  if (!v.need_x) return;
  const auto rank = static_cast<int64_t>(v.x.shape.size());
  const int64_t last = last_of(v.axes, rank);
  Tensor g = v.out_grad;
  if (v.onesided) {  // the frequencies that weren't kept have no gradient
    const Dim missing = v.x.shape[static_cast<size_t>(last)] - g.dim(last);
    if (!paddle::equal(missing, Dim(0))) {
      Shape rest = g.shape();
      rest[static_cast<size_t>(last)] = missing;
      g = ops::concat(std::vector<Tensor>{g, ops::full(rest, 0.0, g.dtype())}, last);
    }
  }
  v.x_grad = ops::real(ops::fft_c2c(g, v.axes, turned(v.normalization), !v.forward));
}

void fft_c2r::shape(const Args& a, TensorMeta& out) {
  check_transform("fft_c2r", a.x, a.axes, a.normalization);
  out.shape = a.x.shape();
  Dim& last = out.shape[static_cast<size_t>(last_of(a.axes, a.x.rank()))];
  const Dim half = last;
  last = a.last_dim_size > 0 ? Dim(infer::extent_of("fft_c2r", "last_dim_size", a.last_dim_size))
                             : (half - Dim(1)) * Dim(2);
  check(!less(last, Dim(1)), ErrorKind::kValue, "[fft_c2r] expected at least one number in the result, got {}",
        last.str());
  infer::check_size("fft_c2r", "half a spectrum", floor_div(last, Dim(2)) + Dim(1), half);
}

void fft_c2r::vjp(Vjp& v) {
  if (!v.need_x) return;
  const int64_t rank = v.out_grad.rank(), last = last_of(v.axes, rank);
  Tensor g = ops::fft_r2c(v.out_grad, v.axes, turned(v.normalization), !v.forward, true);
  v.x_grad = g * multiplicity(v.out_grad.dim(last), g.dim(last), rank - 1 - last, v.out_grad.dtype());
}

namespace {

void check_frames(std::string_view op, int64_t axis, int64_t hop) {
  check(axis == 0 || axis == -1, ErrorKind::kValue, "[{}] expected axis 0 or -1, got {}", op, axis);
  check(hop > 0, ErrorKind::kValue, "[{}] expected hop_length above 0, got {}", op, hop);
}

std::vector<int64_t> swapped_last(int64_t rank) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return order;
}

}  // namespace

void frame::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("frame", "x", a.x, 1, 64);
  check_frames("frame", a.axis, a.hop_length);
  const Dim n = a.axis == 0 ? a.x.dim(0) : a.x.dim(-1);
  check(a.frame_length > 0 && !less(n, Dim(a.frame_length)), ErrorKind::kValue,
        "[frame] expected frame_length in [1, {}], got {}", n.str(), a.frame_length);
  const Dim frames = floor_div(n - Dim(a.frame_length), Dim(a.hop_length)) + Dim(1);
  const Dim length(infer::extent_of("frame", "frame_length", a.frame_length));
  if (a.axis == 0) {
    out.shape = {frames, length};
    for (int64_t i = 1; i < a.x.rank(); ++i) out.shape.push_back(a.x.dim(i));
  } else {
    out.shape = Shape(a.x.shape().begin(), a.x.shape().end() - 1);
    out.shape.push_back(length);
    out.shape.push_back(frames);
  }
}

Tensor frame::decompose(const Args& a) {
  Tensor windows =
      ops::tensor_unfold(a.x, a.axis, a.frame_length, a.hop_length);  // [frames, ..., length] or [..., frames, length]
  std::vector<int64_t> order = swapped_last(windows.rank());
  if (a.axis == 0) {
    order = {0, windows.rank() - 1};
    for (int64_t i = 1; i + 1 < windows.rank(); ++i) order.push_back(i);
  }
  return ops::assign(ops::transpose(windows, order));
}

void overlap_add::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("overlap_add", "x", a.x, 2, 64);
  check_frames("overlap_add", a.axis, a.hop_length);
  const bool front = a.axis == 0;
  const Dim length = front ? a.x.dim(1) : a.x.dim(-2), frames = front ? a.x.dim(0) : a.x.dim(-1);
  const Dim n = (frames - Dim(1)) * Dim(a.hop_length) + length;
  if (front) {
    out.shape = {n};
    for (int64_t i = 2; i < a.x.rank(); ++i) out.shape.push_back(a.x.dim(i));
  } else {
    out.shape = Shape(a.x.shape().begin(), a.x.shape().end() - 2);
    out.shape.push_back(n);
  }
}

// A matrix of places, frame * hop + element, says where each element is added.
Tensor overlap_add::decompose(const Args& a) {
  const bool front = a.axis == 0;
  const int64_t rank = a.x.rank();
  Tensor x = a.x;
  if (front) {  // [frames, length, ...] to [..., length, frames]
    std::vector<int64_t> order;
    for (int64_t i = 2; i < rank; ++i) order.push_back(i);
    order.push_back(1);
    order.push_back(0);
    x = ops::transpose(x, order);
  }
  const Dim length = x.dim(-2), frames = x.dim(-1), n = (frames - Dim(1)) * Dim(a.hop_length) + length;
  Tensor element = ops::reshape(ops::arange(0, Scalar(length), 1, DType::kInt64), Shape{length, Dim(1)});
  Tensor start = ops::arange(0, Scalar(frames), 1, DType::kInt64) * static_cast<double>(a.hop_length);
  Tensor places = ops::reshape(element + start, Shape{length * frames});
  Shape flat(x.shape().begin(), x.shape().end() - 2);
  flat.push_back(length * frames);
  Shape sum(flat.begin(), flat.end() - 1);
  sum.push_back(n);
  Tensor out = ops::index_add(ops::full(sum, 0.0, x.dtype()), places, compose::reshape_to(x, flat), rank - 2);
  if (!front || rank == 2) return out;
  std::vector<int64_t> order{rank - 2};
  for (int64_t i = 0; i + 2 < rank; ++i) order.push_back(i);
  return ops::transpose(out, order);
}

}  // namespace paddle::rules
