// Single elements, read to the host: for `item()`, printing, and arguments given as tensors. Not for loops over data.
#pragma once
#include <complex>

#include "tensor/tensor.h"

namespace paddle {

// The value of a distributed tensor as a dense one; collective over its mesh. src/distributed installs it.
extern Tensor (*whole_of_dist)(const Tensor& t);
// Any tensor that has a value, dense.
inline Tensor dense_value(const Tensor& t) { return t.is_dist() && whole_of_dist ? whole_of_dist(t) : t; }

// Element number `index` in row-major order, as a complex number (imaginary part 0 for real dtypes). Copies from
// devices. RuntimeError for a tensor that has no values yet (traced) .
std::complex<double> read_element(const Tensor& t, int64_t index);
// The same, exact for 64-bit integers.
int64_t read_int(const Tensor& t, int64_t index);
// Writes one element at `p` with the value converted to dtype.
void write_element(void* p, DType dtype, std::complex<double> value);
void write_int(void* p, DType dtype, int64_t value);

}  // namespace paddle
