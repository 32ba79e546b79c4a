// Installs what the CPU offers to everybody: element copies, and the generic kernels of its class.
#include <cstring>

#include "device/registry.h"
#include "phi/kernels/cpu/generic.h"
#include "phi/kernels/cpu/operand.h"
#include "phi/kernels/registry.h"

namespace paddle::kernels {
namespace {

void copy_on_cpu(const Tensor& dst, const Tensor& src) {
  Operand a, b;
  Sizes sizes = static_sizes(src.shape());
  tile::run_copy(a.broadcast(dst, src.shape()), b.broadcast(src, src.shape()), sizes);
}

// `t` in one dense block, on its own device.
Tensor dense_copy(const Tensor& t) {
  if (t.is_contiguous()) return t;
  Tensor out = Tensor::empty(t.shape(), t.dtype(), t.place());
  copy_elements(out, t);
  return out;
}

void copy_on_device(const Tensor& dst, const Tensor& src) {
  DeviceCopy strided = device_copy(dst.place().kind);
  check(strided != nullptr, ErrorKind::kNotImplemented, "[copy] {} can't copy strided tensors: it has no compiler",
        to_string(dst.place()));
  strided(dst, src);
}

// Blocks go from device to device as they are; strided sides are packed and unpacked where they lie.
void copy(const Tensor& dst, const Tensor& src) {
  if (dst.place().is_cpu() && src.place().is_cpu()) return copy_on_cpu(dst, src);
  if (src.numel() == 0) return;
  if (dst.is_contiguous() && src.is_contiguous()) {
    const size_t bytes = static_cast<size_t>(src.numel()) * size_of(src.dtype());
    return device::copy(dst.data(), dst.place(), src.data(), src.place(), bytes);
  }
  if (dst.place() == src.place()) return copy_on_device(dst, src);
  Tensor from = dense_copy(src);
  Tensor there = dst.is_contiguous() ? dst : Tensor::empty(dst.shape(), dst.dtype(), dst.place());
  copy(there, from);
  if (!there.same(dst)) copy(dst, there);
}

[[maybe_unused]] const bool installed = [] {
  set_copy(copy);
  set_generic(0, cpu_pointwise, cpu_reduction);
  return true;
}();

}  // namespace
}  // namespace paddle::kernels
