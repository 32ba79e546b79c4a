// Slices with symbolic or unknown ends: shared by slice, strided_slice and set_value.
#pragma once
#include <optional>

#include "api/op_call.h"

namespace paddle::infer {

// The items of a list argument; nullopt where only running will tell (a traced tensor). n items, or ValueError.
std::vector<std::optional<Dim>> items_of(std::string_view op, std::string_view name, const Ints& v, size_t n);

// How many elements start:end:step takes of an axis of the given size; Python's rules for negative and large numbers.
Dim slice_size(std::string_view op, Dim size, Dim start, Dim end, int64_t step);

// The sizes of x[start:end:step] along each of the axes.
Shape sliced_shape(std::string_view op, std::span<const Dim> x, std::span<const int64_t> axes, const Ints& starts,
                   const Ints& ends, const Ints* steps);

// shape without the given axes (each of size 1).
Shape without_axes(std::string_view op, std::span<const Dim> shape, std::span<const int64_t> axes);

}  // namespace paddle::infer
