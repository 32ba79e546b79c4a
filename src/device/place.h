// Place: which device, as two small numbers. Device kinds are registered by name (device/registry.h); 0 is always the
// CPU.
#pragma once
#include <cstdint>
#include <string>

namespace paddle {

struct Place {
  uint8_t kind = 0;   // index into the registry of device kinds
  int16_t index = 0;  // which device of that kind

  static constexpr Place cpu() { return {}; }
  constexpr bool is_cpu() const { return kind == 0; }
  friend constexpr bool operator==(Place, Place) = default;
};

std::string to_string(Place p);               // "cpu", "gpu:0", "null:1"
Place place_from_string(const std::string&);  // ValueError for an unknown kind or index, naming those there are

}  // namespace paddle
