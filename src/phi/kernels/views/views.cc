// Operators whose result looks into its input's storage: only shape, strides and offset change, so one function serves
// every device. Where the storage's layout doesn't allow a view (a reshape of a transposed tensor) the result is a
// copy, as the record's reader expects.
#include "phi/kernels/cut.h"
#include "phi/kernels/registry.h"
#include "phi/rules/infer.h"
#include "phi/rules_manipulation.h"
#include "phi/rules_math.h"

namespace paddle::kernels {
namespace {

// Strides that make `t` look like `shape` without moving an element; nothing if there are none.
std::optional<Strides> reshape_strides(const Tensor& t, const Shape& shape) {
  Strides out(shape.size(), 0);
  if (t.numel() == 0) return contiguous_strides(shape);
  // Runs of input axes that lie densely in each other are matched with runs of output axes of the same size.
  int64_t in = t.rank() - 1, to = static_cast<int64_t>(shape.size()) - 1;
  while (to >= 0 || in >= 0) {
    while (in >= 0 && t.size(in) == 1) --in;
    while (to >= 0 && shape[static_cast<size_t>(to)].value() == 1) {
      out[static_cast<size_t>(to)] = to + 1 < static_cast<int64_t>(shape.size())
                                         ? out[static_cast<size_t>(to) + 1] * shape[static_cast<size_t>(to) + 1].value()
                                         : 1;
      --to;
    }
    if (in < 0 || to < 0) break;
    int64_t run = t.size(in), stride = t.strides()[static_cast<size_t>(in)];
    int64_t taken = 1;
    int64_t base = stride;
    while (true) {
      int64_t d = shape[static_cast<size_t>(to)].value();
      if (run % (taken * d) == 0) {
        out[static_cast<size_t>(to)] = base * taken;
        taken *= d;
        --to;
        if (taken == run) break;
        if (to < 0) return std::nullopt;
        continue;
      }
      // The output axis spans more than this run: the next input axis must continue it.
      do {
        --in;
      } while (in >= 0 && t.size(in) == 1);
      if (in < 0 || t.strides()[static_cast<size_t>(in)] != base * run) return std::nullopt;
      run *= t.size(in);
    }
    --in;
  }
  return out;
}

// Elements of their own, for what can't be a view of x. Where x is only a layout there are none.
Tensor apart(const Tensor& x, const Shape& shape) {
  if (x->storage->data() || x.numel() == 0) return Tensor::empty(shape, x.dtype(), x.place());
  return Tensor::meta(shape, x.dtype(), x.place());
}

Tensor reshaped(const Tensor& x, const Shape& shape) {
  if (auto strides = reshape_strides(x, shape)) return x.as_view(shape, *strides, x->offset);
  Tensor out = apart(x, shape);
  if (!out.is_dense()) return out;
  copy_elements(out.as_view(x.shape(), contiguous_strides(x.shape()), out->offset), x);
  return out;
}

// reshape, squeeze, unsqueeze, flatten: the shape rule knows the result's shape, which is all there is to them.
void reshape_like(OpCall& c) {
  const Tensor& x = c.tensor(0);
  Tensor out = reshaped(x, c.meta(0).shape);
  if (c.inplace) {
    x->shape = out->shape;
    x->strides = out->strides;
    x->storage = out->storage;
    x->offset = out->offset;
    out = x;
  }
  c.out(0) = out;
}

void transpose(OpCall& c) {
  rules::transpose::Args a(c);
  Shape shape;
  Strides strides;
  for (int64_t p : a.perm) {
    if (p < 0) p += a.x.rank();
    shape.push_back(a.x.dim(p));
    strides.push_back(a.x.strides()[static_cast<size_t>(p)]);
  }
  c.out(0) = a.x.as_view(shape, strides, a.x->offset);
}

// Axes of size 1 repeat; new ones stand in front.
void expand(OpCall& c) {
  const Tensor& x = c.tensor(0);
  const Shape& shape = c.meta(0).shape;
  Strides strides(shape.size(), 0);
  size_t lead = shape.size() - x.shape().size();
  for (size_t i = 0; i < x.shape().size(); ++i)
    if (x.shape()[i] == shape[lead + i]) strides[lead + i] = x.strides()[i];
  c.out(0) = x.as_view(shape, strides, x->offset);
}

void slice(OpCall& c) {
  rules::slice::Args a(c);
  const Cut v = cut_out("slice", a.input, a.axes, a.starts, a.ends, nullptr, a.decrease_axis);
  c.out(0) = a.input.as_view(v.shape, v.strides, v.offset);
}

void strided_slice(OpCall& c) {
  rules::strided_slice::Args a(c);
  const Cut v = cut_out("strided_slice", a.x, a.axes, a.starts, a.ends, &a.strides, {});
  c.out(0) = a.x.as_view(v.shape, v.strides, v.offset);
}

void as_strided(OpCall& c) {
  rules::as_strided::Args a(c);
  c.out(0) = a.x.as_view(c.meta(0).shape, Strides(a.stride), a.x->offset + a.offset);
}

void diagonal(OpCall& c) {
  rules::diagonal::Args a(c);
  int64_t r = a.x.rank(), first = a.axis1 < 0 ? a.axis1 + r : a.axis1, second = a.axis2 < 0 ? a.axis2 + r : a.axis2;
  Strides strides;
  for (int64_t i = 0; i < r; ++i)
    if (i != first && i != second) strides.push_back(a.x.strides()[static_cast<size_t>(i)]);
  int64_t down = a.x.strides()[static_cast<size_t>(first)], right = a.x.strides()[static_cast<size_t>(second)];
  strides.push_back(down + right);
  const Shape& shape = c.meta(0).shape;
  int64_t shift = shape.back().value() == 0 ? 0 : (a.offset >= 0 ? a.offset * right : -a.offset * down);
  c.out(0) = a.x.as_view(shape, strides, a.x->offset + shift);
}

void tensor_unfold(OpCall& c) {
  rules::tensor_unfold::Args a(c);
  size_t axis = static_cast<size_t>(a.axis < 0 ? a.axis + a.input.rank() : a.axis);
  Strides strides = a.input.strides();
  if (strides.empty()) strides.push_back(1);
  int64_t along = strides[axis];
  if (!paddle::equal(c.meta(0).shape[axis], Dim(1))) strides[axis] *= a.step;  // of one window no step is taken
  strides.push_back(along);
  c.out(0) = a.input.as_view(c.meta(0).shape, strides, a.input->offset);
}

// Parts of one axis, one behind the other; the shape rule knows their sizes.
void parts(OpCall& c, const Tensor& x, int64_t axis) {
  if (axis < 0) axis += x.rank();
  int64_t at = x->offset;
  Tensors& out = c.out_list(0);
  for (const TensorMeta& m : c.list_metas) {
    out.push_back(x.as_view(m.shape, x.strides(), at));
    at += m.shape[static_cast<size_t>(axis)].value() * x.strides()[static_cast<size_t>(axis)];
  }
}

void split(OpCall& c) {
  rules::split::Args a(c);
  parts(c, a.x, a.axis.to_int());
}
void split_with_num(OpCall& c) {
  rules::split_with_num::Args a(c);
  parts(c, a.x, a.axis.to_int());
}

void unbind(OpCall& c) {
  rules::unbind::Args a(c);
  size_t axis = static_cast<size_t>(a.axis < 0 ? a.axis + a.input.rank() : a.axis);
  Strides strides = a.input.strides();
  int64_t step = strides[axis];
  strides.erase(axis);
  int64_t at = a.input->offset;
  for (const TensorMeta& m : c.list_metas) {
    c.out_list(0).push_back(a.input.as_view(m.shape, strides, at));
    at += step;
  }
}

// The same memory under another dtype; strides count elements of the new one.
Tensor reinterpreted(const Tensor& x, DType dtype, const Shape& shape, const Strides& strides, int64_t offset) {
  Tensor out = x.as_view(shape, strides, offset);
  out->dtype = dtype;
  return out;
}

void as_real(OpCall& c) {
  const Tensor& x = c.tensor(0);
  Strides strides;
  for (int64_t s : x.strides()) strides.push_back(2 * s);
  strides.push_back(1);
  c.out(0) = reinterpreted(x, c.meta(0).dtype, c.meta(0).shape, strides, 2 * x->offset);
}

void as_complex(OpCall& c) {
  Tensor x = c.tensor(0);
  bool fits = x.strides().back() == 1 && x->offset % 2 == 0;
  for (size_t i = 0; i + 1 < x.strides().size(); ++i) fits &= x.strides()[i] % 2 == 0;
  if (!fits) {
    Tensor copy = apart(x, x.shape());
    if (copy.is_dense()) copy_elements(copy, x);
    x = copy;
  }
  Strides strides;
  for (size_t i = 0; i + 1 < x.strides().size(); ++i) strides.push_back(x.strides()[i] / 2);
  c.out(0) = reinterpreted(x, c.meta(0).dtype, c.meta(0).shape, strides, x->offset / 2);
}

void assign(OpCall& c) { copy_elements(c.out(0), c.tensor(0)); }

[[maybe_unused]] const bool registered = [] {
  // Views touch no element: every kind of device runs the same code.
  for (uint8_t kind = 0; kind < 16; ++kind) {
    for (const char* op : {"reshape", "squeeze", "unsqueeze", "flatten"}) register_kernel(op, kind, reshape_like);
    register_kernel("transpose", kind, transpose);
    register_kernel("expand", kind, expand);
    register_kernel("slice", kind, slice);
    register_kernel("strided_slice", kind, strided_slice);
    register_kernel("as_strided", kind, as_strided);
    register_kernel("diagonal", kind, diagonal);
    register_kernel("tensor_unfold", kind, tensor_unfold);
    register_kernel("split", kind, split);
    register_kernel("split_with_num", kind, split_with_num);
    register_kernel("unbind", kind, unbind);
    register_kernel("as_real", kind, as_real);
    register_kernel("as_complex", kind, as_complex);
    register_kernel("assign", kind, assign);
  }
  return true;
}();

}  // namespace
}  // namespace paddle::kernels
