// Rare scalar functions as compiled loops over the lanes of a vector, for jitted code to call.
#pragma once
#include <cstdint>
#include <span>

namespace paddle::cinn {

struct LibraryFn {
  const char* name;  // pd_<function>_<f32 | f64>
  void* address;     // void(T* out, const T* a, const T* b, int64_t n)
};
std::span<const LibraryFn> library_functions();

}  // namespace paddle::cinn
