// Writing by index: scatter and its kin, masks, set_value.
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cut.h"
#include "phi/rules/infer.h"
#include "phi/rules_manipulation.h"
#include "tensor/shown_shape.h"

namespace paddle::kernels {

std::vector<int64_t> nd_coordinates(std::string_view op, const Tensor& index, const Tensor& x);

namespace {

// to[0..n) += from[0..n), or a plain copy.
void add_row(DType t, char* to, const char* from, int64_t n, bool add) {
  if (!add) {
    std::memcpy(to, from, static_cast<size_t>(n) * size_of(t));
    return;
  }
  dispatch_number("scatter", t, [&](auto v) {
    using T = decltype(v);
    T* a = reinterpret_cast<T*>(to);
    const T* b = reinterpret_cast<const T*>(from);
    for (int64_t i = 0; i < n; ++i)
      a[i] = from_compute<T>(static_cast<Accumulator<T>>(to_compute(a[i]) + to_compute(b[i])));
  });
}

// Rows of updates go to the rows that index names. Without overwrite the named rows are zeroed first and then added to.
void scatter(OpCall& c) {
  rules::scatter::Args a(c);
  start_from(c, a.x);
  DenseTarget target(c.out(0), true);
  const Tensor& out = target.tensor();
  Tensor index = dense(a.index), updates = dense(a.updates);
  int64_t n = index.numel(), rows = out.size(0);
  if (n && out.numel()) {
    int64_t width = out.numel() / rows;
    size_t bytes = static_cast<size_t>(width) * size_of(out.dtype());
    dispatch_index("scatter", index.dtype(), [&](auto t) {
      const auto* ids = index.data<decltype(t)>();
      auto row = [&](int64_t i) {
        return out.data<char>() + static_cast<size_t>(wrapped("scatter", ids[i], rows)) * bytes;
      };
      if (!a.overwrite)
        for (int64_t i = 0; i < n; ++i) std::memset(row(i), 0, bytes);
      for (int64_t i = 0; i < n; ++i)
        add_row(out.dtype(), row(i), updates.data<char>() + static_cast<size_t>(i) * bytes, width, !a.overwrite);
    });
  }
  target.finish();
}

void scatter_nd_add(OpCall& c) {
  rules::scatter_nd_add::Args a(c);
  start_from(c, a.x);
  DenseTarget target(c.out(0), true);
  const Tensor& out = target.tensor();
  Tensor updates = dense(a.updates);
  if (updates.numel() && out.numel()) {
    std::vector<int64_t> at = nd_coordinates("scatter_nd_add", a.index, out);
    int64_t width = updates.numel() / static_cast<int64_t>(at.size());
    size_t bytes = static_cast<size_t>(width) * size_of(out.dtype());
    for (size_t i = 0; i < at.size(); ++i)
      add_row(out.dtype(), out.data<char>() + static_cast<size_t>(at[i]) * bytes, updates.data<char>() + i * bytes,
              width, true);
  }
  target.finish();
}

void index_add(OpCall& c) {
  rules::index_add::Args a(c);
  start_from(c, a.x);
  DenseTarget target(c.out(0), true);
  const Tensor& out = target.tensor();
  Tensor index = dense(a.index), values = dense(a.add_value);
  AroundAxis around_axis = around(out, a.axis);
  int64_t n = index.numel();
  size_t bytes = static_cast<size_t>(around_axis.inner) * size_of(out.dtype());
  dispatch_index("index_add", index.dtype(), [&](auto t) {
    const auto* ids = index.data<decltype(t)>();
    for (int64_t o = 0; o < around_axis.outer; ++o)
      for (int64_t i = 0; i < n; ++i) {
        int64_t row = o * around_axis.axis + wrapped("index_add", ids[i], around_axis.axis, ErrorKind::kValue);
        add_row(out.dtype(), out.data<char>() + static_cast<size_t>(row) * bytes,
                values.data<char>() + static_cast<size_t>(o * n + i) * bytes, around_axis.inner, true);
      }
  });
  target.finish();
}

// Index tensors name the leading axes; the value broadcasts to what they select.
void index_put(OpCall& c) {
  rules::index_put::Args a(c);
  start_from(c, a.x);
  DenseTarget target(c.out(0), true);
  const Tensor& out = target.tensor();
  // A mask stands for the coordinates of its true elements.
  Tensors indices;
  for (const Tensor& t : a.indices) {
    if (t.dtype() != DType::kBool) {
      indices.push_back(t);
      continue;
    }
    Tensor mask = dense(t);
    std::vector<std::vector<int64_t>> columns(static_cast<size_t>(mask.rank()));
    const uint8_t* p = mask.data<uint8_t>();
    for (int64_t k = 0, n = mask.numel(); k < n; ++k) {
      if (!p[k]) continue;
      int64_t rest = k;
      for (int64_t d = mask.rank() - 1; d >= 0; --d) {
        columns[static_cast<size_t>(d)].push_back(rest % mask.size(d));
        rest /= mask.size(d);
      }
    }
    for (auto& column : columns) {
      Tensor made = Tensor::empty({static_cast<int64_t>(column.size())}, DType::kInt64);
      std::copy(column.begin(), column.end(), made.data<int64_t>());
      indices.push_back(made);
    }
  }
  Shape selected;
  for (const Tensor& t : indices) selected = infer::broadcast_shapes("index_put", selected, t.shape());
  for (Tensor& t : indices) t = dense(broadcast_to(t, selected));
  int64_t n = numel(selected).value();
  std::vector<int64_t> at(static_cast<size_t>(n), 0);
  for (size_t d = 0; d < indices.size(); ++d)
    dispatch_index("index_put", indices[d].dtype(), [&](auto t) {
      const auto* p = indices[d].data<decltype(t)>();
      int64_t size = out.size(static_cast<int64_t>(d));
      for (int64_t i = 0; i < n; ++i)
        at[static_cast<size_t>(i)] = at[static_cast<size_t>(i)] * size + wrapped("index_put", p[i], size);
    });
  Shape value_shape = selected;
  for (size_t i = indices.size(); i < out.shape().size(); ++i) value_shape.push_back(out.shape()[i]);
  Shape joint = infer::broadcast_shapes("index_put", value_shape, a.value.shape());
  check(joint == value_shape, ErrorKind::kValue, "[index_put] expected a value that broadcasts to {}, got shape {}",
        shown(value_shape), shown(a.value.shape()));
  Tensor value = dense(broadcast_to(a.value, value_shape));
  int64_t width = n ? value.numel() / n : 0;
  size_t bytes = static_cast<size_t>(width) * size_of(out.dtype());
  for (int64_t i = 0; i < n && width; ++i)
    add_row(out.dtype(), out.data<char>() + static_cast<size_t>(at[static_cast<size_t>(i)]) * bytes,
            value.data<char>() + static_cast<size_t>(i) * bytes, width, a.accumulate);
  target.finish();
}

void masked_select(OpCall& c) {
  rules::masked_select::Args a(c);
  Shape joint = infer::broadcast_shapes("masked_select", a.x.shape(), a.mask.shape());
  Tensor x = dense(broadcast_to(a.x, joint)), mask = dense(broadcast_to(a.mask, joint));
  const uint8_t* m = mask.data<uint8_t>();
  int64_t n = mask.numel(), count = 0;
  for (int64_t i = 0; i < n; ++i) count += m[i] != 0;
  Tensor out = Tensor::empty({count}, x.dtype());
  dispatch_size(size_of(x.dtype()), [&](auto t) {
    using T = decltype(t);
    const T* from = x.data<T>();
    T* to = out.data<T>();
    for (int64_t i = 0; i < n; ++i)
      if (m[i]) *to++ = from[i];
  });
  c.out(0) = out;
}

void nonzero(OpCall& c) {
  Tensor x = dense(c.tensor(0));
  int64_t n = x.numel(), rank = x.rank();
  std::vector<int64_t> hits;
  dispatch_number("nonzero", x.dtype(), [&](auto t) {
    using T = decltype(t);
    const T* p = x.data<T>();
    for (int64_t i = 0; i < n; ++i)
      if (to_compute(p[i]) != Accumulator<T>(0)) hits.push_back(i);
  });
  Tensor out = Tensor::empty({static_cast<int64_t>(hits.size()), rank}, DType::kInt64);
  int64_t* p = out.data<int64_t>();
  for (size_t i = 0; i < hits.size(); ++i) {
    int64_t rest = hits[i];
    for (int64_t d = rank - 1; d >= 0; --d) {
      p[static_cast<int64_t>(i) * rank + d] = rest % x.size(d);
      rest /= x.size(d);
    }
  }
  c.out(0) = out;
}

// The part of the target that bounds and steps name, with dropped and new axes, becomes the broadcast value.
void set_value_with_tensor(OpCall& c) {
  rules::set_value_with_tensor::Args a(c);
  start_from(c, a.x);
  const Tensor& out = c.out(0);
  auto [part, part_strides, offset] = cut_out("set_value", out, a.axes, a.starts, a.ends, &a.steps, a.decrease_axes);
  for (int64_t at : a.none_axes) {
    const auto before = std::min(static_cast<size_t>(at), part.size());  // as the shape rule
    part.insert(before, Dim(1));
    part_strides.insert(before, 0);
  }
  // Leading axes of size 1 in the value count for nothing.
  Tensor value = a.values;
  while (value.rank() > static_cast<int64_t>(part.size()) && value.size(0) == 1) {
    Shape s(value.shape().begin() + 1, value.shape().end());
    Strides st(value.strides().begin() + 1, value.strides().end());
    value = value.as_view(s, st, value->offset);
  }
  Shape joint = infer::broadcast_shapes("set_value", part, value.shape());
  check(joint == part, ErrorKind::kValue, "[set_value] expected a value that broadcasts to {}, got shape {}",
        shown(part), shown(a.values.shape()));
  if (numel(part).value() == 0) return;
  copy_elements(out.as_view(part, part_strides, offset), broadcast_to(value, part));
}

void as_strided_scatter_add(OpCall& c) {
  rules::as_strided_scatter_add::Args a(c);
  const Tensor& out = c.out(0);
  zero(out);
  Tensor g = dense(a.out_grad);
  int64_t rank = g.rank();
  dispatch_number("as_strided_scatter_add", g.dtype(), [&](auto t) {
    using T = decltype(t);
    const T* from = g.data<T>();
    T* to = out.data<T>() + a.offset;
    for (int64_t k = 0, n = g.numel(); k < n; ++k) {
      int64_t rest = k, at = 0;
      for (int64_t d = rank - 1; d >= 0; --d) {
        at += rest % g.size(d) * a.stride[static_cast<size_t>(d)];
        rest /= g.size(d);
      }
      to[at] = from_compute<T>(static_cast<Accumulator<T>>(to_compute(to[at]) + to_compute(from[k])));
    }
  });
}

const RegisterCpu registered[] = {{"scatter", scatter},
                                  {"scatter_nd_add", scatter_nd_add},
                                  {"index_add", index_add},
                                  {"index_put", index_put},
                                  {"masked_select", masked_select},
                                  {"nonzero", nonzero},
                                  {"set_value_with_tensor", set_value_with_tensor},
                                  {"as_strided_scatter_add", as_strided_scatter_add}};

}  // namespace
}  // namespace paddle::kernels
