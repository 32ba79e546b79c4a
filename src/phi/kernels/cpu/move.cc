// Operators that move elements about: concat, pad, flip, roll, triangles, diagonals, one_hot, repetition.
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/operand.h"
#include "phi/rules_manipulation.h"

namespace paddle::kernels {
namespace {

void concat(OpCall& c) {
  rules::concat::Args a(c);
  const Tensor& out = c.out(0);
  int64_t axis = a.axis.to_int();
  if (axis < 0) axis += out.rank();
  int64_t at = out->offset, stride = out.rank() ? out.strides()[static_cast<size_t>(axis)] : 1;
  for (const Tensor& t : a.x) {
    if (t.rank() != out.rank()) continue;  // legacy empty operands
    if (t.numel()) convert_elements(out.as_view(t.shape(), out.strides(), at), t);
    at += t.size(axis) * stride;
  }
}

void fill_value(const Tensor& out, const Scalar& value) {
  Operand o;
  tile::ScalarParam p = value.kind() == Scalar::Kind::kComplex ? tile::ScalarParam(value.to_complex())
                        : value.kind() == Scalar::Kind::kFloat ? tile::ScalarParam(value.to_double())
                                                               : tile::ScalarParam(value.to_int());
  tile::run_fill(o.broadcast(out, out.shape()), p, static_sizes(out.shape()));
}

// Paddings are [before, after] per axis; negative ones cut.
void pad(OpCall& c) {
  rules::pad::Args a(c);
  const Tensor& out = c.out(0);
  fill_value(out, a.pad_value);
  Shape part;
  int64_t from = a.x->offset, to = out->offset;
  for (int64_t i = 0; i < a.x.rank(); ++i) {
    size_t k = static_cast<size_t>(i);
    int64_t before = a.paddings[2 * k], after = a.paddings[2 * k + 1];
    int64_t cut_before = std::max<int64_t>(0, -before), cut_after = std::max<int64_t>(0, -after);
    int64_t kept = std::max<int64_t>(0, a.x.size(i) - cut_before - cut_after);
    part.push_back(Dim(kept));
    from += cut_before * a.x.strides()[k];
    to += std::max<int64_t>(0, before) * out.strides()[k];
  }
  if (numel(part).value() == 0) return;
  copy_elements(out.as_view(part, out.strides(), to), a.x.as_view(part, a.x.strides(), from));
}

void flip(OpCall& c) {
  rules::flip::Args a(c);
  if (a.x.numel() == 0) return;
  if (a.x.rank() == 0) return copy_elements(c.out(0), a.x);  // axis 0 or -1 of one element
  Strides strides = a.x.strides();
  int64_t offset = a.x->offset;
  for (int64_t axis : a.axis) {
    if (axis < 0) axis += a.x.rank();
    size_t k = static_cast<size_t>(axis);
    offset += (a.x.size(axis) - 1) * strides[k];
    strides[k] = -strides[k];
  }
  copy_elements(c.out(0), a.x.as_view(a.x.shape(), strides, offset));
}

// One axis turned: two blocks change places.
void roll_axis(const Tensor& out, const Tensor& x, int64_t axis, int64_t shift) {
  int64_t n = x.size(axis);
  if (n == 0) return;
  shift = ((shift % n) + n) % n;
  size_t k = static_cast<size_t>(axis);
  auto block = [&](const Tensor& t, int64_t start, int64_t length) {
    Shape s = t.shape();
    s[k] = Dim(length);
    return t.as_view(s, t.strides(), t->offset + start * t.strides()[k]);
  };
  if (n - shift) copy_elements(block(out, shift, n - shift), block(x, 0, n - shift));
  if (shift) copy_elements(block(out, 0, shift), block(x, n - shift, shift));
}

void roll(OpCall& c) {
  rules::roll::Args a(c);
  const Tensor& out = c.out(0);
  if (a.x.numel() == 0) return;
  if (a.axis.empty() || a.x.rank() == 0) {  // the flattened tensor turns
    Tensor x = dense(a.x);
    Shape flat{Dim(x.numel())};
    Strides one{1};
    roll_axis(out.as_view(flat, one, out->offset), x.as_view(flat, one, x->offset), 0, a.shifts.values()[0].value());
    return;
  }
  Tensor current = a.x;
  for (size_t i = 0; i < a.axis.size(); ++i) {
    bool last = i + 1 == a.axis.size();
    Tensor next = last ? out : Tensor::empty(out.shape(), out.dtype(), out.place());
    roll_axis(next, current, a.axis[i] < 0 ? a.axis[i] + out.rank() : a.axis[i], a.shifts.values()[i].value());
    current = next;
  }
}

template <class Keep>
void triangle(OpCall& c, Keep&& keep) {
  const Tensor& x_in = c.tensor(0);
  Tensor x = dense(x_in);
  DenseTarget target(c.out(0), false);
  const Tensor& out = target.tensor();
  int64_t rows = x.size(-2), cols = x.size(-1), n = x.numel();
  dispatch_size(size_of(x.dtype()), [&](auto t) {
    using T = decltype(t);
    const T* from = x.data<T>();
    T* to = out.data<T>();
    for (int64_t k = 0; k < n; ++k) to[k] = keep(k / cols % rows, k % cols) ? from[k] : T{};
  });
  target.finish();
}
void tril(OpCall& c) {
  int64_t d = rules::tril::Args(c).diagonal;
  triangle(c, [d](int64_t i, int64_t j) { return j - i <= d; });
}
void triu(OpCall& c) {
  int64_t d = rules::triu::Args(c).diagonal;
  triangle(c, [d](int64_t i, int64_t j) { return j - i >= d; });
}

void diag_embed(OpCall& c) {
  rules::diag_embed::Args a(c);
  const Tensor& out = c.out(0);
  zero(out);
  int64_t r = out.rank(), first = a.dim1 < 0 ? a.dim1 + r : a.dim1, second = a.dim2 < 0 ? a.dim2 + r : a.dim2;
  Strides strides;
  for (int64_t i = 0; i < r; ++i)
    if (i != first && i != second) strides.push_back(out.strides()[static_cast<size_t>(i)]);
  int64_t down = out.strides()[static_cast<size_t>(first)], right = out.strides()[static_cast<size_t>(second)];
  strides.push_back(down + right);
  int64_t shift = a.offset >= 0 ? a.offset * right : -a.offset * down;
  if (a.input.numel()) copy_elements(out.as_view(a.input.shape(), strides, out->offset + shift), a.input);
}

void one_hot(OpCall& c) {
  const Tensor& out = c.out(0);
  zero(out);
  Tensor x = dense(c.tensor(0));
  int64_t classes = out.size(-1);
  dispatch_real("one_hot", out.dtype(), [&](auto value) {
    using T = decltype(value);
    T* to = out.data<T>();
    dispatch_index("one_hot", x.dtype(), [&](auto t) {
      const auto* ids = x.data<decltype(t)>();
      for (int64_t i = 0, n = x.numel(); i < n; ++i) {
        check(ids[i] >= 0 && ids[i] < classes, ErrorKind::kValue, "[one_hot] expected classes in [0, {}), got {}",
              classes, ids[i]);
        to[i * classes + ids[i]] = from_compute<T>(1);
      }
    });
  });
}

void repeat_interleave(OpCall& c) {
  rules::repeat_interleave_with_tensor_index::Args a(c);
  Tensor x = dense(a.x), repeats = dense(a.repeats);
  AroundAxis around_axis = around(x, a.axis);
  std::vector<int64_t> times(static_cast<size_t>(around_axis.axis));
  int64_t total = 0;
  dispatch_index("repeat_interleave", repeats.dtype(), [&](auto t) {
    const auto* p = repeats.data<decltype(t)>();
    int64_t n = repeats.numel();
    check(n == around_axis.axis || n == 1, ErrorKind::kValue, "[repeat_interleave] expected {} repeats, got {}",
          around_axis.axis, n);
    for (size_t i = 0; i < times.size(); ++i) {
      times[i] = p[n == 1 ? 0 : i];
      check(times[i] >= 0 && !__builtin_add_overflow(total, times[i], &total), ErrorKind::kValue,
            "[repeat_interleave] expected repeats of at least 0 whose sum fits, got {}", times[i]);
    }
  });
  check(a.output_size < 0 || a.output_size == total, ErrorKind::kValue,
        "[repeat_interleave] expected output_size to be the sum of the repeats, {}, got {}", total, a.output_size);
  Shape shape = x.shape();
  size_t axis = static_cast<size_t>(a.axis < 0 ? a.axis + x.rank() : a.axis);
  shape[axis] = Dim(total);
  Tensor out = Tensor::empty(shape, x.dtype(), x.place());
  const size_t bytes = static_cast<size_t>(around_axis.inner) * size_of(x.dtype());
  char* to = out.data<char>();
  const char* from = x.data<char>();
  for (int64_t o = 0; out.numel() > 0 && o < around_axis.outer; ++o)
    for (int64_t n : times) {
      for (int64_t k = 0; k < n; ++k, to += bytes) std::memcpy(to, from, bytes);
      from += bytes;
    }
  c.out(0) = out;
}

const RegisterCpu registered[] = {{"concat", concat},
                                  {"pad", pad},
                                  {"flip", flip},
                                  {"roll", roll},
                                  {"tril", tril},
                                  {"triu", triu},
                                  {"diag_embed", diag_embed},
                                  {"one_hot", one_hot},
                                  {"repeat_interleave_with_tensor_index", repeat_interleave}};

}  // namespace
}  // namespace paddle::kernels
