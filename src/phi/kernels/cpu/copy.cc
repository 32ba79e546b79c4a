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

Tensor dense_copy(const Tensor& t) {
  Tensor out = Tensor::empty(t.shape(), t.dtype(), t.place());
  copy_on_cpu(out, t);
  return out;
}

// Devices copy whole dense blocks; a strided side is packed or unpacked on the host.
void copy(const Tensor& dst, const Tensor& src) {
  if (dst.place().is_cpu() && src.place().is_cpu()) return copy_on_cpu(dst, src);
  size_t bytes = static_cast<size_t>(src.numel()) * size_of(src.dtype());
  if (dst.is_contiguous()) {
    Tensor from = src.is_contiguous() ? src : (src.place().is_cpu() ? dense_copy(src) : Tensor());
    check(from.defined(), ErrorKind::kNotImplemented, "[copy] a strided tensor on {} can't be copied yet",
          to_string(src.place()));
    device::copy(dst.data(), dst.place(), from.data(), from.place(), bytes);
    return;
  }
  check(dst.place().is_cpu() && src.is_contiguous(), ErrorKind::kNotImplemented,
        "[copy] a strided target on {} can't be written yet", to_string(dst.place()));
  Tensor host = Tensor::empty(src.shape(), src.dtype(), Place::cpu());
  device::copy(host.data(), Place::cpu(), src.data(), src.place(), bytes);
  copy_on_cpu(dst, host);
}

[[maybe_unused]] const bool installed = [] {
  set_copy(copy);
  set_generic(0, cpu_pointwise, cpu_reduction);
  return true;
}();

}  // namespace
}  // namespace paddle::kernels
