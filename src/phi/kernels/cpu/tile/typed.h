// From a compute type at run time to a C++ type.
#pragma once
#include <complex>

#include "base/error.h"
#include "phi/kernels/cpu/tile/pointwise.h"

namespace paddle::tile {

template <class T>
struct TypeTag {
  using type = T;
};

// Calls fn(TypeTag<T>{}) for the real compute type; TypeError for complex numbers, which have no order.
template <class Fn>
void with_real_type(Compute compute, const char* what, Fn fn) {
  switch (compute) {
    case Compute::kF32:
      return fn(TypeTag<float>{});
    case Compute::kF64:
      return fn(TypeTag<double>{});
    case Compute::kI32:
      return fn(TypeTag<int32_t>{});
    case Compute::kI64:
      return fn(TypeTag<int64_t>{});
    case Compute::kU64:
      return fn(TypeTag<uint64_t>{});
    default:
      fail(ErrorKind::kType, "[{}] is not defined for complex numbers", what);
  }
}

}  // namespace paddle::tile
