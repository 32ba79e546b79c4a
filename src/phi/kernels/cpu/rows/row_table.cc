#include "phi/kernels/cpu/rows/row_table.h"

#include "base/cpu_features.h"

namespace paddle::rows {

const RowTable& row_table() {
  struct Tables {
    RowTable of[kCpuIsaCount] = {};
    Tables() {
      constexpr RowTable (*kMake[])() = {detail::base::table, detail::avx2::table, detail::avx512::table};
      for (int i = 0; i <= static_cast<int>(best_cpu_isa()); ++i) of[i] = kMake[i]();
    }
  };
  static const Tables tables;
  return tables.of[static_cast<size_t>(cpu_isa())];
}

}  // namespace paddle::rows
