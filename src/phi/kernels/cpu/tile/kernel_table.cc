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

// A table for a set that the processor lacks stays empty: nobody may look at it.
struct Tables {
  Tables() {
    constexpr void (*kFill[])(KernelTable&) = {detail::base::fill, detail::avx2::fill, detail::avx512::fill};
    for (int i = 0; i <= static_cast<int>(best_cpu_isa()); ++i) table[i] = new KernelTable(make(kFill[i]));
  }
  const KernelTable* table[kCpuIsaCount] = {};  // for the life of the process: kernels may run in exit handlers
};

}  // namespace

const KernelTable& kernels() {
  static const Tables all;
  return *all.table[static_cast<size_t>(cpu_isa())];
}

FnKernel find_kernel(scalar::Fn fn, Compute compute) {
  return kernels().fn[static_cast<size_t>(compute)][static_cast<size_t>(fn)];
}

}  // namespace paddle::tile
