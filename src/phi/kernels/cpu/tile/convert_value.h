// One element from one type to another, as the library casts: to bool by "is not zero", float to integer by truncation.
// Always inlined: see kernel_table.h.
#pragma once
#include <type_traits>

#include "tensor/dtype.h"
#include "tensor/float16.h"

namespace paddle::tile {

struct boolean {  // a bool in memory: any byte but 0 is true
  uint8_t byte;
};

template <class T>
inline constexpr bool kSmallFloat = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16> ||
                                    std::is_same_v<T, float8_e4m3fn> || std::is_same_v<T, float8_e5m2>;

template <class D, class S>
PD_ALWAYS_INLINE D convert_value(S s) {
  if constexpr (std::is_same_v<D, S>) {
    return s;
  } else if constexpr (std::is_same_v<S, boolean>) {
    return convert_value<D>(static_cast<int32_t>(s.byte != 0));
  } else if constexpr (kSmallFloat<S>) {
    return convert_value<D>(static_cast<float>(s));
  } else if constexpr (std::is_same_v<D, boolean>) {
    return boolean{static_cast<uint8_t>(s != S(0))};
  } else if constexpr (kSmallFloat<D>) {
    return D::from(static_cast<float>(s));
  } else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<D>) {
    // Through the types that the processor converts to; a negative number wraps around in an unsigned one.
    if constexpr (sizeof(D) < 4)
      return static_cast<D>(static_cast<int32_t>(s));
    else if constexpr (std::is_same_v<D, uint32_t>)
      return static_cast<D>(static_cast<int64_t>(s));
    else if constexpr (std::is_same_v<D, uint64_t>)
      return s < S(0x1p63) ? static_cast<D>(static_cast<int64_t>(s)) : static_cast<D>(s);
    else
      return static_cast<D>(s);
  } else {
    return static_cast<D>(s);
  }
}

}  // namespace paddle::tile
