// Reductions along an outer dimension.
#include "phi/kernels/cpu/tile/reduction.h"

namespace paddle::tile {

// -- a kept dimension is innermost: rows are folded into an accumulator row

// acc[0, cols) = combination of rows [first, last) (numbered through all reduced dimensions), columns from `col` on.
void Reduction::fold_unit(TileState& state, int64_t outer, int64_t col, int64_t cols, int64_t first, int64_t last,
                          char* acc) const {
  const FoldRowsKernel fold = table_.fold_rows[c_][combine_];
  const ConvertKernel copy = table_.load[c_][static_cast<int>(dtype_of(static_cast<Compute>(c_)))];
  const int64_t tile = frame_.tile_elements(), inner = reduced_.inner();
  // Narrow rows that lie side by side are folded as wide ones; the parts of the wide row are folded at the end.
  const int64_t wide = cols * 8 <= tile ? tile / cols / 2 : 1;
  alignas(64) char near[kFoldBytes];
  copy(acc, 1, identity_, 0, cols);
  copy(near, 1, identity_, 0, cols * wide);
  char* pointers[kMaxOperands];
  int64_t pending = 0;
  const auto flush = [&] {
    fold(acc, near, cols, wide, cols);
    copy(near, 1, identity_, 0, cols * wide);
    pending = 0;
  };
  for (int64_t row = first; row < last;) {
    const int64_t at = row % inner;
    // A whole run of rows where they are read in place; else as many as a tile holds.
    const int64_t most = frame_.slots() == 0 ? kFoldRows * wide : std::max<int64_t>(1, tile / cols);
    const int64_t rows = std::min({last - row, inner - at, most});
    locate(pointers, kept_, outer, col, reduced_, row / inner, at);
    bool scalar;
    const char* values;
    int64_t pitch = cols;
    if (frame_.slots() == 0) {
      state.run(pointers, 1, cols);
      values = static_cast<const char*>(state.value(program_.outputs[0], scalar));
      pitch = scalar ? 0 : reduced_.inner_stride(program_.outputs[0]);
    } else {
      state.run(pointers, rows, cols);
      values = static_cast<const char*>(state.value(program_.outputs[0], scalar));
    }
    alignas(64) char repeated[kFoldBytes];
    if (scalar) {
      copy(repeated, 1, values, 0, cols);
      values = repeated;
      pitch = 0;
    }
    if (wide > 1 && pitch == cols) {
      const int64_t groups = rows / wide;
      fold(near, values, cols * wide, groups, cols * wide);
      fold(near, values + groups * wide * cols * element_, cols, rows - groups * wide, cols);
      pending += groups + 1;
    } else {
      fold(near, values, pitch, rows, cols);
      pending += rows;
    }
    if (pending >= kFoldRows) flush();
    row += rows;
  }
  if (pending) flush();
}

void Reduction::run_columns() {
  const int64_t width = kept_.inner(), tile = frame_.tile_elements();
  // bind decides whether anything must be loaded into tiles; if so a tile holds several rows of fewer columns.
  int64_t tile_cols = std::min(width, kFoldBytes / element_);
  bool in_place = program_.instrs.empty() && program_.outputs[0] < program_.num_inputs;
  if (in_place) {
    const int o = program_.outputs[0];
    in_place = ins_[o].dtype == dtype_of(static_cast<Compute>(c_)) && kept_.inner_stride(o) == 1;
  }
  if (!in_place) tile_cols = std::min<int64_t>(width, std::max<int64_t>(tile / 4, 1));
  const bool whole = tile_cols == width;
  bind(reduced_, kept_, in_place ? 0 : whole ? width : -1);

  const int64_t col_tiles = (width + tile_cols - 1) / tile_cols, blocks = kept_.outer() * col_tiles,
                rows = reduced_.size;
  const int64_t parts =
      blocks * 2 < kParts ? std::clamp<int64_t>(rows / 64, 1, kParts / std::min<int64_t>(blocks, kParts)) : 1;
  std::vector<char> partials(parts > 1 ? blocks * parts * kFoldBytes : 0);
  const auto finish_block = [&](int64_t block, const char* acc) {
    const int64_t col = block % col_tiles * tile_cols, cols = std::min(tile_cols, width - col);
    store_(out_at(block / col_tiles, col), kept_.inner_stride(out_number_), acc, 1, cols);
  };
  const int64_t unit = tile_cols * rows / parts * frame_.work();
  parallel_for(
      0, blocks * parts, std::max<int64_t>(1, kGrain / std::max<int64_t>(unit, 1)), [&](int64_t first, int64_t last) {
        alignas(64) char stack[16 * kTileBytes];
        alignas(64) char acc[kFoldBytes];
        std::unique_ptr<char[]> heap(frame_.slots() > 16 ? new char[frame_.slots() * kTileBytes] : nullptr);
        TileState state(frame_, heap ? heap.get() : stack);
        for (int64_t u = first; u < last; ++u) {
          const int64_t block = u / parts, part = u % parts;
          const int64_t col = block % col_tiles * tile_cols, cols = std::min(tile_cols, width - col);
          char* target = parts > 1 ? &partials[u * kFoldBytes] : acc;
          fold_unit(state, block / col_tiles, col, cols, rows * part / parts, rows * (part + 1) / parts, target);
          if (parts == 1) finish_block(block, acc);
        }
      });
  for (int64_t block = 0; parts > 1 && block < blocks; ++block) {
    const int64_t cols = std::min(tile_cols, width - block % col_tiles * tile_cols);
    char* acc = &partials[block * parts * kFoldBytes];
    table_.fold_rows[c_][combine_](acc, acc + kFoldBytes, kFoldBytes / element_, parts - 1, cols);
    finish_block(block, acc);
  }
}

}  // namespace paddle::tile
