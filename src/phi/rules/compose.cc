#include "phi/rules/compose.h"

#include <algorithm>

#include "api/ops.h"
#include "phi/rules/glue.h"
#include "phi/rules/infer.h"

namespace paddle::compose {

Tensor lift(double value, const Tensor& like) { return ops::full({}, value, like.dtype()); }

Tensor lift(const Scalar& value, const Tensor& like) {
  if (value.kind() == Scalar::Kind::kTensor) return cast_like(value.tensor(), like);
  return ops::full({}, value, like.dtype());
}

Tensor full_like(double value, const Tensor& like) { return ops::full(like.shape(), value, like.dtype()); }

Tensor cast_like(const Tensor& x, const Tensor& like) {
  return x.dtype() == like.dtype() ? x : ops::cast(x, like.dtype());
}

Tensor truth(const Tensor& x) { return x.dtype() == DType::kBool ? x : ops::cast(x, DType::kBool); }

Tensor conj(const Tensor& x) { return is_complex(x.dtype()) ? ops::conj(x) : x; }

Tensor reshape_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  for (Dim d : shape)
    if (d == Dim(0)) return ops::full(shape, 0.0, x.dtype());  // no elements: nothing to move
  return ops::reshape(x, shape);
}

Shape dims_of(std::string_view op, const Ints& sizes) {
  auto unknown = [](const Tensor& t) { return t.defined() && !t.is_dense(); };
  if (!unknown(sizes.whole()) && std::none_of(sizes.tensors().begin(), sizes.tensors().end(), unknown))
    return infer::dims_of(op, sizes);
  return ops::expand(ops::full(Shape{Dim(1)}, false, DType::kBool), sizes).shape();
}
Tensor zeros_like(const TensorMeta& m) { return ops::full(m.shape, 0.0, m.dtype); }
Tensor zeros_like(const Tensor& x) { return ops::full(x.shape(), 0.0, x.dtype()); }
Tensor ones_like(const TensorMeta& m) { return ops::full(m.shape, 1.0, m.dtype); }

Tensor cast_to(const Tensor& x, DType t) {
  if (x.dtype() == t) return x;
  return is_complex(x.dtype()) && !is_complex(t) ? cast_to(ops::real(x), t) : ops::cast(x, t);
}

Tensor unbroadcast(const Tensor& g, const TensorMeta& to) {
  const int64_t extra = g.rank() - static_cast<int64_t>(to.shape.size());
  std::vector<int64_t> leading, inner;
  for (int64_t i = 0; i < g.rank(); ++i) {
    if (i < extra) {
      leading.push_back(i);
    } else if (!(to.shape[i - extra] == g.shape()[i]) && to.shape[i - extra] == Dim(1)) {
      inner.push_back(i);
    }
  }
  Tensor out = g;
  if (!inner.empty()) out = ops::sum(out, Ints(std::span<const int64_t>(inner)), DType::kUndefined, true);
  if (!leading.empty()) out = ops::sum(out, Ints(std::span<const int64_t>(leading)), DType::kUndefined, false);
  return cast_to(out, to.dtype);
}

Tensor unbroadcast(const Tensor& g, const Tensor& to) {
  if (g.dtype() == to.dtype() && g.shape() == to.shape()) return g;
  return unbroadcast(g, rules::meta_of(to));
}

Tensor or_zeros(const Tensor& g, const TensorMeta& m) { return g.defined() ? g : zeros_like(m); }
Tensor or_zeros(const Tensor& g, const Tensor& out) { return g.defined() ? g : zeros_like(out); }

Tensor keep_dims(const Tensor& g, std::span<const int64_t> axes, std::span<const Dim> input_shape) {
  Shape shape(input_shape);
  const int64_t rank = static_cast<int64_t>(shape.size());
  for (int64_t i = 0; i < rank; ++i) {
    const bool reduced =
        axes.empty() || std::any_of(axes.begin(), axes.end(), [&](int64_t a) { return (a < 0 ? a + rank : a) == i; });
    if (reduced) shape[i] = 1;
  }
  return reshape_to(g, shape);
}

}  // namespace paddle::compose
