#include <complex>
#include <limits>

#include "phi/kernels/cpu/tile/reduction.h"

namespace paddle::tile {

void Reduction::split(std::span<const int64_t> shape, uint64_t axes) {
  int most = -1;
  for (size_t k = 0; k < ins_.size(); ++k) {
    int moving = 0;
    for (size_t d = 0; d < shape.size(); ++d) moving += shape[d] != 1 && (!ins_[k].strides || ins_[k].strides[d] != 0);
    if (moving > most) most = moving, lead_ = static_cast<int>(k);
  }
  split_dims(kept_, reduced_, ins_, out_, shape, axes, lead_);
}

void Reduction::set_identity(Combine combine, Compute compute) {
  std::memset(identity_, 0, sizeof identity_);
  switch (combine) {
    case Combine::kSum:
    case Combine::kAny:
      return write_number(compute, ScalarParam(0), identity_);
    case Combine::kProd:
    case Combine::kAll:
      return write_number(compute, ScalarParam(1), identity_);
    default:
      break;
  }
  const bool largest = combine == Combine::kMax;
  switch (compute) {
    case Compute::kI32: {
      const int32_t v = largest ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max();
      std::memcpy(identity_, &v, sizeof v);
      return;
    }
    case Compute::kI64:
      return write_number(compute, ScalarParam(largest ? INT64_MIN : INT64_MAX), identity_);
    case Compute::kU64:
      return write_number(compute, ScalarParam(int64_t{largest ? 0 : -1}), identity_);
    default: {
      const double infinity = std::numeric_limits<double>::infinity();
      return write_number(compute, ScalarParam(largest ? -infinity : infinity), identity_);
    }
  }
}

void Reduction::fill_identity() {
  if (combine_ == static_cast<int>(Combine::kMin) || combine_ == static_cast<int>(Combine::kMax)) {
    fail(ErrorKind::kValue, "min and max of no elements are not defined: a reduced dimension has size 0");
  }
  for (int64_t k = 0; k < kept_.outer(); ++k)
    store_(out_at(k, 0), kept_.inner_stride(out_number_), identity_, 0, kept_.inner());
}

void Reduction::bind(const Dims& rows, const Dims& cols, int64_t row_pitch) {
  bool constant[kMaxOperands];
  for (size_t k = 0; k < ins_.size(); ++k) {
    const int o = static_cast<int>(k);
    frame_.set_strides(o, rows.inner_stride(o), cols.inner_stride(o));
    constant[k] = true;
    for (const Dims* dims : {&kept_, &reduced_}) {
      for (int d = 0; d < dims->rank; ++d) constant[k] &= dims->strides[o][d] == 0;
    }
  }
  frame_.bind(row_pitch, constant);
}

// -- the reduced dimension is innermost: each output is the reduction of rows

// Adds chunks [first, last) of `rows` outputs, from number `output` on, to totals. A chunk is a piece of the innermost
// reduced dimension, numbered through all reduced dimensions.
void Reduction::reduce_unit(TileState& state, int64_t output, int64_t first, int64_t last, int64_t chunk, int64_t rows,
                            char* totals) const {
  const int64_t length = reduced_.inner(), chunks = (length + chunk - 1) / chunk;
  const ReduceKernel reduce = table_.reduce[c_][combine_];
  char* pointers[kMaxOperands];
  alignas(16) char partial[16];
  for (int64_t k = first; k < last; ++k) {
    const int64_t start = k % chunks * chunk, cols = std::min(chunk, length - start);
    const int64_t inner = kept_.inner();
    locate(pointers, kept_, output / inner, output % inner, reduced_, k / chunks, start);
    state.run(pointers, rows, cols);
    bool scalar;
    const char* values = static_cast<const char*>(state.value(program_.outputs[0], scalar));
    if (scalar) {  // the same number throughout
      alignas(64) char repeated[kTileBytes];
      table_.load[c_][static_cast<int>(dtype_of(static_cast<Compute>(c_)))](repeated, 1, values, 0,
                                                                            std::min(cols, kTileBytes / element_));
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t done = 0; done < cols; done += kTileBytes / element_) {
          reduce(partial, repeated, std::min(cols - done, kTileBytes / element_));
          add(totals + 16 * r, partial);
        }
      }
      continue;
    }
    for (int64_t r = 0; r < rows; ++r) {
      reduce(partial, values + r * cols * element_, cols);
      add(totals + 16 * r, partial);
    }
  }
}

// Rows in memory, of one chunk each: no tiles, no totals.
void Reduction::run_short_rows() const {
  constexpr int64_t kRows = 256;
  const int64_t inner = kept_.inner(), bands = (inner + kRows - 1) / kRows, o = program_.outputs[0];
  const int64_t unit = std::min(inner, kRows) * reduced_.size;
  parallel_for(0, kept_.outer() * bands, std::max<int64_t>(1, kGrain / unit), [&](int64_t first, int64_t last) {
    alignas(64) char results[kRows * 8];  // real types take 8 bytes at most
    char* pointers[kMaxOperands];
    for (int64_t u = first; u < last; ++u) {
      const int64_t row = u % bands * kRows, rows = std::min(kRows, inner - row);
      locate(pointers, kept_, u / bands, row, reduced_, 0, 0);
      table_.reduce_rows[c_][combine_](results, pointers[o], kept_.inner_stride(static_cast<int>(o)), rows,
                                       reduced_.size);
      store_(out_at(u / bands, row), kept_.inner_stride(out_number_), results, 1, rows);
    }
  });
}

void Reduction::run_rows() {
  const int64_t length = reduced_.inner(), tile = frame_.tile_elements(), outputs = kept_.size;
  // Read in place if the row is what is reduced; several short rows share a tile otherwise.
  bool in_place = program_.instrs.empty() && program_.outputs[0] < program_.num_inputs;
  if (in_place) {
    const int o = program_.outputs[0];
    in_place = ins_[o].dtype == dtype_of(static_cast<Compute>(c_)) && reduced_.inner_stride(o) == 1;
  }
  const int64_t chunk = std::min(length, in_place ? kDirectChunk : tile);
  const int64_t rows = in_place || length > tile / 2 ? 1 : std::min(kept_.inner(), tile / length);
  const int64_t chunks = reduced_.outer() * ((length + chunk - 1) / chunk);
  bind(kept_, reduced_, rows > 1 ? length : 0);

  if (in_place && reduced_.rank == 1 && length <= kDirectChunk && outputs > 1 && table_.reduce_rows[c_][combine_]) {
    return run_short_rows();
  }
  const int64_t parts = outputs * 4 < kParts * rows ? std::clamp<int64_t>(chunks, 1, kParts) : 1;
  const int64_t bands_per_outer = (kept_.inner() + rows - 1) / rows, bands = kept_.outer() * bands_per_outer;
  std::vector<char> partials(parts > 1 ? outputs * parts * 16 : 0);
  const int64_t unit = rows * reduced_.size / parts * frame_.work();
  const auto units = [&](int64_t first, int64_t last) {
    alignas(64) char stack[16 * kTileBytes];
    std::unique_ptr<char[]> heap(frame_.slots() > 16 ? new char[frame_.slots() * kTileBytes] : nullptr);
    TileState state(frame_, heap ? heap.get() : stack);
    alignas(16) char one[16];
    std::vector<char> many(parts == 1 && rows == 1 ? 0 : rows * 16);
    char* const totals = many.empty() ? one : many.data();
    for (int64_t u = first; u < last; ++u) {
      const int64_t band = u / parts, part = u % parts;
      const int64_t start = band / bands_per_outer * kept_.inner() + band % bands_per_outer * rows;
      const int64_t count = std::min(rows, kept_.inner() - band % bands_per_outer * rows);
      for (int64_t r = 0; r < count; ++r) clear(totals + 16 * r);
      reduce_unit(state, start, chunks * part / parts, chunks * (part + 1) / parts, chunk, count, totals);
      for (int64_t r = 0; r < count; ++r) {
        if (parts == 1)
          finish(start + r, totals + 16 * r);
        else
          std::memcpy(&partials[((start + r) * parts + part) * 16], totals + 16 * r, 16);
      }
    }
  };
  parallel_for(0, bands * parts, std::max<int64_t>(1, kGrain / std::max<int64_t>(unit, 1)), units);
  if (parts == 1) return;
  for (int64_t k = 0; k < outputs; ++k) {
    char* total = &partials[k * parts * 16];
    for (int64_t part = 1; part < parts; ++part) add_total(total, total + 16 * part);
    finish(k, total);
  }
}

namespace {

// The common small call: a dense tensor of the compute type, reduced to one element. False if it isn't that.
bool reduce_all_small(Combine combine, const TileOperand& in, const TileOperand& out, std::span<const int64_t> shape,
                      uint64_t axes, Compute compute) {
  int64_t size = 1;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    if (shape[d] == 1) continue;
    if (!(axes >> d & 1) || (in.strides && in.strides[d] != size)) return false;
    size *= shape[d];
  }
  const int c = static_cast<int>(compute);
  const ReduceKernel reduce = kernels().reduce[c][static_cast<int>(combine)];
  if (size == 0 || size > kDirectChunk || in.dtype != dtype_of(compute) || !reduce) return false;
  alignas(16) char result[16];
  reduce(result, in.data, size);
  kernels().store[c][static_cast<int>(out.dtype)](out.data, 1, result, 1, 1);
  return true;
}

}  // namespace

void run_reduce(Combine combine, const scalar::Program* pre, std::span<const TileOperand> ins,
                std::span<const ScalarParam> params, const TileOperand& out, std::span<const int64_t> shape,
                uint64_t axes, Compute compute) {
  static constexpr uint8_t kOutputs[] = {0};
  static constexpr scalar::Program kIdentity{"x", {}, 1, 0, kOutputs};
  const scalar::Program& program = pre ? *pre : kIdentity;
  PD_INVARIANT(ins.size() == program.num_inputs && params.size() == program.num_params && program.outputs.size() == 1);
  PD_INVARIANT(!ins.empty() && ins.size() < static_cast<size_t>(kMaxOperands) &&
               shape.size() <= static_cast<size_t>(kMaxRank));
  if (!pre && reduce_all_small(combine, ins[0], out, shape, axes, compute)) return;
  Reduction(combine, program, ins, params, out, shape, axes, compute).run();
}

}  // namespace paddle::tile
