#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/rows/winograd.h"
#include "phi/kernels/cpu/rows/winograd_parts.h"

namespace paddle::kernels {

using namespace winograd;
using rows::WinogradLastFns;
using rows::WinogradLastTask;

WinogradLastFilter::WinogradLastFilter(const Tensor& any)
    : u_(nullptr, std::free),
      filters_(any.size(0)),
      channels_(any.size(1)),
      block_(rows::row_table().winograd_last.filters) {
  const Tensor filter = dense(any);
  const int64_t blocks = up(filters_, block_) / block_;
  float* u = zeros(36 * blocks * channels_ * block_);
  u_.reset(u);
  const float* w = filter.data<float>();
  for (int64_t k = 0; k < filters_; ++k)
    for (int64_t c = 0; c < channels_; ++c) {
      double t[36];
      transformed(w + (k * channels_ + c) * 9, t);
      for (int64_t n = 0; n < 36; ++n)
        u[((n * blocks + k / block_) * channels_ + c) * block_ + k % block_] = static_cast<float>(t[n]);
    }
}

namespace {

constexpr int64_t kLine = 16;           // floats of a cache line: rows of 36 products start in different ones
constexpr int64_t kCache = 1 << 19;     // bytes of scratch that stay close, beside the filters
constexpr int64_t kFewTiles = 24;       // a block of filters should serve at least so many
constexpr int64_t kSharedTiles = 1024;  // up to so many, threads share one scratch

void lay_out(WinogradLastTask& t, int64_t tiles, float* scratch) {
  t.v_pitch = tiles * t.channels + kLine;
  t.m_pitch = tiles * t.padded_filters + kLine;
  t.zeros = scratch;
  std::fill_n(scratch, kLine, 0.0f);
  t.v = scratch + kLine;
  t.m = t.v + 36 * t.v_pitch;
}
int64_t scratch_floats(const WinogradLastTask& t, int64_t tiles) {
  return kLine + 36 * (tiles * (t.channels + t.padded_filters) + 2 * kLine);
}

// Each thread its own tiles, a chunk at a time: nothing is passed between them.
void by_tiles(const WinogradLastTask& all, const WinogradLastFns& fns, int64_t tiles, int64_t chunk) {
  const int64_t jobs = 36 * all.padded_filters / fns.filters;
  parallel_for(0, (tiles + chunk - 1) / chunk, 1, [&](int64_t begin, int64_t end) {
    WinogradLastTask t = all;
    lay_out(t, chunk, scratch(scratch_floats(t, chunk)));
    for (int64_t k = begin; k < end; ++k) {
      t.first = k * chunk;
      t.tiles = std::min(chunk, tiles - t.first);
      fns.input(t, 0, t.tiles);
      fns.product(t, 0, jobs);
      fns.output(t, 0, t.tiles);
    }
  });
}

// Few tiles and large filters: each thread reads its share of the filters only.
void by_filters(WinogradLastTask t, const WinogradLastFns& fns, int64_t tiles) {
  lay_out(t, tiles, scratch(scratch_floats(t, tiles)));
  t.first = 0;
  t.tiles = tiles;
  const int64_t grain = std::max<int64_t>(1, (tiles + 2 * num_threads() - 1) / (2 * num_threads()));
  parallel_for(0, tiles, grain, [&](int64_t begin, int64_t end) { fns.input(t, begin, end); });
  parallel_for(0, 36 * t.padded_filters / fns.filters, 1,
               [&](int64_t begin, int64_t end) { fns.product(t, begin, end); });
  parallel_for(0, tiles, grain, [&](int64_t begin, int64_t end) { fns.output(t, begin, end); });
}

}  // namespace

void WinogradLastFilter::run(const Tensor& any, const Tensor& out, int64_t pad_top, int64_t pad_left,
                             const WinogradFollow& follow) const {
  const WinogradLastFns& fns = rows::row_table().winograd_last;
  PD_INVARIANT(fns.filters == block_ && channels_ % fns.lanes == 0 && filters_ % fns.lanes == 0);
  const Tensor x = dense(any);
  WinogradLastTask t{};
  t.x = x.data<float>();
  t.channels = channels_;
  t.height = x.size(1);
  t.width = x.size(2);
  t.pad_top = pad_top;
  t.pad_left = pad_left;
  t.u = u_.get();
  t.filters = filters_;
  t.padded_filters = up(filters_, block_);
  t.y = out.data<float>();
  t.out_h = out.size(1);
  t.out_w = out.size(2);
  t.bias = follow.bias ? follow.bias->data<float>() : nullptr;
  t.residual = follow.residual ? follow.residual->data<float>() : nullptr;
  t.relu = follow.relu;
  t.tiles_x = up(t.out_w, 4) / 4;
  t.tiles_y = up(t.out_h, 4) / 4;
  const int64_t tiles = x.size(0) * t.tiles_x * t.tiles_y;
  const int64_t filter_bytes = 36 * 4 * channels_ * t.padded_filters;
  if (filter_bytes > 2 * kCache && tiles <= kSharedTiles && num_threads() > 1) return by_filters(t, fns, tiles);
  const int64_t fits = kCache / (36 * 4 * (channels_ + t.padded_filters));
  const int64_t fair = (tiles + 2 * num_threads() - 1) / (2 * num_threads());
  by_tiles(t, fns, tiles, std::clamp<int64_t>(std::min(fits, fair), std::min(kFewTiles, tiles), tiles));
}

bool winograd_last_pays(const Tensor& x, const Tensor& filter, const Tensor& out) {
  const int64_t lanes = rows::row_table().winograd_last.lanes, block = rows::row_table().winograd_last.filters;
  const int64_t filters = filter.size(0), channels = filter.size(1);
  if (out.numel() == 0 || channels % lanes != 0 || filters % lanes != 0 || channels < 16) return false;
  const double tiles = static_cast<double>(x.size(0) * (up(out.size(1), 4) / 4) * (up(out.size(2), 4) / 4));
  // In units of a product of vectors: 36 for each tile against 9 for each result; transformations; and the filters,
  // four times as large, which are read from afar.
  const double pair = static_cast<double>(channels) * static_cast<double>(up(filters, block));
  const double ours =
      36 * tiles * pair * 1.3 + 36 * tiles * 8 * static_cast<double>(channels + filters) + 36 * pair * 6;
  const double direct = 9.0 * static_cast<double>(out.numel()) * static_cast<double>(channels) + 9 * pair * 6;
  return ours < direct;
}

}  // namespace paddle::kernels
