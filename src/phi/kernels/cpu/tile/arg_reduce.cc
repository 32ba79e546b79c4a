// argmax and argmin.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/tile/dims.h"
#include "phi/kernels/cpu/tile/reduce.h"
#include "phi/kernels/cpu/tile/typed.h"

namespace paddle::tile {
namespace {

constexpr int64_t kChunk = 1024;  // elements looked at together
constexpr int64_t kGrain = 1 << 15;

template <class T>
class ArgReduce {
 public:
  ArgReduce(bool largest, Compute compute, const TileOperand& in, const TileOperand& out,
            std::span<const int64_t> shape, int axis)
      : largest_(largest),
        in_(in),
        out_(out),
        in_size_(static_cast<int64_t>(size_of(in.dtype))),
        out_size_(static_cast<int64_t>(size_of(out.dtype))),
        load_(kernels().load[static_cast<int>(compute)][static_cast<int>(in.dtype)]),
        extreme_(
            kernels().reduce[static_cast<int>(compute)][static_cast<int>(largest ? Combine::kMax : Combine::kMin)]),
        store_(kernels().store[static_cast<int>(Compute::kI64)][static_cast<int>(out.dtype)]) {
    Dims line;
    split_dims(kept_, line, {&in, 1}, out, shape, uint64_t{1} << axis, 0);
    length_ = shape[axis];
    stride_ = line.inner_stride(0);
  }

  void run() {
    if (kept_.size == 0) return;
    check(length_ > 0, ErrorKind::kValue, "{} of an empty dimension is not defined", largest_ ? "argmax" : "argmin");
    const bool lines = kept_.rank == 0 || length_ > std::numeric_limits<int32_t>::max() ||
                       std::llabs(stride_) <= std::llabs(kept_.inner_stride(0));
    if (lines) {
      parallel_for(0, kept_.size, std::max<int64_t>(1, kGrain / length_), [this](int64_t first, int64_t last) {
        for (int64_t k = first; k < last; ++k) run_line(k / kept_.inner(), k % kept_.inner());
      });
      return;
    }
    const int64_t width = std::min(kept_.inner(), kChunk), blocks = (kept_.inner() + width - 1) / width;
    parallel_for(0, kept_.outer() * blocks, std::max<int64_t>(1, kGrain / (length_ * width)),
                 [&](int64_t first, int64_t last) {
                   for (int64_t k = first; k < last; ++k) {
                     const int64_t col = k % blocks * width;
                     run_columns(k / blocks, col, std::min(width, kept_.inner() - col));
                   }
                 });
  }

 private:
  // NaN is ahead of everything but an earlier NaN.
  bool ahead(T x, T best) const { return (largest_ ? x > best : x < best) | ((x != x) & (best == best)); }

  const char* in_at(int64_t outer, int64_t inner) const {
    return static_cast<const char*>(in_.data) + (kept_.offset(0, outer) + inner * kept_.inner_stride(0)) * in_size_;
  }
  char* out_at(int64_t outer, int64_t inner) const {
    return static_cast<char*>(out_.data) + (kept_.offset(1, outer) + inner * kept_.inner_stride(1)) * out_size_;
  }

  static int64_t find(const T* x, T value) {
    int64_t i = 0;
    if (value != value) {
      while (x[i] == x[i]) ++i;
    } else {
      while (x[i] != value) ++i;
    }
    return i;
  }

  void run_line(int64_t outer, int64_t inner) const {
    const char* from = in_at(outer, inner);
    T values[kChunk], best{};
    int64_t index = 0;
    for (int64_t start = 0; start < length_; start += kChunk) {
      const int64_t n = std::min(kChunk, length_ - start);
      load_(values, 1, from + start * stride_ * in_size_, stride_, n);
      T extreme;
      extreme_(&extreme, values, n);
      if (start == 0 || ahead(extreme, best)) best = extreme, index = start + find(values, extreme);
    }
    store_(out_at(outer, inner), 1, &index, 1, 1);
  }

  template <bool kLargest, class Index>
  static void take_row(T* best, Index* index, const T* values, Index row, int64_t cols) {
#pragma omp simd
    for (int64_t j = 0; j < cols; ++j) {
      const T x = values[j], b = best[j];
      Index now = (kLargest ? x > b : x < b) ? row : index[j];
      now = x != x ? row : now;
      now = b != b ? index[j] : now;
      T kept = (kLargest ? x > b : x < b) ? x : b;
      kept = x != x ? x : kept;
      best[j] = b != b ? b : kept;
      index[j] = now;
    }
  }

  void run_columns(int64_t outer, int64_t col, int64_t cols) const {
    const char* from = in_at(outer, col);
    // Numbers as wide as the values, so that a vector of one goes with a vector of the other.
    using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    T best[kChunk], values[kChunk];
    Index index[kChunk];
    load_(best, 1, from, kept_.inner_stride(0), cols);
    std::fill_n(index, cols, Index{0});
    for (int64_t row = 1; row < length_; ++row) {
      load_(values, 1, from + row * stride_ * in_size_, kept_.inner_stride(0), cols);
      if (largest_)
        take_row<true>(best, index, values, static_cast<Index>(row), cols);
      else
        take_row<false>(best, index, values, static_cast<Index>(row), cols);
    }
    int64_t result[kChunk];
    std::copy_n(index, cols, result);
    store_(out_at(outer, col), kept_.inner_stride(1), result, 1, cols);
  }

  bool largest_;
  const TileOperand &in_, &out_;
  int64_t in_size_, out_size_, length_, stride_;
  ConvertKernel load_;
  ReduceKernel extreme_;
  ConvertKernel store_;
  Dims kept_;
};

}  // namespace

void run_arg_reduce(bool largest, const TileOperand& in, const TileOperand& out, std::span<const int64_t> shape,
                    int axis) {
  PD_INVARIANT(axis >= 0 && axis < static_cast<int>(shape.size()));
  const Compute compute = compute_type({in.dtype});
  with_real_type(compute, largest ? "argmax" : "argmin",
                 [&]<class T>(TypeTag<T>) { ArgReduce<T>(largest, compute, in, out, shape, axis).run(); });
}

}  // namespace paddle::tile
