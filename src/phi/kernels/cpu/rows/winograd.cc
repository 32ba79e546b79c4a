#include "phi/kernels/cpu/rows/winograd.h"

#include <algorithm>
#include <cstdlib>

#include "base/cpu_features.h"
#include "base/error.h"
#include "base/parallel_for.h"
#include "phi/kernels/cpu/layout.h"
#include "phi/kernels/cpu/rows/row_table.h"
#include "phi/kernels/cpu/rows/winograd_filter.h"

namespace paddle::kernels {

using rows::WinogradFns;
using rows::WinogradTask;

namespace {

constexpr int64_t kLine = 16;               // floats of a cache line: rows of 36 matrices start in different ones
constexpr int64_t kFewTiles = 32;           // a block of filters should serve at least so many
constexpr int64_t kNear = 12 << 10;         // bytes that stay in the first-level cache, beside others
constexpr int64_t kSharedTiles = 1024;      // up to so many, threads share one scratch
constexpr int64_t kLargeFilters = 1 << 20;  // bytes: more than stay in one core's cache
// What reading a filter's element takes, in products: from the second-level cache, and from memory for each lane of a
// vector (64 bytes take as long as some 25 products of 16 floats at 14 GB/s).
constexpr double kReadNear = 6, kReadFar = 1.5;

int64_t up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

const WinogradFns& functions(bool channels_last) {
  return channels_last ? rows::row_table().winograd_last : rows::row_table().winograd_first;
}

// The calling thread's; it grows and stays. Lanes that no tile fills are computed with: they are zero at first, not
// denormal.
float* scratch(int64_t floats) {
  thread_local std::unique_ptr<float[], void (*)(void*)> data(nullptr, std::free);
  thread_local int64_t size = 0;
  if (size < floats) {
    size = 0;
    data.reset();
    data.reset(aligned_zeros(floats, "scratch"));
    size = floats;
  }
  return data.get();
}

// How `tiles` tiles lie in scratch memory. Lanes of tiles have a vector to spare at the end of each row.
struct Space {
  Space(const WinogradTask& t, const WinogradFns& fns, int64_t tiles)
      : row(fns.lanes_are_tiles ? up(tiles, fns.lanes) + fns.lanes : tiles),
        v(t.channels * row + kLine),
        m(t.padded_filters * row + kLine) {}
  int64_t row, v, m;
};

void set_zeros(WinogradTask& t, float* at) {
  std::fill_n(at, kLine, 0.0f);
  t.zeros = at;
}

// Each thread its own tiles, a chunk at a time: nothing is passed between them. Products lie where inputs were that are
// done with, so that more tiles fit the cache.
void by_tiles(const WinogradTask& all, const WinogradFns& fns, int64_t tiles, int64_t chunk) {
  const int64_t jobs = 36 * all.padded_filters / fns.filters;
  parallel_for(0, tiles, std::min(chunk, fns.lanes), [&](int64_t begin, int64_t end) {
    WinogradTask t = all;
    const Space space(t, fns, chunk);
    const int64_t pitch = std::max(space.v, space.m);
    float* own = scratch(kLine + 37 * pitch);
    set_zeros(t, own);
    t.row = space.row;
    t.v_pitch = t.m_pitch = pitch;
    t.m = own + kLine;
    t.v = t.m + pitch;
    for (t.first = begin; t.first < end; t.first += chunk) {
      t.tiles = std::min(chunk, end - t.first);
      fns.input(t, 0, fns.lanes_are_tiles ? t.channels : t.tiles);
      fns.product(t, 0, jobs);
      fns.output(t, 0, fns.lanes_are_tiles ? t.filters : t.tiles);
    }
  });
}

// Few tiles and large filters: each thread reads its share of the filters only.
void by_filters(WinogradTask t, const WinogradFns& fns, int64_t tiles) {
  const Space space(t, fns, tiles);
  float* own = scratch(kLine + 36 * (space.v + space.m));
  set_zeros(t, own);
  t.row = space.row;
  t.v_pitch = space.v;
  t.m_pitch = space.m;
  t.v = own + kLine;
  t.m = t.v + 36 * space.v;
  t.first = 0;
  t.tiles = tiles;
  auto shared = [&](int64_t parts, void (*step)(const WinogradTask&, int64_t, int64_t)) {
    parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) { step(t, begin, end); });
  };
  shared(fns.lanes_are_tiles ? t.channels : tiles, fns.input);
  shared(36 * t.padded_filters / fns.filters, fns.product);
  shared(fns.lanes_are_tiles ? t.filters : tiles, fns.output);
}

// As many tiles as the caches hold: all 36 matrices one, beside the filters that pass through; one of inputs the other.
int64_t chunk_of(const WinogradTask& t, const WinogradFns& fns) {
  const int64_t all = l2_bytes() * 3 / 4 / (37 * 4 * std::max(t.channels, t.padded_filters));
  const int64_t one = kNear / (4 * t.channels);
  return std::max<int64_t>(std::max(std::min(all, one), kFewTiles) / fns.tiles, 1) * fns.tiles;
}

}  // namespace

WinogradFilter::WinogradFilter(const Tensor& filter, const Tensor& scale, bool channels_last)
    : u_(transformed_filters(dense(filter), scale, functions(channels_last).filters)),
      filters_(filter.size(0)),
      channels_(filter.size(1)),
      padded_(up(filters_, functions(channels_last).filters)),
      channels_last_(channels_last) {}

void WinogradFilter::run(const Tensor& any, const Tensor& out, int64_t pad_top, int64_t pad_left,
                         const WinogradFollow& follow) const {
  const WinogradFns& fns = functions(channels_last_);
  PD_INVARIANT(padded_ == up(filters_, fns.filters));
  const Tensor x = dense(any);
  const int first_axis = channels_last_ ? 1 : 2;
  WinogradTask t{};
  t.x = x.data<float>();
  t.channels = channels_;
  t.height = x.size(first_axis);
  t.width = x.size(first_axis + 1);
  t.pad_top = pad_top;
  t.pad_left = pad_left;
  t.u = static_cast<const float*>(u_->data());
  t.filters = filters_;
  t.padded_filters = padded_;
  t.y = out.data<float>();
  t.out_h = out.size(first_axis);
  t.out_w = out.size(first_axis + 1);
  t.bias = follow.bias ? follow.bias->data<float>() : nullptr;
  t.residual = follow.residual ? follow.residual->data<float>() : nullptr;
  t.relu = follow.relu;
  t.tiles_x = up(t.out_w, 4) / 4;
  t.tiles_y = up(t.out_h, 4) / 4;
  const int64_t tiles = x.size(0) * t.tiles_x * t.tiles_y;
  const bool large = 36 * 4 * channels_ * padded_ > kLargeFilters;
  if (large && tiles <= kSharedTiles && num_threads() > 1) return by_filters(t, fns, tiles);
  by_tiles(t, fns, tiles, std::min(chunk_of(t, fns), tiles));
}

bool winograd_pays(const Tensor& x, const Tensor& filter, const Tensor& out, bool channels_last) {
  const WinogradFns& fns = functions(channels_last);
  const int64_t filters = filter.size(0), channels = filter.size(1);
  if (out.numel() == 0 || channels < 8 || filters < 8) return false;
  if (channels_last && (channels % fns.lanes != 0 || filters % fns.lanes != 0 || channels < 16)) return false;
  const int axis = channels_last ? 1 : 2;
  const int64_t tiles = x.size(0) * (up(out.size(axis), 4) / 4) * (up(out.size(axis + 1), 4) / 4);
  const auto lanes = static_cast<double>(fns.lanes_are_tiles ? up(tiles, fns.lanes) : tiles);
  // In units of a product of vectors: 36 for each tile against 9 for each result; transformations; and the filters,
  // four times as large, which are read from afar, the further the longer a vector is beside it.
  const double pair = static_cast<double>(channels) * static_cast<double>(up(filters, fns.filters));
  const double read = 36 * 4 * pair > kLargeFilters ? kReadFar * static_cast<double>(fns.lanes) : kReadNear;
  const double ours =
      36 * lanes * pair * 1.3 + 36 * lanes * 8 * static_cast<double>(channels + filters) + 36 * pair * read;
  const double direct = 9.0 * static_cast<double>(out.numel()) * static_cast<double>(channels) + 9 * pair * read;
  return ours < direct;
}

}  // namespace paddle::kernels
