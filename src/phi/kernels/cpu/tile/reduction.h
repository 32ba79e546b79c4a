// One reduction at work: what reduce.cc and reduce_columns.cc share.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/tile/dims.h"
#include "phi/kernels/cpu/tile/frame.h"
#include "phi/kernels/cpu/tile/reduce.h"

namespace paddle::tile {

constexpr int64_t kGrain = 1 << 15;             // elements that a thread must have
constexpr int64_t kDirectChunk = 2048;          // of a row that is read in place
constexpr int64_t kFoldBytes = 2 * kTileBytes;  // of an accumulator row: as long a run of memory as L1 has room for
constexpr int64_t kFoldRows = 256;              // rows added into one accumulator before it is folded into the next
constexpr int64_t kParts = 32;  // pieces of a reduction with few outputs: fixed, so that results are too

class Reduction {
 public:
  Reduction(Combine combine, const scalar::Program& program, std::span<const TileOperand> ins,
            std::span<const ScalarParam> params, const TileOperand& out, std::span<const int64_t> shape, uint64_t axes,
            Compute compute)
      : table_(kernels()),
        combine_(static_cast<int>(combine)),
        c_(static_cast<int>(compute)),
        ins_(ins),
        out_(out),
        program_(program),
        frame_(program, ins, params, {}, compute),
        element_(frame_.element()),
        wide_(combine == Combine::kSum && compute == Compute::kF32),
        out_number_(static_cast<int>(ins.size())),
        out_size_(static_cast<int64_t>(size_of(out.dtype))),
        store_(table_.store[c_][static_cast<int>(out.dtype)]) {
    split(shape, axes);
    if (!table_.reduce[c_][combine_])
      fail(ErrorKind::kType, "complex numbers have no order: min and max are not defined");
    set_identity(combine, compute);
  }

  void run() {
    if (kept_.size == 0) return;
    if (reduced_.size == 0) return fill_identity();
    if (rows_are_reduced())
      run_rows();
    else
      run_columns();
  }

 private:
  // Of the lead's strides, which group holds the smallest: along it memory is read in order.
  bool rows_are_reduced() const {
    if (kept_.rank == 0) return true;
    if (reduced_.rank == 0) return false;
    return std::llabs(reduced_.inner_stride(lead_)) <= std::llabs(kept_.inner_stride(lead_));
  }

  void split(std::span<const int64_t> shape, uint64_t axes);
  void set_identity(Combine combine, Compute compute);
  void fill_identity();
  void bind(const Dims& rows, const Dims& cols, int64_t row_pitch);
  void run_rows();
  void run_short_rows() const;
  void run_columns();
  void reduce_unit(TileState& state, int64_t output, int64_t first_chunk, int64_t last_chunk, int64_t chunk,
                   int64_t rows, char* totals) const;
  void fold_unit(TileState& state, int64_t outer, int64_t col, int64_t cols, int64_t first, int64_t last,
                 char* acc) const;

  void locate(char** pointers, const Dims& a, int64_t ia, int64_t ja, const Dims& b, int64_t ib, int64_t jb) const {
    for (size_t k = 0; k < ins_.size(); ++k) {
      const int o = static_cast<int>(k);
      const int64_t at = a.offset(o, ia) + ja * a.inner_stride(o) + b.offset(o, ib) + jb * b.inner_stride(o);
      pointers[k] = static_cast<char*>(ins_[k].data) + at * static_cast<int64_t>(size_of(ins_[k].dtype));
    }
  }
  // total = combine(total, value); a total takes 16 bytes and is a double for float32 sums.
  void add(char* total, const void* value) const {
    if (wide_)
      *reinterpret_cast<double*>(total) += *static_cast<const float*>(value);
    else
      table_.fold_rows[c_][combine_](total, value, 0, 1, 1);
  }
  void add_total(char* total, const char* other) const {
    if (wide_)
      *reinterpret_cast<double*>(total) += *reinterpret_cast<const double*>(other);
    else
      table_.fold_rows[c_][combine_](total, other, 0, 1, 1);
  }
  void clear(char* total) const {
    if (wide_)
      *reinterpret_cast<double*>(total) = 0;
    else
      std::memcpy(total, identity_, 16);
  }
  void finish(int64_t output, char* total) const {
    if (wide_) *reinterpret_cast<float*>(total) = static_cast<float>(*reinterpret_cast<double*>(total));
    const int64_t inner = kept_.inner();
    store_(out_at(output / inner, output % inner), 1, total, 1, 1);
  }
  char* out_at(int64_t outer, int64_t inner) const {
    return static_cast<char*>(out_.data) +
           (kept_.offset(out_number_, outer) + inner * kept_.inner_stride(out_number_)) * out_size_;
  }

  const KernelTable& table_;
  int combine_, c_;
  std::span<const TileOperand> ins_;
  const TileOperand& out_;
  const scalar::Program& program_;
  Frame frame_;
  int64_t element_;
  bool wide_;
  int out_number_, lead_ = 0;
  int64_t out_size_;
  ConvertKernel store_;
  Dims kept_, reduced_;
  alignas(16) char identity_[16];
};

}  // namespace paddle::tile
