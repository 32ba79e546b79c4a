// Rules of ops/vision.yaml: resampling. Every mode is separable, so every axis is resampled by itself; where an element
// comes from is computed in float32, as official Paddle does.
#include <cmath>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/window.h"
#include "phi/rules_vision.h"

namespace paddle::rules {
namespace {

// The arguments that all of the operators share.
struct Resize {
  std::string_view op;
  const Tensor& x;
  const Tensor& out_size;
  std::span<const Tensor> size_tensor;
  const Tensor& scale_tensor;
  std::span<const double> scale;
  std::string_view method, format;
  int64_t out[3];  // out_d, out_h, out_w
  bool align_corners;
  int64_t align_mode;

  int64_t n() const { return x.rank() - 2; }
  int64_t axis(int64_t i) const { return channels_last(op, format) ? i + 1 : i + 2; }
  Dim size(int64_t i) const { return x.dim(axis(i)); }
};

template <class A>
Resize resize_of(std::string_view op, const A& a) {
  return {op,
          a.x,
          a.out_size,
          a.size_tensor,
          a.scale_tensor,
          a.scale,
          a.interp_method,
          a.data_format,
          {a.out_d, a.out_h, a.out_w},
          a.align_corners,
          a.align_mode};
}

void check_resize(const Resize& r, int64_t low, int64_t high) {
  infer::check_rank(r.op, "x", r.x, low, high);
  channels_last(r.op, r.format);
  check(r.align_mode == 0 || r.align_mode == 1, ErrorKind::kValue, "[{}] expected align_mode 0 or 1, got {}", r.op,
        r.align_mode);
  const auto n = static_cast<size_t>(r.n());
  check(r.size_tensor.empty() || r.size_tensor.size() == n, ErrorKind::kValue,
        "[{}] expected {} tensors in size_tensor, got {}", r.op, n, r.size_tensor.size());
  if (r.out_size.defined() && r.out_size.is_dense())
    check(r.out_size.numel() == r.n(), ErrorKind::kValue, "[{}] expected {} sizes in out_size, got {}", r.op, n,
          r.out_size.numel());
  check(r.scale.empty() || r.scale.size() == 1 || r.scale.size() == n, ErrorKind::kValue,
        "[{}] expected 1 or {} numbers in scale, got {}", r.op, n, r.scale.size());
  for (double s : r.scale)
    check(s > 0 && std::isfinite(s), ErrorKind::kValue, "[{}] expected scale above 0, got {}", r.op, s);
}

// Factors that the caller gave as numbers; 0 where he gave sizes.
double factor(const Resize& r, int64_t i) {
  if (r.scale.empty()) return 0;
  return r.scale[r.scale.size() == 1 ? 0 : static_cast<size_t>(i)];
}

// floor(size * factor). A symbolic size stays one where the factor is a quotient of small numbers.
Dim scaled(Dim size, double by) {
  if (size.is_const()) return Dim(static_cast<int64_t>(static_cast<double>(size.value()) * by));
  for (int64_t q = 1; q <= 64; ++q) {
    const double p = by * static_cast<double>(q);
    if (p == std::floor(p) && p < 0x1p31) return floor_div(size * Dim(static_cast<int64_t>(p)), Dim(q));
  }
  return Dim(static_cast<int64_t>(static_cast<double>(guard_int(size)) * by));
}

// Item i of a vector as a 0-d tensor.
Tensor item(const Tensor& t, int64_t i) {
  if (t.rank() == 0) return t;
  return ops::slice(t, {0}, Ints{i}, Ints{i + 1}, {}, {0});
}

bool valueless(const Tensor& t) { return !t.is_dense(); }

Scalar size_from(const Tensor& t, int64_t i) {
  if (valueless(t)) return Scalar(ops::cast(item(t, i), DType::kInt64));
  return Scalar(Ints(t).to_ints().at(static_cast<size_t>(i)));
}

double number_in(const Tensor& t, int64_t i) { return Scalar(item(t, i)).to_double(); }

// The size of axis i afterwards: a number, a symbolic size, or a tensor that only running fills.
Scalar size_after(const Resize& r, int64_t i) {
  if (r.out_size.defined()) return size_from(r.out_size, i);
  if (!r.size_tensor.empty()) return size_from(r.size_tensor[static_cast<size_t>(i)], 0);
  if (r.scale_tensor.defined()) {
    const bool one = r.scale_tensor.rank() == 0 || paddle::equal(r.scale_tensor.dim(0), Dim(1));
    const int64_t at = one ? 0 : i;
    if (!valueless(r.scale_tensor)) return Scalar(scaled(r.size(i), number_in(r.scale_tensor, at)));
    Tensor extent = ops::full({}, Scalar(r.size(i)), DType::kFloat32);
    Tensor by = ops::cast(item(r.scale_tensor, at), DType::kFloat32);
    return Scalar(ops::cast(ops::floor(extent * by), DType::kInt64));
  }
  if (!r.scale.empty()) return Scalar(scaled(r.size(i), factor(r, i)));
  return Scalar(infer::extent_of(r.op, "a size", r.out[3 - r.n() + i]));
}

void resize_shape(const Resize& r, int64_t low, int64_t high, TensorMeta& out) {
  check_resize(r, low, high);
  out.shape = r.x.shape();
  auto unknown = [&](const Tensor& t) { return t.defined() && valueless(t); };
  const bool later = r.out_size.defined()       ? unknown(r.out_size)
                     : !r.size_tensor.empty()   ? std::any_of(r.size_tensor.begin(), r.size_tensor.end(), unknown)
                     : r.scale_tensor.defined() ? unknown(r.scale_tensor)
                                                : false;
  for (int64_t i = 0; i < r.n(); ++i) {
    if (later) {
      out.shape[static_cast<size_t>(r.axis(i))] = new_symbol();
      continue;
    }
    const Scalar s = size_after(r, i);
    const Dim d = s.kind() == Scalar::Kind::kDim ? s.dim() : Dim(infer::extent_of(r.op, "a size", s.to_int()));
    check(d.is_symbolic() || d.value() > 0, ErrorKind::kValue, "[{}] expected sizes above 0, got {}", r.op, d.str());
    out.shape[static_cast<size_t>(r.axis(i))] = d;
  }
}

// -- one axis

struct Axis {
  Dim size;
  Scalar after;
  int64_t at;
  Tensor ratio;   // elements of x per element of the result, f32 []
  Tensor places;  // 0, 1, ... of the result, f32 [m]
};

Tensor as_number(const Scalar& s) {
  if (s.kind() == Scalar::Kind::kTensor) return ops::cast(s.tensor(), DType::kFloat32);
  return ops::full({}, s, DType::kFloat32);
}

Axis axis_of(const Resize& r, int64_t i) {
  Axis a{r.size(i), size_after(r, i), r.axis(i), {}, {}};
  a.places = ops::arange(Scalar(0), a.after, Scalar(1), DType::kFloat32);
  const bool known = a.size.is_const() && a.after.is_const();
  const double n = known ? static_cast<double>(a.size.value()) : 0;
  const double m = known ? static_cast<double>(a.after.to_int()) : 0;
  double given = factor(r, i);
  if (r.scale_tensor.defined() && !valueless(r.scale_tensor))
    given = number_in(r.scale_tensor, r.scale_tensor.rank() == 0 || r.scale_tensor.dim(0) == Dim(1) ? 0 : i);
  if (!r.align_corners && r.scale_tensor.defined() && valueless(r.scale_tensor)) {
    const bool one = r.scale_tensor.rank() == 0 || r.scale_tensor.dim(0) == Dim(1);
    a.ratio = ops::reciprocal(ops::cast(item(r.scale_tensor, one ? 0 : i), DType::kFloat32));
  } else if (r.align_corners && known) {
    a.ratio = ops::full({}, Scalar(m > 1 ? (n - 1) / (m - 1) : 0.0), DType::kFloat32);
  } else if (r.align_corners) {
    Tensor gaps = as_number(a.after) - 1.0;
    Tensor one = ops::full({}, Scalar(1.0), DType::kFloat32);
    a.ratio = ops::full({}, Scalar(a.size - Dim(1)), DType::kFloat32) / ops::maximum(gaps, one);
  } else if (given > 0) {
    a.ratio = ops::full({}, Scalar(1.0 / given), DType::kFloat32);
  } else if (known) {
    a.ratio = ops::full({}, Scalar(n / m), DType::kFloat32);
  } else {
    a.ratio = ops::full({}, Scalar(a.size), DType::kFloat32) / as_number(a.after);
  }
  return a;
}

Tensor source(const Axis& a, bool half_pixel) {
  return half_pixel ? (a.places + 0.5) * a.ratio - 0.5 : a.places * a.ratio;
}

Tensor index_of(const Tensor& whole, Dim size) {
  Tensor t = ops::cast(whole, DType::kInt64);
  Tensor zero = ops::full({}, Scalar(0), DType::kInt64), last = ops::full({}, Scalar(size - Dim(1)), DType::kInt64);
  return ops::minimum(ops::maximum(t, zero), last);
}

// Weights per element of an axis, in x's dtype, shaped to multiply it.
Tensor along_axis(const Tensor& w, const Tensor& x, int64_t axis) {
  Shape s(static_cast<size_t>(x.rank() - axis), Dim(1));
  s[0] = w.dim(0);
  return compose::reshape_to(ops::cast(w, x.dtype()), s);
}

Tensor nearest(const Resize& r, const Axis& a, const Tensor& x) {
  Tensor s = source(a, false);
  return ops::index_select(x, index_of(ops::floor(r.align_corners ? s + 0.5 : s), a.size), a.at);
}

Tensor linear(const Resize& r, const Axis& a, const Tensor& x) {
  Tensor s = ops::relu(source(a, !r.align_corners && r.align_mode == 0));
  Tensor base = ops::floor(s);
  Tensor share = along_axis(s - base, x, a.at);
  Tensor low = ops::index_select(x, index_of(base, a.size), a.at);
  Tensor high = ops::index_select(x, index_of(base + 1.0, a.size), a.at);
  return low * (1.0 - share) + high * share;
}

// Keys' cubic convolution at distances of at most 1, and from 1 to 2 (Keys, 1981).
Tensor keys_near(const Tensor& d, double a) { return ((d * (a + 2) - (a + 3)) * d) * d + 1.0; }
Tensor keys_far(const Tensor& d, double a) { return ((d * a - 5 * a) * d + 8 * a) * d - 4 * a; }

Tensor cubic(const Resize& r, const Axis& a, const Tensor& x) {
  Tensor s = source(a, !r.align_corners);
  Tensor base = ops::floor(s), t = s - base;
  constexpr double k = -0.75;
  const Tensor weights[] = {keys_far(t + 1.0, k), keys_near(t, k), keys_near(1.0 - t, k), keys_far(2.0 - t, k)};
  Tensor total;
  for (int tap = 0; tap < 4; ++tap) {
    Tensor part = ops::index_select(x, index_of(base + (tap - 1.0), a.size), a.at) * along_axis(weights[tap], x, a.at);
    total = total.defined() ? total + part : part;
  }
  return total;
}

// A dense [m, n] filter: the kernel stretched by the ratio where it shrinks, normalised at the borders.
Tensor antialiased(const Resize& r, const Axis& a, const Tensor& x) {
  Tensor stretch = ops::maximum(a.ratio, ops::full({}, Scalar(1.0), DType::kFloat32));
  Tensor centre = ops::unsqueeze(source(a, !r.align_corners), {1});
  Tensor from = ops::unsqueeze(ops::arange(Scalar(0), Scalar(a.size), Scalar(1), DType::kFloat32), {0});
  Tensor d = ops::abs(from - centre) / stretch;
  Tensor w;
  if (r.method == "bicubic") {
    constexpr double k = -0.5;  // image libraries' antialiased filter, not the -0.75 of plain bicubic
    Tensor zero = ops::full_like(d, Scalar(0.0));
    w = ops::where(ops::less_than(d, ops::full_like(d, Scalar(2.0))), keys_far(d, k), zero);
    w = ops::where(ops::less_than(d, ops::full_like(d, Scalar(1.0))), keys_near(d, k), w);
  } else {
    w = ops::relu(1.0 - d);
  }
  w = w / ops::sum(w, Ints{1}, DType::kUndefined, true);
  std::vector<int64_t> order, back(static_cast<size_t>(x.rank()));
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != a.at) order.push_back(i);
  order.push_back(a.at);
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  Tensor filtered = ops::matmul(ops::transpose(x, order), ops::cast(w, x.dtype()), false, true);
  return ops::transpose(filtered, back);
}

using OneAxis = Tensor (*)(const Resize&, const Axis&, const Tensor&);

Tensor resized(const Resize& r, OneAxis one) {
  Tensor x = r.x;
  for (int64_t i = 0; i < r.n(); ++i) x = one(r, axis_of(r, i), x);
  return x;
}

// The operators' kernels are told apart by interp_method; the names only say its default and the rank.
Tensor resized(const Resize& r) {
  if (r.method == "nearest") return resized(r, nearest);
  if (r.method == "bicubic") return resized(r, cubic);
  check(r.method == "linear" || r.method == "bilinear" || r.method == "trilinear", ErrorKind::kValue,
        "[{}] expected interp_method linear, bilinear, trilinear, nearest or bicubic, got {}", r.op, r.method);
  return resized(r, linear);
}

}  // namespace

void linear_interp::shape(const Args& a, TensorMeta& out) { resize_shape(resize_of("linear_interp", a), 3, 3, out); }
Tensor linear_interp::decompose(const Args& a) { return resized(resize_of("linear_interp", a)); }

void bilinear_interp::shape(const Args& a, TensorMeta& out) {
  resize_shape(resize_of("bilinear_interp", a), 4, 4, out);
}
Tensor bilinear_interp::decompose(const Args& a) { return resized(resize_of("bilinear_interp", a)); }

void nearest_interp::shape(const Args& a, TensorMeta& out) { resize_shape(resize_of("nearest_interp", a), 3, 5, out); }
Tensor nearest_interp::decompose(const Args& a) { return resized(resize_of("nearest_interp", a)); }

void bicubic_interp::shape(const Args& a, TensorMeta& out) { resize_shape(resize_of("bicubic_interp", a), 4, 4, out); }
Tensor bicubic_interp::decompose(const Args& a) { return resized(resize_of("bicubic_interp", a)); }

void trilinear_interp::shape(const Args& a, TensorMeta& out) {
  resize_shape(resize_of("trilinear_interp", a), 5, 5, out);
}
Tensor trilinear_interp::decompose(const Args& a) { return resized(resize_of("trilinear_interp", a)); }

void interp_antialias::shape(const Args& a, TensorMeta& out) {
  resize_shape(resize_of("interp_antialias", a), 4, 4, out);
}
Tensor interp_antialias::decompose(const Args& a) { return resized(resize_of("interp_antialias", a), antialiased); }

}  // namespace paddle::rules
