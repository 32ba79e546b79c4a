// Rules of ops/manipulation.yaml: picking and placing, in the order of the records.
#include <algorithm>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "phi/rules/compose.h"
#include "phi/rules/infer.h"
#include "phi/rules/slices.h"
#include "phi/rules_manipulation.h"
#include "tensor/shown_shape.h"

namespace paddle::rules {

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
          shown(a.index.shape()));
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
        arr.rank(), shown(indices.shape()));
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
          shown(a.index.shape()));
  Shape expected = a.x.shape();
  if (a.index.rank() == 0) {
    expected.erase(0);
  } else {
    expected[0] = a.index.dim(0);
  }
  bool fits = a.updates.shape().size() == expected.size();
  for (size_t i = 0; fits && i < expected.size(); ++i) fits = infer::agree(a.updates.shape()[i], expected[i]);
  check(fits, ErrorKind::kValue, "[scatter] expected updates of shape {}, got {}", shown(expected),
        shown(a.updates.shape()));
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
  check(fits, ErrorKind::kValue, "[scatter_nd_add] expected updates of shape {}, got {}", shown(expected),
        shown(a.updates.shape()));
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
    const Shape joint = infer::broadcast_shapes("index_put", a.value.shape(), common);
    check(joint.size() == common.size() && std::equal(joint.begin(), joint.end(), common.begin(), infer::agree),
          ErrorKind::kValue, "[index_put] expected a value that broadcasts to {}, got shape {}", shown(common),
          shown(a.value.shape()));
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
        ErrorKind::kValue, "[set_value] expected values that broadcast to {}, got shape {}", shown(target),
        shown(a.values.shape()));
  out.shape = a.x.shape();
}

namespace {
Ints picked(const Ints& v, const std::vector<size_t>& items) {
  Shape values;
  Tensors tensors;
  for (size_t i : items) {
    const auto at = static_cast<int64_t>(i);
    const bool told = i < v.tensors().size();
    values.push_back(i < v.size() ? v[i] : Dim(0));
    tensors.push_back(v.whole().defined() ? ops::slice(v.whole(), {0}, Ints{at}, Ints{at + 1}, {}, {0})
                      : told              ? v.tensors()[i]
                                          : Tensor());
  }
  return v.resolved() ? Ints(values) : Ints(values, tensors);
}

// What was written of a gradient. Axes with one index are sliced apart from the others, by the operator that drops
// them: only there an index of -1 is the last element whatever the slice's end says.
Tensor read_part(const set_value_with_tensor::Vjp& v) {
  if (v.decrease_axes.empty()) return ops::strided_slice(v.out_grad, v.axes, v.starts, v.ends, v.steps);
  const int64_t rank = v.out_grad.rank();
  auto normal = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
  std::vector<size_t> one, many;
  std::vector<int64_t> of_one, of_many;
  for (size_t i = 0; i < v.axes.size(); ++i) {
    const bool drop = std::any_of(v.decrease_axes.begin(), v.decrease_axes.end(),
                                  [&](int64_t d) { return normal(d) == normal(v.axes[i]); });
    (drop ? one : many).push_back(i);
    (drop ? of_one : of_many).push_back(v.axes[i]);
  }
  Tensor g = v.out_grad;
  if (!many.empty())
    g = ops::strided_slice(g, of_many, picked(v.starts, many), picked(v.ends, many), picked(v.steps, many));
  return ops::slice(g, of_one, picked(v.starts, one), picked(v.ends, one), {}, v.decrease_axes);
}
}  // namespace

void set_value_with_tensor::vjp(Vjp& v) {
  if (v.need_x)
    v.x_grad = ops::set_value_with_tensor(v.out_grad, ops::full({}, 0.0, v.out_grad.dtype()), v.starts, v.ends, v.steps,
                                          v.axes, v.decrease_axes, {});
  if (!v.need_values) return;
  const Shape target =
      written_shape(v.out_grad.shape(), v.axes, v.starts, v.ends, v.steps, v.decrease_axes, v.none_axes);
  Tensor g = compose::reshape_to(read_part(v), target);
  TensorMeta values = v.values;
  while (values.shape.size() > target.size()) values.shape.erase(0);
  v.values_grad = compose::reshape_to(compose::unbroadcast(g, values), v.values.shape);
}

}  // namespace paddle::rules
