#include "phi/kernels/cpu/tile/kernel_table.h"

#include "base/cpu_features.h"

namespace paddle::tile {
namespace {

KernelTable make(void (*fill)(KernelTable&)) {
  KernelTable table;
  detail::fill_portable(table);
  fill(table);
  return table;
}

}  // namespace

const KernelTable& kernels() {
  switch (cpu_isa()) {
    case CpuIsa::kAvx512: {
      static const KernelTable table = make(detail::avx512::fill);
      return table;
    }
    case CpuIsa::kAvx2: {
      static const KernelTable table = make(detail::avx2::fill);
      return table;
    }
    default: {
      static const KernelTable table = make(detail::base::fill);
      return table;
    }
  }
}

FnKernel find_kernel(scalar::Fn fn, Compute compute) {
  return kernels().fn[static_cast<size_t>(compute)][static_cast<size_t>(fn)];
}

}  // namespace paddle::tile
