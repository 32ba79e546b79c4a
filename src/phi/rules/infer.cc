#include "phi/rules/infer.h"

#include <algorithm>

#include "tensor/default_dtype.h"
#include "tensor/shown_shape.h"

namespace paddle::infer {

// -- dtypes

namespace {
std::string names_in(uint32_t mask) {
  std::vector<std::string_view> names;
  for (int i = 1; i < static_cast<int>(DType::kCount); ++i)
    if (mask >> i & 1) names.push_back(name_of(static_cast<DType>(i)));
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}
}  // namespace

void bad_dtype(std::string_view op, std::string_view name, DType got, uint32_t mask) {
  fail(ErrorKind::kType, "[{}] expected {} of dtype {}, got {}", op, name, names_in(mask), name_of(got));
}

void absent(std::string_view op, std::string_view name) {
  fail(ErrorKind::kType, "[{}] expected a tensor for {}, got None", op, name);
}

void check_dtypes(std::string_view op, std::string_view name, std::span<const Tensor> t, uint32_t mask) {
  for (const Tensor& each : t) check_dtype(op, name, each, mask);
}

void unlike(std::string_view op, std::string_view name, DType got, std::string_view first, DType expected) {
  fail(ErrorKind::kType, "[{}] expected {} of the dtype of {}, {}, got {}", op, name, first, name_of(expected),
       name_of(got));
}

void check_alike(std::string_view op, std::string_view name, std::span<const Tensor> t, std::string_view first,
                 const Tensor& f) {
  for (const Tensor& each : t) check_alike(op, name, each, first, f);
}

DType first_of(std::initializer_list<DType> types) {
  for (DType t : types)
    if (t != DType::kUndefined) return t;
  return DType::kUndefined;
}

DType promote_all(std::initializer_list<DType> types) {
  DType result = DType::kUndefined;
  for (DType t : types) result = result == DType::kUndefined ? t : t == DType::kUndefined ? result : promote(result, t);
  return result;
}

DType index_dtype(std::string_view op, std::string_view name, DType t) {
  check(t == DType::kInt32 || t == DType::kInt64, ErrorKind::kType, "[{}] expected {} to be int32 or int64, got {}", op,
        name, t == DType::kUndefined ? "None" : name_of(t));
  return t;
}
DType widen(DType t) { return t == DType::kBool || t == DType::kInt32 ? DType::kInt64 : t; }
DType wide_inexact(DType t) { return is_inexact(t) ? t : DType::kFloat64; }

DType default_float() { return default_dtype(); }

DType inexact(DType t) { return is_inexact(t) ? t : default_float(); }

DType scalar_dtype(const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::kBool:
      return DType::kBool;
    case Scalar::Kind::kInt:
    case Scalar::Kind::kDim:
      return DType::kInt64;
    case Scalar::Kind::kFloat:
      return default_float();
    default:
      return s.natural_dtype();
  }
}

// -- axes and sizes

int64_t axis_of(std::string_view op, int64_t axis, int64_t rank, std::string_view name) {
  const int64_t r = std::max<int64_t>(rank, 1);
  check(axis >= -r && axis < r, ErrorKind::kIndex, "[{}] expected {} in [{}, {}), got {}", op, name, -r, r, axis);
  return axis < 0 ? axis + r : axis;
}

Sizes axes_of(std::string_view op, std::span<const int64_t> axes, int64_t rank, bool empty_is_all,
              std::string_view name) {
  Sizes result;
  if (axes.empty() && empty_is_all) {
    for (int64_t i = 0; i < rank; ++i) result.push_back(i);
    return result;
  }
  for (int64_t axis : axes) {
    const int64_t at = axis_of(op, axis, rank, name);
    check(std::find(result.begin(), result.end(), at) == result.end(), ErrorKind::kValue,
          "[{}] expected each {} once, got {} twice", op, name, axis);
    result.push_back(at);
  }
  return result;
}

namespace {
// Has the tensor no value now (traced, or metadata only)?
bool valueless(const Tensor& t) { return !t.is_dense(); }
}  // namespace

Shape dims_of(std::string_view op, const Ints& v) {
  if (v.resolved()) return v.values();
  if (v.whole().defined()) {
    const Tensor& t = v.whole();
    if (!valueless(t)) return v.read().values();
    check(t.rank() <= 1, ErrorKind::kValue, "[{}] expected a list of sizes as a 1-d tensor, got shape {}", op,
          shown(t.shape()));
    Shape dims;
    const int64_t n = t.rank() == 0 ? 1 : guard_int(t.dim(0));
    for (int64_t i = 0; i < n; ++i) dims.push_back(new_symbol());
    return dims;
  }
  Shape dims = v.values();
  for (size_t i = 0; i < v.tensors().size(); ++i) {
    const Tensor& t = v.tensors()[i];
    if (!t.defined()) continue;
    if (valueless(t)) {
      dims[i] = new_symbol();
    } else {
      dims[i] = Scalar(t).to_int();
    }
  }
  return dims;
}

Sizes numbers_of(std::string_view op, const Ints& v, std::string_view name) {
  Sizes result;
  if (!v.resolved() && ((v.whole().defined() && valueless(v.whole())) ||
                        std::any_of(v.tensors().begin(), v.tensors().end(),
                                    [](const Tensor& t) { return t.defined() && valueless(t); })))
    fail(ErrorKind::kValue, "[{}] expected {} as numbers, got a tensor whose value is not known under trace", op, name);
  for (Dim d : dims_of(op, v)) result.push_back(guard_int(d));
  return result;
}

int64_t number_of(std::string_view op, const Scalar& v, std::string_view name) {
  if (v.kind() == Scalar::Kind::kDim) return guard_int(v.dim());
  if (v.kind() == Scalar::Kind::kTensor && valueless(v.tensor()))
    fail(ErrorKind::kValue, "[{}] expected {} as a number, got a tensor whose value is not known under trace", op,
         name);
  return v.to_int();
}

Shape broadcast_shapes(std::string_view op, std::span<const Dim> a, std::span<const Dim> b) {
  if (std::equal(a.begin(), a.end(), b.begin(), b.end())) return Shape(a);
  const size_t rank = std::max(a.size(), b.size());
  Shape out(rank, Dim(1));
  for (size_t i = 0; i < rank; ++i) {
    const Dim p = i + a.size() < rank ? Dim(1) : a[i + a.size() - rank];
    const Dim q = i + b.size() < rank ? Dim(1) : b[i + b.size() - rank];
    if (p == q || q == Dim(1)) {
      out[i] = p;
    } else if (p == Dim(1)) {
      out[i] = q;
    } else {
      if (!agree(p, q)) [[unlikely]]
        fail(ErrorKind::kValue, "[{}] expected shapes that broadcast, got {} and {}: sizes {} and {} at axis {}", op,
             to_string(a), to_string(b), p.str(), q.str(), static_cast<int64_t>(i) - static_cast<int64_t>(rank));
      out[i] = p.is_const() ? p : q;
    }
  }
  return out;
}

int64_t extent_of(std::string_view op, std::string_view name, int64_t v) {
  constexpr int64_t kMost = int64_t{1} << 40;
  check(v >= -kMost && v <= kMost, ErrorKind::kValue, "[{}] expected {} between -2**40 and 2**40, got {}", op, name, v);
  return v;
}

void check_size(std::string_view op, std::string_view what, Dim expected, Dim got) {
  if (!agree(expected, got))
    fail(ErrorKind::kValue, "[{}] expected {} of size {}, got {}", op, what, expected.str(), got.str());
}

void check_rank(std::string_view op, std::string_view name, const Tensor& t, int64_t low, int64_t high) {
  if (high < 0) high = low;
  if (t.rank() >= low && t.rank() <= high) return;
  if (low == high)
    fail(ErrorKind::kValue, "[{}] expected {} with {} axes, got shape {}", op, name, low, to_string(t.shape()));
  fail(ErrorKind::kValue, "[{}] expected {} with {} to {} axes, got shape {}", op, name, low, high,
       to_string(t.shape()));
}

void set_shape(std::vector<TensorMeta>& m, std::vector<Shape> shapes) {
  m.resize(shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) m[i].shape = std::move(shapes[i]);
}

// -- templates

Shape from_arg(std::string_view op, const Ints& shape) {
  Shape dims = dims_of(op, shape);
  for (Dim d : dims)
    if (d.is_const() && d.value() < 0) fail(ErrorKind::kValue, "[{}] expected sizes >= 0, got {}", op, to_string(dims));
  return dims;
}

Shape broadcast(std::string_view op, const Tensor& x, const Tensor& y) {
  return broadcast_shapes(op, x.shape(), y.shape());
}

Shape broadcast(std::string_view op, const Tensor& x, const Tensor& y, const Tensor& z) {
  return broadcast_shapes(op, broadcast_shapes(op, x.shape(), y.shape()), z.shape());
}

namespace {
Shape without(std::span<const Dim> shape, std::span<const int64_t> axes, bool keepdim) {
  Shape out;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      out.push_back(shape[i]);
    } else if (keepdim) {
      out.push_back(1);
    }
  }
  return out;
}
}  // namespace

Shape reduce(std::string_view op, const Tensor& x, std::span<const int64_t> axis, bool keepdim, bool reduce_all) {
  return without(x.shape(), axes_of(op, reduce_all ? std::span<const int64_t>{} : axis, x.rank(), true), keepdim);
}

Shape reduce(std::string_view op, const Tensor& x, const Ints& axis, bool keepdim, bool reduce_all) {
  return reduce(op, x, std::span<const int64_t>(numbers_of(op, axis)), keepdim, reduce_all);
}

Shape reduce(std::string_view op, const Tensor& x, int64_t axis, bool keepdim, bool reduce_all) {
  return reduce(op, x, std::span<const int64_t>(&axis, 1), keepdim, reduce_all);
}

Shape reduce(std::string_view op, const Tensor& x, std::optional<int64_t> axis, bool keepdim, bool reduce_all) {
  return axis ? reduce(op, x, *axis, keepdim, reduce_all) : reduce(op, x, std::span<const int64_t>{}, keepdim);
}

Shape reduce(std::string_view op, const Tensor& x, const Scalar& axis, bool keepdim, bool reduce_all) {
  return reduce(op, x, number_of(op, axis), keepdim, reduce_all);
}

Shape alike(std::string_view op, const Tensor& x, const Tensor& y, int64_t axis) {
  axis_of(op, axis, x.rank());
  return same_shape(op, "the gradient", y, "the result", x);
}

Shape same_shape(std::string_view op, std::string_view name, const Tensor& t, std::string_view first, const Tensor& x) {
  bool same = t.rank() == x.rank();
  for (int64_t i = 0; same && i < x.rank(); ++i) same = agree(t.dim(i), x.dim(i));
  if (!same) [[unlikely]]
    fail(ErrorKind::kValue, "[{}] expected {} of the shape of {}, {}, got {}", op, name, first, to_string(x.shape()),
         to_string(t.shape()));
  return x.shape();
}

Shape along(std::string_view op, const Tensor& x, int64_t axis) {
  axis_of(op, axis, x.rank());
  return x.shape();
}

Shape along(std::string_view op, const Tensor& x, const Scalar& axis) { return along(op, x, number_of(op, axis)); }

}  // namespace paddle::infer
