// Walks the rows of contiguous tensors: f32 and f64 rows where they lie, 16-bit rows through scratch rows in f32.
#pragma once
#include <vector>

#include "api/op_call.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/dispatch_type.h"
#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/tile/kernel_table.h"
#include "phi/kernels/registry.h"
#include "tensor/tensor.h"

namespace paddle::rows {

// Elements that a thread must have before a second one pays.
inline constexpr int64_t kGrain = 1 << 14;

// A tensor's rows seen as rows of T (float or double). One object serves one thread.
template <class T>
class RowSpan {
 public:
  RowSpan(const Tensor& t, int64_t n)
      : data_(static_cast<char*>(t.data())), dtype_(t.dtype()), bytes_(n * int64_t(size_of(t.dtype()))), n_(n) {
    same_ = size_of(dtype_) == sizeof(T);
    if (!same_) scratch_.resize(static_cast<size_t>(n));
  }
  const T* read(int64_t row) {
    char* at = data_ + row * bytes_;
    if (same_) return reinterpret_cast<const T*>(at);
    tile::kernels().load[kCompute][size_t(dtype_)](scratch_.data(), 1, at, 1, n_);
    return scratch_.data();
  }
  // Where to write; done(row) stores it.
  T* target(int64_t row) { return same_ ? reinterpret_cast<T*>(data_ + row * bytes_) : scratch_.data(); }
  void done(int64_t row) {
    if (!same_) tile::kernels().store[kCompute][size_t(dtype_)](data_ + row * bytes_, 1, scratch_.data(), 1, n_);
  }

 private:
  static constexpr size_t kCompute = size_t(sizeof(T) == 4 ? tile::Compute::kF32 : tile::Compute::kF64);
  char* data_;
  DType dtype_;
  int64_t bytes_, n_;
  bool same_;
  std::vector<T> scratch_;
};

// f is called with a float or a double: what a floating-point dtype is computed in.
template <class F>
void in_compute_type(std::string_view op, DType t, F&& f) {
  kernels::dispatch_float(op, t, [&](auto v) { f(kernels::Accumulator<decltype(v)>{}); });
}

// For what the row kernels leave to the composition: the outputs, which may be in-place targets, get its results.
inline void by_composition(OpCall& c) {
  if (!c.inplace && !c.op.has(kInplaceOnly)) return c.op.decompose(c);
  OpCall fresh(c.op, c.args);
  c.op.decompose(fresh);
  for (size_t i = 0; i < c.num_outs(); ++i) {
    if (!c.out(i).defined())
      c.out(i) = fresh.out(i);
    else if (!c.out(i).same(fresh.out(i)))
      kernels::copy_elements(c.out(i), fresh.out(i));
  }
}

template <class F>
void each_row_range(int64_t rows, int64_t n, F&& f) {
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n)), f);
}

// A small tensor (scale, bias, statistics) as values of T, widened where it is stored narrower; null where it is
// undefined.
template <class T>
class Values {
 public:
  explicit Values(const Tensor& t) {
    if (!t.defined()) return;
    owner_ = t;
    int64_t n = t.numel();
    if (size_of(t.dtype()) == sizeof(T) && t.is_contiguous()) {
      data_ = t.data<T>();
      return;
    }
    own_.resize(static_cast<size_t>(n));
    constexpr size_t compute = size_t(sizeof(T) == 4 ? tile::Compute::kF32 : tile::Compute::kF64);
    int64_t stride = t.rank() == 1 ? t.strides()[0] : 1;
    tile::kernels().load[compute][size_t(t.dtype())](own_.data(), 1, t.data(), stride, n);
    data_ = own_.data();
  }
  const T* data() const { return data_; }

 private:
  Tensor owner_;
  std::vector<T> own_;
  const T* data_ = nullptr;
};

// Writes n values of T into a contiguous tensor of any floating-point dtype.
template <class T>
void write_values(const Tensor& t, const T* values) {
  constexpr size_t compute = size_t(sizeof(T) == 4 ? tile::Compute::kF32 : tile::Compute::kF64);
  int64_t stride = t.rank() == 1 ? t.strides()[0] : 1;
  tile::kernels().store[compute][size_t(t.dtype())](t.data(), stride, values, 1, t.numel());
}

}  // namespace paddle::rows
