// Reading by index: gather and its kin.
#include "base/parallel_for.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/rules_manipulation.h"

namespace paddle::kernels {
namespace {

// out[o, i, :] = x[o, index[i], :]
void take(std::string_view op, const Tensor& x_in, const Tensor& index_in, int64_t axis, const Tensor& out,
          ErrorKind outside) {
  Tensor x = dense(x_in), index = dense(index_in);
  AroundAxis a = around(x, axis);
  int64_t n = index.numel();
  size_t bytes = static_cast<size_t>(a.inner) * size_of(x.dtype());
  const char* from = x.data<char>();
  char* to = out.data<char>();
  if (out.numel() == 0) return;
  dispatch_index(op, index.dtype(), [&](auto t) {
    const auto* ids = index.data<decltype(t)>();
    std::vector<int64_t> rows(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) rows[static_cast<size_t>(i)] = wrapped(op, ids[i], a.axis, outside);
    parallel_for(0, a.outer * n, std::max<int64_t>(1, (1 << 15) / static_cast<int64_t>(bytes + 1)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t k = begin; k < end; ++k) {
                     int64_t o = k / n, i = k % n;
                     std::memcpy(to + static_cast<size_t>(k) * bytes,
                                 from + static_cast<size_t>(o * a.axis + rows[static_cast<size_t>(i)]) * bytes, bytes);
                   }
                 });
  });
}

void gather(OpCall& c) {
  rules::gather::Args a(c);
  take("gather", a.x, a.index, a.axis.to_int(), c.out(0), ErrorKind::kIndex);
}
void index_select(OpCall& c) {
  rules::index_select::Args a(c);
  take("index_select", a.x, a.index, a.axis, c.out(0), ErrorKind::kValue);
}

// Flat positions (in slices of x) that the last axis of `index` names.
std::vector<int64_t> coordinates(std::string_view op, const Tensor& index_in, const Tensor& x) {
  Tensor index = dense(index_in);
  int64_t depth = index.size(-1);
  int64_t n = depth ? index.numel() / depth : 1;
  if (!depth)
    for (int64_t i = 0; i + 1 < index.rank(); ++i) n *= index.size(i);
  std::vector<int64_t> out(static_cast<size_t>(n));
  dispatch_index(op, index.dtype(), [&](auto t) {
    const auto* p = index.data<decltype(t)>();
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = 0;
      for (int64_t d = 0; d < depth; ++d)
        at = at * x.size(d) + wrapped(op, p[i * depth + d], x.size(d), ErrorKind::kValue);
      out[static_cast<size_t>(i)] = at;
    }
  });
  return out;
}

void gather_nd(OpCall& c) {
  rules::gather_nd::Args a(c);
  if (c.out(0).numel() == 0) return;
  Tensor x = dense(a.x);
  std::vector<int64_t> at = coordinates("gather_nd", a.index, x);
  int64_t inner = 1;
  for (int64_t i = a.index.size(-1); i < x.rank(); ++i) inner *= x.size(i);
  size_t bytes = static_cast<size_t>(inner) * size_of(x.dtype());
  const char* from = x.data<char>();
  char* to = c.out(0).data<char>();
  parallel_for(0, static_cast<int64_t>(at.size()), std::max<int64_t>(1, (1 << 15) / static_cast<int64_t>(bytes + 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i)
                   std::memcpy(to + static_cast<size_t>(i) * bytes,
                               from + static_cast<size_t>(at[static_cast<size_t>(i)]) * bytes, bytes);
               });
}

// Where element k of `index` points along the axis of a tensor of that rank: both walk the same positions on the other
// axes.
template <class F>
void along_axis(std::string_view op, const Tensor& index, const Shape& data, int64_t axis, F&& f) {
  int64_t rank = index.rank();
  if (axis < 0) axis += rank;
  Strides strides = contiguous_strides(data);
  Sizes sizes = static_sizes(index.shape());
  dispatch_index(op, index.dtype(), [&](auto t) {
    const auto* p = index.data<decltype(t)>();
    std::vector<int64_t> at(static_cast<size_t>(rank), 0);
    for (int64_t k = 0, n = index.numel(); k < n; ++k) {
      int64_t offset = wrapped(op, p[k], rank ? data[static_cast<size_t>(axis)].value() : 1) *
                       (rank ? strides[static_cast<size_t>(axis)] : 0);
      for (int64_t i = 0; i < rank; ++i)
        if (i != axis) offset += at[static_cast<size_t>(i)] * strides[static_cast<size_t>(i)];
      f(k, offset);
      for (int64_t i = rank - 1; i >= 0; --i) {
        if (++at[static_cast<size_t>(i)] < sizes[static_cast<size_t>(i)]) break;
        at[static_cast<size_t>(i)] = 0;
      }
    }
  });
}

void take_along_axis(OpCall& c) {
  rules::take_along_axis::Args a(c);
  Tensor arr = dense(a.arr), index = dense(a.indices);
  const Tensor& out = c.out(0);
  // Axes of size 1 in either operand repeat: both are brought to the result's shape first.
  auto repeat = [&](const Tensor& t, bool keep_axis) {
    Shape shape = out.shape();
    size_t axis = static_cast<size_t>(a.axis < 0 ? a.axis + t.rank() : a.axis);
    if (keep_axis && t.rank() > 0) shape[axis] = t.shape()[axis];
    bool larger = false;
    for (size_t i = 0; i < shape.size(); ++i) larger |= t.shape()[i].value() == 1 && shape[i].value() > 1;
    if (!larger) return t;
    Strides s = t.strides();
    for (size_t i = 0; i < shape.size(); ++i)
      if (t.shape()[i].value() == 1)
        s[i] = 0;
      else if (!(t.shape()[i] == shape[i]))
        shape[i] = t.shape()[i];
    return dense(t.as_view(shape, s, t->offset));
  };
  arr = repeat(arr, true);
  index = repeat(index, false);
  dispatch_size(size_of(arr.dtype()), [&](auto t) {
    using T = decltype(t);
    const T* from = arr.data<T>();
    T* to = out.data<T>();
    along_axis("take_along_axis", index, arr.shape(), a.axis, [&](int64_t k, int64_t at) { to[k] = from[at]; });
  });
}

void put_along_axis(OpCall& c) {
  rules::put_along_axis::Args a(c);
  start_from(c, a.arr);
  DenseTarget target(c.out(0), true);
  const Tensor& out = target.tensor();
  Tensor index = dense(a.indices);
  Tensor values = a.values;
  values = dense(broadcast_to(values, index.shape()));  // a value repeats over the indices
  auto run = [&](auto t, auto&& combine) {
    using T = decltype(t);
    const T* from = values.data<T>();
    T* to = out.data<T>();
    std::vector<bool> touched;
    bool counts = a.reduce == "mean";
    std::vector<int32_t> count(counts ? static_cast<size_t>(out.numel()) : 0, a.include_self ? 1 : 0);
    if (!a.include_self) touched.assign(static_cast<size_t>(out.numel()), false);
    along_axis("put_along_axis", index, out.shape(), a.axis, [&](int64_t k, int64_t at) {
      size_t i = static_cast<size_t>(at);
      if (!a.include_self && !touched[i]) {
        touched[i] = true;
        to[at] = from[k];
      } else {
        to[at] = from_compute<T>(combine(to_compute(to[at]), to_compute(from[k])));
      }
      if (counts) ++count[i];
    });
    if (counts)
      for (size_t i = 0; i < count.size(); ++i)
        if (count[i] > 1) to[i] = from_compute<T>(to_compute(to[i]) / static_cast<Accumulator<T>>(count[i]));
  };
  std::string_view how = a.reduce;
  if (how == "assign") {
    dispatch_size(size_of(out.dtype()), [&](auto t) {
      using T = decltype(t);
      const T* from = values.data<T>();
      T* to = out.data<T>();
      along_axis("put_along_axis", index, out.shape(), a.axis, [&](int64_t k, int64_t at) { to[at] = from[k]; });
    });
  } else if (how == "add" || how == "mean") {
    dispatch_number("put_along_axis", out.dtype(),
                    [&](auto t) { run(t, [](auto x, auto y) { return static_cast<decltype(x)>(x + y); }); });
  } else if (how == "mul" || how == "multiply") {
    dispatch_number("put_along_axis", out.dtype(),
                    [&](auto t) { run(t, [](auto x, auto y) { return static_cast<decltype(x)>(x * y); }); });
  } else if (how == "amax" || how == "amin") {
    bool largest = how == "amax";
    dispatch_real("put_along_axis", out.dtype(), [&](auto t) {
      run(t, [largest](auto x, auto y) { return largest ? (x < y || y != y ? y : x) : (y < x || y != y ? y : x); });
    });
  } else {
    fail(ErrorKind::kValue, "[put_along_axis] expected reduce to be assign, add, mul, mean, amax or amin, got '{}'",
         how);
  }
  target.finish();
}

const RegisterCpu registered[] = {{"gather", gather},
                                  {"index_select", index_select},
                                  {"gather_nd", gather_nd},
                                  {"take_along_axis", take_along_axis},
                                  {"put_along_axis", put_along_axis}};

}  // namespace

std::vector<int64_t> nd_coordinates(std::string_view op, const Tensor& index, const Tensor& x) {
  return coordinates(op, index, x);
}

}  // namespace paddle::kernels
