// Rules of ops/manipulation.yaml: padding by mode, picking and placing, order, matrices, in the order of the records.
#include <algorithm>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules/slices.h"
#include "phi/rules_manipulation.h"

namespace paddle::rules {

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
  const Shape pads = infer::dims_of("pad3d", a.paddings);
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

// -- picking and placing

namespace {
// gather's index as one axis: [n], [n, 1] or a 0-d one taken as [1].
Tensor flat_index(const Tensor& index) { return index.rank() == 1 ? index : ops::reshape(index, {-1}); }
}  // namespace

void gather::shape(const Args& a, TensorMeta& out) {
  const int64_t axis = infer::axis_of("gather", infer::number_of("gather", a.axis), a.x.rank());
  infer::check_rank("gather", "x", a.x, 1, 64);
  infer::check_rank("gather", "index", a.index, 0, 2);
  if (a.index.rank() == 2)
    check(infer::agree(a.index.dim(1), 1), ErrorKind::kValue, "[gather] expected a 2-d index of shape [n, 1], got {}",
          to_string(a.index.shape()));
  out.shape = a.x.shape();
  if (a.index.rank() == 0) {
    out.shape.erase(static_cast<size_t>(axis));
  } else {
    out.shape[axis] = a.index.dim(0);
  }
}

void gather::vjp(Vjp& v) {
  if (!v.need_x) return;
  const int64_t axis =
      infer::axis_of("gather", infer::number_of("gather", v.axis), static_cast<int64_t>(v.x.shape.size()));
  Tensor g = v.index.rank() == 0 ? ops::unsqueeze(v.out_grad, {axis}) : v.out_grad;
  v.x_grad = ops::index_add(compose::zeros_like(v.x), flat_index(v.index), g, axis);
}

void gather_nd::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("gather_nd", "index", a.index, 1, 64);
  const int64_t depth = guard_int(a.index.dim(-1));
  check(depth <= a.x.rank(), ErrorKind::kValue,
        "[gather_nd] expected index with a last axis <= {}, the axes of x, got {}", a.x.rank(), depth);
  out.shape = a.index.shape();
  out.shape.pop_back();
  for (int64_t i = depth; i < a.x.rank(); ++i) out.shape.push_back(a.x.shape()[i]);
}

void gather_nd::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::scatter_nd_add(compose::zeros_like(v.x), v.index, v.out_grad);
}

void index_select::shape(const Args& a, TensorMeta& out) {
  const int64_t axis = infer::axis_of("index_select", a.axis, a.x.rank());
  infer::check_rank("index_select", "x", a.x, 1, 64);
  infer::check_rank("index_select", "index", a.index, 1);
  out.shape = a.x.shape();
  out.shape[axis] = a.index.dim(0);
}

void index_select::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::index_add(compose::zeros_like(v.x), v.index, v.out_grad, v.axis);
}

void index_sample::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("index_sample", "x", a.x, 2);
  infer::check_rank("index_sample", "index", a.index, 2);
  infer::check_size("index_sample", "the first axis of index", a.x.dim(0), a.index.dim(0));
  out.shape = a.index.shape();
}

Tensor index_sample::decompose(const Args& a) { return ops::take_along_axis(a.x, a.index, 1); }

namespace {
// indices beside arr: as many axes, and no longer than arr except along axis.
void check_along(std::string_view op, const Tensor& arr, const Tensor& indices, int64_t axis) {
  check(arr.rank() == indices.rank(), ErrorKind::kValue, "[{}] expected indices with {} axes, as arr, got shape {}", op,
        arr.rank(), to_string(indices.shape()));
  const int64_t at = infer::axis_of(op, axis, arr.rank());
  for (int64_t i = 0; i < arr.rank(); ++i)
    check(i == at || !paddle::less(arr.shape()[i], indices.shape()[i]), ErrorKind::kValue,
          "[{}] expected indices of size <= {} along axis {}, got {}", op, arr.shape()[i].str(), i,
          indices.shape()[i].str());
}
}  // namespace

void take_along_axis::shape(const Args& a, TensorMeta& out) {
  check_along("take_along_axis", a.arr, a.indices, a.axis);
  out.shape = a.indices.shape();
}

void take_along_axis::vjp(Vjp& v) {
  if (v.need_arr)
    v.arr_grad = ops::put_along_axis(compose::zeros_like(v.arr), v.indices, v.out_grad, v.axis, "add", true);
}

void put_along_axis::shape(const Args& a, TensorMeta& out) {
  check_along("put_along_axis", a.arr, a.indices, a.axis);
  infer::same_shape("put_along_axis", "values", a.values, "indices", a.indices);
  const std::string_view known[] = {"assign", "add", "multiply", "mul", "mean", "amin", "amax"};
  check(std::find(std::begin(known), std::end(known), a.reduce) != std::end(known), ErrorKind::kValue,
        "[put_along_axis] expected reduce assign, add, multiply, mul, mean, amin or amax, got {}", a.reduce);
  out.shape = a.arr.shape();
}

void put_along_axis::vjp(Vjp& v) {
  const std::string_view kind = v.reduce;
  const Tensor &g = v.out_grad, &at = v.indices;
  auto placed = [&](const Tensor& into, const Tensor& values, std::string_view how) {
    return ops::put_along_axis(into, at, values, v.axis, how, true);
  };
  // With include_self = false what stood at the places counts for nothing.
  Tensor none = compose::zeros_like(v.values);
  Tensor arr_g = kind == "assign" || !v.include_self ? placed(g, none, "assign") : g;
  if (kind == "assign" || kind == "add") {
    if (v.need_arr) v.arr_grad = arr_g;
    if (v.need_values) v.values_grad = ops::take_along_axis(g, at, v.axis);
    return;
  }
  if (kind == "multiply" || kind == "mul") {
    if (v.need_arr) v.arr_grad = v.include_self ? placed(g, v.values, "multiply") : arr_g;
    if (v.need_values) v.values_grad = ops::take_along_axis(g * v.out, at, v.axis) / v.values;
    return;
  }
  Tensor ones = none + 1.0;
  if (kind == "mean") {
    Tensor self = compose::zeros_like(v.arr) + 1.0;
    Tensor count = placed(v.include_self ? self : placed(self, none, "assign"), ones, "add");
    if (v.need_arr) v.arr_grad = arr_g / ops::maximum(count, self);
    if (v.need_values) v.values_grad = ops::take_along_axis(g / ops::maximum(count, self), at, v.axis);
    return;
  }
  // amin, amax: all that equal the result share its gradient evenly.
  Tensor arr_hit = ops::cast(ops::equal(v.arr, v.out), g.dtype());
  if (!v.include_self) arr_hit = placed(arr_hit, none, "assign");
  Tensor values_hit = ops::cast(ops::equal(v.values, ops::take_along_axis(v.out, at, v.axis)), g.dtype());
  Tensor share = g / ops::maximum(placed(arr_hit, values_hit, "add"), compose::zeros_like(v.arr) + 1.0);
  if (v.need_arr) v.arr_grad = share * arr_hit;
  if (v.need_values) v.values_grad = ops::take_along_axis(share, at, v.axis) * values_hit;
}

void scatter::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("scatter", "x", a.x, 1, 64);
  infer::check_rank("scatter", "index", a.index, 0, 2);
  if (a.index.rank() == 2)
    check(infer::agree(a.index.dim(1), 1), ErrorKind::kValue, "[scatter] expected a 2-d index of shape [n, 1], got {}",
          to_string(a.index.shape()));
  Shape expected = a.x.shape();
  if (a.index.rank() == 0) {
    expected.erase(0);
  } else {
    expected[0] = a.index.dim(0);
  }
  bool fits = a.updates.shape().size() == expected.size();
  for (size_t i = 0; fits && i < expected.size(); ++i) fits = infer::agree(a.updates.shape()[i], expected[i]);
  check(fits, ErrorKind::kValue, "[scatter] expected updates of shape {}, got {}", to_string(expected),
        to_string(a.updates.shape()));
  out.shape = a.x.shape();
}

void scatter::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::scatter(v.out_grad, v.index, compose::zeros_like(v.updates), true);
  if (v.need_updates) v.updates_grad = ops::gather(v.out_grad, v.index, 0);
}

void scatter_nd_add::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("scatter_nd_add", "index", a.index, 1, 64);
  const int64_t depth = guard_int(a.index.dim(-1));
  check(depth <= a.x.rank(), ErrorKind::kValue,
        "[scatter_nd_add] expected index with a last axis <= {}, the axes of x, got {}", a.x.rank(), depth);
  Shape expected = a.index.shape();
  expected.pop_back();
  for (int64_t i = depth; i < a.x.rank(); ++i) expected.push_back(a.x.shape()[i]);
  bool fits = a.updates.shape().size() == expected.size();
  for (size_t i = 0; fits && i < expected.size(); ++i) fits = infer::agree(a.updates.shape()[i], expected[i]);
  check(fits, ErrorKind::kValue, "[scatter_nd_add] expected updates of shape {}, got {}", to_string(expected),
        to_string(a.updates.shape()));
  out.shape = a.x.shape();
}

void scatter_nd_add::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = v.out_grad;
  if (v.need_updates) v.updates_grad = ops::gather_nd(v.out_grad, v.index);
}

void index_add::shape(const Args& a, TensorMeta& out) {
  const int64_t axis = infer::axis_of("index_add", a.axis, a.x.rank());
  infer::check_rank("index_add", "x", a.x, 1, 64);
  infer::check_rank("index_add", "index", a.index, 1);
  infer::check_rank("index_add", "add_value", a.add_value, a.x.rank());
  for (int64_t i = 0; i < a.x.rank(); ++i)
    infer::check_size("index_add", "add_value", i == axis ? a.index.dim(0) : a.x.shape()[i], a.add_value.shape()[i]);
  out.shape = a.x.shape();
}

void index_add::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = v.out_grad;
  if (v.need_add_value) v.add_value_grad = ops::index_select(v.out_grad, v.index, v.axis);
}

namespace {

// A mask stands for the coordinates of its true elements, one list per axis.
Tensors as_integers(std::span<const Tensor> indices) {
  Tensors out;
  for (const Tensor& t : indices) {
    if (t.dtype() != DType::kBool) {
      out.push_back(t);
      continue;
    }
    for (const Tensor& column : ops::unbind(ops::nonzero(t), 1)) out.push_back(column);
  }
  return out;
}

// x[indices] by gather_nd: the indices, broadcast, become coordinates along a last axis.
Tensor picked(const Tensor& x, std::span<const Tensor> indices) {
  Tensors wide;
  for (const Tensor& t : as_integers(indices)) wide.push_back(ops::cast(t, DType::kInt64));
  return ops::gather_nd(x, ops::stack(ops::broadcast_tensors(wide), -1));
}

}  // namespace

void index_put::shape(const Args& a, TensorMeta& out) {
  check(!a.indices.empty(), ErrorKind::kValue, "[index_put] expected at least one index");
  int64_t axes = 0;
  Shape common;
  bool known = true;
  for (const Tensor& t : a.indices) {
    if (t.dtype() == DType::kBool) {
      check(axes + t.rank() <= a.x.rank(), ErrorKind::kValue,
            "[index_put] expected indices for the {} axes of x, got more", a.x.rank());
      for (int64_t i = 0; i < t.rank(); ++i)
        infer::check_size("index_put", "a mask", a.x.shape()[axes + i], t.shape()[i]);
      axes += t.rank();
      known = false;
    } else {
      axes += 1;
      common = infer::broadcast_shapes("index_put", common, t.shape());
    }
  }
  check(axes <= a.x.rank(), ErrorKind::kValue, "[index_put] expected indices for the {} axes of x, got {}", a.x.rank(),
        axes);
  if (known) {
    for (int64_t i = axes; i < a.x.rank(); ++i) common.push_back(a.x.shape()[i]);
    check(infer::broadcast_shapes("index_put", a.value.shape(), common) == common, ErrorKind::kValue,
          "[index_put] expected a value that broadcasts to {}, got shape {}", to_string(common),
          to_string(a.value.shape()));
  }
  out.shape = a.x.shape();
}

void index_put::vjp(Vjp& v) {
  if (v.need_x)
    v.x_grad = v.accumulate ? v.out_grad
                            : ops::index_put(v.out_grad, v.indices, ops::full({}, 0.0, v.out_grad.dtype()), false);
  if (v.need_value) v.value_grad = compose::unbroadcast(picked(v.out_grad, v.indices), v.value);
}

void masked_select::shape(const Args& a, TensorMeta& out) {
  infer::broadcast_shapes("masked_select", a.x.shape(), a.mask.shape());
  out.shape = {new_symbol()};
}

void masked_select::vjp(Vjp& v) {
  if (!v.need_x) return;
  const Shape whole = infer::broadcast_shapes("masked_select", v.x.shape, v.mask.shape());
  Tensor places = ops::nonzero(ops::expand(v.mask, whole));
  Tensor g = ops::scatter_nd_add(ops::full(whole, 0.0, v.out_grad.dtype()), places, v.out_grad);
  v.x_grad = compose::unbroadcast(g, v.x);
}

void nonzero::shape(const Args& a, TensorMeta& out) { out.shape = {new_symbol(), Dim(a.condition.rank())}; }

namespace {
// What x[slice] looks like to the values that are written there: without decreased axes, with ones for None.
Shape written_shape(std::span<const Dim> x, std::span<const int64_t> axes, const Ints& starts, const Ints& ends,
                    const Ints& steps, std::span<const int64_t> decrease, std::span<const int64_t> none) {
  Shape out =
      infer::without_axes("set_value", infer::sliced_shape("set_value", x, axes, starts, ends, &steps), decrease);
  for (int64_t axis : none) {
    check(axis >= 0, ErrorKind::kValue, "[set_value] expected none_axes >= 0, got {}", axis);
    out.insert(static_cast<size_t>(std::min<int64_t>(axis, out.size())), Dim(1));
  }
  return out;
}
}  // namespace

Tensor set_value::decompose(const Args& a) {
  std::vector<int64_t> sizes(a.shape.begin(), a.shape.end());
  std::vector<Scalar> values(a.values.begin(), a.values.end());
  Tensor constant = ops::assign_value(sizes, a.x.dtype(), values, a.x.place());
  return ops::set_value_with_tensor(a.x, constant, a.starts, a.ends, a.steps, a.axes, a.decrease_axes, a.none_axes);
}

void set_value_with_tensor::shape(const Args& a, TensorMeta& out) {
  check(a.values.dtype() == a.x.dtype(), ErrorKind::kType, "[set_value] expected values of x's dtype {}, got {}",
        name_of(a.x.dtype()), name_of(a.values.dtype()));
  const Shape target = written_shape(a.x.shape(), a.axes, a.starts, a.ends, a.steps, a.decrease_axes, a.none_axes);
  Shape values = a.values.shape();
  // Leading ones are dropped, as NumPy's assignment does.
  while (values.size() > target.size() && values[0] == Dim(1)) values.erase(0);
  check(values.size() <= target.size() && infer::broadcast_shapes("set_value", values, target) == target,
        ErrorKind::kValue, "[set_value] expected values that broadcast to {}, got shape {}", to_string(target),
        to_string(a.values.shape()));
  out.shape = a.x.shape();
}

void set_value_with_tensor::vjp(Vjp& v) {
  if (v.need_x)
    v.x_grad = ops::set_value_with_tensor(v.out_grad, ops::full({}, 0.0, v.out_grad.dtype()), v.starts, v.ends, v.steps,
                                          v.axes, v.decrease_axes, {});
  if (!v.need_values) return;
  const Shape target =
      written_shape(v.out_grad.shape(), v.axes, v.starts, v.ends, v.steps, v.decrease_axes, v.none_axes);
  Tensor g = compose::reshape_to(ops::strided_slice(v.out_grad, v.axes, v.starts, v.ends, v.steps), target);
  TensorMeta values = v.values;
  while (values.shape.size() > target.size()) values.shape.erase(0);
  v.values_grad = compose::reshape_to(compose::unbroadcast(g, values), v.values.shape);
}

// -- order

namespace {
// Each result's gradient goes to the element it came from; no element is taken twice.
Tensor to_sources(const Tensor& g, const Tensor& indices, int64_t axis, const TensorMeta& x) {
  if (x.shape.empty()) return compose::reshape_to(g, x.shape);
  return ops::put_along_axis(compose::zeros_like(x), indices, g, axis, "assign", true);
}
}  // namespace

void argsort::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = to_sources(v.out_grad, v.indices, v.axis, v.x);
}

void topk::shape(const Args& a, TensorMeta& out, TensorMeta& indices) {
  const int64_t axis = infer::axis_of("topk", a.axis, a.x.rank());
  out.shape = a.x.shape();
  const bool unknown = a.k.kind() == Scalar::Kind::kTensor && !a.k.tensor().is_dense();
  const Dim k = unknown ? new_symbol() : a.k.kind() == Scalar::Kind::kDim ? a.k.dim() : Dim(a.k.to_int());
  if (!unknown) {
    const Dim have = a.x.rank() == 0 ? Dim(1) : a.x.dim(axis);
    check(paddle::less(0, k) && !paddle::less(have, k), ErrorKind::kValue, "[topk] expected k in [1, {}], got {}",
          have.str(), k.str());
  }
  if (a.x.rank() > 0) out.shape[axis] = k;
  indices.shape = out.shape;
}

void topk::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = to_sources(v.out_grad, v.indices, v.axis, v.x);
}

void kthvalue::shape(const Args& a, TensorMeta& out, TensorMeta& indices) {
  const int64_t axis = infer::axis_of("kthvalue", a.axis, a.x.rank());
  const Dim have = a.x.rank() == 0 ? Dim(1) : a.x.dim(axis);
  check(a.k >= 1 && !paddle::less(have, a.k), ErrorKind::kValue, "[kthvalue] expected k in [1, {}], got {}", have.str(),
        a.k);
  out.shape = a.x.rank() == 0 ? Shape{} : infer::reduce("kthvalue", a.x, a.axis, a.keepdim);
  indices.shape = out.shape;
}

ops::kthvalue_out kthvalue::decompose(const Args& a) {
  if (a.x.rank() == 0) return {ops::assign(a.x), ops::full({}, 0, DType::kInt64)};
  ops::argsort_out sorted = ops::argsort(a.x, a.axis, false, true);
  auto pick = [&](const Tensor& t) {
    Tensor one = ops::slice(t, {a.axis}, {a.k - 1}, {a.k});
    return a.keepdim ? one : ops::squeeze(one, {a.axis});
  };
  return {pick(sorted.out), pick(sorted.indices)};
}

void unique::shape(const Args& a, TensorMeta& out, TensorMeta& indices, TensorMeta& inverse, TensorMeta& counts) {
  check(a.axis.size() <= 1, ErrorKind::kValue, "[unique] expected at most one axis, got {}", a.axis.size());
  const Dim n = new_symbol();
  out.shape = {n};
  inverse.shape = {paddle::numel(a.x.shape())};
  if (!a.axis.empty()) {
    const int64_t axis = infer::axis_of("unique", a.axis[0], a.x.rank());
    infer::check_rank("unique", "x", a.x, 1, 64);
    out.shape = a.x.shape();
    out.shape[axis] = n;
    inverse.shape = {a.x.dim(axis)};
  }
  indices.shape = counts.shape = {n};
}

void mode::shape(const Args& a, TensorMeta& out, TensorMeta& indices) {
  const int64_t axis = infer::axis_of("mode", a.axis, a.x.rank());
  check(a.x.rank() == 0 || !paddle::less(a.x.dim(axis), Dim(1)), ErrorKind::kValue,
        "[mode] expected at least one element along axis {}", axis);
  out.shape = a.x.rank() == 0 ? Shape{} : infer::reduce("mode", a.x, a.axis, a.keepdim);
  indices.shape = out.shape;
}

void mode::vjp(Vjp& v) {
  if (!v.need_x) return;
  const bool gone = !v.keepdim && !v.x.shape.empty();
  Tensor g = gone ? ops::unsqueeze(v.out_grad, {v.axis}) : v.out_grad;
  Tensor at = gone ? ops::unsqueeze(v.indices, {v.axis}) : v.indices;
  v.x_grad = to_sources(g, at, v.axis, v.x);
}

void bincount::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("bincount", "x", a.x, 1, 1);
  if (a.weights.defined()) {
    infer::check_size("bincount", "weights", a.x.dim(0), a.weights.dim(0));
    out.dtype = infer::wide_inexact(a.weights.dtype());
  }
  out.shape = {new_symbol()};
}

void unique_consecutive::shape(const Args& a, TensorMeta& out, TensorMeta& index, TensorMeta& counts) {
  constexpr const char* op = "unique_consecutive";
  check(a.axis.size() <= 1, ErrorKind::kValue, "[{}] expected at most one axis, got {}", op, a.axis.size());
  const Dim n = new_symbol();
  out.shape = {n};
  index.shape = {paddle::numel(a.x.shape())};
  if (!a.axis.empty()) {
    infer::check_rank(op, "x", a.x, 1, 64);
    const int64_t axis = infer::axis_of(op, a.axis[0], a.x.rank());
    out.shape = a.x.shape();
    out.shape[static_cast<size_t>(axis)] = n;
    index.shape = {a.x.dim(axis)};
  }
  counts.shape = {n};
}

void full_with_tensor::shape(const Args& a, TensorMeta& out) {
  check(paddle::equal(paddle::numel(a.value.shape()), Dim(1)), ErrorKind::kValue,
        "[full_with_tensor] expected value with one element, got shape {}", to_string(a.value.shape()));
  out.shape = infer::from_arg("full_with_tensor", a.shape);
}

Tensor full_with_tensor::decompose(const Args& a) {
  return ops::expand(compose::cast_to(ops::reshape(a.value, Ints{}), a.dtype), a.shape);
}

void searchsorted::shape(const Args& a, TensorMeta& out) {
  const Tensor& s = a.sorted_sequence;
  infer::check_rank("searchsorted", "sorted_sequence", s, 1, 64);
  if (s.rank() > 1) {
    infer::check_rank("searchsorted", "values", a.values, s.rank());
    for (int64_t i = 0; i + 1 < s.rank(); ++i)
      infer::check_size("searchsorted", "values", s.shape()[i], a.values.shape()[i]);
  }
  out.shape = a.values.shape();
  if (a.out_int32) out.dtype = DType::kInt32;
}

// -- matrices and indicators

void tril::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("tril", "x", a.x, 2, 64);
  out.shape = a.x.shape();
}

void tril::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::tril(v.out_grad, v.diagonal);
}

void triu::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("triu", "x", a.x, 2, 64);
  out.shape = a.x.shape();
}

void triu::vjp(Vjp& v) {
  if (v.need_x) v.x_grad = ops::triu(v.out_grad, v.diagonal);
}

void diag::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("diag", "x", a.x, 1, 2);
  const Dim off(std::abs(infer::extent_of("diag", "offset", a.offset)));
  if (a.x.rank() == 1) {
    out.shape = {a.x.dim(0) + off, a.x.dim(0) + off};
    return;
  }
  const Dim rows = a.x.dim(0) + Dim(std::min<int64_t>(a.offset, 0));
  const Dim columns = a.x.dim(1) - Dim(std::max<int64_t>(a.offset, 0));
  out.shape = {paddle::max(0, paddle::min(rows, columns))};
}

Tensor diag::decompose(const Args& a) {
  if (a.x.rank() == 2) return ops::assign(ops::diagonal(a.x, a.offset, 0, 1));
  Tensor square = ops::diag_embed(a.x, a.offset, 0, 1);
  if (a.padding_value == 0) return square;
  Tensor on = ops::diag_embed(ops::full(a.x.shape(), true, DType::kBool), a.offset, 0, 1);
  return ops::where(on, square, ops::full({}, a.padding_value, a.x.dtype()));
}

void diag_embed::shape(const Args& a, TensorMeta& out) {
  infer::check_rank("diag_embed", "input", a.input, 1, 64);
  const int64_t rank = a.input.rank() + 1;
  const int64_t one = infer::axis_of("diag_embed", a.dim1, rank, "dim1");
  const int64_t two = infer::axis_of("diag_embed", a.dim2, rank, "dim2");
  check(one != two, ErrorKind::kValue, "[diag_embed] expected two different axes, got {} and {}", a.dim1, a.dim2);
  const Dim n = a.input.dim(-1) + Dim(std::abs(infer::extent_of("diag_embed", "offset", a.offset)));
  int64_t next = 0;
  for (int64_t i = 0; i < rank; ++i) out.shape.push_back(i == one || i == two ? n : a.input.shape()[next++]);
}

void diag_embed::vjp(Vjp& v) {
  if (v.need_input) v.input_grad = ops::diagonal(v.out_grad, v.offset, v.dim1, v.dim2);
}

void one_hot::shape(const Args& a, TensorMeta& out) {
  out.shape = a.x.shape();
  const bool unknown = a.num_classes.kind() == Scalar::Kind::kTensor && !a.num_classes.tensor().is_dense();
  const Dim n = unknown ? new_symbol()
                : a.num_classes.kind() == Scalar::Kind::kDim
                    ? a.num_classes.dim()
                    : Dim(infer::extent_of("one_hot", "num_classes", a.num_classes.to_int()));
  check(n.is_symbolic() || n.value() > 0, ErrorKind::kValue, "[one_hot] expected num_classes > 0, got {}", n.str());
  out.shape.push_back(n);
}

}  // namespace paddle::rules
