// Cumulative sums, products, extremes and logarithms of sums of exponentials.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>

#include "base/error.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/tile/dims.h"
#include "phi/kernels/cpu/tile/reduce.h"
#include "phi/kernels/cpu/tile/typed.h"

namespace paddle::tile {
namespace {

constexpr int64_t kChunk = 512;  // elements of a line, or columns, handled together
constexpr int64_t kGrain = 1 << 14;

// Each: combine(total, next), and whether the result is `next` (for indices).
struct Sum {
  template <class T>
  static T combine(T a, T b) {
    return a + b;
  }
};
struct Prod {
  template <class T>
  static T combine(T a, T b) {
    return a * b;
  }
};
struct Max {
  template <class T>
  static bool takes(T a, T b) {
    return a == a && !(b < a);
  }
};  // a NaN total stays
struct Min {
  template <class T>
  static bool takes(T a, T b) {
    return a == a && !(b > a);
  }
};
struct LogSumExp {
  template <class T>
  static T combine(T a, T b) {
    const T high = a > b || a != a ? a : b, low = a > b || a != a ? b : a;
    if (std::isinf(high) && high == low) return high;
    return high + std::log1p(std::exp(low - high));
  }
};
template <class Op>
inline constexpr bool kTakes = std::is_same_v<Op, Max> || std::is_same_v<Op, Min>;

template <class T, class Op>
class Scanner {
 public:
  Scanner(Compute compute, const TileOperand& in, const TileOperand& out, const TileOperand* indices,
          std::span<const int64_t> shape, int axis, bool reverse)
      : operands_{in, out, indices ? *indices : out},
        with_indices_(indices != nullptr),
        reverse_(reverse),
        load_(kernels().load[static_cast<int>(compute)][static_cast<int>(in.dtype)]),
        store_(kernels().store[static_cast<int>(compute)][static_cast<int>(out.dtype)]),
        store_index_(indices ? kernels().store[static_cast<int>(Compute::kI64)][static_cast<int>(indices->dtype)]
                             : nullptr) {
    Dims line;
    // All three have an element per element: the "output" of the split is only a copy of the input.
    int64_t dense[kMaxRank], step = 1;
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) dense[d] = step, step *= shape[d];
    for (TileOperand& operand : operands_) {
      if (!operand.strides) operand.strides = dense;
    }
    split_dims(kept_, line, operands_, operands_[0], shape, uint64_t{1} << axis, 0);
    length_ = shape[axis];
    for (int o = 0; o < 3; ++o) {
      size_[o] = static_cast<int64_t>(size_of(operands_[o].dtype));
      stride_[o] = line.inner_stride(o);
      base_[o] = static_cast<char*>(operands_[o].data);
      if (reverse) {  // the same scan over the reversed view
        base_[o] += (length_ - 1) * stride_[o] * size_[o];
        stride_[o] = -stride_[o];
      }
    }
  }

  void run() {
    if (kept_.size == 0 || length_ == 0) return;
    if (kept_.rank == 0 || std::llabs(stride_[0]) <= std::llabs(kept_.inner_stride(0))) {
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
  char* at(int o, int64_t outer, int64_t inner, int64_t position) const {
    return base_[o] + (kept_.offset(o, outer) + inner * kept_.inner_stride(o) + position * stride_[o]) * size_[o];
  }
  int64_t number(int64_t position) const { return reverse_ ? length_ - 1 - position : position; }

  void step(T& total, int64_t& index, T x, int64_t position) const {
    if constexpr (kTakes<Op>) {
      const bool take = Op::takes(total, x);
      total = take ? x : total;
      index = take ? number(position) : index;
    } else {
      total = Op::combine(total, x);
    }
  }

  void run_line(int64_t outer, int64_t inner) const {
    T values[kChunk], total{};
    int64_t index[kChunk], last = number(0);
    for (int64_t start = 0; start < length_; start += kChunk) {
      const int64_t n = std::min(kChunk, length_ - start);
      load_(values, 1, at(0, outer, inner, start), stride_[0], n);
      if (start == 0) total = values[0];
      for (int64_t i = 0; i < n; ++i) {
        if (start + i > 0) step(total, last, values[i], start + i);
        values[i] = total;
        if constexpr (kTakes<Op>) index[i] = last;
      }
      store_(at(1, outer, inner, start), stride_[1], values, 1, n);
      if (with_indices_) store_index_(at(2, outer, inner, start), stride_[2], index, 1, n);
    }
  }

  void run_columns(int64_t outer, int64_t col, int64_t cols) const {
    T total[kChunk], values[kChunk];
    int64_t index[kChunk];
    std::fill_n(index, cols, number(0));
    for (int64_t row = 0; row < length_; ++row) {
      load_(row == 0 ? total : values, 1, at(0, outer, col, row), kept_.inner_stride(0), cols);
      if (row > 0) {
        for (int64_t j = 0; j < cols; ++j) step(total[j], index[j], values[j], row);
      }
      store_(at(1, outer, col, row), kept_.inner_stride(1), total, 1, cols);
      if (with_indices_) store_index_(at(2, outer, col, row), kept_.inner_stride(2), index, 1, cols);
    }
  }

  TileOperand operands_[3];
  bool with_indices_, reverse_;
  ConvertKernel load_, store_, store_index_;
  int64_t length_;
  int64_t stride_[3], size_[3];
  char* base_[3];
  Dims kept_;
};

// Floats accumulate in double, integers in 64 bits; extremes need no more than the element's own type.
Compute accumulator(Scan scan, DType dtype) {
  const Compute own = compute_type({dtype});
  if (scan == Scan::kMax || scan == Scan::kMin) return own;
  switch (own) {
    case Compute::kF32:
      return Compute::kF64;
    case Compute::kI32:
      return scan == Scan::kLogSumExp ? Compute::kF64 : Compute::kI64;
    case Compute::kC64:
      return Compute::kC128;
    default:
      return own;
  }
}

}  // namespace

void run_scan(Scan scan, const TileOperand& in, const TileOperand& out, const TileOperand* indices,
              std::span<const int64_t> shape, int axis, bool reverse) {
  PD_INVARIANT(axis >= 0 && axis < static_cast<int>(shape.size()) && shape.size() <= static_cast<size_t>(kMaxRank));
  PD_INVARIANT(!indices || scan == Scan::kMax || scan == Scan::kMin);
  const Compute compute = accumulator(scan, in.dtype);
  const auto go = [&]<class T, class Op>(TypeTag<T>, Op) {
    Scanner<T, Op>(compute, in, out, indices, shape, axis, reverse).run();
  };
  switch (scan) {
    case Scan::kSum:
      if (compute == Compute::kC128) return go(TypeTag<std::complex<double>>{}, Sum{});
      return with_real_type(compute, "cumsum", [&](auto type) { go(type, Sum{}); });
    case Scan::kProd:
      if (compute == Compute::kC128) return go(TypeTag<std::complex<double>>{}, Prod{});
      return with_real_type(compute, "cumprod", [&](auto type) { go(type, Prod{}); });
    case Scan::kMax:
      return with_real_type(compute, "cummax", [&](auto type) { go(type, Max{}); });
    case Scan::kMin:
      return with_real_type(compute, "cummin", [&](auto type) { go(type, Min{}); });
    case Scan::kLogSumExp:
      if (compute == Compute::kF64) return go(TypeTag<double>{}, LogSumExp{});
      fail(ErrorKind::kType, "[logcumsumexp] expected a floating-point tensor, got {}", name_of(in.dtype));
  }
}

}  // namespace paddle::tile
