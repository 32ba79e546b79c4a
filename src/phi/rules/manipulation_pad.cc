// Rules of ops/manipulation.yaml: padding, in the order of the records.
#include <algorithm>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules_manipulation.h"

namespace paddle::rules {

void pad::shape(const Args& a, TensorMeta& out) {
  check(a.paddings.size() == 2 * a.x.shape().size(), ErrorKind::kValue,
        "[pad] expected two paddings for each of the {} axes of x, got {}", a.x.rank(), a.paddings.size());
  for (int64_t p : a.paddings) infer::extent_of("pad", "paddings", p);
  for (size_t i = 0; i < a.x.shape().size(); ++i) {
    const Dim d = a.x.shape()[i] + Dim(a.paddings[2 * i]) + Dim(a.paddings[2 * i + 1]);
    check(!paddle::less(d, 0), ErrorKind::kValue, "[pad] expected sizes >= 0 after padding, got {}", d.str());
    out.shape.push_back(d);
  }
}

void pad::vjp(Vjp& v) {
  if (!v.need_x) return;
  const size_t rank = v.paddings.size() / 2;
  std::vector<int64_t> opposite;
  for (size_t i = 0; i < 2 * rank; ++i) opposite.push_back(-v.paddings[i]);
  v.x_grad = ops::pad(v.out_grad, opposite, 0.0);
}

// -- pad3d

namespace {

// One axis padded by indices: reflect repeats what lies inside without the edge, replicate the edge, circular the other
// end.
Tensor padded_by_index(const Tensor& x, int64_t axis, Dim before, Dim after, std::string_view mode) {
  const int64_t n = guard_int(x.dim(axis)), low = guard_int(before), high = guard_int(after);
  if (low == 0 && high == 0) return x;
  const int64_t most = mode == "reflect" ? n - 1 : mode == "circular" ? n : std::max(low, high);
  check(low <= most && high <= most && n > 0, ErrorKind::kValue,
        "[pad3d] expected paddings <= {} along axis {} of x in mode {}, got {} and {}", most, axis, mode, low, high);
  check(std::max(low, high) < INT32_MAX, ErrorKind::kValue, "[pad3d] expected paddings below 2**31, got {} and {}", low,
        high);
  std::vector<int64_t> from;
  for (int64_t i = -low; i < n + high; ++i) {
    int64_t j = i;
    if (mode == "replicate") {
      j = std::clamp<int64_t>(i, 0, n - 1);
    } else if (mode == "circular") {
      j = (i + n) % n;
    } else {
      if (j < 0) j = -j;
      if (j >= n) j = 2 * (n - 1) - j;
    }
    from.push_back(j);
  }
  return ops::index_select(x, ops::full_int_array(from), axis);
}

// The axis of width, height and depth.
Sizes spatial_axes(std::string_view data_format) {
  check(data_format == "NCDHW" || data_format == "NDHWC", ErrorKind::kValue,
        "[pad3d] expected data_format NCDHW or NDHWC, got {}", data_format);
  return data_format == "NCDHW" ? Sizes{4, 3, 2} : Sizes{3, 2, 1};
}

}  // namespace

void pad3d::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("pad3d", "x", a.x, 5);
  const Shape pads = infer::dims_of("pad3d", a.paddings);
  check(pads.size() == 6, ErrorKind::kValue, "[pad3d] expected 6 paddings, got {}", pads.size());
  check(a.mode == "constant" || a.mode == "reflect" || a.mode == "replicate" || a.mode == "circular", ErrorKind::kValue,
        "[pad3d] expected mode constant, reflect, replicate or circular, got {}", a.mode);
  out.shape = a.x.shape();
  const Sizes axes = spatial_axes(a.data_format);
  for (size_t i = 0; i < 3; ++i) {
    Dim& d = out.shape[axes[i]];
    d = d + pads[2 * i] + pads[2 * i + 1];
    check(!paddle::less(d, 0), ErrorKind::kValue, "[pad3d] expected sizes >= 0 after padding, got {}", d.str());
  }
}

Tensor pad3d::decompose(const Args& a) {
  const Shape pads = compose::dims_of("pad3d", a.paddings);
  const Sizes axes = spatial_axes(a.data_format);
  if (a.mode == "constant") {
    std::vector<int64_t> paddings(10, 0);
    for (size_t i = 0; i < 3; ++i) {
      paddings[2 * axes[i]] = guard_int(pads[2 * i]);
      paddings[2 * axes[i] + 1] = guard_int(pads[2 * i + 1]);
    }
    return ops::pad(a.x, paddings, a.pad_value);
  }
  Tensor out = a.x;
  for (size_t i = 0; i < 3; ++i) out = padded_by_index(out, axes[i], pads[2 * i], pads[2 * i + 1], a.mode);
  return out.same(a.x) ? ops::assign(out) : out;
}

}  // namespace paddle::rules
