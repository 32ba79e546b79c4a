#include "executor/arrays.h"

#include "api/ops.h"
#include "base/error.h"

namespace paddle::executor {

size_t list_index(int64_t index, size_t size) {
  int64_t n = static_cast<int64_t>(size);
  check(index >= -n && index < n, ErrorKind::kIndex, "list index {} out of range for {} items", index, n);
  return static_cast<size_t>(index < 0 ? index + n : index);
}

Tensors array_zeros_like(const Tensors& a) {
  Tensors out;
  for (const Tensor& t : a) out.push_back(ops::full_like(t, Scalar(0.0)));
  return out;
}

Tensors array_add(const Tensors& a, const Tensors& b) {
  check(a.size() == b.size(), ErrorKind::kValue, "lists of {} and {} items can't be added", a.size(), b.size());
  Tensors out;
  for (size_t k = 0; k < a.size(); ++k) out.push_back(ops::add(a[k], b[k]));
  return out;
}

Tensors array_add_at(Tensors a, int64_t index, const Tensor& item) {
  Tensor& t = a[list_index(index, a.size())];
  t = ops::add(t, item);
  return a;
}

Tensors array_insert(Tensors a, int64_t index, const Tensor& item) {
  a.insert(a.begin() + static_cast<std::ptrdiff_t>(list_index(index, a.size() + 1)), item);
  return a;
}

Tensors array_unwrite(Tensors a, int64_t index, int64_t length) {
  if (index == length) {
    a.resize(static_cast<size_t>(length));
  } else {
    Tensor& t = a[list_index(index, a.size())];
    t = ops::full_like(t, Scalar(0.0));
  }
  return a;
}

Tensors array_unstack(const Tensor& x, int64_t axis) { return ops::unbind(x, axis); }

Tensors array_split(const Tensor& x, const Tensors& like, int64_t axis) {
  if (like.empty()) return {};
  Shape sizes;
  for (const Tensor& t : like) sizes.push_back(t.dim(axis));
  return ops::split(x, Ints(view(sizes)), Scalar(axis));
}

}  // namespace paddle::executor
