#include "pir/constant.h"

#include <cstring>

#include "base/error.h"

namespace paddle::pir {
namespace {

// Copies the elements of a strided view, innermost axis last.
void gather(const std::byte* from, std::byte*& to, const Tensor& t, size_t axis, size_t item) {
  if (axis == t.shape().size()) {
    std::memcpy(to, from, item);
    to += item;
    return;
  }
  for (int64_t i = 0; i < t.size(static_cast<int64_t>(axis)); ++i)
    gather(from + i * t.strides()[axis] * static_cast<int64_t>(item), to, t, axis + 1, item);
}

Tensor wrap(const DenseData& d, std::function<void()> owner) {
  Shape shape(d.shape.begin(), d.shape.end());
  Strides strides = contiguous_strides(view(shape));
  // Tensors are never null, even without elements.
  static std::byte nothing;
  void* data = d.bytes.empty() ? &nothing : const_cast<std::byte*>(d.bytes.data());
  return Tensor::from_blob(data, view(shape), strides, d.dtype, Place::cpu(), std::move(owner));
}

}  // namespace

DenseData dense_of(const Tensor& t) {
  check(t.defined() && t.is_dense(), ErrorKind::kRuntime, "expected a dense tensor with values");
  check(t.place().is_cpu(), ErrorKind::kRuntime, "expected a tensor on the CPU, got one on {}", to_string(t.place()));
  DenseData d;
  d.dtype = t.dtype();
  d.shape = static_sizes(view(t.shape()));
  size_t item = size_of(t.dtype());
  d.bytes.resize(static_cast<size_t>(t.numel()) * item);
  if (d.bytes.empty()) return d;
  if (t.is_contiguous()) {
    std::memcpy(d.bytes.data(), t.data(), d.bytes.size());
  } else {
    std::byte* to = d.bytes.data();
    gather(static_cast<const std::byte*>(t.data()), to, t, 0, item);
  }
  return d;
}

Tensor tensor_of(const Attribute& dense) {
  return wrap(dense.as_dense(), [keep = dense]() mutable { keep = Attribute(); });
}

Tensor tensor_of(DenseData data) {
  auto keep = std::make_shared<DenseData>(std::move(data));
  return wrap(*keep, [keep]() mutable { keep.reset(); });
}

Tensor constant_tensor(const Operation& op, const Program& program, bool parameters) {
  if (op.is("builtin.constant")) {
    Attribute value = op.attr("value");
    return value.kind() == AttrKind::kDense ? tensor_of(value) : program.parameter(value.as_string());
  }
  if (parameters && op.is("builtin.parameter")) return program.parameter(op.attr("parameter_name").as_string());
  return {};
}

}  // namespace paddle::pir
